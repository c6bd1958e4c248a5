"""Doing one run of a sweep, on whatever machine: measure it, and save its row the moment it ends."""

from __future__ import annotations

import os
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from dragonfly_env.checks.files import open_own
from dragonfly_env.errors import ConfigError, DeadlockError, IllegalActionError
from dragonfly_env.sweeps.columns import check_columns
from dragonfly_env.sweeps.measure import measure
from dragonfly_env.sweeps.run import Run
from dragonfly_env.sweeps.storage import ResultsFolder, table_of

_TELLING = (ConfigError, DeadlockError, IllegalActionError, MemoryError)
"""Errors that say what was wrong and where; of others the traceback is kept."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A run that ended with an error.

    Attributes:
        run: What was to be done; ``run.config`` is complete.
        error: The error's class and message on one line.
        details: The traceback, or an empty string if the error says everything.
    """

    run: Run
    error: str
    details: str


class UnwritableError(Exception):
    """A result that could not be saved: others cannot be either. From a worker to the process that started it."""


def execute_one(run: Run, folder: Path) -> tuple[str, Failure | None]:
    """Do a run and save its row.

    Raises:
        UnwritableError: If that cannot be written; whatever else goes wrong is the failure of this run.
    """
    files = ResultsFolder(folder)
    marker = files.marker(run.id)
    try:
        with _writing():
            os.close(open_own(marker))
        row, provenance = measure(run)
        check_columns(table_of(row), "a new row")  # what is not readable is this run's failure
        with _writing():
            files.write_run(row, provenance)
    except UnwritableError:
        raise
    except Exception as error:  # whatever it is: the other runs shall not suffer
        message = f"{type(error).__name__}: {' '.join(str(error).split())}"
        details = "" if isinstance(error, _TELLING) else traceback.format_exc()
        return run.id, Failure(run, message, details)
    finally:
        marker.unlink(missing_ok=True)
    return run.id, None


@contextmanager
def _writing() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise UnwritableError(f"results cannot be written: {error}") from error

"""Runs on other machines: an engine spreads them, and the shared folder says what came of them.

A worker saves a run's row, or the reason why there is none, before it says that it is done; so nothing depends on how
an engine brings results back, and what a lost worker had finished is not lost with it. What it had not, is done again.
"""

from __future__ import annotations

import functools
import platform
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import dragonfly_env as dfe
from dragonfly_env.sweeps.engines import Engine, EngineError
from dragonfly_env.sweeps.execute import Failure, UnwritableError, execute_one
from dragonfly_env.sweeps.run import Run, in_order
from dragonfly_env.sweeps.storage import ResultsFolder, read_json, write_json

MOST_LOSSES = 4
"""A run whose worker was lost so often while it was in progress is given up: it may be what kills them."""
MOST_ROUNDS_IN_VAIN = 3
_LOOK_EVERY_S = 0.25
_LOOKS_AT_THE_ENGINE, _LAST_LOOKS = 10, 40  # when all is saved, before workers are ended


def execute_remotely(
    runs: Sequence[Run], files: ResultsFolder, engine: Engine, *, threads: int, jobs: int | None
) -> Iterator[tuple[Run, Failure | None]]:
    """Do all runs on a cluster, yielding each as its file appears.

    Raises:
        ConfigError: If there is no such cluster.
        EngineError: If workers are lost again and again before they finish anything, or cannot work at all.
    """
    if not runs:
        return
    folder = files.path.absolute()
    pending = {run.id: run for run in in_order(runs)}
    before = {run_id: _stamp(files.run_file(run_id)) for run_id in pending}  # of results that are made again
    task = functools.partial(work, folder=folder, version=dfe.__version__)
    losses: Counter[str] = Counter()
    in_vain = 0
    try:
        engine.start(folder, threads, jobs)
        while pending:
            count = len(pending)
            call = _Call(engine, task, list(pending.values()))
            while pending and not call.ended(_LOOK_EVERY_S):
                yield from _arrived(pending, before, files)
            yield from _arrived(pending, before, files)
            if not pending:
                _wait_for_last_words(call, files)
                return
            if call.error is not None and not isinstance(call.error, EngineError):
                raise EngineError(" ".join(str(call.error).split())) from call.error
            for run in list(pending.values()):  # their worker is gone
                marker = files.marker(run.id)
                if marker.exists():
                    marker.unlink(missing_ok=True)
                    losses[run.id] += 1
                    if losses[run.id] >= MOST_LOSSES:
                        message = f"its worker was lost {MOST_LOSSES} times while this run was in progress"
                        yield pending.pop(run.id), Failure(run, message, "")
            in_vain = in_vain + 1 if len(pending) == count else 0
            if in_vain >= MOST_ROUNDS_IN_VAIN:
                raise EngineError(
                    f"workers end without finishing anything: {call.error or 'no reason given'}"
                )
    finally:
        engine.stop()


class _Call(threading.Thread):
    """One call of an engine, in a thread of its own, which a sweep does not wait for when it ends early."""

    def __init__(self, engine: Engine, task: functools.partial[None], runs: list[Run]) -> None:
        super().__init__(daemon=True)
        self._engine, self._task, self._runs = engine, task, runs
        self.error: Exception | None = None
        self.start()

    def run(self) -> None:
        try:
            self._engine.call(self._task, self._runs)
        except Exception as error:  # told to the thread that looks
            self.error = error
        except BaseException as error:  # of a cluster that was left: asyncio's, or an exit
            self.error = EngineError(repr(error))

    def ended(self, patience_s: float) -> bool:
        """Wait a little; whether it has ended."""
        self.join(patience_s)
        return not self.is_alive()


def _wait_for_last_words(call: _Call, files: ResultsFolder) -> None:
    """Let workers that have saved their last run take their marks away, and the engine see that they end."""
    for look in range(_LAST_LOOKS):
        if call.ended(_LOOK_EVERY_S) or (
            look >= _LOOKS_AT_THE_ENGINE and not [*files.runs.glob("*.running")]
        ):
            return


def work(run: Run, *, folder: Path, version: str) -> None:
    """What a worker does: a run, and its file or that of its failure.

    Raises:
        RuntimeError: If no run can be done on this machine.
    """
    if dfe.__version__ != version:
        raise RuntimeError(
            f"{platform.node()} has dragonfly-env {dfe.__version__}, and the sweep was started with {version}"
        )
    files = ResultsFolder(folder)
    try:
        _, failure = execute_one(run, folder)
        if failure is not None:
            write_json({"error": failure.error, "details": failure.details}, files.failure(run.id))
    except (OSError, UnwritableError) as error:
        raise RuntimeError(
            f"{platform.node()}, which must see the results folder {folder}: {error}"
        ) from None


_Stamp = tuple[int, int] | None


def _stamp(file: Path) -> _Stamp:
    """What tells a file from the one that replaces it."""
    try:
        status = file.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_ino


def _arrived(
    pending: dict[str, Run], before: dict[str, _Stamp], files: ResultsFolder
) -> Iterator[tuple[Run, Failure | None]]:
    """Take the runs out of ``pending`` whose files have appeared."""
    there = {path.name for path in files.runs.iterdir()}
    for run_id in [*pending]:
        done, failed = files.run_file(run_id), files.failure(run_id)
        if failed.name in there:
            told = read_json(failed, "failure")
            failed.unlink()
            run = pending.pop(run_id)
            yield run, Failure(run, str(told["error"]), str(told["details"]))
        elif (
            done.name in there
            and _stamp(done) != before[run_id]
            and files.version_of(run_id) == dfe.__version__
        ):
            yield pending.pop(run_id), None

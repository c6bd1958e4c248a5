"""Expected errors become one line on the error stream and an exit code, without a traceback."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import typer
from rich.text import Text

from dragonfly_env.cli.console import note
from dragonfly_env.errors import ConfigError, DeadlockError

FAILED = 1
WRONG_SETTING = 2
INTERRUPTED = 130


@contextmanager
def one_line_errors() -> Iterator[None]:
    """Report the errors of users and machines; a fault of this program keeps its traceback."""
    try:
        yield
    except BrokenPipeError:
        raise
    except KeyboardInterrupt as interrupt:
        note(Text(str(interrupt) or "interrupted", style="yellow"))
        raise typer.Exit(INTERRUPTED) from None
    except ConfigError as error:
        complain(str(error))
        raise typer.Exit(WRONG_SETTING) from None
    except DeadlockError as error:
        complain(str(error), lines=True)
    except MemoryError:
        complain("not enough memory for this system: choose a smaller topology, or fewer --workers")
    except OSError as error:
        complain(f"{error.filename or 'cannot write'}: {error.strerror or error}")
    else:
        return
    raise typer.Exit(FAILED)


def complain(message: str, *, lines: bool = False) -> None:
    """Write the message to the error stream, line by line."""
    note(Text.assemble(("error: ", "bold red"), message if lines else " ".join(message.split())))

"""Errors as people want them: one clear line on the error stream and an exit code, no traceback."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import ParamSpec

import typer
from rich.text import Text

from dragonfly_env.cli.console import note
from dragonfly_env.errors import ConfigError, DeadlockError

FAILED = 1
WRONG_SETTING = 2
INTERRUPTED = 130

Parameters = ParamSpec("Parameters")


def guarded(command: Callable[Parameters, None]) -> Callable[Parameters, None]:
    """A command whose expected errors become one line and an exit code.

    ``ConfigError``: 2; ``DeadlockError`` and lack of memory: 1; Ctrl-C: 130 (what a command keeps, it says itself).
    Anything else is a fault of this program and keeps its traceback.
    """

    @functools.wraps(command)
    def wrapped(*args: Parameters.args, **kwargs: Parameters.kwargs) -> None:
        try:
            command(*args, **kwargs)
        except ConfigError as error:
            complain(" ".join(str(error).split()))
            raise typer.Exit(WRONG_SETTING) from None
        except DeadlockError as error:
            complain(str(error))
            raise typer.Exit(FAILED) from None
        except MemoryError:
            complain("not enough memory for this system: choose a smaller topology, or fewer --jobs")
            raise typer.Exit(FAILED) from None
        except KeyboardInterrupt as interrupt:
            note(Text(str(interrupt) or "interrupted", style="yellow"))
            raise typer.Exit(INTERRUPTED) from None

    return wrapped


def complain(message: str) -> None:
    """One line on the error stream."""
    note(Text.assemble(("error: ", "bold red"), message))

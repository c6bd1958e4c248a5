"""Errors as people want them: one clear line on the error stream and an exit code, no traceback."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import ParamSpec

import typer
from rich.text import Text

from dragonfly_env._process import TERMINATED, Interruptible, interrupted_code, interrupted_text
from dragonfly_env.cli.console import note
from dragonfly_env.errors import ConfigError, DeadlockError

DONE = 0
FAILED = 1
WRONG_SETTING = 2

Parameters = ParamSpec("Parameters")


def guarded(command: Callable[Parameters, None]) -> Callable[Parameters, None]:
    """A command whose expected errors become one line and an exit code, see `report`."""

    @functools.wraps(command)
    def wrapped(*args: Parameters.args, **kwargs: Parameters.kwargs) -> None:
        try:
            with Interruptible():
                command(*args, **kwargs)
        except BaseException as error:
            code = report(error)
            if code is None:
                raise
            raise typer.Exit(code) from None

    return wrapped


def report(error: BaseException) -> int | None:
    """Tell the user of an error that is no fault of this program.

    ``ConfigError``: exit code 2; ``DeadlockError``, lack of memory, and files and streams that cannot be read or
    written: 1; Ctrl-C: 130 and SIGTERM: 143 (what a command keeps, it says itself).

    Returns:
        The exit code; None for anything else, which is a fault of this program and keeps its traceback.
    """
    if isinstance(error, KeyboardInterrupt):
        code = interrupted_code()
        kept = "; files that were complete are kept" if code == TERMINATED else ""
        note(Text(str(error) or interrupted_text() + kept, style="yellow"))
        return code
    if isinstance(error, ConfigError):
        complain(str(error))
        return WRONG_SETTING
    if isinstance(error, DeadlockError):
        complain(str(error), lines=True)
    elif isinstance(error, MemoryError):
        complain("not enough memory for this system: choose a smaller topology, or fewer --workers")
    elif isinstance(error, BrokenPipeError):
        pass  # whoever read the results has gone, and knows
    elif isinstance(error, OSError):
        complain(f"{error.filename or 'cannot write'}: {error.strerror or error}")
    else:
        return None
    return FAILED


def complain(message: str, *, lines: bool = False) -> None:
    """One line on the error stream, or as many as the message has."""
    note(Text.assemble(("error: ", "bold red"), message if lines else " ".join(message.split())))

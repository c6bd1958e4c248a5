"""Errors as people want them: one clear line on the error stream and an exit code, no traceback; and standard streams
of which neither a text nor a closed output can end a command with one.
"""

from __future__ import annotations

import functools
import io
import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, ParamSpec

import typer
from rich.text import Text

from dragonfly_env._process import TERMINATED, Interruptible, interrupted_code, interrupted_text
from dragonfly_env.cli.console import note
from dragonfly_env.errors import ConfigError, DeadlockError

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


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
        pass  # the reader of the results has gone, and knows
    elif isinstance(error, OSError):
        complain(f"{error.filename or 'cannot write'}: {error.strerror or error}")
    else:
        return None
    return FAILED


def complain(message: str, *, lines: bool = False) -> None:
    """One line on the error stream, or as many as the message has."""
    note(Text.assemble(("error: ", "bold red"), message if lines else " ".join(message.split())))


class _BestEffort(io.FileIO):
    """A file that drops what cannot be written: results do not depend on who reads the messages."""

    def write(self, data: ReadableBuffer, /) -> int:
        try:
            return super().write(data)
        except OSError:
            return memoryview(data).nbytes


def prepare_streams() -> None:
    """Let both streams take any text (file names need not be Unicode, terminals need not show it), and the error
    stream any fate.
    """
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    encoding = "utf-8" if sys.stderr is None else sys.stderr.encoding
    raw = io.BufferedWriter(_BestEffort(2, "wb", closefd=False))
    sys.stderr = io.TextIOWrapper(raw, encoding, errors="backslashreplace", line_buffering=True)


def flush_results() -> None:
    """Write what standard output still holds.

    Raises:
        OSError: If that cannot be; it is then forgotten, so that the end of the process does not try again.
    """
    try:
        sys.stdout.flush()
    except OSError:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        raise

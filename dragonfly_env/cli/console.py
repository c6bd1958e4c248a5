"""Where text goes: results to standard output, everything else to the error stream."""

from __future__ import annotations

import sys

from rich.console import Console, RenderableType

_WIDTH_WITHOUT_TERMINAL = 140


def console(*, error: bool = False) -> Console:
    """A console for standard output or the error stream; wide enough for tables where there is no terminal."""
    stream = sys.stderr if error else sys.stdout
    return Console(stderr=error, width=None if stream.isatty() else _WIDTH_WITHOUT_TERMINAL, highlight=False)


def show(what: RenderableType) -> None:
    """Print a result: a table and the like, or a text as it is.

    Raises:
        OSError: If it cannot be written.
    """
    try:
        if isinstance(what, str):
            print(what, flush=True)
        else:
            console().print(what)
    except OSError as error:
        error.filename = "standard output"
        raise


def note(what: RenderableType) -> None:
    """Tell the user something on the error stream."""
    console(error=True).print(what, soft_wrap=True)

"""Output of text: results to standard output, everything else to the error stream."""

from __future__ import annotations

import sys

from rich.console import Console, RenderableType

_WIDTH_WITHOUT_TERMINAL = 140


def console(*, error: bool = False) -> Console:
    """A console for standard output or the error stream; wide enough for tables where there is no terminal.

    Nothing in a text is markup, because names of jobs, policies and files may hold brackets. Styled text is a ``Text``.
    """
    stream = sys.stderr if error else sys.stdout
    width = None if stream.isatty() else _WIDTH_WITHOUT_TERMINAL
    return Console(stderr=error, width=width, markup=False, emoji=False, highlight=False)


def show(what: RenderableType) -> None:
    """Print a result: a table and the like, or a text as it is."""
    if isinstance(what, str):
        print(what, flush=True)
    else:
        console().print(what)


def note(what: RenderableType) -> None:
    """Print a message on the error stream."""
    console(error=True).print(what, soft_wrap=True)

"""Where text goes: results to standard output, everything else to the error stream."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from typing import Any

from rich.console import Console, ConsoleOptions, Group, RenderableType
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

_WIDTH_WITHOUT_TERMINAL = 140
# Terminals act on these: control characters (but for tabs and ends of lines), and what turns the direction of text.
_ACTING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def harmless(text: str) -> str:
    """A text in which the characters that a terminal acts on are spelt out: ESC is four characters."""
    return _ACTING.sub(lambda found: repr(found[0])[1:-1], text)


class PlainConsole(Console):
    """A console that shows text as it is. Names of a user (of jobs, operations, policies, traffic, files) may hold
    anything: nothing in them is markup, and no terminal acts on them. What is to have a style is a ``Text``.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(markup=False, emoji=False, highlight=False, **options)

    def print(self, *objects: Any, **options: Any) -> None:
        """See `rich.console.Console`."""
        super().print(*map(_spelt, objects), **options)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """See `rich.console.Console`: bars and the like, too, pass here."""
        for segment in super().render(renderable, options):
            acting = segment.control is None and _ACTING.search(segment.text)
            yield Segment(harmless(segment.text), segment.style) if acting else segment


def _spelt(shown: Any) -> Any:
    """What is shown, with `harmless` texts, so that widths of columns are right."""
    if isinstance(shown, str):
        return harmless(shown)
    if isinstance(shown, Text) and _ACTING.search(shown.plain):
        return Text(harmless(shown.plain), shown.style)
    if isinstance(shown, Group):
        return Group(*map(_spelt, shown.renderables))
    if isinstance(shown, Table):
        shown.title = _spelt(shown.title)
        for column in shown.columns:
            column.header = _spelt(column.header)
            column._cells[:] = map(_spelt, column.cells)
    return shown


def console(*, error: bool = False) -> Console:
    """A console for standard output or the error stream; wide enough for tables where there is no terminal."""
    stream = sys.stderr if error else sys.stdout
    return PlainConsole(stderr=error, width=None if stream.isatty() else _WIDTH_WITHOUT_TERMINAL)


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

"""Output of text: results to standard output, everything else to the error stream.

A table whose names do not fit is printed as a list.
"""

from __future__ import annotations

import codecs
import io
import os
import sys

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

_WIDTH_WITHOUT_TERMINAL = 140
_quiet = False
_WIDE = 100  # columns: on such a screen prose may be wrapped inside a cell

_SPELLING = {"µ": "u", "μ": "u", "±": "+-", "─": "-", "…": "..."}
"""Characters that texts of commands have, and an encoding such as ASCII lacks."""


def spell_missing_characters() -> None:
    """Make the streams spell characters that their encoding lacks, so that no message ends in an error."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="spelled")


def _spelled(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeEncodeError)
    return "".join(_SPELLING.get(letter, "?") for letter in error.object[error.start : error.end]), error.end


codecs.register_error("spelled", _spelled)


def be_quiet(quiet: bool) -> None:
    """Print results and errors alone from now on; False: notes and bars too."""
    global _quiet
    _quiet = quiet


class _Screen(Console):
    """A console that raises an error when its reader has gone; rich ends the program."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


def console(*, error: bool = False, always: bool = False) -> Console:
    """A console for standard output or the error stream; wide where there is neither a terminal nor ``COLUMNS``. The
    error stream is silent if the user wants it so, unless ``always``.

    Nothing in a text is markup, because names of jobs, policies and files may hold brackets. Styled text is a ``Text``.
    """
    stream = sys.stderr if error else sys.stdout
    width = None if stream.isatty() or "COLUMNS" in os.environ else _WIDTH_WITHOUT_TERMINAL
    quiet = error and _quiet and not always
    return _Screen(stderr=error, width=width, markup=False, emoji=False, highlight=False, quiet=quiet)


def show(what: RenderableType) -> None:
    """Print a result: a table and the like, or a text as it is. A reader that has gone (``| head``) stops nothing: the
    command still writes its files.
    """
    try:
        if isinstance(what, str):
            print(what, flush=True)
        else:
            screen = console()
            screen.print(_fitting(what, screen))
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def note(what: RenderableType) -> None:
    """Print a message on the error stream."""
    console(error=True).print(what, soft_wrap=True)


def titled(title: str, table: RenderableType) -> RenderableType:
    """A table with its title above; a title inside would be wrapped to the width of a narrow table."""
    return Group(Text(title, style="bold"), table)


def _fitting(what: RenderableType, screen: Console) -> RenderableType:
    """Put lists in the place of tables whose names would be cut or wrapped."""
    if isinstance(what, Group):
        return Group(*(_fitting(part, screen) for part in what.renderables))
    if not isinstance(what, Table):
        return what
    for column in what.columns:  # wrap prose and headers only
        column.no_wrap = all(" " not in _plain(cell) for cell in (column.header, *column.cells))
    return what if _fits(what, screen) else _as_list(what)


def _fits(table: Table, screen: Console) -> bool:
    """Whether no word is cut, and on a narrow screen no cell is wrapped."""
    lines = ["".join(part.text for part in line) for line in screen.render_lines(table)]
    headers = [_plain(column.header) for column in table.columns] if table.show_header else []
    cells = [_plain(cell).strip() for column in table.columns for cell in column.cells]
    if screen.width < _WIDE and not all(any(cell in line for line in lines) for cell in cells):
        return False
    if any("…" in line for line in lines):  # a cut word may stand in another cell, too
        return False
    shown = {word for line in lines for word in line.split()}
    return all(word in shown for text in (*headers, *cells) for word in text.split())


def _as_list(table: Table) -> RenderableType:
    """A heading per row, and below it a line per cell. Cells of columns without a header follow the heading."""
    lines: list[RenderableType] = [] if table.title is None else [Text(_plain(table.title), style="bold")]
    headers = [_plain(column.header) if table.show_header else "" for column in table.columns[1:]]
    heading = ""
    for first, *cells in zip(*(map(_plain, column.cells) for column in table.columns), strict=True):
        heading = first.strip() or heading  # an empty cell means that of the row before
        behind = "  ".join(cell for header, cell in zip(headers, cells, strict=True) if cell and not header)
        lines.append(Text.assemble((heading, "bold"), f": {behind}" if behind else ""))
        named = [(header, cell) for header, cell in zip(headers, cells, strict=True) if header and cell]
        lines += [
            Padding(Text.assemble((f"{header}: ", "dim"), cell), (0, 0, 0, 2)) for header, cell in named
        ]
    return Group(*lines, Text())


def _plain(cell: RenderableType) -> str:
    return cell.plain if isinstance(cell, Text) else str(cell)

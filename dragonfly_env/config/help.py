"""Texts of ``help()`` for settings: a docstring and a signature that name every field."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, TypeVar

from dragonfly_env.config.rows import SettingInfo, describe

Made = TypeVar("Made")

_SECTIONS = ("Raises:", "Returns:", "Source:", "Sources:", "Example:")
_WIDTH = 112


def documented(made: type[Made]) -> type[Made]:
    """List the fields of a settings class under ``Args:`` in its docstring, but those that it explains itself there."""
    return _lists(made, made)


def documents(settings: Any) -> Callable[[type[Made]], type[Made]]:
    """Insert the fields of another class in the place of the line ``**options: ...``."""
    return lambda made: _lists(made, settings)


def _lists(made: type[Made], settings: Any) -> type[Made]:
    if not made.__doc__:  # without docstrings: python -OO
        return made
    lines = inspect.cleandoc(made.__doc__).split("\n")
    begin, end = _args_of(lines)
    own = [line for line in lines[begin:end] if not line.startswith("    **options:")]
    explained = {line.split(":")[0].split()[0] for line in own if line[:5].strip()}
    listed = [_in_help(row) for row in describe(settings)]
    more = [text for text in listed if text.split(":")[0].split()[0] not in explained]
    if not own and not more:
        return made
    section = [*(own or ["Args:"]), *more]
    made.__doc__ = "\n".join(
        [*lines[:begin], *section, *([] if lines[end : end + 1] in ([], [""]) else [""]), *lines[end:]]
    )
    return made


def _args_of(lines: list[str]) -> tuple[int, int]:
    """Range of the section ``Args:`` in a docstring; an empty range at its place if there is no such section."""
    if "Args:" in lines:
        begin = lines.index("Args:")
        end = next((i for i in range(begin, len(lines)) if not lines[i].strip()), len(lines))
        return begin, end
    place = next((i for i, line in enumerate(lines) if line.startswith(_SECTIONS)), len(lines))
    if place == len(lines):
        lines.append("")
        place += 1
    return place, place


def _in_help(row: SettingInfo) -> str:
    """A row as an entry of ``Args:``; broken by hand, since ``textwrap`` would take a tenth of a second for all."""
    values = f" ({row.allowed}{f' {row.unit}' if row.unit else ''})" if row.allowed else ""
    lines, line = [], f"    {row.name}{values}:"  # in one piece, as it is read by the line
    for word in row.doc.split():
        if len(line) + len(word) >= _WIDTH:
            lines.append(line)
            line = "       "
        line += f" {word}"
    return "\n".join([*lines, line])

"""Rows of settings in the reference: the fields of a settings class under ``Args:`` in its docstring."""

from __future__ import annotations

import dataclasses
from typing import Any

import dragonfly_env as dfe
from dragonfly_env.config.rows import SettingInfo, describe
from dragonfly_env.envs.options import EnvOptions

_SECTIONS = ("Raises:", "Returns:", "Source:", "Sources:", "Example:")


def with_rows(thing: Any, lines: list[str]) -> list[str]:
    """A docstring with the fields of a settings class, but those that it explains itself. The fields of ``EnvOptions``
    replace the line ``**options: ...`` of ``BatchedRoutingEnv``.
    """
    settings = EnvOptions if thing is dfe.BatchedRoutingEnv else thing
    if not (isinstance(settings, type) and dataclasses.is_dataclass(settings)):
        return lines
    begin, end = _args_of(lines)
    kept = [line for line in lines[begin:end] if not line.startswith("    **options:")]
    explained = {line.split(":")[0].split()[0] for line in kept if line[:5].strip()}
    more = [_entry(row) for row in describe(settings) if row.name not in explained]
    if not more:
        return lines
    after = lines[end:] if lines[end : end + 1] == [""] else ["", *lines[end:]]
    return [*lines[:begin], *(kept or ["Args:"]), *more, *after]


def _args_of(lines: list[str]) -> tuple[int, int]:
    """Range of the section ``Args:`` in a docstring; an empty range at its place if there is no such section."""
    if "Args:" in lines:
        begin = lines.index("Args:")
        return begin, next((i for i in range(begin, len(lines)) if not lines[i].strip()), len(lines))
    place = next((i for i, line in enumerate(lines) if line.startswith(_SECTIONS)), len(lines))
    return place, place


def _entry(row: SettingInfo) -> str:
    values = f" ({row.allowed}{f' {row.unit}' if row.unit else ''})" if row.allowed else ""
    return f"    {row.name}{values}: {row.doc}"

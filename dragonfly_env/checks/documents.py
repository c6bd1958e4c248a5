"""Reading documents: JSON and TOML from a text or a file, as plain values that every user of them can trust.

Whatever is wrong with a document is a ``ConfigError``. What is read has no table with the same name twice, no number
too large to be one (``1e999``), no text that cannot be written again, and is nested ``MOST_LEVELS`` deep at most.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from dragonfly_env.checks.outside import check_levels, check_path, parsing, read_bytes
from dragonfly_env.checks.values import config_error

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

MOST_BYTES = 2**26
"""Of a document in a file."""

_JSON, _TOML = "must be JSON", "must be TOML"


def parse_json(text: object, field: str = "json", *, file: str | None = None, allowed: str = _JSON) -> Any:
    """The value that a JSON text holds.

    Args:
        text: The text.
        field: Name for messages.
        file: Where the text is from, for messages.
        allowed: What the text, or the file, must be.

    Raises:
        ConfigError: If it is none; NaN, Infinity and repeated names are none either.
    """
    return _parse(text, field, text if file is None else file, allowed, _load_json)


def parse_toml(text: object, field: str = "toml") -> dict[str, Any]:
    """The table that a TOML text holds.

    Raises:
        ConfigError: If it is none; the message has line and column.
    """
    table: dict[str, Any] = _parse(text, field, text, _TOML, _load_toml)
    return table


def read_json(path: object, field: str = "file", *, allowed: str = _JSON) -> Any:
    """The value in a JSON file.

    Raises:
        ConfigError: If the file cannot be read, or as ``parse_json``.
    """
    file = check_path(field, path)
    return _parse(_read(file, field), field, str(file), allowed, _load_json)


def read_toml(path: object, field: str = "file") -> dict[str, Any]:
    """The table in a TOML file.

    Raises:
        ConfigError: If the file cannot be read, or as ``parse_toml``.
    """
    file = check_path(field, path)
    table: dict[str, Any] = _parse(_read(file, field), field, str(file), _TOML, _load_toml)
    return table


def differences(first: Any, second: Any, name: str = "") -> Iterator[tuple[str, Any, Any]]:
    """What differs in two tables: the dotted name and both values, None where there is none, in the first one's order.

    Args:
        first: A table, or a value.
        second: The other one.
        name: Of both.
    """
    if isinstance(first, Mapping) and isinstance(second, Mapping):
        for key in (*first, *(key for key in second if key not in first)):
            yield from differences(first.get(key), second.get(key), f"{name}.{key}" if name else str(key))
    elif first != second:
        yield name, first, second


def _read(path: Path, field: str) -> str:
    content = read_bytes(path, field, MOST_BYTES)
    with parsing(field, str(path), "must be text in UTF-8"):
        return content.decode("utf-8")


def _parse(text: object, field: str, shown: object, allowed: str, load: Callable[[str], Any]) -> Any:
    if not isinstance(text, str):
        raise config_error(field, shown, f"{allowed}, as a string")
    with parsing(field, shown, allowed):
        value = load(text)
        text.encode("utf-8")
    check_levels(field, value)
    if "\\u" in text:  # an escape may hide half a character
        with parsing(field, shown, f"{allowed} with whole characters"):
            json.dumps(value, ensure_ascii=False, default=str).encode("utf-8")
    return value


def _load_json(text: str) -> Any:
    return json.loads(text, parse_float=_number, parse_constant=_no_number, object_pairs_hook=_each_name_once)


def _load_toml(text: str) -> Any:
    return tomllib.loads(text, parse_float=_number)


def _number(text: str) -> float:
    value = float(text)
    if math.isinf(value) and "inf" not in text:  # TOML knows infinity by name
        raise ValueError(f"{text} is too large a number")
    return value


def _no_number(text: str) -> float:
    raise ValueError(f"{text} is not a number")


def _each_name_once(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    table = dict(pairs)
    if len(table) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the name {twice!r} occurs twice in one table")
    return table

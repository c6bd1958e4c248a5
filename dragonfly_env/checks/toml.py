"""Writing the little TOML that configurations need; ``documents`` reads it."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any


def dumps(table: Mapping[str, Any]) -> str:
    """Write a table of plain values: scalars first, then sub-tables; None is left out.

    Raises:
        TypeError: For a value that TOML cannot hold.
    """
    return "\n".join(_table(table, ())) + "\n"


def _table(table: Mapping[str, Any], path: tuple[str, ...]) -> list[str]:
    lines = []
    for key, value in table.items():
        if value is not None and not isinstance(value, Mapping):
            lines.append(f"{_key(key)} = {_value(value)}")
    for key, value in table.items():
        if isinstance(value, Mapping):
            inner = (*path, key)
            lines += ["", f"[{'.'.join(_key(part) for part in inner)}]", *_table(value, inner)]
    return lines[1:] if lines and not lines[0] else lines


def _key(key: str) -> str:
    bare = key != "" and all(c.isascii() and (c.isalnum() or c in "-_") for c in key)
    return key if bare else _string(key)


def _string(text: str) -> str:
    # JSON's escapes are TOML's, but JSON may leave DEL as it is.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _value(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _string(value)
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else str(value)
    if isinstance(value, Mapping):
        inner = ", ".join(f"{_key(k)} = {_value(v)}" for k, v in value.items() if v is not None)
        return f"{{{inner}}}"
    if isinstance(value, Sequence):
        return f"[{', '.join(_value(item) for item in value)}]"
    raise TypeError(f"TOML cannot hold {type(value).__name__}")

"""Names that move to ``files``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from dragonfly_env.checks.files import parse_json as parse_json
from dragonfly_env.checks.files import parse_toml as parse_toml
from dragonfly_env.checks.files import read_json as read_json
from dragonfly_env.checks.files import read_toml as read_toml


def differences(first: Any, second: Any, name: str = "") -> Iterator[tuple[str, Any, Any]]:
    """The dotted name and both values of everything that differs in two tables, in the order of the first one."""
    if isinstance(first, Mapping) and isinstance(second, Mapping):
        for key in (*first, *(key for key in second if key not in first)):
            yield from differences(first.get(key), second.get(key), f"{name}.{key}" if name else str(key))
    elif first != second:
        yield name, first, second

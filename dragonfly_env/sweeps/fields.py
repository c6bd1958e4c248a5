"""Reading settings that a person wrote: every mistake becomes one `ConfigError` with field, value and what is
allowed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dragonfly_env.checks.outside import check_items
from dragonfly_env.checks.values import (
    check_bool,
    check_integer,
    check_real,
    check_time_ns,
    config_error,
    unknown_name,
)
from dragonfly_env.errors import ConfigError

LONGEST_NS = 1e12  # a thousand seconds of simulated time: beyond any sensible run


class Table:
    """A table of settings (from TOML or options) that is emptied field by field.

    Args:
        values: The settings.
        where: The table's name in messages; empty for the top level.

    Raises:
        ConfigError: If ``values`` is no table.
    """

    def __init__(self, values: object, where: str = "") -> None:
        if not isinstance(values, Mapping):
            raise config_error(where or "scenario", values, "must be a table of settings")
        self._values: dict[str, Any] = {str(key): value for key, value in values.items()}
        self._where = where
        self._known: list[str] = []

    def field(self, name: str) -> str:
        """The full name of a field, as a message shows it."""
        return f"{self._where}.{name}" if self._where else name

    def take(self, name: str, default: Any = None) -> Any:
        """Remove and return a field, whatever it holds."""
        self._known.append(name)
        return self._values.pop(name, default)

    def text(self, name: str, default: str) -> str:
        """A non-empty string."""
        value = self.take(name, default)
        if not isinstance(value, str) or not value.strip():
            raise config_error(self.field(name), value, "must be a non-empty string")
        return value

    def optional_text(self, name: str) -> str:
        """A non-empty string, or an empty one if the field is absent."""
        return self.text(name, "") if name in self._values else str(self.take(name, ""))

    def flag(self, name: str, default: bool) -> bool:
        """True or false."""
        return check_bool(self.field(name), self.take(name, default))

    def integer(self, name: str, default: int, low: int, high: int) -> int:
        """An integer in [low, high]."""
        return check_integer(self.field(name), self.take(name, default), low, high)

    def time_ns(self, name: str, default: float, low: float) -> float:
        """A time in ns, at least ``low``."""
        return check_time_ns(self.field(name), self.take(name, default), low, LONGEST_NS)

    def optional_time_ns(self, name: str, low: float) -> float | None:
        """A time in ns, at least ``low``, or None if the field is absent."""
        value = self.take(name)
        return None if value is None else check_time_ns(self.field(name), value, low, LONGEST_NS)

    def items(self, name: str) -> list[Any]:
        """A list; a single value counts as a list of one, an absent field as an empty one."""
        value = self.take(name)
        if value is None:
            return []
        if not isinstance(value, Sequence) or isinstance(value, str):
            return [value]
        return check_items(self.field(name), value, "must be a list")

    def rest(self) -> dict[str, Any]:
        """All fields not taken yet."""
        left, self._values = self._values, {}
        return left

    def finish(self) -> None:
        """Complain about the first field that was not used.

        Raises:
            ConfigError: With the nearest known name.
        """
        for name in self._values:
            raise unknown_name(f"field of {self._where}" if self._where else "field", name, self._known)


def parse_value(text: str) -> int | float | bool | str:
    """The value in ``name=value`` on a command line: an integer, a number, true or false, or the text
    itself.
    """
    lowered = text.strip().lower()
    if lowered in ("true", "false"):
        return lowered == "true"
    for kind in (int, float):
        try:
            return kind(lowered)
        except ValueError:
            continue
    return text.strip()


def parse_assignment(text: str, field: str) -> tuple[str, int | float | bool | str]:
    """``name=value`` as a pair.

    Raises:
        ConfigError: If there is no ``=`` or no name.
    """
    name, sign, value = text.partition("=")
    if not sign or not name.strip() or not value.strip():
        raise config_error(field, text, "must have the form name=value")
    return name.strip(), parse_value(value)


def printable(text: str) -> str:
    """A text without what no file and no terminal can hold: the bytes of a file name that are no UTF-8 are spelt."""
    return text.encode(errors="backslashreplace").decode()


_LEAST_PERCENT = 2  # what is less was hardly meant as a percentage


def parse_loads(values: Sequence[object], field: str) -> tuple[float, ...]:
    """Offered loads from numbers, and from ranges written ``"start:stop:step"`` (both ends included).

    Returns:
        Ascending loads without repetition, rounded to six digits.

    Raises:
        ConfigError: If one is not in (0, 1], or a range makes no sense.
    """
    loads: set[float] = set()
    for value in values:
        for part in value.split(",") if isinstance(value, str) else [value]:
            loads.update(_loads_of(part, field))
    return tuple(sorted(loads))


def _loads_of(part: object, field: str) -> list[float]:
    if not isinstance(part, str):
        return [_one_load(part, field)]
    pieces = [parse_value(piece) for piece in part.split(":")]
    if len(pieces) == 1:
        return [_one_load(pieces[0], field)]
    if len(pieces) != 3:
        raise config_error(field, part, "must be a load, or a range start:stop:step such as 0.1:1.0:0.1")
    start, stop = _one_load(pieces[0], field), _one_load(pieces[1], field)
    step = check_real(f"{field} step", pieces[2], 0.001, 1.0)
    if stop < start:
        raise config_error(field, part, "must not end below its start")
    return [round(start + step * index, 6) for index in range(int((stop - start) / step + 1e-9) + 1)]


def _one_load(value: object, field: str) -> float:
    try:
        return round(check_real(field, value, 0.0, 1.0, open_low=True), 6)
    except ConfigError:
        allowed = "must be a fraction of the host links' bandwidth, in (0, 1]"
        if isinstance(value, (int, float)) and _LEAST_PERCENT <= value <= 100:
            allowed += f"; did you mean {value / 100:g}?"
        raise config_error(field, value, allowed) from None

"""Values to try: of fields that say themselves what they allow, and of no kind that anybody expects."""

from __future__ import annotations

import dataclasses
import decimal
import fractions
import math
import pathlib
import re
from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Any

import numpy as np

from dragonfly_env.config.links import LinkConfig
from dragonfly_env.errors import ConfigError

_INTEGER = re.compile(r"must be an integer from (-?\d+) to (-?\d+)")
_REAL = re.compile(r"must be a number in ([\[(])([^,]+), ([^\]]+)\]")
_NAMES = re.compile(r"must be one of (.*?)(;|$)")


class _Nothing:
    """A value of no kind."""

    def __repr__(self) -> str:
        return "<nothing>"


_ODD: tuple[Callable[[], Any], ...] = (
    *(lambda: None, lambda: True, lambda: False, lambda: 0, lambda: -1, lambda: 1, lambda: 5),
    *(lambda: 2**31, lambda: 2**63, lambda: 2**64, lambda: 10**400, lambda: -(10**30), lambda: 0.0),
    *(lambda: -0.0, lambda: 0.1, lambda: 5e-324, lambda: 1e-320, lambda: 1e-9, lambda: 1e15),
    *(lambda: 1e308, lambda: math.nan, lambda: math.inf, lambda: -math.inf, lambda: 1j, lambda: ""),
    *(lambda: "x", lambda: "nan", lambda: "é\0\ud800", lambda: "a" * 5_000, lambda: b"bytes", list),
    *(lambda: (), dict, lambda: {"pattern": None}, lambda: {1: 2}, lambda: [[]], lambda: [1, "a"]),
    *(lambda: {1, 2}, lambda: range(3), lambda: object(), lambda: int, lambda: len, _Nothing),
    lambda: fractions.Fraction(1, 3),
    lambda: decimal.Decimal("1e400"),
    *(lambda: decimal.Decimal("nan"), lambda: pathlib.Path("nowhere"), lambda: np.float32(0.3)),
    *(lambda: np.float16("inf"), lambda: np.int8(-1), lambda: np.uint64(2**64 - 1)),
    *(lambda: np.bool_(True), lambda: np.array(3), lambda: np.array([1.0, np.nan])),
    *(lambda: np.zeros((0, 0)), lambda: np.array([["a"]])),
    lambda: np.array([None, 1], dtype=object),
    lambda: np.datetime64("2020-01-01"),
)


def odd(random: Random) -> Any:
    """Something that fits rarely."""
    return random.choice(_ODD)()


def nested(random: Random) -> Any:
    """A value nested deeper than a program's stack."""
    value: Any = "uniform"
    for _ in range(random.choice((10, 400, 3_000))):
        value = [value] if random.random() < 0.5 else {"traffic": value}
    return value


def integer_near(random: Random, low: int, high: int) -> int:
    """An integer in [low, high]: an edge, a small one, any one."""
    kind = random.random()
    if kind < 0.2:
        return random.choice((low, high))
    if kind < 0.7:
        return min(high, low + random.randrange(8))
    return round(low + (high - low) * random.random() ** 8) if high - low > 1e6 else random.randint(low, high)


def real_near(random: Random, low: float, high: float) -> float:
    """A number in [low, high]: an edge, or near it, any one of any size."""
    kind = random.random()
    if kind < 0.15:
        return random.choice((low, high, math.nextafter(low, high), math.nextafter(high, low)))
    if kind < 0.5:
        return min(high, max(low, round(low + 10 ** random.uniform(-3, 4), random.randrange(4))))
    return low + (high - low) * random.random() ** random.choice((1, 8))


@dataclasses.dataclass(frozen=True, slots=True)
class Field:
    """A field of a settings class, by what its check says of itself.

    Args:
        name: Of the field.
        draw: A value that its own check allows.
    """

    name: str
    draw: Callable[[Random], Any]


def fields_of(settings: Any, *but: str) -> tuple[Field, ...]:
    """Every field of a settings class that has a check, but for some."""
    return tuple(
        Field(field.name, _allowed(field.metadata["check"], field.name))
        for field in dataclasses.fields(settings)
        if "check" in field.metadata and field.name not in but
    )


def _allowed(check: Callable[[str, object], object], name: str) -> Callable[[Random], Any]:
    """Values that a check allows: read from what it says when it refuses."""
    try:
        check(name, _Nothing())
    except ConfigError as error:
        text = str(error)
    else:
        raise RuntimeError(f"{name} allows anything")
    optional = _is_accepted(check, name, None)
    draw: Callable[[Random], Any]
    if found := _INTEGER.search(text):
        low, high = int(found[1]), int(found[2])
        draw = lambda random: integer_near(random, low, high)  # noqa: E731
    elif found := _REAL.search(text):
        first, last = float(found[2]), float(found[3])
        draw = lambda random: _accepted(check, name, lambda: real_near(random, first, last))  # noqa: E731
    elif found := _NAMES.search(text):
        names = re.findall(r"'([^']*)'", found[1])
        draw = lambda random: random.choice(names)  # noqa: E731
    elif "classes of link" in text:
        draw = _links
    elif "True or False" in text:
        draw = lambda random: random.random() < 0.5  # noqa: E731
    else:
        raise RuntimeError(f"{name}: the fuzzers do not understand {text!r}")
    if not optional:
        return draw
    return lambda random: None if random.random() < 0.3 else draw(random)


def _links(random: Random) -> dict[str, dict[str, Any]]:
    """Settings by class of link; the class may be one that the topology does not have."""
    kinds = random.sample(("local", "global", "rank-1", "rank-2", "rank-3"), random.randint(0, 2))
    fields = fields_of(LinkConfig)
    return {kind: some_of(random, fields, 0.5, 0.0) for kind in kinds}


def _is_accepted(check: Callable[[str, object], object], name: str, value: object) -> bool:
    try:
        check(name, value)
    except ConfigError:
        return False
    return True


def _accepted(check: Callable[[str, object], object], name: str, draw: Callable[[], float]) -> float:
    """A number as drawn, or with as few decimals as a time may have."""
    while True:
        value = draw()
        for candidate in (value, round(value, 3), round(value)):
            if _is_accepted(check, name, candidate):
                return candidate


def some_of(random: Random, fields: Sequence[Field], share: float, wrong: float) -> dict[str, Any]:
    """Values for a share of the fields; some of them, by the share ``wrong``, of no kind that fits."""
    return {
        field.name: odd(random) if random.random() < wrong else field.draw(random)
        for field in fields
        if random.random() < share
    }


def mutated(random: Random, table: Mapping[str, Any]) -> dict[str, Any]:
    """A table with one thing changed somewhere: a key lost, misspelt, invented, a value replaced."""
    changed = dict(table)
    if not changed or random.random() < 0.15:
        changed[random.choice(("", "x", "preset", "name", "pattern"))] = odd(random)
        return changed
    key = random.choice(list(changed))
    inner = changed[key]
    if isinstance(inner, dict) and random.random() < 0.7:
        changed[key] = mutated(random, inner)
    elif isinstance(inner, list) and inner and random.random() < 0.7:
        place = random.randrange(len(inner))
        new = mutated(random, inner[place]) if isinstance(inner[place], dict) else odd(random)
        changed[key] = [*inner[:place], new, *inner[place + random.randrange(2) :]]
    elif random.random() < 0.2:
        del changed[key]
    elif random.random() < 0.2:
        changed[f"{key}{random.choice('sx_ ')}"] = changed.pop(key)
    else:
        changed[key] = odd(random)
    return changed

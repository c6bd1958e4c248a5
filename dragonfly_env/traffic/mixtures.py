"""Traffic patterns made of other patterns."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from dragonfly_env.checks.values import check_integer, check_items, check_real, config_error
from dragonfly_env.config.rows import boolean
from dragonfly_env.traffic.base import Pattern, pattern_from_dict
from dragonfly_env.traffic.demand import DemandMatrix

_MAX_INT = 2**31 - 1
_MAX_WEIGHT = 1e100
_HOSTS = "must be a non-empty sequence of host numbers"


def _checked_part(field: str, part: object) -> Pattern:
    if isinstance(part, np.ndarray):
        part = DemandMatrix(part)
    elif isinstance(part, (str, Mapping)):
        part = pattern_from_dict(part)
    if not isinstance(part, Pattern):
        raise config_error(field, part, "must be a traffic pattern; schedules and traces cannot be mixed")
    if part.is_absolute:
        raise config_error(field, part.spec, "must be a relative matrix, as every part of a mixture")
    return part


def _core_part(part: Pattern) -> dict[str, Any]:
    name, arguments = part.core_spec()
    return {"pattern": name, "arguments": arguments}


def _pairs(field: str, parts: object, meaning: str) -> list[tuple[Any, Any]]:
    listed = check_items(field, parts, f"must be a sequence of {meaning} pairs")
    if not listed:
        raise config_error(field, parts, f"must be a sequence of {meaning} pairs")
    for part in listed:
        if not isinstance(part, Sequence) or isinstance(part, str) or len(part) != 2:
            raise config_error(field, part, f"must be a pair {meaning}")
    return [(first, second) for first, second in listed]


def _tables(field: str, arguments: Mapping[str, Any], key: str) -> list[tuple[Any, Any]]:
    """The (key, pattern) pairs that ``to_dict`` or a spec string describes."""
    pairs = []
    for part in check_items(f"{field}.parts", arguments.get("parts"), "must be a list of tables"):
        if not isinstance(part, Mapping) or key not in part:
            raise config_error(f"{field}.parts", part, f"must be a table with '{key}' and a pattern")
        if "arguments" in part:  # the form that the core makes of spec strings
            pattern: object = {"pattern": part.get("pattern"), **part["arguments"]}
        else:
            pattern = part.get("traffic")
        pairs.append((part[key], pattern))
    return pairs


@dataclasses.dataclass(frozen=True, slots=True)
class HostMixture(Pattern):
    """Each set of hosts follows a pattern of its own; hosts in no set do not send.

    Source: Benito et al. (LIA), TACO 2025, section 6.4, generalised.

    Args:
        parts: (hosts, pattern) pairs; hosts as a sequence of numbers, patterns as anything that
            ``parse_traffic`` takes for a single pattern. No host may be in two sets.
        confined: Whether the hosts of a set send only to hosts of the set. Group offsets then count the groups
            that own at least one host of the set, cyclically.

    Example:
        >>> halves = [(range(36), "adv+1"), (range(36, 72), "uniform")]
        >>> traffic = dfe.traffic.HostMixture(halves)
        >>> traffic.spec
        'mixture(36 x adv+1, 36 x uniform)'
    """

    name: ClassVar[str] = "mixture"
    parts: tuple[tuple[tuple[int, ...], Pattern], ...]
    confined: bool = boolean(False, doc="Whether the hosts of a set send only to hosts of the set.")

    def __post_init__(self) -> None:
        Pattern.__post_init__(self)
        parts = []
        for hosts, part in _pairs("mixture.parts", self.parts, "(hosts, pattern)"):
            named = check_items("mixture.hosts", hosts, _HOSTS)
            if not named:
                raise config_error("mixture.hosts", hosts, _HOSTS)
            numbers = tuple(check_integer("mixture.hosts", host, 0, _MAX_INT) for host in named)
            parts.append((numbers, _checked_part("mixture.parts", part)))
        object.__setattr__(self, "parts", tuple(parts))

    def arguments(self) -> dict[str, Any]:
        parts = [{**_core_part(part), "hosts": np.array(hosts, dtype=np.int64)} for hosts, part in self.parts]
        return {"parts": parts, "confined": self.confined}

    @property
    def spec(self) -> str:
        return "mixture(" + ", ".join(f"{len(hosts)} x {part.spec}" for hosts, part in self.parts) + ")"

    def to_dict(self) -> dict[str, Any]:
        parts = [{"hosts": list(hosts), "traffic": part.to_dict()} for hosts, part in self.parts]
        return {"pattern": self.name, "confined": self.confined, "parts": parts}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> HostMixture:
        given = cls.arguments_in(values)
        cls._check_names(given)
        return cls(tuple(_tables("mixture", given, "hosts")), given.get("confined", False))


@dataclasses.dataclass(frozen=True, slots=True)
class WeightedMixture(Pattern):
    """Each message follows one of several patterns, drawn by weight: 70 % uniform and 30 % adv+1, say.

    A host that some of the patterns silence draws from the others. Where a demand matrix gives a host less than
    others, the host sends that much less by the matrix, and offers less in all.

    Args:
        parts: (weight, pattern) pairs; weights above 0, only their ratios matter.

    Example:
        >>> dfe.traffic.WeightedMixture([(0.7, "uniform"), (0.3, "adv+1")]).spec
        'weighted:uniform=0.7,adv+1=0.3'
    """

    name: ClassVar[str] = "weighted"
    parts: tuple[tuple[float, Pattern], ...]

    def __post_init__(self) -> None:
        parts = []
        for weight, part in _pairs("weighted.parts", self.parts, "(weight, pattern)"):
            checked = check_real("weighted weight", weight, 0.0, _MAX_WEIGHT, open_low=True)
            parts.append((checked, _checked_part("weighted.parts", part)))
        object.__setattr__(self, "parts", tuple(parts))

    def arguments(self) -> dict[str, Any]:
        return {"parts": [{**_core_part(part), "weight": weight} for weight, part in self.parts]}

    @property
    def spec(self) -> str:
        return "weighted:" + ",".join(f"{part.spec}={weight!r}" for weight, part in self.parts)

    def to_dict(self) -> dict[str, Any]:
        parts = [{"weight": weight, "traffic": part.to_dict()} for weight, part in self.parts]
        return {"pattern": self.name, "parts": parts}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> WeightedMixture:
        given = cls.arguments_in(values)
        cls._check_names(given)
        return cls(tuple(_tables("weighted", given, "weight")))

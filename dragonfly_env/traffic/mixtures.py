"""Traffic patterns made of data or of other patterns: demand matrices and mixtures."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from dragonfly_env.checks.arrays import as_numbers
from dragonfly_env.checks.outside import MOST_HOSTS, check_items, check_mapping
from dragonfly_env.checks.values import check_integer, check_real, config_error
from dragonfly_env.config.rows import boolean, reject_unknown
from dragonfly_env.config.topology import Dragonfly
from dragonfly_env.traffic.base import Pattern, pattern_from_dict

_MAX_INT = 2**31 - 1
_MAX_WEIGHT = 1e100
_MAX_DEMAND_SIZE = 20_000
_HOSTS = "must be a non-empty sequence of host numbers"


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class DemandMatrix(Pattern):
    """Destinations drawn from a demand matrix.

    Row s is the distribution of the destinations of s, up to a factor: every host that sends offers the
    same load, so only ratios within a row matter. A row of zeros: those hosts do not send.

    Args:
        matrix: (N, N) demands between hosts, (R, R) between routers or (G, G) between groups of the topology
            that it is used on (hosts first if the numbers coincide; then the meaning does too). Finite, at
            least 0, not all 0. Routers and groups stand for a uniformly drawn host of theirs. Copied.

    Raises:
        ConfigError: For anything else.
    """

    name: ClassVar[str] = "demand"
    matrix: npt.NDArray[np.float64]

    def __post_init__(self) -> None:
        given = as_numbers("demand.matrix", self.matrix, ndim=2, what="a matrix of numbers", bools=True)
        matrix = np.array(given, order="C")
        if matrix.shape[0] != matrix.shape[1] or matrix.size == 0:
            raise config_error("demand.matrix", f"shape {matrix.shape}", "must be square")
        wrong = np.argwhere(~(np.isfinite(matrix) & (matrix >= 0)))
        if len(wrong):
            row, column = (int(index) for index in wrong[0])
            value = float(matrix[row, column])
            raise config_error(f"demand.matrix[{row}, {column}]", value, "must be finite and at least 0")
        if not matrix.any():
            raise config_error("demand.matrix", "all zero", "at least one host must send")
        matrix.flags.writeable = False
        object.__setattr__(self, "matrix", matrix)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DemandMatrix) or self.size != other.size:
            return False
        return np.array_equal(self.matrix, other.matrix)

    def __reduce__(self) -> tuple[type[DemandMatrix], tuple[npt.NDArray[np.float64]]]:
        return DemandMatrix, (self.matrix,)  # read-only again after unpickling

    def __hash__(self) -> int:
        return hash((self.name, self.size))

    @property
    def size(self) -> int:
        """Rows, and columns, of the matrix."""
        return int(self.matrix.shape[0])

    def check_size(self, topology: Dragonfly) -> None:
        sizes = {
            "host": topology.num_hosts,
            "router": topology.num_routers,
            "group": topology.num_groups,
        }
        if self.size not in sizes.values():
            per = [f"{kind} ({size})" for kind, size in sizes.items()]
            raise config_error(
                "demand.matrix",
                f"{self.size} x {self.size}",
                f"must be square with one row per {per[0]}, {per[1]} or {per[2]}",
            )

    @property
    def spec(self) -> str:
        return f"demand({self.size} x {self.size})"

    def to_dict(self) -> dict[str, Any]:
        """Only the demands above 0, as lists of rows, columns and values."""
        rows, columns = np.nonzero(self.matrix)
        return {
            "pattern": self.name,
            "size": self.size,
            "rows": rows.tolist(),
            "columns": columns.tolist(),
            "demands": self.matrix[rows, columns].tolist(),
        }

    @classmethod
    def from_arguments(cls, arguments: Mapping[str, Any]) -> Pattern:
        arguments = check_mapping("demand", arguments)
        if set(arguments) == {"matrix"}:
            return cls(arguments["matrix"])
        if set(arguments) != {"size", "rows", "columns", "demands"}:
            given = ", ".join(arguments) or "nothing"
            raise config_error(
                "demand", given, "must have a 'matrix', or 'size', 'rows', 'columns' and 'demands'"
            )
        return _ListedDemands(**arguments)


class _ListedDemands(DemandMatrix):
    """A demand matrix that is known by its demands above 0, as ``DemandMatrix.to_dict`` lists them.

    A few of them may describe a matrix of gigabytes. It is made when somebody asks for it, and the core does so only
    after the topology has been asked whether it has such a matrix at all.
    """

    __slots__ = ("_columns", "_demands", "_rows", "_size")
    _columns: npt.NDArray[np.int64]
    _demands: npt.NDArray[np.float64]
    _rows: npt.NDArray[np.int64]
    _size: int

    def __init__(self, size: object, rows: object, columns: object, demands: object) -> None:
        number = check_integer("demand.size", size, 1, _MAX_DEMAND_SIZE)
        listed = {
            "_rows": _entries("demand.rows", rows, number - 1),
            "_columns": _entries("demand.columns", columns, number - 1),
            "_demands": _entries("demand.demands", demands, math.inf).astype(np.float64),
        }
        lengths = {len(entries) for entries in listed.values()}
        if len(lengths) > 1:
            raise config_error(
                "demand", "rows, columns, demands", f"must describe a matrix: lengths {sorted(lengths)}"
            )
        if not listed["_demands"].any():
            raise config_error("demand.matrix", "all zero", "at least one host must send")
        for name, value in {"_size": number, **listed}.items():
            object.__setattr__(self, name, value)

    @property
    def size(self) -> int:
        return self._size

    @property
    def matrix(self) -> npt.NDArray[np.float64]:
        matrix = np.zeros((self._size, self._size))
        matrix[self._rows, self._columns] = self._demands
        matrix.flags.writeable = False
        return matrix

    def __reduce__(self) -> tuple[Any, ...]:
        return _ListedDemands, (self._size, self._rows, self._columns, self._demands)

    def __repr__(self) -> str:
        return f"<{self.spec}>"


def _entries(field: str, values: object, high: float) -> npt.NDArray[Any]:
    """A column of numbers from 0 to ``high``, whole ones unless that is infinite."""
    kinds = "iuf" if math.isinf(high) else "iu"
    try:
        entries = np.asarray(values)
    except (TypeError, ValueError, OverflowError):
        raise config_error(field, values, "must be a list of numbers") from None
    if entries.ndim != 1 or (len(entries) and entries.dtype.kind not in kinds):
        raise config_error(
            field, values, "must be a list of numbers" if "f" in kinds else "must be a list of integers"
        )
    wrong = np.flatnonzero(~((entries >= 0) & (entries <= high) & (entries < np.inf)))
    if len(wrong):
        allowed = "must be finite and at least 0" if "f" in kinds else f"is out of bounds: from 0 to {high}"
        raise config_error(f"{field}[{wrong[0]}]", entries[wrong[0]].item(), allowed)
    return entries if "f" in kinds else entries.astype(np.int64)


def _checked_part(field: str, part: object) -> Pattern:
    if isinstance(part, Pattern):
        return part
    if isinstance(part, np.ndarray):
        return DemandMatrix(part)
    if isinstance(part, (str, Mapping)):
        return pattern_from_dict(part)
    raise config_error(field, part, "must be a traffic pattern; schedules and traces cannot be mixed")


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
        if "arguments" in part:  # as the core parses spec strings
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
        confined: Whether the hosts of a set talk only to one another. Group offsets then count the groups
            that own at least one host of the set, cyclically.
    """

    name: ClassVar[str] = "mixture"
    parts: tuple[tuple[tuple[int, ...], Pattern], ...]
    confined: bool = boolean(False, doc="Whether the hosts of a set talk only to one another.")

    def __post_init__(self) -> None:
        Pattern.__post_init__(self)
        parts = []
        for hosts, part in _pairs("mixture.parts", self.parts, "(hosts, pattern)"):
            named = check_items("mixture.hosts", hosts, _HOSTS, MOST_HOSTS)
            if not named:
                raise config_error("mixture.hosts", hosts, _HOSTS)
            numbers = tuple(check_integer("mixture.hosts", host, 0, _MAX_INT) for host in named)
            parts.append((numbers, _checked_part("mixture.parts", part)))
        object.__setattr__(self, "parts", tuple(parts))

    def check_size(self, topology: Dragonfly) -> None:
        for _, part in self.parts:
            part.check_size(topology)

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
    def from_arguments(cls, arguments: Mapping[str, Any]) -> Pattern:
        arguments = check_mapping("mixture", arguments)
        reject_unknown(cls, arguments, "traffic pattern 'mixture'")
        return cls(tuple(_tables("mixture", arguments, "hosts")), arguments.get("confined", False))


@dataclasses.dataclass(frozen=True, slots=True)
class WeightedMixture(Pattern):
    """Each message follows one of several patterns, drawn by weight: 70 % uniform and 30 % adv+1, say.

    A host that some of the patterns silence draws from the others.

    Args:
        parts: (weight, pattern) pairs; weights above 0, only their ratios matter.
    """

    name: ClassVar[str] = "weighted"
    parts: tuple[tuple[float, Pattern], ...]

    def __post_init__(self) -> None:
        parts = []
        for weight, part in _pairs("weighted.parts", self.parts, "(weight, pattern)"):
            checked = check_real("weighted weight", weight, 0.0, _MAX_WEIGHT, open_low=True)
            parts.append((checked, _checked_part("weighted.parts", part)))
        object.__setattr__(self, "parts", tuple(parts))

    def check_size(self, topology: Dragonfly) -> None:
        for _, part in self.parts:
            part.check_size(topology)

    def arguments(self) -> dict[str, Any]:
        return {"parts": [{**_core_part(part), "weight": weight} for weight, part in self.parts]}

    @property
    def spec(self) -> str:
        return "weighted:" + ",".join(f"{part.spec}={weight!r}" for weight, part in self.parts)

    def to_dict(self) -> dict[str, Any]:
        parts = [{"weight": weight, "traffic": part.to_dict()} for weight, part in self.parts]
        return {"pattern": self.name, "parts": parts}

    @classmethod
    def from_arguments(cls, arguments: Mapping[str, Any]) -> Pattern:
        arguments = check_mapping("weighted", arguments)
        reject_unknown(cls, arguments, "traffic pattern 'weighted'")
        return cls(tuple(_tables("weighted", arguments, "weight")))

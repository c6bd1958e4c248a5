"""``DemandMatrix``: who sends how much to whom, as a table of numbers.

Demand matrices in files are NumPy's ``.npy``, or text with commas (CSV). A CSV has a line per row. A line of column
labels may come first, and then a column of row labels, too, which must be the same in the same order (as pandas writes
a square table with its index). Labels are not used: rows and columns are numbered from 0.
"""

from __future__ import annotations

import csv
import dataclasses
import io
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from dragonfly_env.checks.archives import parse_npy
from dragonfly_env.checks.arrays import as_numbers
from dragonfly_env.checks.outside import check_mapping, check_path, parsing, read_bytes
from dragonfly_env.checks.values import check_choice, check_integer, config_error
from dragonfly_env.config.topology import Dragonfly
from dragonfly_env.traffic.base import Pattern

if TYPE_CHECKING:
    from dragonfly_env.config.network import NetworkConfig


MAX_DEMAND_SIZE = 20_000
UNITS = ("GB/s",)
"""Units of absolute demands."""

_ROUNDING = 1e-9


def check_unit(unit: str | None) -> str | None:
    """Return a unit of demands; None: relative ones.

    Raises:
        ConfigError: For anything else.
    """
    return None if unit is None else check_choice("demand_unit", unit, UNITS)


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class DemandMatrix(Pattern):
    """Bandwidth by a demand matrix: entry [s, d] is what s sends to d.

    Without a unit only ratios matter: the hosts of the row with the largest sum offer ``load``, the others in
    proportion to the sum of their row. In GB/s the demands say what is offered, and ``load`` is not used. A row of
    zeros: those hosts do not send. Messages to d are drawn in proportion to the entries of the row.

    Args:
        matrix: (N, N) demands between hosts, (R, R) between routers or (G, G) between groups of the topology
            that it is used on (hosts first if the numbers coincide; then the meaning does too). Finite, at
            least 0, not all 0. The hosts of a router or group send equal parts of its row, to uniformly drawn hosts
            of the column. Copied.
        demand_unit: ``"GB/s"``: the demands are rates, in 10^9 bytes of packets (as on the link, headers included)
            a second. None: they are relative.

    Raises:
        ConfigError: For anything else. Rates above that of the hosts' links are refused with the network.

    Example:
        >>> groups = np.roll(np.eye(9), 1, axis=1)
        >>> traffic = dfe.traffic.DemandMatrix(groups)
        >>> traffic.size, traffic.spec, traffic.to_dict()["columns"][:3]
        (9, 'demand(9 x 9)', [1, 2, 3])
        >>> config = dfe.SimulationConfig(topology="72", traffic=traffic, load=0.1)
        >>> dfe.simulate(config, measure_ns=5_000).packets_delivered > 0
        True
    """

    name: ClassVar[str] = "demand"
    matrix: npt.NDArray[np.float64]
    demand_unit: str | None = None

    def __post_init__(self) -> None:
        check_unit(self.demand_unit)
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
        return self.demand_unit == other.demand_unit and np.array_equal(self.matrix, other.matrix)

    def __reduce__(self) -> tuple[Any, ...]:
        return DemandMatrix, (self.matrix, self.demand_unit)  # read-only again after unpickling

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
    def is_absolute(self) -> bool:
        return self.demand_unit is not None

    def load_on(self, topology: Dragonfly, network: NetworkConfig, load: float) -> float:
        """The load of the hosts that offer most.

        Args:
            topology: Where the pattern is used.
            network: With whose links.
            load: That of the run.

        Raises:
            ConfigError: If the matrix says itself what is offered, and that is more than a host's link carries.

        Example:
            >>> rates = dfe.traffic.DemandMatrix(8 * np.eye(9)[::-1], demand_unit="GB/s")
            >>> topology = dfe.Dragonfly.preset("72")
            >>> rates.load_on(topology, dfe.NetworkConfig(), load=1.0)
            0.25
        """
        if self.demand_unit is None:
            return load
        self.check_size(topology)
        hosts = topology.num_hosts // self.size
        with np.errstate(over="ignore"):
            rates = self.matrix.sum(axis=1) / hosts
        row, most = int(rates.argmax()), network.host_bandwidth_gbytes_per_s
        if rates[row] > most * (1 + _ROUNDING):
            allowed = f"must be at most {most:g} GB/s a host, the rate of the link from a host"
            raise config_error(f"demand.matrix row {row}", f"{rates[row]:g} GB/s a host", allowed)
        return min(1.0, float(rates[row]) / most)

    def arguments(self) -> dict[str, Any]:
        return {"matrix": self.matrix}

    @property
    def spec(self) -> str:
        unit = f", {self.demand_unit}" if self.demand_unit else ""
        return f"demand({self.size} x {self.size}{unit})"

    def to_dict(self) -> dict[str, Any]:
        """Only the demands above 0, as lists of rows, columns and values."""
        rows, columns = np.nonzero(self.matrix)
        unit = {"demand_unit": self.demand_unit} if self.demand_unit else {}
        return {
            "pattern": self.name,
            **unit,
            "size": self.size,
            "rows": rows.tolist(),
            "columns": columns.tolist(),
            "demands": self.matrix[rows, columns].tolist(),
        }

    @classmethod
    def from_arguments(cls, arguments: Mapping[str, Any]) -> Pattern:
        arguments = check_mapping("demand", arguments)
        unit = arguments.pop("demand_unit", None)
        if set(arguments) == {"matrix"}:
            return cls(arguments["matrix"], unit)
        if set(arguments) != {"size", "rows", "columns", "demands"}:
            given = ", ".join(arguments) or "nothing"
            raise config_error(
                "demand", given, "must have a 'matrix', or 'size', 'rows', 'columns' and 'demands'"
            )
        return _ListedDemands(**arguments, demand_unit=unit)


class _ListedDemands(DemandMatrix):
    """A demand matrix that is known by its demands above 0, as ``DemandMatrix.to_dict`` lists them.

    A few of them may describe a matrix of gigabytes. It is made when it is needed, and the core does so only
    after the topology has said whether it has such a matrix at all.
    """

    __slots__ = ("_columns", "_demands", "_rows", "_size")
    _columns: npt.NDArray[np.int64]
    _demands: npt.NDArray[np.float64]
    _rows: npt.NDArray[np.int64]
    _size: int

    def __init__(
        self, size: object, rows: object, columns: object, demands: object, demand_unit: str | None = None
    ) -> None:
        number = check_integer("demand.size", size, 1, MAX_DEMAND_SIZE)
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
        for name, value in {"_size": number, "demand_unit": check_unit(demand_unit), **listed}.items():
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
        return _ListedDemands, (self._size, self._rows, self._columns, self._demands, self.demand_unit)

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


_MOST_BYTES = 2**33  # 20,000 hosts squared, and more
_NPY = b"\x93NUMPY"
_UNIT = "demand_unit="
_FILE = "must name a NumPy .npy file or a CSV file"


def parse_demand(text: str) -> DemandMatrix:
    """A matrix from ``"FILE"`` or ``"FILE,demand_unit=GB/s"``.

    Raises:
        ConfigError: If the file cannot be read or holds no demand matrix. A wrong cell is named by row and column and,
            in a CSV, by its line.
    """
    path, comma, setting = text.rpartition(",")
    unit = None
    if comma and setting.strip().lower().startswith(_UNIT):
        value = setting.strip()[len(_UNIT) :]
        unit = check_unit({"gb/s": "GB/s"}.get(value.lower(), value))
    else:
        path = text
    content = read_bytes(check_path("traffic", path), "traffic", _MOST_BYTES, _FILE)
    if content.startswith(_NPY):
        return DemandMatrix(parse_npy(content, field="traffic", shown=f"demand:{path}", allowed=_FILE), unit)
    return DemandMatrix(_parse_csv(content, path), unit)


@dataclass(frozen=True, slots=True)
class _Line:
    """A line of a CSV that is not blank."""

    number: int  # from 1
    values: npt.NDArray[np.float64]  # NaN for text
    text: dict[int, str]  # what is no number, by column


def _parse_csv(content: bytes, path: str) -> npt.NDArray[np.float64]:
    shown = f"demand:{path}"
    with parsing("traffic", shown, _FILE):
        text = content.decode("utf-8-sig")
    lines = _lines_of(text, shown)
    if not lines:
        raise config_error("traffic", shown, f"{_FILE} (it is empty)")
    width = len(lines[0].values)
    for index, line in enumerate(lines):
        if len(line.values) != width:
            allowed = f"must have {width}, as line {lines[0].number} of {path}"
            raise config_error(f"row {index}, line {line.number}", f"{len(line.values)} cells", allowed)
    labels_above, labels_beside = _labels_of(lines)
    rows = lines[labels_above:]
    columns = width - labels_beside
    if len(rows) != columns:
        raise config_error("traffic", shown, f"must be square; it has {len(rows)} rows of {columns} cells")
    matrix = np.empty((columns, columns))
    for row, line in enumerate(rows):
        matrix[row] = line.values[labels_beside:]
        wrong = ~(np.isfinite(matrix[row]) & (matrix[row] >= 0))
        if wrong.any():
            column = int(wrong.argmax())
            value = line.text.get(column + labels_beside, float(matrix[row, column]))
            allowed = f"must be a finite number of at least 0 (line {line.number} of {path})"
            raise config_error(f"demand.matrix[{row}, {column}]", value, allowed)
    return matrix


def _lines_of(text: str, shown: str) -> list[_Line]:
    lines: list[_Line] = []
    most = MAX_DEMAND_SIZE + 1
    with parsing("traffic", shown, _FILE):
        reader = csv.reader(io.StringIO(text, newline=""), strict=True)
        for cells in reader:
            stripped = [cell.strip() for cell in cells]
            if any(stripped):
                values = [_number(cell) for cell in stripped]
                no_numbers = {i: cell for i, cell in enumerate(stripped) if values[i] is None}
                known = np.array([math.nan if value is None else value for value in values])
                lines.append(_Line(reader.line_num, known, no_numbers))
            if max(len(lines), len(cells)) > most:
                raise config_error("traffic", shown, f"must have at most {MAX_DEMAND_SIZE} rows and columns")
    return lines


def _labels_of(lines: Sequence[_Line]) -> tuple[int, int]:
    """Lines and columns of labels: (0, 0), (1, 0) or (1, 1).

    Labels that are numbers count from 0 or 1: others could be demands.
    """
    first = lines[0]
    width = len(first.values)
    if len(lines) == width + 1:
        counts = not first.text and any(
            np.array_equal(first.values, np.arange(start, start + width)) for start in (0, 1)
        )
        return int(bool(first.text) or counts), 0
    if len(lines) == width > 1 and 0 in first.text:
        above = [first.text.get(column, first.values[column]) for column in range(1, width)]
        beside = [line.text.get(0, line.values[0]) for line in lines[1:]]
        if above == beside:
            return 1, 1
    return 0, 0


def _number(cell: str) -> float | None:
    try:
        return None if "_" in cell else float(cell)
    except ValueError:
        return None

"""``DemandMatrix``: who sends how much to whom, as a table of numbers.

Demand matrices in files are NumPy's ``.npy``, or text with commas (CSV). A CSV has a line per row. A line of column
labels may come first, and then a column of row labels, too, which must be the same in the same order (as pandas writes
a square table with its index). Labels are not used: rows and columns are numbered from 0.
"""

from __future__ import annotations

import dataclasses
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from dragonfly_env.checks.files import read_csv
from dragonfly_env.checks.values import (
    as_numbers,
    check_choice,
    check_integer,
    config_error,
    refuse_first,
)
from dragonfly_env.config.topology import Dragonfly
from dragonfly_env.errors import ConfigError
from dragonfly_env.traffic.base import Pattern
from dragonfly_env.traffic.placement import check_placement, parse_placement

if TYPE_CHECKING:
    from dragonfly_env.config.network import NetworkConfig


MAX_DEMAND_SIZE = 20_000
UNITS = ("GB/s",)
"""Units of absolute demands."""

_ROUNDING = 1e-9


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
        placement: Hosts of the rows, which are ranks then: a matrix of 64 ranks runs on 72 hosts. Rules and lists are
            those of ``Job.placement``; random ones follow from the run's seed, and a job with this seed gets the same
            hosts. Hosts without a rank do not send. Next to jobs it must be a list. None: as ``matrix`` says.

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
        >>> dfe.traffic.DemandMatrix(np.ones((64, 64)), placement="random-routers").spec
        'demand(64 x 64, random-routers)'
    """

    name: ClassVar[str] = "demand"
    matrix: npt.NDArray[np.float64]
    demand_unit: str | None = None
    placement: str | tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        if self.demand_unit is not None:
            check_choice("demand_unit", self.demand_unit, UNITS)
        matrix = np.array(
            as_numbers("demand.matrix", self.matrix, ndim=2, what="a matrix of numbers"), order="C"
        )
        if matrix.shape[0] != matrix.shape[1] or matrix.size == 0:
            raise config_error("demand.matrix", f"shape {matrix.shape}", "must be square")
        wrong = ~(np.isfinite(matrix) & (matrix >= 0))
        refuse_first(
            lambda at: f"demand.matrix[{at[0]}, {at[1]}]", matrix, wrong, "must be finite and at least 0"
        )
        if not matrix.any():
            raise config_error("demand.matrix", "all zero", "at least one host must send")
        if self.placement is not None:
            placement = check_placement("demand.placement", self.placement)
            if isinstance(placement, tuple) and len(placement) != len(matrix):
                allowed = f"must list {len(matrix)}, one per row of the matrix"
                raise config_error("demand.placement", f"{len(placement)} hosts", allowed)
            object.__setattr__(self, "placement", placement)
        matrix.flags.writeable = False
        object.__setattr__(self, "matrix", matrix)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DemandMatrix) or self.size != other.size:
            return False
        alike = (self.demand_unit, self.placement) == (other.demand_unit, other.placement)
        return alike and np.array_equal(self.matrix, other.matrix)

    def __repr__(self) -> str:
        return f"<{self.spec}>"

    def __hash__(self) -> int:
        return hash((self.name, self.size))

    @property
    def size(self) -> int:
        """Rows, and columns, of the matrix."""
        return int(self.matrix.shape[0])

    def check_size(self, topology: Dragonfly) -> None:
        if self.placement is not None:
            return  # the core checks it with the placement
        sizes = {"host": topology.num_hosts, "router": topology.num_routers, "group": topology.num_groups}
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
        """
        if self.demand_unit is None:
            return load
        self.check_size(topology)
        hosts = 1 if self.placement is not None else topology.num_hosts // self.size
        rates = self.matrix.sum(axis=1) / hosts
        row, most = int(rates.argmax()), network.host_bandwidth_gbytes_per_s
        if rates[row] > most * (1 + _ROUNDING):
            allowed = f"must be at most {most:g} GB/s a host, the rate of the link from a host"
            raise config_error(f"demand.matrix row {row}", f"{rates[row]:g} GB/s a host", allowed)
        return min(1.0, float(rates[row]) / most)

    def arguments(self) -> dict[str, Any]:
        if self.placement is None:
            return {"matrix": self.matrix}
        return {"matrix": self.matrix, "placement": self._plain_placement}

    @property
    def _plain_placement(self) -> Any:
        return list(self.placement) if isinstance(self.placement, tuple) else self.placement

    @property
    def spec(self) -> str:
        placement = "listed hosts" if isinstance(self.placement, tuple) else self.placement
        parts = (f"{self.size} x {self.size}", self.demand_unit, placement)
        return f"demand({', '.join(filter(None, parts))})"

    def to_dict(self) -> dict[str, Any]:
        """Return the demands above 0, as lists of rows, columns and values."""
        rows, columns = np.nonzero(self.matrix)
        settings: dict[str, Any] = {"demand_unit": self.demand_unit} if self.demand_unit else {}
        if self.placement is not None:
            settings["placement"] = self._plain_placement
        return {
            "pattern": self.name,
            **settings,
            "size": self.size,
            "rows": rows.tolist(),
            "columns": columns.tolist(),
            "demands": self.matrix[rows, columns].tolist(),
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> DemandMatrix:
        arguments = cls.arguments_in(values)
        settings = arguments.pop("demand_unit", None), arguments.pop("placement", None)
        if set(arguments) == {"matrix"}:
            return cls(arguments["matrix"], *settings)
        if set(arguments) != {"size", "rows", "columns", "demands"}:
            given = ", ".join(arguments) or "nothing"
            raise config_error(
                "demand", given, "must have a 'matrix', or 'size', 'rows', 'columns' and 'demands'"
            )
        matrix = np.zeros(2 * [check_integer("demand.size", arguments["size"], 1, MAX_DEMAND_SIZE)])
        try:
            matrix[arguments["rows"], arguments["columns"]] = arguments["demands"]
        except (IndexError, TypeError, ValueError) as error:
            allowed = f"must describe a matrix ({error})"
            raise config_error("demand", "rows, columns, demands", allowed) from None
        return cls(matrix, *settings)


_SETTINGS = ("demand_unit", "placement")
_FILE = "must name a NumPy .npy file or a CSV file"


def parse_demand(text: str) -> DemandMatrix:
    """A matrix from ``"FILE"``, perhaps with settings: ``"FILE,demand_unit=GB/s,placement=random-routers"``."""
    path, settings = text, dict[str, Any]()
    while "," in path:
        rest, _, setting = path.rpartition(",")
        name, sign, value = (part.strip() for part in setting.partition("="))
        if not sign or name.lower() not in _SETTINGS:
            break
        path, settings[name.lower()] = rest, value
    if "demand_unit" in settings:
        unit = settings["demand_unit"]
        settings["demand_unit"] = {"gb/s": "GB/s"}.get(unit.lower(), unit)
    if "placement" in settings:
        settings["placement"] = parse_placement(settings["placement"])
    try:
        numbers = np.load(path, allow_pickle=False) if path.endswith(".npy") else _read_csv(Path(path))
    except ConfigError:
        raise
    except (OSError, EOFError, ValueError, zlib.error) as error:
        raise config_error("traffic", f"demand:{path}", f"{_FILE} ({error})") from None
    return DemandMatrix(numbers, **settings)


def _read_csv(path: Path) -> npt.NDArray[np.float64]:
    """Read the numbers of a CSV file; labels above them and to their left are left out."""
    table = read_csv(path.read_bytes(), header=None, dtype=str, keep_default_na=False)
    lines = [[cell.strip() for cell in cells] for cells in table.to_numpy().tolist()]
    rows = [cells for cells in lines if any(cells)]
    if len(rows) == len(rows[0]) + 1:
        _check_labels(rows.pop(0))
    elif len(rows) > 1 and not _is_number(rows[0][0]) and rows[0][1:] == [cells[0] for cells in rows[1:]]:
        rows = [cells[1:] for cells in rows[1:]]
    matrix = np.empty((len(rows), len(rows[0])))
    for row, cells in enumerate(rows):
        for column, cell in enumerate(cells):
            if not _is_number(cell):
                raise config_error(f"demand.matrix[{row}, {column}]", cell, f"must be a number ({path})")
            matrix[row, column] = float(cell)
    return matrix


def _check_labels(cells: list[str]) -> None:
    """Refuse a line above the numbers that could be one of demands: labels are text, or count from 0 or 1."""
    if all(map(_is_number, cells)) and not any(
        [float(cell) for cell in cells] == [*range(first, first + len(cells))] for first in (0, 1)
    ):
        raise ValueError(f"it must be square; it has {len(cells) + 1} rows of {len(cells)} cells")


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True

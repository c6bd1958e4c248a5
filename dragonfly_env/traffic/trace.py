"""``Trace``: messages as they were recorded, with the routers that each has to pass if that is known."""

from __future__ import annotations

import builtins
import dataclasses
import itertools
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from dragonfly_env import _core
from dragonfly_env.checks.arrays import Index, as_integers, as_numbers, refuse_first
from dragonfly_env.checks.extras import require_analysis
from dragonfly_env.checks.outside import check_mapping, check_path, parsing
from dragonfly_env.checks.values import (
    MAX_RUN_NS,
    PS_PER_NS,
    check_instance,
    check_integer,
    config_error,
    unknown_name,
)
from dragonfly_env.config.topology import Dragonfly
from dragonfly_env.errors import ConfigError
from dragonfly_env.traffic.base import Traffic

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = ("time_ns", "src", "dst", "bytes")
OPTIONAL_COLUMNS = ("routers",)

_MAX_ID = 2**32 - 2
_MAX_BYTES = 2**40
_COLUMN = "a column of numbers"
_MOST_DIGITS = 10  # of a router's number
_ROW = re.compile(r"trace row (\d+)")


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Trace(Traffic):
    """Messages with times of their own. Make one with ``from_file``, ``from_frame`` or ``from_columns``.

    Attributes:
        time_ps: (M,) int64, never decreasing.
        src: (M,) uint32 hosts.
        dst: (M,) uint32 hosts; may equal ``src``.
        bytes: (M,) int64; a message is sent as ceil(bytes / packet size) packets, at least one.
        route_offsets: (M + 1,) int64, or None without prescribed routes. Row m passes
            ``routes[route_offsets[m]:route_offsets[m + 1]]``; nothing there: the policy decides.
        routes: uint32 routers, the source's first, the destination's last; or None.
        path: The file that it was read from, or "".
        sha256: Of that file, or "".

    Example:
        >>> trace = dfe.traffic.Trace.from_columns(
        ...     time_ns=[0, 50], src=[0, 1], dst=[9, 40], bytes=[128, 4096]
        ... )
        >>> len(trace), trace.is_trace
        (2, True)
        >>> config = dfe.SimulationConfig(topology="72", traffic=trace)
        >>> dfe.simulate(config, measure_ns=5_000).packets_delivered
        33
    """

    time_ps: npt.NDArray[np.int64]
    src: npt.NDArray[np.uint32]
    dst: npt.NDArray[np.uint32]
    bytes: npt.NDArray[np.int64]
    route_offsets: npt.NDArray[np.int64] | None = None
    routes: npt.NDArray[np.uint32] | None = None
    path: str = ""
    sha256: str = ""

    @classmethod
    def from_columns(
        cls, *, time_ns: object, src: object, dst: object, bytes: object, routers: object = None
    ) -> Trace:
        """A trace from equally long columns.

        Args:
            time_ns: (M,) times of generation in ns, never decreasing; numbers of any width count as what they
                are exactly, then they are rounded to whole ps.
            src: (M,) sending hosts.
            dst: (M,) receiving hosts.
            bytes: (M,) message sizes, at least 1.
            routers: None, or per message a sequence of routers or a string of them separated by spaces; an
                empty one, or None, leaves the path to the policy.

        Raises:
            ConfigError: For NaN, negative or decreasing times, what is not an integer, columns of different
                lengths; with row, field and value. Ranges of hosts and routes are checked with the topology.

        Example:
            >>> columns = {"time_ns": [0], "src": [0], "dst": [9], "bytes": [128]}
            >>> dfe.traffic.Trace.from_columns(**columns, routers=["0 1 4"]).routes
            array([0, 1, 4], dtype=uint32)
        """
        time_ps = _times(time_ns)
        rows = len(time_ps)
        offsets, routes = (None, None) if routers is None else _routes(routers, rows)
        return cls(
            time_ps=time_ps,
            src=_integers("src", src, rows, 0, _MAX_ID).astype(np.uint32),
            dst=_integers("dst", dst, rows, 0, _MAX_ID).astype(np.uint32),
            bytes=_integers("bytes", bytes, rows, 1, _MAX_BYTES),
            route_offsets=offsets,
            routes=routes,
        )

    @classmethod
    def from_frame(cls, frame: pd.DataFrame) -> Trace:
        """A trace from a table with the columns time_ns, src, dst, bytes and, if known, routers.

        Args:
            frame: The table, of pandas.

        Raises:
            ConfigError: For missing or unknown columns, and as ``from_columns``.

        Example:
            >>> import pandas as pd
            >>> columns = {"time_ns": [0], "src": [0], "dst": [9], "bytes": [128]}
            >>> len(dfe.traffic.Trace.from_frame(pd.DataFrame(columns)))
            1
        """
        allowed = "must be a table with the columns of a trace"
        if isinstance(frame, type) or not (hasattr(frame, "columns") and hasattr(frame, "__getitem__")):
            raise config_error("trace", frame, allowed)
        with parsing("trace", type(frame).__name__, allowed):
            names = [str(name) for name in frame.columns]
        for name in names:
            if name not in COLUMNS + OPTIONAL_COLUMNS:
                raise unknown_name("trace column", name, COLUMNS + OPTIONAL_COLUMNS)
        for name in COLUMNS:
            if name not in names:
                raise config_error("trace columns", names, f"must include {name!r}")
        if len(set(names)) != len(names):
            raise config_error("trace columns", names, "must differ")
        with parsing("trace", type(frame).__name__, allowed):
            columns = {name: frame[name].to_numpy() for name in names}
        return cls.from_columns(**columns)

    @classmethod
    def from_file(cls, path: str | Path) -> Trace:
        """A trace from a Parquet (``.parquet``) or CSV file (``.csv``, also compressed as ``.csv.gz``).

        Args:
            path: The file.

        Raises:
            ConfigError: If the file cannot be read, and as ``from_frame``.
            ImportError: Without the extra [analysis].

        Example:
            >>> import pandas as pd
            >>> columns = {"time_ns": [0], "src": [0], "dst": [9], "bytes": [128]}
            >>> pd.DataFrame(columns).to_csv("trace.csv", index=False)
            >>> len(dfe.traffic.Trace.from_file("trace.csv"))
            1
        """
        require_analysis("a trace in a file")
        from dragonfly_env.traffic.trace_files import (
            read_frame,  # here, because it takes long and few need it
        )

        file = check_path("trace file", path)
        frame, digest = read_frame(file)
        with _rows_as_lines(str(path)):
            trace = cls.from_frame(frame)
        return dataclasses.replace(trace, path=str(path), sha256=digest)

    def __len__(self) -> int:
        return len(self.time_ps)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Trace) and self._bytes() == other._bytes()

    def __hash__(self) -> int:
        return hash(self._bytes())

    def _bytes(self) -> tuple[builtins.bytes | None, ...]:
        arrays = (self.time_ps, self.src, self.dst, self.bytes, self.route_offsets, self.routes)
        return tuple(None if array is None else array.tobytes() for array in arrays)

    @property
    def spec(self) -> str:
        return f"trace:{self.path}" if self.path else f"trace({len(self)} messages)"

    @property
    def is_trace(self) -> bool:
        return True

    def check(self, topology: Dragonfly) -> None:
        self.build_source(check_instance("topology", topology, Dragonfly).to_core(), packet_bytes=_MAX_BYTES)

    def build_source(self, topology: _core.Topology, *, packet_bytes: int) -> _core.Source:
        """What the core replays.

        Raises:
            ConfigError: For hosts out of range and impossible routes, with row, field and value; for messages
                of more than 2^32 - 1 packets.
        """
        check_instance("topology", topology, _core.Topology)
        packets = -(-self.bytes // check_integer("packet_bytes", packet_bytes, 1, _MAX_BYTES))
        with _rows_as_lines(self.path):
            if len(packets) and packets.max() > np.iinfo(np.uint32).max:
                row = int(packets.argmax())
                raise config_error(f"trace row {row} bytes", int(self.bytes[row]), "is too large a message")
            return _core.trace_source(
                topology,
                self.time_ps,
                self.src,
                self.dst,
                packets.astype(np.uint32),
                self.route_offsets,
                self.routes,
            )

    def to_dict(self) -> dict[str, Any]:
        """Path and SHA-256 of the file that it was read from, or else all columns as lists.

        Example:
            >>> columns = {"time_ns": [0], "src": [0], "dst": [9], "bytes": [128]}
            >>> dfe.traffic.Trace.from_columns(**columns).to_dict()["trace"]["dst"]
            [9]
        """
        if self.path:
            return {"trace": {"path": self.path, "sha256": self.sha256}}
        time_ns = [
            time // PS_PER_NS if time % PS_PER_NS == 0 else time / PS_PER_NS for time in self.time_ps.tolist()
        ]
        columns: dict[str, Any] = {
            "time_ns": time_ns,
            "src": self.src.tolist(),
            "dst": self.dst.tolist(),
            "bytes": self.bytes.tolist(),
        }
        if self.routes is not None and self.route_offsets is not None:
            ends = self.route_offsets.tolist()
            columns["routers"] = [
                " ".join(map(str, self.routes[first:last].tolist()))
                for first, last in itertools.pairwise(ends)
            ]
        return {"trace": columns}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Trace:
        """The inverse of ``to_dict``.

        Args:
            values: A table with the key ``trace``: columns, or ``path`` and ``sha256``.

        Raises:
            ConfigError: If the file is not the one that was described, and as ``from_columns``.

        Example:
            >>> columns = {"time_ns": [0], "src": [0], "dst": [9], "bytes": [128]}
            >>> len(dfe.traffic.Trace.from_dict({"trace": columns}))
            1
        """
        table = check_mapping("trace", check_mapping("traffic", values).get("trace"), "must be a table")
        if "path" in table:
            reject = set(table) - {"path", "sha256"}
            if reject:
                raise config_error("trace", sorted(reject), "must have path and sha256 and nothing else")
            trace = cls.from_file(check_path("trace path", table["path"]))
            wanted = table.get("sha256", trace.sha256)
            if trace.sha256 != wanted:
                raise config_error("trace sha256", trace.sha256, f"the file must be the one with {wanted}")
            return trace
        if not set(COLUMNS) <= set(table) <= set(COLUMNS + OPTIONAL_COLUMNS):
            allowed = f"must have {', '.join(COLUMNS)} and may have {', '.join(OPTIONAL_COLUMNS)}"
            raise config_error("trace columns", list(table), allowed)
        return cls.from_columns(**table)


@contextmanager
def _rows_as_lines(path: str) -> Iterator[None]:
    """Name a row of a CSV file by its line in messages, of the core, too."""
    try:
        yield
    except ConfigError as error:
        found = _ROW.match(str(error))
        if found is None or not path:
            raise
        from dragonfly_env.traffic.trace_files import line_of_row  # as in `Trace.from_file`

        line = line_of_row(Path(path), int(found[1]))
        if line is None:
            raise
        raise ConfigError(f"trace line {line}{str(error)[found.end() :]}") from None


def _times(time_ns: object) -> npt.NDArray[np.int64]:
    in_row = _in_row("time_ns")
    column = as_numbers("trace time_ns", time_ns, ndim=1, what=_COLUMN, at=in_row)
    wrong = ~((column >= 0) & (column <= MAX_RUN_NS))
    refuse_first(in_row, column, wrong, f"must be a time from 0 to {MAX_RUN_NS:g} ns")
    whole_ns = np.floor(column)  # apart, because a double holds no 10^18 ps
    time_ps = whole_ns.astype(np.int64) * PS_PER_NS
    time_ps += np.rint((column - whole_ns) * PS_PER_NS).astype(np.int64)
    falls = np.diff(time_ps, prepend=0) < 0
    if falls.any():
        before = column[int(falls.argmax()) - 1]
        refuse_first(
            in_row, column, falls, f"rows must be sorted by time; the row before is at {before:.15g}"
        )
    return time_ps


def _integers(field: str, values: object, rows: int, low: int, high: int) -> npt.NDArray[np.int64]:
    column = as_integers(f"trace {field}", values, low, high, what=_COLUMN, at=_in_row(field))
    if len(column) != rows:
        raise config_error(f"trace {field}", f"{len(column)} entries", f"time_ns has {rows}")
    return column


def _in_row(field: str) -> Callable[[Index], str]:
    return lambda index: f"trace row {index[0]} {field}"


def _routes(routers: object, rows: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint32]]:
    if isinstance(routers, (str, bytes)) or not isinstance(routers, (Sequence, np.ndarray)):
        raise config_error("trace routers", routers, "must be a column of routes")
    with parsing("trace routers", routers, "must be a column of routes"):
        given = len(routers)
    if given != rows:
        raise config_error("trace routers", f"{given} entries", f"time_ns has {rows}")
    with parsing("trace routers", routers, "must be a column of routes"):
        entries = routers.tolist() if isinstance(routers, np.ndarray) else list(routers)
    offsets = np.zeros(rows + 1, dtype=np.int64)
    flat: list[int] = []
    for row, entry in enumerate(entries):
        flat.extend(_route(row, entry))
        offsets[row + 1] = len(flat)
    return offsets, np.array(flat, dtype=np.uint32)


def _route(row: int, entry: object) -> list[int]:
    if entry is None or (isinstance(entry, float) and math.isnan(entry)):
        return []
    field = f"trace row {row} routers"
    allowed = f"must be integers from 0 to {_MAX_ID}, separated by spaces or in a list"
    if isinstance(entry, str):
        words = entry.split()
        if not all(word.isascii() and word.isdigit() and len(word) <= _MOST_DIGITS for word in words):
            raise config_error(field, entry, allowed)
        entry = [int(word) for word in words]
    if not isinstance(entry, (Sequence, np.ndarray)) or isinstance(entry, bytes):
        raise config_error(field, entry, allowed)
    route: list[int] = as_integers(field, entry, 0, _MAX_ID, at=lambda _: field).tolist()
    return route

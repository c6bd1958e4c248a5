"""``Trace``: messages as they were recorded, with the routers that each has to pass if that is known."""

from __future__ import annotations

import builtins
import dataclasses
import hashlib
import io
import itertools
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from dragonfly_env import _core
from dragonfly_env.checks.extras import require_analysis
from dragonfly_env.checks.files import read_csv
from dragonfly_env.checks.values import (
    MAX_RUN_NS,
    PS_PER_NS,
    as_numbers,
    check_choice,
    check_mapping,
    check_time_ns,
    config_error,
    ns_to_ps,
    refuse_first,
    unknown_name,
)
from dragonfly_env.config.rows import read_only, to_fields
from dragonfly_env.config.topology import Dragonfly
from dragonfly_env.traffic.base import Traffic

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = ("time_ns", "src", "dst", "bytes")
OPTIONAL_COLUMNS = ("routers",)

_MAX_ID = 2**32 - 2
_MAX_BYTES = 2**40
_COLUMN = "a column of numbers"


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Trace(Traffic):
    """Messages with times of their own. Make one with ``from_file``, ``from_frame`` or ``from_columns``.

    Attributes:
        time_ps: (M,) int64, never decreasing.
        src: (M,) uint32 hosts.
        dst: (M,) uint32 hosts; may equal ``src``: the message goes to the host's router and back, as in programs.
        bytes: (M,) int64; a message is sent as ceil(bytes / packet size) packets, at least one, as in programs.
        route_offsets: (M + 1,) int64, or None without prescribed routes. Row m passes
            ``routes[route_offsets[m]:route_offsets[m + 1]]``; nothing there: the policy decides.
        routes: uint32 routers, the source's first, the destination's last; or None.
        path: The file that it was read from, or "".
        sha256: Digest of the file, or "".
        start: "zero": times count from 0; "first": from the first message, which suits times since 1970.
        delay_ns: By so much ``time_ps`` is later than these times.

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
    start: str = "zero"
    delay_ns: float = 0.0

    @classmethod
    def from_columns(
        cls,
        *,
        time_ns: Any,
        src: object,
        dst: object,
        bytes: object,
        routers: object = None,
        start: str = "zero",
    ) -> Trace:
        """A trace from equally long columns.

        Args:
            time_ns: (M,) times of generation in ns, never decreasing; rounded to whole ps.
            src: (M,) sending hosts.
            dst: (M,) receiving hosts.
            bytes: (M,) message sizes, at least 0.
            routers: None, or per message a sequence of routers or a string of them separated by spaces; an
                empty one, or None, leaves the path to the policy.
            start: "zero", or "first": times count from the first message.
        """
        check_choice("trace start", start, ("zero", "first"))
        if start == "first" and len(time_ns):
            time_ns = np.asarray(time_ns)
            time_ns = time_ns - time_ns[0]
        time_ps = _times(time_ns)
        rows = len(time_ps)
        offsets, routes = (None, None) if routers is None else _routes(routers, rows)
        return cls(
            time_ps=time_ps,
            src=_integers("src", src, rows, 0, _MAX_ID).astype(np.uint32),
            dst=_integers("dst", dst, rows, 0, _MAX_ID).astype(np.uint32),
            bytes=_integers("bytes", bytes, rows, 0, _MAX_BYTES).astype(np.int64),
            route_offsets=offsets,
            routes=routes,
            start=start,
        )

    @classmethod
    def from_frame(cls, frame: pd.DataFrame, *, start: str = "zero") -> Trace:
        """A trace from a table with the columns time_ns, src, dst, bytes and, if known, routers.

        Args:
            frame: The table, of pandas.
            start: As for ``from_columns``.
        """
        names = [str(name) for name in frame.columns]
        for name in names:
            if name not in COLUMNS + OPTIONAL_COLUMNS:
                raise unknown_name("trace column", name, COLUMNS + OPTIONAL_COLUMNS)
        for name in COLUMNS:
            if name not in names:
                raise config_error("trace columns", names, f"must include {name!r}")
        return cls.from_columns(**{name: frame[name].to_numpy() for name in names}, start=start)

    @classmethod
    def from_file(cls, path: str | Path, *, start: str = "zero") -> Trace:
        """A trace from a Parquet (``.parquet``) or CSV file (``.csv``, also compressed as ``.csv.gz``).

        Args:
            path: The file.
            start: As for ``from_columns``.
        """
        require_analysis("a trace in a file")
        name = str(path).lower()
        if not name.endswith((".parquet", ".csv", ".csv.gz")):
            raise config_error("trace file", str(path), "must end in .parquet, .csv or .csv.gz")
        try:
            content = Path(path).read_bytes()
            frame = (
                _read_parquet(content)
                if name.endswith(".parquet")
                else read_csv(content, dtype={"routers": str})
            )
        except (OSError, ValueError, EOFError, zlib.error) as error:
            raise config_error("trace file", str(path), f"cannot be read ({error})") from None
        digest = hashlib.sha256(content).hexdigest()
        return dataclasses.replace(cls.from_frame(frame, start=start), path=str(path), sha256=digest)

    def __post_init__(self) -> None:
        for array in (self.time_ps, self.src, self.dst, self.bytes, self.route_offsets, self.routes):
            read_only(array)

    def __reduce__(self) -> tuple[Any, ...]:
        return to_fields(self)

    def __len__(self) -> int:
        return len(self.time_ps)

    def __repr__(self) -> str:
        return f"<Trace of {len(self)} messages{f' in {self.path!r}' if self.path else ''}>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Trace) and self._bytes() == other._bytes()

    def __hash__(self) -> int:
        return hash(self._bytes())

    def _bytes(self) -> tuple[builtins.bytes | None, ...]:
        arrays = (self.time_ps, self.src, self.dst, self.bytes, self.route_offsets, self.routes)
        return tuple(None if array is None else array.tobytes() for array in arrays)

    @property
    def spec(self) -> str:
        if self.path and self.start != "zero":
            return f"trace:{self.path},start={self.start}"
        return f"trace:{self.path}" if self.path else f"trace({len(self)} messages)"

    @property
    def is_trace(self) -> bool:
        return True

    def delayed(self, delay_ns: float) -> Trace:
        """Return the messages, each of them later."""
        whole_ps = ns_to_ps("delay_ns", self.delay_ns) + ns_to_ps("delay_ns", delay_ns)
        time_ps = self.time_ps + ns_to_ps("delay_ns", delay_ns)
        return dataclasses.replace(self, time_ps=time_ps, delay_ns=whole_ps / PS_PER_NS)

    def check(self, topology: Dragonfly) -> None:
        self.build_source(topology.to_core(), packet_bytes=_MAX_BYTES)

    def delivered_ns(self, log: Mapping[str, npt.NDArray[Any]]) -> npt.NDArray[np.float64]:
        """Return the times at which messages were delivered.

        Args:
            log: ``Simulation.packet_log()`` of a run of this trace.

        Returns:
            (M,) the time at which the last packet of the message was delivered, in ns; NaN where the log has not all of
            its packets.

        Example:
            >>> trace = dfe.traffic.Trace.from_columns(
            ...     time_ns=[0, 50], src=[0, 1], dst=[9, 40], bytes=[128, 4096]
            ... )
            >>> config = dfe.SimulationConfig(topology="72", traffic=trace, packet_log=True)
            >>> sim = dfe.Simulation(config)
            >>> metrics = sim.run_to_completion()
            >>> float(trace.delivered_ns(sim.packet_log()).max()) == metrics.makespan_ns
            True
        """
        if "message" not in log:
            raise config_error("log", sorted(log), "must be the packet log of a run of a trace")
        rows = log["message"]
        ours = rows >= 0
        left = np.ones(len(self), dtype=np.int64)
        left[rows[ours]] = log["message_packets"][ours]
        left -= np.bincount(rows[ours], minlength=len(self))
        latest = np.full(len(self), -np.inf)
        np.maximum.at(latest, rows[ours], log["delivered_ns"][ours])
        return np.where(left == 0, latest, np.nan)

    def messages_of(
        self, src: npt.NDArray[Any], number: npt.NDArray[Any], *, packet_bytes: int
    ) -> dict[str, npt.NDArray[np.int64]]:
        """The messages of packets, by their hosts and by their numbers there.

        Returns:
            ``message`` and ``message_packets`` of ``Simulation.packet_log``.
        """
        order = self.src.argsort(kind="stable")
        packets = self._packets(packet_bytes)
        ends = np.cumsum(packets[order])
        hosts = self.src[order]
        before = np.concatenate(([0], ends))[np.searchsorted(hosts, src)]
        rows = order[np.searchsorted(ends, before + number, side="right")]
        return {"message": rows, "message_packets": packets[rows]}

    def _packets(self, packet_bytes: int) -> npt.NDArray[np.int64]:
        return np.maximum(1, -(-self.bytes // packet_bytes))

    def build_source(self, topology: _core.Topology, *, packet_bytes: int) -> _core.Source:
        """The source that replays the trace in the core, which checks hosts and routes."""
        packets = self._packets(packet_bytes)
        refuse_first(
            _in_row("bytes"), self.bytes, packets > np.iinfo(np.uint32).max, "is too large a message"
        )
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
        """Path and SHA-256 of the file that it was read from, or else all columns as lists."""
        if self.path:
            times: dict[str, Any] = {"start": self.start} if self.start != "zero" else {}
            times |= {"delay_ns": self.delay_ns} if self.delay_ns else {}
            return {"trace": {"path": self.path, "sha256": self.sha256, **times}}
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
            values: A table with the key ``trace``: columns, or ``path`` with ``sha256``, ``start`` and ``delay_ns``.
        """
        table = check_mapping("trace", check_mapping("traffic", values).get("trace"), "must be a table")
        if "path" in table:
            known = ("path", "sha256", "start", "delay_ns")
            if reject := set(table) - set(known):
                raise config_error("trace", sorted(reject), f"must have {', '.join(known)} and nothing else")
            delay_ns = check_time_ns("trace delay_ns", table.get("delay_ns", 0.0), 0.0, MAX_RUN_NS)
            trace = cls.from_file(table["path"], start=table.get("start", "zero")).delayed(delay_ns)
            wanted = table.get("sha256", trace.sha256)
            if trace.sha256 != wanted:
                raise config_error("trace sha256", trace.sha256, f"the file must be the one with {wanted}")
            return trace
        if not set(COLUMNS) <= set(table) <= set(COLUMNS + OPTIONAL_COLUMNS):
            allowed = f"must have {', '.join(COLUMNS)} and may have {', '.join(OPTIONAL_COLUMNS)}"
            raise config_error("trace columns", list(table), allowed)
        return cls.from_columns(**table)


def _read_parquet(content: builtins.bytes) -> pd.DataFrame:
    import pandas as pd  # here, because it takes long and few need it

    return pd.read_parquet(io.BytesIO(content))


def _times(time_ns: object) -> npt.NDArray[np.int64]:
    in_row = _in_row("time_ns")
    column = as_numbers("trace time_ns", time_ns, ndim=1, what=_COLUMN)
    wrong = ~((column >= 0) & (column <= MAX_RUN_NS))
    refuse_first(
        in_row,
        column,
        wrong,
        f"must be a time from 0 to {MAX_RUN_NS:g} ns; start='first' counts from the first",
    )
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


def _integers(field: str, values: object, rows: int, low: int, high: int) -> npt.NDArray[np.float64]:
    if np.asarray(values).dtype.kind == "b":
        raise config_error(f"trace {field}", values, "must be integers, not truth values")
    column = as_numbers(f"trace {field}", values, ndim=1, what=_COLUMN)
    if len(column) != rows:
        raise config_error(f"trace {field}", f"{len(column)} entries", f"time_ns has {rows}")
    wrong = ~((column >= low) & (column <= high)) | (column != np.floor(column))
    refuse_first(_in_row(field), column, wrong, f"must be an integer from {low} to {high}")
    return column


def _in_row(field: str) -> Callable[[tuple[int, ...]], str]:
    return lambda index: f"trace row {index[0]} {field}"


def _routes(routers: Any, rows: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint32]]:
    if len(routers) != rows:
        raise config_error("trace routers", f"{len(routers)} entries", f"time_ns has {rows}")
    routes = [_route(row, entry) for row, entry in enumerate(routers)]
    offsets = np.cumsum([0, *map(len, routes)], dtype=np.int64)
    return offsets, np.array([*itertools.chain(*routes)], dtype=np.uint32)


def _route(row: int, entry: object) -> list[int]:
    if entry is None or entry != entry:  # NaN
        return []
    words = entry.split() if isinstance(entry, str) else entry
    try:
        route = [int(word) for word in words]  # type: ignore[attr-defined]
    except (TypeError, ValueError):
        route = [-1]
    if route and not 0 <= min(route) <= max(route) <= _MAX_ID:
        allowed = f"must be integers from 0 to {_MAX_ID}, separated by spaces or in a list"
        raise config_error(f"trace row {row} routers", entry, allowed)
    return route

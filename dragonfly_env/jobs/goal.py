"""GOAL: schedules of applications as programs, from text or from the binary form of LogGOPSim and ATLAHS."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from dragonfly_env import _core
from dragonfly_env.checks.files import refusing, write_text
from dragonfly_env.checks.values import PS_PER_NS, config_error, parse_assignments
from dragonfly_env.config.rows import Record, changed, integer, real, time_ns, values_of
from dragonfly_env.jobs.operations import (
    COMPUTE,
    MOST_BYTES,
    RECEIVE,
    SEND,
    SEND_ALL_TO_ALL,
    Operation,
    as_graph,
)
from dragonfly_env.jobs.program import MAX_JITTER, PIECE_BYTES, Program


@dataclasses.dataclass(frozen=True, slots=True, repr=False)
class Goal(Record, Program):
    r"""A schedule in a GOAL file: a graph of sends, receives and computations per rank.

    Without ``rendezvous_bytes``, sends are eager for all sizes. Matching costs no time. ``nic`` is read and not used: a
    host has one link. The k-th receive from a rank with a tag is for the k-th send.

    Args:
        path: The file. Its SHA-256 is a part of a run's identity.
        calc_unit_ns: The time of one unit of ``calc``.
        bytes_scale: Size of a message, as a multiple of its size in the file.
        ranks_per_host: Consecutive ranks that share a host: GPUs of a node. Each rank keeps its streams (``cpu``);
            messages inside a host take no time.
        overhead_ns: LogGOPSim's o: a computation before each send and after each receive, on the stream of the
            message. An eager send then ends with its overhead, and not when it has left.
        rendezvous_bytes: LogGOPSim's S: a message of more bytes in the file leaves after a request to the receiver and
            its acknowledgement, a packet each, which the receiver sends once the receive has started. Both ends must
            state sizes on the same side of it.

    Raises:
        ConfigError: For a file that is not GOAL; the message names its line.

    Source: Hoefler, Schneider, Lumsdaine, LogGOPSim, LSAP 2010; ATLAHS (spcl/atlahs).

    Example:
        >>> from pathlib import Path
        >>> lines = ["num_ranks 2", "rank 0 {", "send 4096b to 1 tag 7", "}"]
        >>> lines += ["rank 1 {", "recv 4096b from 0 tag 7", "}"]
        >>> _ = Path("ping.goal").write_text("\n".join(lines))
        >>> dfe.Job("goal:ping.goal", placement="random").num_hosts
        2
    """

    name: ClassVar[str] = "goal"
    summary: ClassVar[str] = (
        "a schedule in a GOAL file, text or binary: sends, receives and computations per rank"
    )
    source: ClassVar[str] = "LogGOPSim (spcl/LogGOPSim), ATLAHS (spcl/atlahs)"
    called: ClassVar[str] = "program 'goal'"

    path: str
    calc_unit_ns: float = real(1.0, 1e-3, 1e9, doc="The time of one unit of calc, in ns.")
    bytes_scale: float = real(1.0, 1e-6, 1e6, doc="Size of a message, as a multiple of its size in the file.")
    ranks_per_host: int = integer(1, 1, 4096, doc="Consecutive ranks that share a host.")
    overhead_ns: float = time_ns(
        0.0, 0.0, 1e6, doc="Computation before each send and after each receive; LogGOPSim's o."
    )
    rendezvous_bytes: int | None = integer(
        None,
        0,
        MOST_BYTES,
        unit="bytes",
        optional=True,
        doc="Larger messages of the file wait for their receive, by a request and its acknowledgement; unset: none.",
    )
    jitter: float = real(
        0.0, 0.0, MAX_JITTER, doc="Standard deviation of computing times, as a share of them."
    )
    piece_bytes: int = integer(
        PIECE_BYTES,
        1,
        MOST_BYTES,
        unit="bytes",
        doc="Size of the pieces in which messages leave, in turn over all channels.",
    )

    def __post_init__(self) -> None:
        Record.__post_init__(self)
        self.graph(0)

    @classmethod
    def parse(cls, text: str) -> Goal:
        """Parse ``"trace.goal,ranks_per_host=4"``."""
        path, _, settings = text.partition(",")
        return cls.from_dict({"goal": path, **parse_assignments(settings, "program")})

    @property
    def spec(self) -> str:
        settings = ",".join(f"{name}={value}" for name, value in self._settings().items())
        return f"goal:{self.path},{settings}".rstrip(",")

    def _settings(self) -> dict[str, Any]:
        return changed(self, path=self.path)

    @property
    def digest(self) -> str:
        """The SHA-256 of the file."""
        with refusing("program", Path(self.path), "must be a GOAL file that can be read"):
            about = Path(self.path).stat()
            return _digest(self.path, about.st_mtime_ns, about.st_size)

    def num_hosts(self) -> int:
        return self.graph(0).num_ranks

    def check(self, hosts: int) -> None:
        if hosts != self.num_hosts():
            raise config_error("hosts", hosts, f"must be {self.num_hosts()}, as many as {self.path} is for")

    def operations(self, rank: int, ranks: int) -> Iterable[Operation]:
        return [Operation(*fields) for fields in self.graph(ranks).operations(rank)]

    def graph(self, ranks: int) -> _core.Graph:
        return _read(
            self.digest,
            self.path,
            self.calc_unit_ns * PS_PER_NS,
            self.bytes_scale,
            self.ranks_per_host,
            round(self.overhead_ns * PS_PER_NS),
            self.rendezvous_bytes,
        )

    def to_dict(self) -> dict[str, Any]:
        return {"goal": self.path, **self._settings()}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Goal:
        """The program that ``to_dict`` described."""
        settings = dict(values)
        path = settings.pop("goal")
        cls._check_names(settings)
        return cls(path, **settings)

    def resolved(self, ranks: int) -> dict[str, Any]:
        return {**values_of(self), "path": Path(self.path).name, "sha256": self.digest}


def write_goal(path: str | Path, ranks: Sequence[Iterable[Operation]]) -> None:
    """Write the operations of ranks as a schedule in GOAL. Times are whole ns; measured operations are left out.

    Args:
        path: The file.
        ranks: Operations of each rank, as a list or as a graph.

    Raises:
        ConfigError: If the file cannot be written, or a receive has no send.

    Example:
        >>> milc = dfe.jobs.Milc(scale=0.001, gap_ns=1_000)
        >>> dfe.jobs.write_goal("milc.goal", [milc.operations(r, 8) for r in range(8)])
        >>> dfe.Job("goal:milc.goal").num_hosts
        8
    """
    graphs = [as_graph(operations) for operations in ranks]
    tags: dict[str, int] = {}
    sizes: dict[tuple[int, int, str], list[int]] = {}
    for rank, operations in enumerate(graphs):
        for operation in operations:
            if operation.kind in (SEND, SEND_ALL_TO_ALL):
                tags.setdefault(operation.label, len(tags))
                sizes.setdefault((rank, operation.partner, operation.label), []).append(operation.amount)
    for channel in sizes.values():
        channel.reverse()
    lines = [f"num_ranks {len(graphs)}"]
    for rank, operations in enumerate(graphs):
        waits = 1 + max((operation.stream for operation in operations), default=0)
        lines.append(f"rank {rank} {{")
        for number, operation in enumerate(operations):
            if operation.kind in (SEND, SEND_ALL_TO_ALL):
                what = f"send {operation.amount}b to {operation.partner} tag {tags[operation.label]}"
            elif operation.kind == RECEIVE:
                left = sizes.get((operation.partner, rank, operation.label))
                if not left:
                    raise config_error(
                        "receive",
                        number,
                        f"must be sent: rank {rank} waits for rank {operation.partner} in vain",
                    )
                what = f"recv {left.pop()}b from {operation.partner} tag {tags[operation.label]}"
            elif operation.kind == COMPUTE:
                what = f"calc {round(operation.amount / PS_PER_NS)} cpu {operation.stream}"
            else:
                what = f"calc 0 cpu {waits}"
            lines.append(f"l{number}: {what}")
        for number, operation in enumerate(operations):
            lines += [f"l{number} requires l{other}" for other in operation.after or ()]
            lines += [f"l{number} irequires l{other}" for other in operation.after_start]
        lines.append("}")
    write_text("\n".join([*lines, ""]), Path(path))


@functools.lru_cache(maxsize=64)
def _digest(path: str, modified_ns: int, size: int) -> str:
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@functools.lru_cache(maxsize=16)
def _read(digest: str, path: str, *options: Any) -> _core.Graph:
    return _core.read_goal(path, *options)

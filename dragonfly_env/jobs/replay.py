"""``Replay``: the messages of a trace as a program, which any hosts run next to other traffic."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterable
from typing import Any, ClassVar

import numpy as np

from dragonfly_env.checks.values import config_error
from dragonfly_env.jobs.operations import COMPUTE, MOST_BYTES, Operation, receive, send
from dragonfly_env.jobs.program import Program
from dragonfly_env.traffic.trace import Trace


@dataclasses.dataclass(frozen=True, slots=True)
class Replay(Program):
    """The messages of a trace, sent at their times by the ranks of a job: hosts of the trace are ranks.

    Times count from the start of the job. ``dfe.Job(trace)`` and ``"trace:FILE"`` make a replay.

    Args:
        trace: The messages, without routes.

    Raises:
        ConfigError: For a trace without messages, or with routes: a job's hosts are not those of the trace.

    Example:
        >>> trace = dfe.traffic.Trace.from_columns(
        ...     time_ns=[0, 50], src=[0, 1], dst=[2, 2], bytes=[128, 4096]
        ... )
        >>> job = dfe.Job(trace, placement="random")
        >>> config = dfe.SimulationConfig(
        ...     topology="72", jobs=[job], traffic="uniform", load=0.2
        ... )
        >>> dfe.Simulation(config).run_to_completion().jobs[0].messages.count
        2
    """

    name: ClassVar[str] = "trace"
    summary: ClassVar[str] = "the messages of a trace file (Parquet or CSV) at their times, on any hosts"
    source: ClassVar[str] = "your recording, or the packet log of a run"

    trace: Trace
    jitter: float = dataclasses.field(default=0.0, init=False, repr=False)
    piece_bytes: int = dataclasses.field(default=MOST_BYTES, init=False, repr=False)

    def __post_init__(self) -> None:
        if not len(self.trace):
            raise config_error("program", self.spec, "must be a trace with a message")
        if self.trace.routes is not None and len(self.trace.routes):
            raise config_error(
                "program",
                self.spec,
                "must be a trace without routes: a job's hosts are not those of the trace",
            )

    @property
    def spec(self) -> str:
        return self.trace.spec

    def num_hosts(self) -> int:
        return int(max(self.trace.src.max(), self.trace.dst.max())) + 1

    def check(self, hosts: int) -> None:
        if hosts != self.num_hosts():
            raise config_error("hosts", hosts, f"must be {self.num_hosts()}, as many as {self.spec} has")

    def operations(self, rank: int, ranks: int) -> Iterable[Operation]:
        received, sent = _rows(self.trace)
        for row in received[rank]:
            yield receive(int(self.trace.src[row]))
        now_ps = 0
        for row in sent[rank]:
            time_ps = int(self.trace.time_ps[row])
            if time_ps > now_ps:
                yield Operation(COMPUTE, amount=time_ps - now_ps)
            now_ps = time_ps
            yield send(int(self.trace.dst[row]), int(self.trace.bytes[row]))

    def to_dict(self) -> dict[str, Any]:
        return self.trace.to_dict()


@functools.lru_cache(maxsize=1)
def _rows(trace: Trace) -> tuple[list[Any], list[Any]]:
    """Rows of the messages that each rank receives and sends, in order."""
    ranks = range(int(max(trace.src.max(), trace.dst.max())) + 1)

    def by(hosts: Any) -> list[Any]:
        order = hosts.argsort(kind="stable")
        return np.split(order, np.searchsorted(hosts[order], ranks[1:]))

    return by(trace.dst), by(trace.src)

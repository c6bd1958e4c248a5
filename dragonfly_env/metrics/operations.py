"""Jobs of a run, and the counts of their operations and messages."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any

from dragonfly_env.checks.values import PS_PER_NS

ITERATION = "iteration"
"""Operation name of whole iterations."""

ANY_OPERATION = ""
"""Operation name of the time in any operation, in programs that measure operations inside others."""


@dataclasses.dataclass(frozen=True, slots=True)
class JobInfo:
    """Description of the measured job."""

    name: str
    """The name of the job."""
    program: str
    """Program that the job runs."""
    hosts: tuple[int, ...]
    """Rank i lives on the i-th."""
    start_ps: int
    """Start of its ranks, in ps."""
    endless: bool
    """Whether it goes on for as long as the run does."""
    operation_names: tuple[str, ...]
    """The first is that of whole iterations; the last may be ``ANY_OPERATION``."""


@dataclasses.dataclass(frozen=True, slots=True)
class OperationTotals:
    """Kind of operation of a job, such as ``"allreduce"`` or ``"wait"``: those that were completed in the
    window, of all ranks.
    """

    count: int
    """Number of completed operations."""
    total_ps: int
    """Time in them, over all ranks together, in ps."""

    @property
    def mean_ns(self) -> float:
        """Mean time that a rank spent in one; NaN if there was none."""
        return self.total_ps / (self.count * PS_PER_NS) if self.count else math.nan

    @property
    def total_ns(self) -> float:
        """Time of all ranks together."""
        return self.total_ps / PS_PER_NS

    def since(self, earlier: OperationTotals) -> OperationTotals:
        """Counts since an earlier reading."""
        return OperationTotals(self.count - earlier.count, self.total_ps - earlier.total_ps)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class JobTotals:
    """Counts of a job; ``Counters.jobs``.

    Example:
        >>> config = dfe.SimulationConfig(topology="72", jobs=["milc:hosts=4"])
        >>> sim = dfe.Simulation(config)
        >>> sim.run(1_000)
        >>> sim.counters().jobs[0].unfinished_ranks
        4
    """

    name: str
    """The name of the job."""
    hosts: tuple[int, ...]
    """Rank i lives on the i-th."""
    endless: bool
    """Whether it goes on for as long as the run does."""
    unfinished_ranks: int
    """Ranks that are unfinished at the end of the window; all ranks of endless jobs."""
    packets_delivered: int
    """Packets delivered from its hosts to its hosts, since time 0 or in the window of ``Counters.since``."""
    operations: Mapping[str, OperationTotals]
    """Totals by operation: ``wait``, ``allreduce``, ..."""
    iterations: OperationTotals
    """Whole iterations, of each rank."""
    messages: OperationTotals
    """Messages, from the begin of the send to the arrival of the last bit."""

    @classmethod
    def of(cls, info: JobInfo, row: Mapping[str, Any]) -> JobTotals:
        """Make the totals of a row of the core."""
        columns = zip(row["counts"], row["total_ps"], strict=True)
        measured = [OperationTotals(int(count), int(total)) for count, total in columns]
        operations = dict(zip(info.operation_names, measured, strict=True))
        operations.pop(ANY_OPERATION, None)
        return cls(
            name=info.name,
            hosts=info.hosts,
            endless=info.endless,
            unfinished_ranks=len(info.hosts) if info.endless else int(row["unfinished"]),
            packets_delivered=int(row["packets_delivered"]),
            iterations=operations.pop(ITERATION, OperationTotals(0, 0)),
            operations=operations,
            messages=OperationTotals(int(row["messages"][0]), int(row["messages"][1])),
        )

    def since(self, earlier: JobTotals) -> JobTotals:
        """Subtract an earlier reading."""
        return dataclasses.replace(
            self,
            packets_delivered=self.packets_delivered - earlier.packets_delivered,
            iterations=self.iterations.since(earlier.iterations),
            messages=self.messages.since(earlier.messages),
            operations={
                name: totals.since(earlier.operations[name]) for name, totals in self.operations.items()
            },
        )

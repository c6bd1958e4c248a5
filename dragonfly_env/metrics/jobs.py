"""Measurements of jobs: their time, and the time of their operations."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import Any

from dragonfly_env.checks.values import PS_PER_NS
from dragonfly_env.metrics.counters import Counters
from dragonfly_env.metrics.operations import ANY_OPERATION, ITERATION, JobInfo, OperationTotals
from dragonfly_env.metrics.ports import PortTable
from dragonfly_env.metrics.slowdowns import SlowdownTable
from dragonfly_env.metrics.tables import known

__all__ = ["JobInfo", "JobMetrics", "OperationMetrics"]


@dataclasses.dataclass(frozen=True, slots=True)
class OperationMetrics(OperationTotals):
    """Kind of operation of a job, such as ``"allreduce"`` or ``"wait"``: those that were completed in the
    window, of all ranks.
    """

    max_ps: int
    """The longest, in ps."""

    @property
    def max_ns(self) -> float:
        """The longest; NaN if there was none."""
        return self.max_ps / PS_PER_NS if self.count else math.nan


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class JobMetrics:
    """A job. Its run time does not depend on ``reset_statistics``, its operations are those of the window.

    Example:
        >>> jobs = [dfe.Job("milc:scale=0.01", hosts=8)]
        >>> config = dfe.SimulationConfig(topology="72", jobs=jobs)
        >>> job = dfe.Simulation(config).run_to_completion().jobs[0]
        >>> job.complete, job.run_time_ns > 0, 0 < job.mpi_share < 1
        (True, True, True)
    """

    name: str
    """The name of the job."""
    program: str
    """Program that the job runs."""
    hosts: tuple[int, ...]
    """Rank i lives on the i-th."""
    endless: bool
    """Whether it goes on for as long as the run does."""
    start_ps: int
    """Start of its ranks, in ps."""
    end_ps: int
    """End of its last rank, in ps; -1: not yet, or the job is endless."""
    unfinished_ranks: int
    """Ranks that have not done everything; of endless jobs all."""
    packets_delivered: int
    """Packets delivered from its hosts to its hosts since time 0."""
    operations: Mapping[str, OperationMetrics]
    """Metrics by operation: ``wait``, ``allreduce``, ``alltoallv`` ..., and what your own programs begin and end."""
    operations_total_ps: int
    """Time in operations, of all ranks together; an operation inside another one counts once."""
    iterations: OperationMetrics
    """Whole iterations: of each rank from the begin to the end of its list."""
    messages: OperationMetrics
    """Its messages, from the begin of the send to the arrival of the last bit: those of the window."""
    slowdowns: SlowdownTable | None = dataclasses.field(repr=False, compare=False)
    """Its messages by size, with ``SimulationConfig.message_slowdown``."""
    number: int = dataclasses.field(repr=False)
    """Its place among the jobs of the run."""
    counters: Counters = dataclasses.field(repr=False, compare=False)
    """The counters of the whole machine in the window."""

    @classmethod
    def of(
        cls, infos: Sequence[JobInfo], statistics: Mapping[str, Any], counters: Counters
    ) -> tuple[JobMetrics, ...]:
        """Measurements of every job, from the results of ``_core.Simulation.statistics`` and the machine's counters."""
        if not infos:
            return ()
        rows = zip(infos, statistics["jobs"], strict=True)
        return tuple(cls._from_row(info, row, number, counters) for number, (info, row) in enumerate(rows))

    @classmethod
    def _from_row(cls, info: JobInfo, row: Mapping[str, Any], number: int, counters: Counters) -> JobMetrics:
        columns = zip(row["counts"], row["total_ps"], row["max_ps"], strict=True)
        measured = [OperationMetrics(int(count), int(total), int(most)) for count, total, most in columns]
        by_name = dict(zip(info.operation_names, measured, strict=True))
        in_any = by_name.pop(ANY_OPERATION, None)
        complete = not info.endless and int(row["unfinished"]) == 0
        return cls(
            name=info.name,
            program=info.program,
            hosts=info.hosts,
            endless=info.endless,
            start_ps=info.start_ps,
            end_ps=int(row["end_ps"]) if complete else -1,
            unfinished_ranks=len(info.hosts) if info.endless else int(row["unfinished"]),
            packets_delivered=int(row["packets_delivered"]),
            iterations=by_name.pop(ITERATION, OperationMetrics(0, 0, 0)),
            messages=OperationMetrics(*map(int, row["messages"])),
            slowdowns=SlowdownTable.of([row]),
            number=number,
            counters=counters,
            operations_total_ps=sum(operation.total_ps for operation in by_name.values())
            if in_any is None
            else in_any.total_ps,
            operations=by_name,
        )

    @property
    def ports(self) -> PortTable:
        """Ports of the routers that have hosts of this job: its local view (``Metrics.ports`` has all)."""
        return self.counters.ports_of_job(self.number)

    @property
    def complete(self) -> bool:
        """Whether every rank has done everything."""
        return self.end_ps >= 0

    @property
    def run_time_ns(self) -> float:
        """Time from its start to the end of its last rank; NaN while it is not complete."""
        return (self.end_ps - self.start_ps) / PS_PER_NS if self.complete else math.nan

    @property
    def mpi_share(self) -> float:
        """Share of its iterations' time that ranks spent in operations; NaN before the first iteration is complete."""
        if not self.iterations.total_ps:
            return math.nan
        return self.operations_total_ps / self.iterations.total_ps

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON; None where there is no value."""
        return {
            "name": self.name,
            "program": self.program,
            "hosts": list(self.hosts),
            "endless": self.endless,
            "start_ns": self.start_ps / PS_PER_NS,
            "run_time_ns": known(self.run_time_ns),
            "mpi_share": known(self.mpi_share),
            "packets_delivered": self.packets_delivered,
            "iterations": self.iterations.count,
            "iteration_mean_ns": known(self.iterations.mean_ns),
            "messages": self.messages.count,
            "message_mean_ns": known(self.messages.mean_ns),
            "message_max_ns": known(self.messages.max_ns),
            "operations": {
                name: {
                    "count": operation.count,
                    "mean_ns": known(operation.mean_ns),
                    "max_ns": known(operation.max_ns),
                }
                for name, operation in self.operations.items()
            },
        }

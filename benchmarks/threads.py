"""Family ``threads``: two threads against one.

CPU time cannot show a speed-up, so this is the one family that measures wall-clock time; both runs take turns, and
their ratio is the sample. It means something only while nothing else uses the processors.
"""

from __future__ import annotations

import os

from benchmarks.result import Effort, Result
from benchmarks.workload import Report, Workload, configuration, in_turns

_THREADS = 2


def measure(effort: Effort, report: Report) -> list[Result]:
    """Per system: wall-clock time of one thread over that of two, and CPU time of two threads over that of one.

    Raises:
        RuntimeError: If the two histories differ: then the figures would be worth nothing.
    """
    if len(os.sched_getaffinity(0)) < _THREADS:
        report("skipped: this process may use one processor only")
        return []
    return [r for topology in effort.thread_topologies for r in _measure_one(topology, effort, report)]


def _measure_one(topology: str, effort: Effort, report: Report) -> list[Result]:
    workloads: dict[str, Workload] = {}
    for threads in (1, _THREADS):
        report(f"warming up: {topology} hosts, threads={threads}")
        config = configuration(topology, threads=threads)
        sample_ns = effort.sample_ns(config.topology.num_hosts)
        workloads[str(threads)] = Workload(config, warmup_ns=effort.scale_warmup_ns, sample_ns=sample_ns)
    measured = in_turns(workloads, effort.rounds, report)
    if len({workload.simulation.trace_hash() for workload in workloads.values()}) != 1:
        raise RuntimeError(f"{topology} hosts: the histories with 1 and {_THREADS} threads differ")
    pairs = list(zip(measured["1"], measured[str(_THREADS)], strict=True))
    parameters = workloads["1"].parameters()
    return [
        Result(
            name=f"min {topology} hosts, speed-up",
            unit="wall-clock time of 1 thread / 2 threads",
            samples=[alone.wall_s / together.wall_s for alone, together in pairs],
            parameters=parameters,
        ),
        Result(
            name=f"min {topology} hosts, CPU",
            unit="CPU time of 2 threads / 1 thread",
            samples=[together.cpu_s / alone.cpu_s for alone, together in pairs],
            parameters=parameters,
        ),
    ]

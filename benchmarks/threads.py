"""Family ``threads``: two threads against one.

CPU time cannot show a speed-up, so this is the one family that measures wall-clock time; both runs take turns, and
their ratio is the sample. It means something only while nothing else wants the processors.
"""

from __future__ import annotations

import os

from benchmarks.effort import Effort
from benchmarks.result import Result
from benchmarks.workload import Report, Workload, configuration, details, in_turns, yardstick
from benchmarks.yardstick.beside import Beside
from benchmarks.yardstick.program import program

_THREADS = 2
_GOAL = 1.7


def measure(effort: Effort, report: Report) -> list[Result]:
    """Measure each system with one and with two threads.

    Args:
        effort: ``thread_topologies`` and the lengths are used.
        report: Told of the progress.

    Returns:
        Per system: the wall-clock time of one thread over that of two, and what two threads cost in CPU time more.
        Nothing on a machine with one processor.

    Raises:
        RuntimeError: If the two histories differ: then the figures would be worth nothing.
    """
    if len(os.sched_getaffinity(0)) < _THREADS:
        report("skipped: this process may use one processor only")
        return []
    return [
        result for topology in effort.thread_topologies for result in _measure_one(topology, effort, report)
    ]


def _measure_one(topology: str, effort: Effort, report: Report) -> list[Result]:
    workloads: dict[str, Workload] = {}
    for threads in (1, _THREADS):
        report(f"warming up: {topology} hosts, threads={threads}")
        config = configuration(topology, threads=threads)
        workloads[str(threads)] = Workload(
            config,
            warmup_ns=effort.scale_warmup_ns,
            sample_ns=effort.sample_ns(config.topology.num_hosts),
        )
    measured = in_turns(workloads, effort.rounds, Beside(program(), effort.yardstick_laps), report)
    hashes = {workload.simulation.trace_hash() for workload in workloads.values()}
    if len(hashes) != 1:
        raise RuntimeError(f"{topology} hosts: the histories with 1 and {_THREADS} threads differ")
    one, two = measured["1"], measured[str(_THREADS)]
    raw = {"one_thread": details(one), "two_threads": details(two), "trace_hash": f"{hashes.pop():016x}"}
    pairs = list(zip(one, two, strict=True))
    parameters = workloads["1"].parameters()
    return [
        Result(
            family="threads",
            name=f"min {topology} hosts, speed-up",
            unit="wall-clock time of 1 thread / 2 threads",
            samples=[a.wall_s / b.wall_s for a, b in pairs],
            higher_is_better=True,
            goal=_GOAL,
            parameters=parameters,
            details=raw,
            yardstick_hops_per_s=yardstick(one),
        ),
        Result(
            family="threads",
            name=f"min {topology} hosts, CPU",
            unit="CPU time of 2 threads / 1 thread",
            samples=[b.cpu_s / a.cpu_s for a, b in pairs],
            higher_is_better=False,
            parameters=parameters,
            yardstick_hops_per_s=yardstick(one),
        ),
    ]

"""Family ``scale``: speed against the size of the system, and what the largest one takes to start."""

from __future__ import annotations

import json
import sys

from benchmarks.effort import Effort
from benchmarks.process import run_process
from benchmarks.result import Result
from benchmarks.workload import Report, Workload, configuration, details, in_turns, yardstick
from benchmarks.yardstick.beside import Beside
from benchmarks.yardstick.program import program

_GOAL_SYSTEM = 83_232
_GOAL_RATIO = 0.6
_GOAL_START_S = 60.0
_GOAL_MEMORY_GB = 8.0


def measure(effort: Effort, report: Report) -> list[Result]:
    """Measure all sizes in turns with the reference, then the largest in a process of its own.

    Args:
        effort: All but the fields of other families are used.
        report: Told of the progress.

    Returns:
        Per size: the speed, and its ratio to the reference's slice of the same round. Of the largest: CPU-seconds
        and memory until it is ready, memory at the end of a short run, and that run's speed.
    """
    return _ratios(effort, report) + _largest(effort, report)


def _ratios(effort: Effort, report: Report) -> list[Result]:
    workloads: dict[str, Workload] = {}
    for topology in (effort.core_topology, *effort.scale_topologies):
        report(f"warming up: {topology} hosts")
        config = configuration(topology)
        workloads[topology] = Workload(
            config,
            warmup_ns=effort.scale_warmup_ns,
            sample_ns=effort.sample_ns(config.topology.num_hosts),
        )
    measured = in_turns(workloads, effort.rounds, Beside(program(), effort.yardstick_laps), report)
    reference = measured[effort.core_topology]
    results = []
    for topology, slices in measured.items():
        parameters = workloads[topology].parameters()
        results.append(
            Result(
                family="scale",
                name=f"min {topology} hosts",
                unit="M packet-hops / CPU-s",
                samples=[s.rate for s in slices],
                higher_is_better=True,
                parameters=parameters,
                details=details(slices),
                yardstick_hops_per_s=yardstick(slices),
            )
        )
        if topology != effort.core_topology:
            results.append(
                Result(
                    family="scale",
                    name=f"min {topology} hosts, ratio",
                    unit=f"x the rate of {effort.core_topology} hosts",
                    samples=[s.rate / r.rate for s, r in zip(slices, reference, strict=True)],
                    higher_is_better=True,
                    goal=_GOAL_RATIO if parameters["num_hosts"] == _GOAL_SYSTEM else None,
                    parameters={"reference": effort.core_topology},
                )
            )
    return results


def _largest(effort: Effort, report: Report) -> list[Result]:
    name = f"{effort.largest_topology} hosts"
    report(f"starting {name} in a process of its own")
    length = f"{effort.largest_ns:g}"
    command = [sys.executable, "-m", "benchmarks.one_run", "--topology", effort.largest_topology]
    command += ["--warmup-ns", length, "--measure-ns", length]
    beside = Beside(program(), effort.yardstick_laps)
    cost, hops_per_s = beside.measure(lambda: run_process(command))
    run = json.loads(cost.output)
    memory = run["memory"]
    figures = (
        ("ready after", "wall-s, Python's start-up included", run["ready_s"], False, _GOAL_START_S),
        ("memory when ready", "GB, peak", memory["ready_bytes"] / 1e9, False, _GOAL_MEMORY_GB),
        ("memory after a run", "GB, peak", memory["end_bytes"] / 1e9, False, _GOAL_MEMORY_GB),
        ("min", "M packet-hops / CPU-s", run["packet_hops"] / run["cpu_s"] / 1e6, True, None),
    )
    return [
        Result(
            family="scale",
            name=f"{name}, {what}",
            unit=unit,
            samples=[value],
            higher_is_better=higher,
            goal=goal,
            parameters={"command": command[1:], **run["parameters"]},
            details=run,
            yardstick_hops_per_s=[hops_per_s],
        )
        for what, unit, value, higher, goal in figures
    ]

"""Family ``scale``: speed against the size of the system, and what the largest one takes to start."""

from __future__ import annotations

import json
import sys

from benchmarks.process import run_process
from benchmarks.result import Effort, Result
from benchmarks.workload import Report, Workload, configuration, in_turns


def measure(effort: Effort, report: Report) -> list[Result]:
    """All sizes in turns with the reference, then the largest in a process of its own."""
    return _ratios(effort, report) + _largest(effort, report)


def _ratios(effort: Effort, report: Report) -> list[Result]:
    """Speed of every size, and its ratio to the reference's slice of the same round."""
    workloads: dict[str, Workload] = {}
    for topology in (effort.core_topology, *effort.scale_topologies):
        report(f"warming up: {topology} hosts")
        config = configuration(topology)
        sample_ns = effort.sample_ns(config.topology.num_hosts)
        workloads[topology] = Workload(config, warmup_ns=effort.scale_warmup_ns, sample_ns=sample_ns)
    measured = in_turns(workloads, effort.rounds, report)
    reference = measured[effort.core_topology]
    results = []
    for topology, slices in measured.items():
        parameters = workloads[topology].parameters()
        results.append(
            Result(
                name=f"min {topology} hosts",
                unit="M packet-hops / CPU-s",
                samples=[s.rate for s in slices],
                parameters=parameters,
            )
        )
        if topology != effort.core_topology:
            results.append(
                Result(
                    name=f"min {topology} hosts, ratio",
                    unit=f"x the rate of {effort.core_topology} hosts",
                    samples=[s.rate / r.rate for s, r in zip(slices, reference, strict=True)],
                    parameters=parameters,
                )
            )
    return results


def _largest(effort: Effort, report: Report) -> list[Result]:
    """Time and memory until the largest system is ready, memory at the end of a short run, and its speed."""
    name = f"{effort.largest_topology} hosts"
    report(f"starting {name} in a process of its own")
    length = f"{effort.largest_ns:g}"
    command = [sys.executable, "-m", "benchmarks.one_run", "--topology", effort.largest_topology]
    run = json.loads(run_process([*command, "--warmup-ns", length, "--measure-ns", length]).output)
    figures = (
        ("ready after", "wall-s, Python's start-up included", run["ready_s"]),
        ("memory when ready", "GB, peak", run["ready_bytes"] / 1e9),
        ("memory after a run", "GB, peak", run["end_bytes"] / 1e9),
        ("min", "M packet-hops / CPU-s", run["packet_hops"] / run["cpu_s"] / 1e6),
    )
    return [
        Result(name=f"{name}, {what}", unit=unit, samples=[value], parameters=run["parameters"])
        for what, unit, value in figures
    ]

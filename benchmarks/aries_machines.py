"""Does an eighth of Theta stand for Theta? ``python -m benchmarks.aries_machines [milc|uniform]``.

The same experiment on ``theta-m8`` and on ``theta``: hosts offer the same bytes, jobs are the same part of the machine,
computing times and messages are the same. Tables in Markdown, as in ``docs/reports/2026-11-25-aries-modes.md``.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

import dragonfly_env as dfe
from dragonfly_env.jobs import Job, Milc, Motif
from dragonfly_env.jobs.workload import expand_jobs
from dragonfly_env.lab.papers import find_paper
from dragonfly_env.lab.papers.aries_open import DISPERSED
from dragonfly_env.lab.papers.aries_points import NODES_PER_HOST, in_the_mix
from dragonfly_env.lab.papers.job_metrics import JOB_METRICS_OF_ROW
from dragonfly_env.lab.papers.paired import reduction
from dragonfly_env.sweeps.measure import measure
from dragonfly_env.sweeps.run import Point, Run

QUICK = find_paper("aries").effort("quick")

MACHINES = ("theta-m8", "theta")
LEAST_SCALE = 1e-5


def of_theta(job: Job) -> Job:
    """A job of the eighth on as many times more hosts: its hosts send the same bytes and compute as long."""
    motif, hosts = job.program, job.num_hosts * NODES_PER_HOST
    assert isinstance(motif, Motif)
    own: dict[str, Any] = {"gap_ns": motif.gap(job.num_hosts)}
    if isinstance(motif, Milc):
        own["stands_for"] = motif.stands_for // NODES_PER_HOST
    larger = replace(motif, **own)
    # With more ranks some exchange with more partners: messages become smaller, as far as scale is for them.
    halved = replace(larger, scale=larger.scale / 2).bytes_per_host(hosts)
    slope = 2.0 * (larger.bytes_per_host(hosts) - halved) / larger.scale
    missing = motif.bytes_per_host(job.num_hosts) - larger.bytes_per_host(hosts)
    larger = replace(larger, scale=max(LEAST_SCALE, larger.scale + missing / slope))
    return job.replace(program=larger, hosts=hosts)


def in_the_mix_of(machine: str, point: Point, seed: int) -> Run:
    """The point's run, or the same on the whole machine."""
    run = point.run(seed)
    if run.config.topology == dfe.Dragonfly.preset(machine):
        return run
    config = run.config
    jobs = [of_theta(job) for job in expand_jobs(config.jobs, config.topology, seed)]
    return replace(run, config=config.replace(topology=machine, jobs=jobs))


def milc(seeds: int) -> list[str]:
    """Run time and time in MPI, AD3 against AD0, pair by pair."""
    lines = [
        "| machine | run time by AD0 / AD3 (us) | 1 - AD3 / AD0 | of the time in MPI | accepted by AD0 / AD3 |",
        "|---|---|---|---|---|",
    ]
    points = in_the_mix(QUICK, "milc", placements=DISPERSED, packet_log=False)
    for machine in MACHINES:
        rows = [
            [measure(in_the_mix_of(machine, point, seed))[0] for seed in range(1, seeds + 1)]
            for point in points
        ]
        run, mpi = (
            [np.array([JOB_METRICS_OF_ROW[name](row) for row in some]) for some in rows]
            for name in ("run_time", "mpi_time")
        )
        accepted = [float(np.mean([row["accepted_load"] for row in some])) for some in rows]
        lines.append(
            f"| `{machine}` | {run[0].mean():.1f} / {run[1].mean():.1f} | {reduction(run[1], run[0])} "
            f"| {reduction(mpi[1], mpi[0])} | {accepted[0]:.3f} / {accepted[1]:.3f} |"
        )
    return lines


def uniform(loads: Sequence[float], time_ns: float) -> list[str]:
    """Latency, non-minimal paths and use of the links between groups under open-loop traffic."""
    lines = [
        "| load | machine | latency by AD0 / AD3 (ns) | 1 - AD3 / AD0 | accepted | sent around | rank-3 packets |",
        "|---|---|---|---|---|---|---|",
    ]
    for load in loads:
        for machine in MACHINES:
            zero, three = (
                dfe.simulate(
                    dfe.SimulationConfig(
                        topology=dfe.Dragonfly.preset(machine),
                        network=dfe.NetworkConfig.preset("aries"),
                        load=load,
                        policy=policy,
                        injection="poisson",
                    ),
                    warmup_ns=time_ns,
                    measure_ns=time_ns,
                )
                for policy in ("ad0", "ad3")
            )
            rank_3 = [m.link_classes["rank-3"].packets / m.packets_delivered for m in (zero, three)]
            lines.append(
                f"| {load:g} | `{machine}` | {zero.latency_mean_ns:.0f} / {three.latency_mean_ns:.0f} "
                f"| {1 - three.latency_mean_ns / zero.latency_mean_ns:.3f} "
                f"| {zero.accepted_load:.3f} / {three.accepted_load:.3f} "
                f"| {1 - zero.minimal_fraction:.0%} / {1 - three.minimal_fraction:.0%} "
                f"| {rank_3[0]:.2f} / {rank_3[1]:.2f} |"
            )
    return lines


def main(arguments: Sequence[str] | None = None) -> None:
    """Print one table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("table", choices=("milc", "uniform"))
    parser.add_argument("--seeds", type=int, default=4, help="of milc: placements, phases and mixes")
    parser.add_argument("--loads", type=float, nargs="+", default=[0.1, 0.2, 0.3], help="of uniform")
    parser.add_argument("--time-ns", type=float, default=5_000.0, help="of uniform: warm-up, and measurement")
    given = parser.parse_args(arguments)
    lines = milc(given.seeds) if given.table == "milc" else uniform(given.loads, given.time_ns)
    print("\n".join(lines))


if __name__ == "__main__":
    main()

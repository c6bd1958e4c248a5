"""``python -m benchmarks.tasks``: measure the references of the tasks."""

from __future__ import annotations

import argparse
import csv
import math
from pathlib import Path
from statistics import fmean

import joblib

import dragonfly_env as dfe
from dragonfly_env.bounds.demands import demand_of
from dragonfly_env.tasks import BOUND, PACKETS, REFERENCES, Task

REFERENCES_FILE = Path(dfe.__file__).with_name("task_references.csv")
_COLUMNS = ("task", "scenario", "policy", "value", "latency_mean_ns", "accepted_load")


def reference_rows(name: str, scenario: str) -> list[tuple[object, ...]]:
    """The rows of all reference policies in one scenario, and that of the bound: means over the task's seeds."""
    task = dfe.task(name)
    rows: list[tuple[object, ...]] = []
    for policy in REFERENCES:
        runs = [task.measure(policy, scenario, seed) for seed in task.seeds]
        figures = (
            fmean(map(task.value, runs)),
            fmean(run.latency_mean_ns for run in runs),
            fmean(run.accepted_load for run in runs),
        )
        rows.append((name, scenario, policy, *(f"{figure:.6g}" for figure in figures)))
    bounds = [bound(task, scenario, seed) for seed in task.seeds]
    known = not any(map(math.isnan, bounds))
    rows.append((name, scenario, BOUND, f"{fmean(bounds):.6g}" if known else "", "", ""))
    return rows


def bound(task: Task, scenario: str, seed: int) -> float:
    """The fewest packets in the system that any routing can reach: the latency floor times the rate of packets, by
    Little's law. NaN where it is not known: for applications, and above saturation.
    """
    config = task.test[scenario].replace(seed=seed)
    if task.quantity != PACKETS:
        return math.nan
    steps = [step for step in config.offered_steps if step[0] < task.warmup_ns + task.measure_ns]
    ends = [*(time_ns for time_ns, _, _ in steps[1:]), task.warmup_ns + task.measure_ns]
    packets = 0.0
    for (begin_ns, traffic, load), end_ns in zip(steps, ends, strict=True):
        share = max(0.0, end_ns - max(begin_ns, task.warmup_ns)) / task.measure_ns
        try:
            floor_ns = dfe.latency_floor(config.replace(traffic=traffic, load=load))
        except dfe.ConfigError:  # too many demands for a linear program
            return math.nan
        sent = demand_of(config.topology, traffic, network=config.network, seed=seed).sent.sum()
        packets += share * floor_ns * sent * load / config.network.packet_time_ns
    return float(packets) if math.isfinite(packets) else math.nan


def write_references(workers: int) -> None:
    """Measure the references of all tasks, and write the table that comes with the package."""
    pairs = [(name, scenario) for name in dfe.tasks() for scenario in dfe.task(name).test]
    parallel = joblib.Parallel(n_jobs=workers, return_as="generator")
    with REFERENCES_FILE.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(_COLUMNS)
        for rows in parallel(joblib.delayed(reference_rows)(*pair) for pair in pairs):
            writer.writerows(rows)
            print(*(f"{row[0]}, {row[1]}: {row[2]}: {row[3]}" for row in rows), sep="\n", flush=True)


def main() -> None:
    """Do what the command line says."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.tasks", description=__doc__)
    parser.add_argument("--references", action="store_true", help="measure the references of all tasks")
    parser.add_argument("--workers", type=int, default=1, help="processes")
    given = parser.parse_args()
    if given.references:
        write_references(given.workers)


if __name__ == "__main__":
    main()

"""Measure the reference policies and the bound of tasks: ``python docs/task_references.py --task Ports-72``.

The rows of these tasks in ``dragonfly_env/task_references.csv``, the table of the package, become the measured means
over the seeds of the task. Other tasks keep their rows.
"""

from __future__ import annotations

import argparse
import csv
import math
from itertools import chain
from pathlib import Path
from statistics import fmean

import joblib

import dragonfly_env as dfe
from dragonfly_env.bounds.demands import demand_of
from dragonfly_env.named_tasks import BOUND, PACKETS, Task

FILE = Path(dfe.__file__).with_name("task_references.csv")


def rows_of(name: str, scenario: str) -> list[list[str]]:
    """The rows of all reference policies in one scenario, and of the bound."""
    task, rows = dfe.task(name), []
    for policy in task.reference_policies:
        runs = [task.measure(policy, scenario, seed) for seed in task.seeds]
        figures = (
            fmean(map(task.value, runs)),
            fmean(run.latency_mean_ns for run in runs),
            fmean(run.accepted_load for run in runs),
        )
        rows.append([policy, *(f"{figure:.6g}" for figure in figures)])
    least = fmean(bound(task, scenario, seed) for seed in task.seeds)
    rows.append([BOUND, "" if math.isnan(least) else f"{least:.6g}", "", ""])
    return [[name, scenario, *row] for row in rows]


def bound(task: Task, scenario: str, seed: int) -> float:
    """The fewest packets in the system that any routing can reach: the latency
    floor times the rate of packets, by Little's law. NaN where the bound is not
    known: for applications, and above saturation.
    """
    config = task.test[scenario].replace(seed=seed)
    if task.quantity != PACKETS:
        return math.nan
    over_ns = task.warmup_ns + task.measure_ns
    steps = [step for step in config.offered_steps if step[0] < over_ns]
    ends = [*(time_ns for time_ns, _, _ in steps[1:]), over_ns]
    packets = 0.0
    for (begin_ns, traffic, load), end_ns in zip(steps, ends, strict=True):
        measured_ns = max(0.0, end_ns - max(begin_ns, task.warmup_ns))
        try:
            floor_ns = dfe.latency_floor(
                config.replace(traffic=traffic, load=load)
            )
        except dfe.ConfigError:  # too many demands for a linear program
            return math.nan
        sent = demand_of(
            config.topology, traffic, network=config.network, seed=seed
        ).sent.sum()
        rate = sent * load / config.network.packet_time_ns
        packets += measured_ns / task.measure_ns * floor_ns * rate
    return float(packets) if math.isfinite(packets) else math.nan


def main() -> None:
    """Measure, and write the table in the order of the tasks."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--task",
        action="append",
        choices=dfe.tasks(),
        help="may be repeated; all by default",
    )
    parser.add_argument("--workers", type=int, default=1, help="processes")
    given = parser.parse_args()
    names = given.task or dfe.tasks()
    measured = joblib.Parallel(n_jobs=given.workers, verbose=5)(
        joblib.delayed(rows_of)(name, scenario)
        for name in names
        for scenario in dfe.task(name).test
    )
    with FILE.open(encoding="utf-8", newline="") as file:
        head, *known = csv.reader(file)
    order = {name: number for number, name in enumerate(dfe.tasks())}
    kept = [row for row in known if row[0] in order and row[0] not in names]
    rows = sorted(chain(kept, *measured), key=lambda row: order[row[0]])
    with FILE.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows((head, *rows))


if __name__ == "__main__":
    main()

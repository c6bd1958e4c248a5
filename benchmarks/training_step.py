"""``python -m benchmarks.training_step``: measure the step of a training job next to other traffic, and write the table
and the figure of the tutorial "Does routing make a training step faster?".

``--draw`` only draws the figure again.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import joblib
import numpy as np
import pandas as pd

import dragonfly_env as dfe
from dragonfly_env.colors import looks
from dragonfly_env.plots.style import grid, save
from dragonfly_env.sweeps.results import mean_and_ci95

DOCS = Path(__file__).parents[1] / "docs"
FILE = DOCS / "training_step.csv"
# 4 GB/s a host; 0.036 of an H100 to 4 GB/s is 0.45 of it to 50 GB/s.
JOBS = {
    "MoE": "moe:model=deepseek-moe-16b,dp=32,ep=32,tp=2,pp=4,layers=4,micro_batches=2,skew=0.2,"
    "efficiency=0.036,scale=0.0004",
    "dense": "llm:model=llama-7b,dp=16,tp=4,pp=4,layers=4,micro_batches=4,efficiency=0.036,scale=0.001",
}
"""A step of each model on 256 hosts."""
PLACEMENTS = ("consecutive", "random")
POLICIES = ("min", "val-n", "ugal-g", "ugal-n", "par", "lia", "q-adaptive-fast")
SEEDS = (1, 2, 3, 4, 5)
WARMUP_NS = 20_000.0
COLUMNS = ("job", "placement", "policy", "seed", "step_us", "slowdown_p50", "slowdown_p99", "late_packets")


def configuration(job: str, placement: str, policy: str, seed: int) -> dfe.SimulationConfig:
    """The run: the job starts when the other hosts have sent for a while."""
    program = dfe.Job(JOBS[job], placement=placement, start_ns=WARMUP_NS)
    return dfe.SimulationConfig(
        topology=dfe.Dragonfly.preset("1056"),
        network=dfe.NetworkConfig.preset("q-adaptive"),
        policy=policy,
        traffic="uniform",
        load=0.3,
        jobs=[program],
        message_slowdown=True,
        seed=seed,
    )


def measure(job: str, placement: str, policy: str, seed: int) -> tuple[object, ...]:
    """Measure a row of the table; slowdowns are those of the sizes that carry the most packets."""
    metrics = dfe.Simulation(configuration(job, placement, policy, seed)).run_to_completion()
    slowdowns = metrics.slowdowns
    assert slowdowns is not None
    size = int(np.argmax(slowdowns.arrived_packets))
    return (
        *(job, placement, policy, seed, f"{metrics.jobs[0].run_time_ns / 1000:.1f}"),
        f"{slowdowns.slowdown_p50[size]:.2f}",
        f"{slowdowns.slowdown_p99[size]:.2f}",
        f"{slowdowns.reordered_fraction:.4f}",
    )


def write_table(workers: int) -> None:
    """Measure all runs, and write the table of the documentation."""
    runs = list(product(JOBS, PLACEMENTS, POLICIES, SEEDS))
    with FILE.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        parallel = joblib.Parallel(n_jobs=workers, return_as="generator")
        for row in parallel(joblib.delayed(measure)(*run) for run in runs):
            writer.writerow(row)
            print(*row, flush=True)


def panels() -> Iterator[tuple[str, str, pd.DataFrame]]:
    """The runs of each job and placement."""
    table = pd.read_csv(FILE)
    for job, placement in product(JOBS, PLACEMENTS):
        yield job, placement, table[(table["job"] == job) & (table["placement"] == placement)]


def draw() -> None:
    """Draw the time of a step, mean over seeds with its interval."""
    look = looks(POLICIES)
    figure, axes = grid(3.4, 2.4, 2, 2)
    for panel, (job, placement, runs) in zip((axis for row in axes for axis in row), panels(), strict=True):
        for place, policy in enumerate(POLICIES):
            times_us = runs[runs["policy"] == policy]["step_us"].tolist()
            mean, half = mean_and_ci95(times_us)
            panel.bar(place, mean, color=look[policy].color, alpha=0.7, width=0.7)
            panel.errorbar(place, mean, half, fmt="none", ecolor="black", capsize=3, elinewidth=0.9)
            panel.plot([place] * len(times_us), times_us, ".", color="black", markersize=3)
        panel.set_title(f"{job}, {placement} hosts")
        panel.set_xticks(range(len(POLICIES)), POLICIES, rotation=35, ha="right", rotation_mode="anchor")
        panel.grid(visible=False, axis="x")
    for row in axes:
        row[0].set_ylabel("time of a step (µs)")
    save(figure, DOCS / "tutorials", "training-step", ["png"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draw", action="store_true", help="only draw the figure")
    parser.add_argument("--workers", type=int, default=2)
    arguments = parser.parse_args()
    if not arguments.draw:
        write_table(arguments.workers)
    draw()


if __name__ == "__main__":
    main()

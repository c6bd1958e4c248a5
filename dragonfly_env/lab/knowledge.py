"""Worth of knowledge: trainings of one recipe with five sets of features.

    python -m dragonfly_env.lab.knowledge --out results/knowledge

Each set has the features of the sets before it, and more. Networks of all sets learn from the same teacher, in the
same scenarios, with the same number of samples. Latency is compared with that of the best reference: of the recipe on
the validation scenarios, of the benchmark in its quick steady cases.
"""

from __future__ import annotations

import collections
import dataclasses
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import typer
from matplotlib.figure import Figure

from dragonfly_env.baselines import MlpNetwork
from dragonfly_env.lab.benchmark import Benchmark, find_suite
from dragonfly_env.lab.neural import SUITE, best_references, costs_of, read_recipe, rounds_of

MOST_HOSTS = 342
"""Hosts of the largest machine in the trainings, which are short."""

QUEUES = {
    "candidate_kind": 2.0,
    "candidate_time_packets": 16.0,
    "candidate_packets": 16.0,
    "candidate_vc_packets": 16.0,
    "candidate_queue_packets": 16.0,
}
DEMAND = QUEUES | {"destination_demand": 0.0, "destination_load": 0.0, "host_load": 0.0, "age": 0.0}
ACKNOWLEDGED = DEMAND | {"candidate_waited_packets": 0.0, "candidate_waited_age": 0.0}
OF_GROUP = {
    "candidate_link_packets": 16.0,
    "candidate_link_queued_packets": 16.0,
    "candidate_between_demand": 0.0,
    "candidate_last_type_demand": 0.0,
    "destination_group_demand": 0.0,
    "destination_group_minimal_demand": 0.0,
    "group_demand": 0.0,
}
SETS = {
    "queues": QUEUES,
    "own demand": DEMAND,
    "acknowledgements": ACKNOWLEDGED,
    "delayed signals": ACKNOWLEDGED | {f"{name}_delayed": scale for name, scale in OF_GROUP.items()},
    "ideal state": ACKNOWLEDGED | OF_GROUP,
}
"""Features of each set, with their scales."""


def main(out: Path = Path("results/knowledge"), trainings: int = 3, workers: int = 1) -> None:
    """Train, measure, and write a table with a row per set and training: ``knowledge.csv``."""
    recipe = read_recipe("knowledge")
    training, validation = (
        tuple(scenario for scenario in part if scenario.config.topology.num_hosts <= MOST_HOSTS)
        for part in (recipe.training, recipe.validation)
    )
    recipe = dataclasses.replace(recipe, training=training, validation=validation)
    parallel = joblib.Parallel(workers)
    best = best_references(recipe, parallel)
    out.mkdir(parents=True, exist_ok=True)
    rows: dict[str, dict[str, object]] = {}
    for seed in range(trainings):
        for knowledge, features in SETS.items():
            settings = dataclasses.replace(recipe, features=features, seed=seed)
            name = f"{knowledge.replace(' ', '-')}-{seed}"
            file = out / f"{name}.npz"
            if not file.exists():
                (network,) = collections.deque(rounds_of(settings, parallel), maxlen=1)
                network.save(file)
            ratios = costs_of(settings, MlpNetwork.load(file), parallel) / best
            over = {"validation": np.exp(np.log(ratios).mean()), "validation worst": ratios.max()}
            rows[name] = {"knowledge": knowledge, "seed": seed, **over}
            typer.echo(
                f"{name}: {over['validation']:.4f} of the best reference, worst {over['validation worst']:.4f}"
            )
    work = Benchmark(
        suite=find_suite(SUITE),
        effort="quick",
        policies=tuple(f"{name}=mlp:weights={out / name}.npz" for name in rows),
        folder=out / "benchmark",
        tracks=("steady",),
    )
    work.execute()
    scores = work.scores().table
    for name, row in rows.items():
        for split in ("train", "test"):
            ratios = scores.ratio[(scores.policy == name) & (scores.split == split)].to_numpy()
            row |= {split: np.exp(np.log(ratios).mean()), f"{split} worst": ratios.max()}
    table = pd.DataFrame(list(rows.values()))
    table.to_csv(out / "knowledge.csv", index=False, float_format="%.4f")
    draw(table).savefig(out / "knowledge.png", dpi=80)
    typer.echo(f"written: {out / 'knowledge.csv'}, {out / 'knowledge.png'}")


def draw(table: pd.DataFrame) -> Figure:
    """The latency of each training over the best reference, and a line through the means of each set."""
    figure = Figure(figsize=(7, 3), layout="constrained")
    axes = figure.subplots()
    for split, marker in (("train", "o"), ("validation", "s"), ("test", "^")):
        means = table.groupby("knowledge", sort=False)[split].mean()
        (line,) = axes.plot(means.index, means, label=split)
        axes.plot(table["knowledge"], table[split], marker, color=line.get_color(), alpha=0.5)
    axes.axhline(1, color="grey", linewidth=0.8)
    axes.set_ylabel("latency over the best reference")
    axes.legend(frameon=False)
    return figure


if __name__ == "__main__":
    typer.run(main)

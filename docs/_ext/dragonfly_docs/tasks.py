"""Tables of the named tasks: scores of the reference policies and of trained baselines."""

from __future__ import annotations

import csv
import math
from collections import defaultdict
from pathlib import Path
from statistics import median

import numpy as np

import dragonfly_env as dfe
from dragonfly_docs.markdown import code, table
from dragonfly_env.lab.benchmark.scores import interquartile_mean
from dragonfly_env.named_tasks import BOUND

CURVES = Path(__file__).parents[2] / "task_curves.csv"
RANDOM = CURVES.with_name("task_random.csv")


def reference_scores() -> str:
    """The scores of the reference policies, of random actions and of the bound, by policy and task."""
    scores = {name: dfe.task(name).reference_scores() for name in dfe.tasks()}
    with RANDOM.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            scores[row["task"]]["random"] = float(row["score"])
    policies = sorted(next(iter(scores.values())), key=lambda policy: policy == BOUND)
    rows = (
        (
            policy if policy == BOUND else code(policy),
            *("" if math.isnan(own[policy]) else f"{own[policy] + 0.0:.0f}" for own in scores.values()),
        )
        for policy in policies
    )
    return table(("policy", *map(code, scores)), rows)


def trained_scores() -> str:
    """The scores of trained policies: interquartile mean and interval over the trainings, and their CPU time."""
    finals: dict[tuple[str, str], list[tuple[float, float]]] = defaultdict(list)
    with CURVES.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if row["score"]:
                finals[row["task"], row["algorithm"]].append((float(row["score"]), float(row["cpu_s"])))
    rows = []
    for (task, algorithm), runs in finals.items():
        mean, low, high = interquartile_mean(np.array([score for score, _ in runs]))
        score = f"{mean:.0f} ({low:.0f} to {high:.0f})"
        cpu = f"{median(cpu for _, cpu in runs):.0f}"
        rows.append((dfe.tasks().index(task), -mean, (code(task), code(algorithm), score, len(runs), cpu)))
    return table(("task", "algorithm", "score", "trainings", "CPU s"), (row for *_, row in sorted(rows)))

"""Draw ``docs/images/task-scores.png``, the scores of ``docs/tasks.md``: ``python docs/task_figure.py``."""

from __future__ import annotations

import math
import sys
from pathlib import Path

from matplotlib.figure import Figure

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS / "_ext"))

import dragonfly_env as dfe  # noqa: E402
from dragonfly_docs.tasks import ALGORITHMS, policy_scores, trainings  # noqa: E402
from dragonfly_env.colors import SERIES  # noqa: E402
from dragonfly_env.named_tasks import BOUND, RANDOM  # noqa: E402

PICTURE = DOCS / "images" / "task-scores.png"
MARKERS = "ovs^DP"


def main() -> None:
    """A column per task: a marker per training; lines are random actions, the best references and the bound."""
    found, known, names = trainings(), policy_scores(), dfe.tasks()
    drawn = Figure(figsize=(11, 5), layout="constrained")
    axes = drawn.subplots()
    learners = [name for name in ALGORITHMS if name != RANDOM]
    for number, (name, marker) in enumerate(
        zip(learners, MARKERS, strict=True)
    ):
        points = [
            (column + 0.12 * (number - 2.5), score)
            for column, task in enumerate(names)
            for score, _ in found.get((task, name), [])
        ]
        axes.plot(
            *zip(*points, strict=True),
            marker,
            color=SERIES[number],
            markersize=5,
            alpha=0.6,
            label=name,
        )
    for policy, style in ((RANDOM, ":"), (BOUND, "-")):
        levels = [known[task].get(policy, math.nan) for task in names]
        left, right = (
            [column - 0.42 for column in range(len(names))],
            [column + 0.42 for column in range(len(names))],
        )
        axes.hlines(
            levels,
            left,
            right,
            color="#222222",
            linestyle=style,
            linewidth=1.2,
            label=policy,
        )
    axes.axhline(
        100,
        color="#222222",
        linestyle="--",
        linewidth=0.8,
        label="best references",
    )
    axes.axhline(0, color="#999999", linewidth=0.8)
    axes.set_xticks(range(len(names)), names, rotation=20, ha="right")
    axes.set(ylabel="score", ylim=(-108, None))
    axes.grid(axis="y", color="#e4e4e4", linewidth=0.7)
    drawn.legend(fontsize="small", ncols=5, loc="outside upper center")
    drawn.savefig(PICTURE, dpi=110)


if __name__ == "__main__":
    main()

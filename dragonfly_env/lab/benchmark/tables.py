"""The leaderboard as texts: what the terminal, the Markdown page and the HTML page show."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pandas as pd

from dragonfly_env.lab.benchmark.scores import CLOSE
from dragonfly_env.lab.benchmark.trained import TrainingCost

if TYPE_CHECKING:
    from dragonfly_env.lab.benchmark.execution import Benchmark

HEADINGS = (
    "policy",
    "kind",
    "geometric mean",
    "worst",
    "worst cell",
    "within 2 %",
    "saturated",
    "cells",
    "trained",
)
_OWN = "yours"
_ONLINE = "while measured"


def explanation() -> str:
    """How to read the tables, in one paragraph."""
    return (
        "In every cell: the policy's value over that of the best reference policy (for accepted loads the other way "
        f"round): 1 is as good, more is worse. Within 2 %: share of cells with a ratio up to {CLOSE:g}. Saturated: "
        "cells in which it does not carry the load although some reference does. Trained: what a training took before; "
        "on-line learners begin with nothing, in every run."
    )


def origin(work: Benchmark) -> str:
    """How many runs of the references were not done here, in one sentence; nothing if all were, or are to be."""
    taken = work.taken()
    if not taken:
        return ""
    versions = " and ".join(sorted({result.package_version for result in taken}))
    return (
        f"{len(work.kinds)} references: {len(taken):,} of {work.reference_runs():,} runs published with dragonfly-env "
        f"{versions}, not run here; --measure-all runs them"
    )


def cells_of(row: pd.Series) -> tuple[str, ...]:
    """A row of the leaderboard as texts, one per heading."""
    return (
        str(row["policy"]),
        str(row["kind"]) or _OWN,
        _ratio(row["geometric_mean"]),
        _ratio(row["worst"]),
        str(row["worst_cell"]),
        f"{row['close_share']:.0%}".replace("%", " %"),
        str(row["saturated"]),
        f"{row['cells']} of {row['of']}",
        _ONLINE if row["kind"] == "online" else _trained(row),
    )


def _trained(row: pd.Series) -> str:
    cost = TrainingCost(
        decisions=row["training_decisions"], wall_s=row["training_wall_s"], cpu_s=row["training_cpu_s"]
    )
    return cost.describe()


def _ratio(value: float) -> str:
    if math.isnan(value):
        return "-"
    return f"{value:.3f}" if value < 10 else f"{value:.0f}"

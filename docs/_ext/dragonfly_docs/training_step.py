"""The table of the tutorial on training steps, from ``docs/training_step.csv``."""

from __future__ import annotations

import csv
from pathlib import Path
from statistics import fmean

from dragonfly_docs.markdown import code, table

FILE = Path(__file__).parents[2] / "training_step.csv"


def step_table() -> str:
    """Times of a step and slowdowns, means over seeds, a row per policy."""
    with FILE.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    places = list(dict.fromkeys((row["job"], row["placement"]) for row in rows))

    def cell(policy: str, place: tuple[str, str]) -> str:
        runs = [row for row in rows if row["policy"] == policy and (row["job"], row["placement"]) == place]
        times, high = ([float(run[name]) for run in runs] for name in ("step_us", "slowdown_p99"))
        return f"{fmean(times):,.0f} ({fmean(high):.1f})"

    policies = dict.fromkeys(row["policy"] for row in rows)
    return table(
        ("policy", *(f"{job}, {placement}" for job, placement in places)),
        ((code(policy), *(cell(policy, place) for place in places)) for policy in policies),
    )

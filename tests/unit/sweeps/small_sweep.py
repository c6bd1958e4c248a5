"""A small sweep, and its results apart from times and places, to be compared between the ways to do it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd

from dragonfly_env.sweeps import Scenario, load_results

VARYING = ("machine", "date", "wall_seconds", "cpu_seconds", "measured_cpu_seconds", "packet_hops_per_cpu_s")


def small(**changes: Any) -> Scenario:
    """Eight runs of milliseconds."""
    settings = {
        "topology": "72",
        "policies": ["min", "ugal-n"],
        "traffic": ["uniform"],
        "loads": [0.2, 0.4],
        "seeds": [1, 2],
        "warmup_ns": 500,
        "measure_ns": 1000,
    }
    return Scenario.from_dict({**settings, **changes})


def rows(folder: Path) -> pd.DataFrame:
    """The results of a folder, without what differs between two starts of one run."""
    merged = load_results(folder / "results.parquet").table
    pd.testing.assert_frame_equal(merged, load_results(folder).table)
    return merged.drop(columns=list(VARYING))

"""Throughput and latency over simulated time, one line per policy."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from dragonfly_env.checks.values import config_error
from dragonfly_env.colors import REFERENCE, looks
from dragonfly_env.plots.style import (
    INTERVAL,
    LABEL_POINTS,
    FloatArray,
    at_load,
    curve,
    grid,
    lines_of,
    policy_legend,
    representative_load,
    runs_at,
)
from dragonfly_env.sweeps.results import Results

_LABEL_IN = 1.6  # inches of a panel's height for its label


def series_figure(results: Results, load: float | None = None) -> Figure:
    """Draw a row per traffic: accepted load, and mean latency of the packets delivered in each bin. Dashed lines are
    the times at which links fail or come back.
    """
    if "series_time_ns" not in results.table.columns:
        raise config_error(
            "series_bin_ns", None, "must be set in the sweep for time series; there is none in these runs"
        )
    look = looks(results.policies)
    shown = {traffic: representative_load(results, traffic, load) for traffic in results.traffic}
    names = {traffic: at_load(traffic, at, _LABEL_IN, LABEL_POINTS) for traffic, at in shown.items()}
    figure, axes = grid(4.6, 2.3, len(results.traffic), 2, lines_beside=lines_of(names.values()))
    for row, traffic in zip(axes, results.traffic, strict=True):
        chosen = shown[traffic]
        rows = runs_at(results, traffic, chosen)
        for policy in results.policies:
            mine = rows[(rows["policy"] == policy) & rows["series_time_ns"].notna()]
            if mine.empty:
                continue
            time_us = _of_seeds(mine, "series_time_ns").mean(axis=0) / 1000.0
            for panel, column, scale in (
                (row[0], "series_accepted_load", 1.0),
                (row[1], "series_latency_mean_ns", 1e-3),
            ):
                values = _of_seeds(mine, column) * scale
                curve(panel, time_us, values, **look[policy].line, label=policy, linewidth=1.3)
        row[0].axhline(
            chosen,
            color=REFERENCE,
            linestyle=":",
            linewidth=1.0,
            zorder=1,
            label=None if row is not axes[0] else "offered load",
        )
        for panel in row:
            for time_us in _events_us(rows):
                panel.axvline(time_us, color=REFERENCE, linestyle="--", linewidth=0.8, zorder=1)
        row[0].set_ylabel(f"{names[traffic]}\naccepted load")
        row[1].set_ylabel("mean latency (µs)")
        for panel in row:
            panel.set_ylim(bottom=0.0)
            panel.margins(x=0.01)
    for panel in axes[-1]:
        panel.set_xlabel("simulated time (µs)", fontsize=8)
    several = [INTERVAL] if results.table["seed"].nunique() > 1 else []
    policy_legend(figure, axes[0][0], *several)
    return figure


def _events_us(rows: pd.DataFrame) -> list[float]:
    """The times at which links fail or come back in these runs."""
    events = [event for text in rows["configuration"] for event in json.loads(text).get("events", ())]
    return sorted({event["time_ns"] / 1000.0 for event in events})


def _of_seeds(rows: pd.DataFrame, column: str) -> FloatArray:
    """(seeds, bins) the bins that all seeds have."""
    series = [np.asarray(values, dtype=np.float64) for values in rows[column] if values is not None]
    length = min(len(values) for values in series)
    return np.stack([values[:length] for values in series])

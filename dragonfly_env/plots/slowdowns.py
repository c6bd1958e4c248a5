"""Slowdowns of messages over their size, in the manner of the studies of datacenter transports."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import FormatStrFormatter, LogLocator, NullFormatter

from dragonfly_env.checks.values import config_error
from dragonfly_env.colors import looks
from dragonfly_env.plots.style import (
    INTERVAL,
    TITLE_POINTS,
    FloatArray,
    at_load,
    curve,
    grid,
    policy_legend,
    representative_load,
    runs_at,
)
from dragonfly_env.sweeps.results import Results

_WIDTH_IN = 3.6


def has_slowdowns(results: Results) -> bool:
    """Whether some run has slowdowns of messages."""
    return bool(results.table.get("slowdown_packets", pd.Series(dtype=object)).notna().any())


def slowdown_figure(results: Results, load: float | None = None) -> Figure:
    """Draw a column per traffic: the median and the 99th percentile of slowdowns over the size of messages."""
    if not has_slowdowns(results):
        raise config_error(
            "message_slowdown", False, "must be true in the sweep for slowdowns; there are none in these runs"
        )
    look = looks(results.policies)
    figure, axes = grid(_WIDTH_IN, 2.3, 2, len(results.traffic), sharex="col")
    for column, traffic in enumerate(results.traffic):
        chosen = representative_load(results, traffic, load)
        runs = runs_at(results, traffic, chosen)
        runs = runs[runs["slowdown_packets"].notna()]
        axes[0][column].set_title(
            at_load(traffic, chosen, _WIDTH_IN - 0.6, TITLE_POINTS), fontsize=TITLE_POINTS
        )
        for policy in results.policies:
            mine = runs[runs["policy"] == policy]
            if mine.empty:
                continue
            for panel, name in ((axes[0][column], "slowdown_p50"), (axes[1][column], "slowdown_p99")):
                sizes, values = _by_size(mine, name)
                curve(panel, sizes, values, **look[policy].line, label=policy)
        axes[1][column].set_xlabel("packets of the message, from")
        for row in axes:
            row[column].set_xscale("log", base=2)
            row[column].xaxis.set_major_formatter(FormatStrFormatter("%g"))
            row[column].set_yscale("log")
            row[column].yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
            row[column].yaxis.set_major_formatter(FormatStrFormatter("%g"))
            row[column].yaxis.set_minor_formatter(NullFormatter())
    axes[0][0].set_ylabel("slowdown, median")
    axes[1][0].set_ylabel("slowdown, 99th percentile")
    several = [INTERVAL] if results.table["seed"].nunique() > 1 else []
    policy_legend(figure, axes[0][0], *several)
    return figure


def _by_size(runs: pd.DataFrame, column: str) -> tuple[FloatArray, FloatArray]:
    """The sizes that all runs have, and (runs, sizes) values."""
    values = [
        dict(zip(packets, figures, strict=True))
        for packets, figures in zip(runs["slowdown_packets"], runs[column], strict=True)
    ]
    sizes = sorted(set(values[0]).intersection(*values[1:]))
    return np.array(sizes, np.float64), np.array([[slowdown[size] for size in sizes] for slowdown in values])

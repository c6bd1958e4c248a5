"""Latency distributions as box plots with mean, p95 and p99, in the manner of figure 6 of Kang et al., HPDC
2021.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FormatStrFormatter, LogLocator, NullFormatter

from dragonfly_env.colors import NOTE, looks
from dragonfly_env.plots.style import (
    LABEL_POINTS,
    TITLE_POINTS,
    at_load,
    broken,
    fitting_legend,
    grid,
    lines_of,
    representative_load,
)
from dragonfly_env.sweeps.results import Results, aggregate

_TICK_IN = 1.3  # inches for a policy's label

_PERCENTILES = ("p5", "p25", "p50", "p75", "p95", "p99")
_COLUMNS = (*(f"latency_{name}_ns" for name in _PERCENTILES), "latency_mean_ns")
_LOG_ABOVE = (
    12.0  # ratio of the largest to the smallest figure from which a linear axis would flatten the boxes
)
_MEDIAN: dict[str, Any] = {"color": "black", "linewidth": 1.4}
_MEAN: dict[str, Any] = {"marker": "D", "color": "white", "markeredgecolor": "black", "markersize": 5}
_P95: dict[str, Any] = {"marker": "_", "color": "black", "markersize": 13, "markeredgewidth": 1.6}
_P99: dict[str, Any] = {"marker": "x", "color": "black", "markersize": 6, "markeredgewidth": 1.4}


def distribution_figure(results: Results, load: float | None = None) -> Figure:
    """Draw a panel per traffic at one load each, with a box per policy.

    Box: first to third quartile with the median; whiskers: 5th to 95th percentile (HPDC'21 draws 1.5
        interquartile ranges, which need every packet). Marks: mean, p95, p99. Over seeds: the mean of each
        figure.
    """
    table = aggregate(results, _COLUMNS)
    look = looks(results.policies)
    width = max(2.6, 0.62 * len(results.policies) + 1.2)
    ticks = lines_of(broken(policy, _TICK_IN, LABEL_POINTS) for policy in results.policies)
    figure, axes = grid(width, 3.3, 1, len(results.traffic), lines=ticks - 1)
    for panel, traffic in zip(axes[0], results.traffic, strict=True):
        chosen = representative_load(results, traffic, load)
        part = table[(table["traffic"] == traffic) & np.isclose(table["load"], chosen)]
        part = part[part["latency_p50_ns"].notna()]
        boxes = [_box(row) for row in part.to_dict("records")]
        title = at_load(traffic, chosen, width - 0.6, TITLE_POINTS)
        panel.set_title(title, fontsize=TITLE_POINTS)
        if not boxes:
            panel.text(0.5, 0.5, "no packets delivered", ha="center", transform=panel.transAxes, color=NOTE)
            continue
        _draw(panel, boxes, [look[box["label"]].color for box in boxes])
    axes[0][0].set_ylabel("packet latency (µs)")
    handles = [Line2D([], [], **_MEDIAN, label="median")]
    handles += [
        Line2D([], [], linestyle="none", label=label, **style)
        for label, style in (("mean", _MEAN), ("95th percentile", _P95), ("99th percentile", _P99))
    ]
    if bool((table["seeds"] > 1).any()):
        bar: dict[str, Any] = {"marker": "|", "color": "black", "markersize": 11}
        handles.append(Line2D([], [], linestyle="none", label="95 % interval over seeds", **bar))
    if bool(table["saturated"].any()):
        handles.append(Line2D([], [], linestyle="none", marker="$*$", color="black", label="saturated"))
    fitting_legend(figure, handles)
    return figure


def _box(row: Mapping[Hashable, Any]) -> dict[str, Any]:
    """Return the arguments of `Axes.bxp` for a policy, and the marks; in microseconds."""
    names = {
        "whislo": "p5",
        "q1": "p25",
        "med": "p50",
        "q3": "p75",
        "whishi": "p95",
        "p99": "p99",
        "mean": "mean",
    }
    values = {key: float(row[f"latency_{name}_ns"]) / 1000.0 for key, name in names.items()}
    halves = {f"{name}_half": float(row[f"latency_{name}_ns_ci95"]) / 1000.0 for name in ("mean", "p99")}
    return {"label": row["policy"], "saturated": row["saturated"], **values, **halves}


def _draw(axes: Axes, boxes: list[dict[str, Any]], colors: list[str]) -> None:
    drawn = axes.bxp(
        [{key: box[key] for key in ("label", "whislo", "q1", "med", "q3", "whishi")} for box in boxes],
        showfliers=False,
        patch_artist=True,
        widths=0.6,
        medianprops=_MEDIAN,
    )
    for patch, color in zip(drawn["boxes"], colors, strict=True):
        patch.set_facecolor(color)
        patch.set_alpha(0.65)
    positions = range(1, len(boxes) + 1)
    for key, style in (("whishi", _P95), ("p99", _P99), ("mean", _MEAN)):
        heights = [box[key] for box in boxes]
        axes.plot(positions, heights, linestyle="none", zorder=4, **style)
        halves = [box.get(f"{key}_half", math.nan) for box in boxes]
        if not np.isnan(halves).all():
            axes.errorbar(positions, heights, halves, fmt="none", ecolor="black", elinewidth=0.9, capsize=2.5)
    if max(box["p99"] for box in boxes) > _LOG_ABOVE * min(box["med"] for box in boxes):
        axes.set_yscale("log")
        axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        axes.yaxis.set_major_formatter(FormatStrFormatter("%g"))
        axes.yaxis.set_minor_formatter(NullFormatter())
    else:
        axes.set_ylim(bottom=0.0)
    labels = [
        broken(box["label"], _TICK_IN, LABEL_POINTS) + ("*" if box["saturated"] else "") for box in boxes
    ]
    axes.set_xticks(list(positions), labels, rotation=35, ha="right", rotation_mode="anchor")
    axes.grid(visible=False, axis="x")

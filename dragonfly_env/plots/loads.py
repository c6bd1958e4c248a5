"""Latency, throughput and hops over offered load: one row of panels per traffic, one line per policy.

In the manner of figure 5 of Kang et al., HPDC 2021.
"""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from dragonfly_env.checks.values import config_error
from dragonfly_env.colors import NOTE, REFERENCE, SeriesStyle, looks
from dragonfly_env.errors import ConfigError
from dragonfly_env.plots.style import INTERVAL, LABEL_POINTS, fitting_legend, grid, lines_of, plain, wrapped
from dragonfly_env.simulation.config import SimulationConfig
from dragonfly_env.sweeps.results import Results, aggregate
from dragonfly_env.sweeps.summary import loaded_part

_LABEL_IN = 1.7  # inches of a panel's height for its label
_LINE_POINTS = 10  # distance between two lines of small text
_EXIT: dict[str, Any] = {"marker": r"$\uparrow$", "markersize": 9}
_SATURATED: dict[str, Any] = {"linestyle": "none", "markerfacecolor": "white", "label": "_saturated"}
_EXITS = "_exit"  # a label that legends leave out
COLUMNS = ("latency_mean_ns", "accepted_load", "hops_mean")


def load_figure(results: Results, look: Mapping[str, SeriesStyle] | None = None) -> Figure:
    """The figure; policies have their usual looks, or others.

    Shaded: the 95 % confidence interval over seeds. Hollow points: saturated. Latencies far above those of policies
        that still carry the load are cut off; an arrow at the upper edge marks where a policy leaves the panel, and its
        first latency is written next to the arrow if all of them are above. Grey lines: what no routing can pass, where
        it is known (`limits_of`).

    Raises:
        ConfigError: If no run was offered a load: jobs and closed-loop traffic have none.
    """
    loaded = loaded_part(results)
    if loaded is None:
        raise config_error("traffic", ", ".join(results.traffic), "must be some that offers loads")
    results = loaded
    table = aggregate(results, COLUMNS)
    look = look or looks(results.policies)
    names = {traffic: wrapped(traffic, _LABEL_IN, LABEL_POINTS) for traffic in results.traffic}
    beside = lines_of(names.values()) - 1
    figure, axes = grid(3.3, 2.45, len(results.traffic), 3, lines_beside=beside)
    for row, traffic in zip(axes, results.traffic, strict=True):
        part = table[table["traffic"] == traffic]
        limit_us = latency_limit_ns(part) / 1000.0
        mentioned = 0
        for policy in results.policies:
            line = part[part["policy"] == policy].sort_values("load")
            if line.empty:
                continue
            _curve(row[0], line, "latency_mean_ns", look[policy], policy, scale=1e-3)
            mentioned += _mark_exit(row[0], line, limit_us, look[policy], part["load"], policy, mentioned)
            _curve(row[1], line, "accepted_load", look[policy], policy)
            _curve(row[2], line, "hops_mean", look[policy], policy)
        _finish(row, part, names[traffic], limit_us)
        _draw_limits(row, results, traffic)
    for panel in axes[-1]:
        panel.set_xlabel("offered load (fraction of host link bandwidth)", fontsize=8)
    fitting_legend(figure, legend_entries(figure, results))
    return figure


def legend_entries(figure: Figure, results: Results) -> list[Artist]:
    """The entries of the legend: lines, and intervals and arrows where there are any."""
    lines, _ = figure.axes[1].get_legend_handles_labels()
    arrow = Line2D([], [], linestyle="none", **_EXIT, color=NOTE, label="latency above the panel")
    has_exits = any(line.get_label() == _EXITS for axes in figure.axes for line in axes.lines)
    several = results.table["seed"].nunique() > 1
    hollow = Line2D([], [], marker="o", color=NOTE, **{**_SATURATED, "label": "saturated"})
    saturated = any(line.get_label() == _SATURATED["label"] for axes in figure.axes for line in axes.lines)
    return [
        *lines,
        *([hollow] if saturated else []),
        *([INTERVAL] if several else []),
        *([arrow] if has_exits else []),
    ]


def _draw_limits(row: list[Axes], results: Results, traffic: str) -> None:
    """The latency floor, and the most load."""
    limits = limits_of(results, traffic)
    if limits is None:
        return
    style: dict[str, Any] = {"color": COLOR, "linestyle": "-", "linewidth": 0.9, "zorder": 1.5}
    label = "bound of any routing"
    row[0].plot(limits.loads, [floor / 1000.0 for floor in limits.floors_ns], **style, label=label)
    row[1].axhline(limits.most_load, **style, label=label)


def latency_limit_ns(part: pd.DataFrame) -> float:
    """The upper end of a latency axis: a third above the slowest policy that still carries the load.

    At least three times the lowest latency, so that a panel in which everything is saturated shows something,
    and never more than what there is to show.
    """
    latencies = part["latency_mean_ns"]
    carried = latencies[~part["saturated"]].max()
    wanted = max(3.0 * float(latencies.min()), 1.33 * float(carried) if pd.notna(carried) else 0.0)
    highest = 1.06 * float(latencies.max())
    return min(wanted, highest) if np.isfinite(wanted) else 1000.0


def _curve(
    axes: Axes, line: pd.DataFrame, column: str, look: SeriesStyle, label: str, scale: float = 1.0
) -> None:
    x, y = line["load"].to_numpy(), line[column].to_numpy() * scale
    half = np.nan_to_num(line[f"{column}_ci95"].to_numpy()) * scale
    axes.plot(x, y, **look.line, marker=look.marker, label=label, markeredgewidth=0.0)
    if (saturated := line["saturated"].to_numpy(bool)).any():
        axes.plot(x[saturated], y[saturated], color=look.color, marker=look.marker, **_SATURATED)
    if half.any():
        axes.fill_between(x, y - half, y + half, color=look.color, alpha=0.18, linewidth=0.0)


def _mark_exit(
    axes: Axes,
    line: pd.DataFrame,
    limit_us: float,
    look: SeriesStyle,
    loads: pd.Series[float],
    policy: str,
    mentioned: int,
) -> bool:
    """An arrow where the curve leaves the panel.

    Returns:
        Whether nothing of the curve is visible, which is said in words.
    """
    x, y = line["load"].to_numpy(), line["latency_mean_ns"].to_numpy() / 1000.0
    above = np.flatnonzero(y > limit_us)
    if not above.size:
        return False
    first = int(above[0])
    at = x[first]
    if first > 0 and np.isfinite(y[first - 1]):
        at = np.interp(limit_us, [y[first - 1], y[first]], [x[first - 1], x[first]])
    axes.plot(
        [at], [limit_us], **_EXIT, color=look.color, clip_on=False, linestyle="none", zorder=5, label=_EXITS
    )
    if first == 0:  # nothing of this curve is visible: say where it is, on the side that has room
        text = f"{plain(policy)}: {y[0]:.3g} µs at load {x[0]:g}"
        left, right = load_limits(loads)
        late = at > (left + right) / 2
        axes.annotate(
            text,
            (at, limit_us),
            (-6 if late else 6, -3 - _LINE_POINTS * mentioned),
            textcoords="offset points",
            va="top",
            ha="right" if late else "left",
            color=look.color,
            fontsize=8,
            bbox={"facecolor": "white", "alpha": 0.8, "edgecolor": "none", "pad": 0.5},
            zorder=4,
        )
    return first == 0


def load_limits(loads: pd.Series[float]) -> tuple[float, float]:
    """The ends of an axis of loads: from 0, or around the only one there is, which would be at the edge."""
    low, high = float(loads.min()), float(loads.max())
    return (0.0, high * 1.03) if low < high else (high * 0.5, high * 1.5)


def _finish(row: list[Axes], part: pd.DataFrame, traffic: str, limit_us: float) -> None:
    top = float(part["load"].max())
    row[0].set_ylim(0.0, limit_us)
    row[0].set_ylabel(f"{traffic}\nmean latency (µs)")
    end = load_limits(part["load"])[1]
    row[1].plot(
        [0, end],
        [0, end],
        color=REFERENCE,
        linestyle=":",
        linewidth=1.0,
        zorder=1,
        label="accepted = offered",
    )
    row[1].set_ylabel("accepted load")
    row[1].set_ylim(0.0, top * 1.04)
    row[2].set_ylabel("mean hops")
    hops = part["hops_mean"].dropna()
    if hops.empty:
        hops = pd.Series([0.0])
    row[2].set_ylim(np.floor(hops.min() * 2 - 0.2) / 2, np.ceil(hops.max() * 2 + 0.2) / 2)
    for axes in row:
        axes.set_xlim(*load_limits(part["load"]))


MOST_FLOWS = 50_000
"""Most flows of a linear program for a figure, at some seconds per load. 1,056 hosts, symmetric pattern: 23,000."""

COLOR = "#888888"


@dataclasses.dataclass(frozen=True, slots=True)
class Limits:
    """The bounds of one traffic.

    Attributes:
        most_load: That any routing carries.
        loads: The loads of the runs below it, ascending.
        floors_ns: The least mean latency at each of them.
    """

    most_load: float
    loads: tuple[float, ...]
    floors_ns: tuple[float, ...]


def limits_of(results: Results, traffic: str) -> Limits | None:
    """The bounds of a traffic; None where they are not known.

    That is without the extra ``bounds``, for traffic without a demand matrix, where the linear program is large, and
    where runs differ in topology, network or traffic.
    """
    table = results.table[results.table["traffic"] == traffic]
    try:
        from dragonfly_env.bounds import Bounds

        configs = {_shared_part(text) for text in table["configuration"]}
        if len(configs) != 1:
            return None
        config = SimulationConfig.from_json(configs.pop())
        bounds = Bounds.of(config, most_flows=MOST_FLOWS)
    except (ConfigError, KeyError, TypeError, ValueError):
        return None
    loads = sorted(float(load) for load in pd.unique(table["load"]))
    found = [(load, bounds.latency_floor_ns(load)) for load in loads if load <= bounds.most_load]
    carried = [(load, floor) for load, floor in found if math.isfinite(floor)]
    return Limits(bounds.most_load, tuple(load for load, _ in carried), tuple(floor for _, floor in carried))


def _shared_part(text: str) -> str:
    """Return the part of a run's configuration that determines the bounds. Among several seeds the first is as good
    as any other, except for patterns that the seed draws.
    """
    known = json.loads(text)
    part = {name: known[name] for name in ("topology", "network", "traffic") if name in known}
    drawn = any(
        name in json.dumps(part.get("traffic", "")) for name in ("permutation", "hotspot", "neighbors")
    )
    return json.dumps({**part, **({"seed": known["seed"]} if drawn else {})}, sort_keys=True)

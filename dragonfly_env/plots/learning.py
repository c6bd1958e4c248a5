"""The course of a training: latency, accepted load and minimal paths over decisions, with exploration and without."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from dragonfly_env.colors import DASHES, SeriesStyle, looks
from dragonfly_env.plots.style import fitting_legend, grid, plain

_PANELS = (
    ("latency_mean_ns", "mean latency (µs)", 1e-3),
    ("accepted_load", "accepted load", 1.0),
    ("minimal_fraction", "minimal paths (fraction)", 1.0),
)
_MOST_HEADROOM = 1.6  # a line further above the curves would flatten them
_EXPLORING, _GREEDY = "#9a9a9a", "#d55e00"  # no heuristic has them


def learning_figure(
    rows: Sequence[Mapping[str, Any]], title: str = "", heuristics: Mapping[str, Any] | None = None
) -> Figure:
    """The figure."""
    lines = heuristics or {}
    look = looks(tuple(lines))
    off_scale = set()
    figure, axes = grid(3.3, 2.6, 1, len(_PANELS))
    steps = np.array([row["decisions"] for row in rows], dtype=np.float64) / 1e3
    for panel, (name, label, scale) in zip(axes[0], _PANELS, strict=True):
        values = np.array([_number(row, name) for row in rows]) * scale
        panel.plot(steps, values, color=_EXPLORING, label="learning, from empty networks")
        measured = np.array([_number(row, f"evaluation/{name}") for row in rows]) * scale
        known = np.isfinite(measured)
        if known.any():
            panel.plot(
                steps[known], measured[known], color=_GREEDY, marker="o", label="evaluated, after a warm-up"
            )
        panel.set_xlabel("thousand decisions")
        panel.set_ylabel(label)
        shown = np.concatenate([values[np.isfinite(values)], measured[known]])
        top = 1.08 * float(shown.max()) if shown.size else 0.0
        for other, reached in lines.items():
            height = getattr(reached, name) * scale
            if np.isfinite(height) and (height <= _MOST_HEADROOM * top or not top):
                panel.axhline(height, **_line(look[other]))
                top = max(top, 1.08 * height)
            elif np.isfinite(height):
                off_scale.add(other)
        panel.set_ylim(0.0, top or 1.0)
    handles, _ = axes[0][0].get_legend_handles_labels()
    for other in lines:
        label = plain(other) + (" (off the scale)" if other in off_scale else "")
        handles.append(Line2D([], [], **_line(look[other]), label=label))
    fitting_legend(figure, handles)
    if title:
        figure.suptitle(plain(title), fontsize=10)
    return figure


def _line(look: SeriesStyle) -> dict[str, Any]:
    """Style of a heuristic: its own colour and dashes; solid styles are dashed here, as learning curves are solid."""
    dash = "dash" if look.dash == "solid" else look.dash
    return {"color": look.color, "linestyle": DASHES[dash], "linewidth": 1.3}


def _number(row: Mapping[str, Any], name: str) -> float:
    value = row.get(name)
    return np.nan if value is None else float(value)

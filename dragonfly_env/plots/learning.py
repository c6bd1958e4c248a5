"""The course of a training: latency, accepted load and minimal paths over decisions, with exploration and without."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from dragonfly_env.plots.style import grid, plain

_PANELS = (
    ("latency_mean_ns", "mean latency (us)", 1e-3),
    ("accepted_load", "accepted load", 1.0),
    ("minimal_fraction", "minimal paths (fraction)", 1.0),
)
_EXPLORING, _GREEDY = "#56b4e9", "#d55e00"


def learning_figure(rows: Sequence[Mapping[str, Any]], title: str = "") -> Figure:
    """The figure.

    Args:
        rows: One per episode, as `Progress.to_dict` gives them.
        title: Above the panels.
    """
    figure, axes = grid(3.3, 2.6, 1, len(_PANELS))
    steps = np.array([row["decisions"] for row in rows], dtype=np.float64) / 1e3
    for panel, (name, label, scale) in zip(axes[0], _PANELS, strict=True):
        values = np.array([_number(row, name) for row in rows]) * scale
        panel.plot(steps, values, color=_EXPLORING, label="while learning")
        measured = np.array([_number(row, f"evaluation/{name}") for row in rows]) * scale
        known = np.isfinite(measured)
        if known.any():
            panel.plot(
                steps[known], measured[known], color=_GREEDY, marker="o", label="evaluated, without exploring"
            )
        panel.set_xlabel("thousand decisions")
        panel.set_ylabel(label)
        shown = np.concatenate([values[np.isfinite(values)], measured[known]])
        if shown.size:
            panel.set_ylim(0.0, 1.08 * float(shown.max()) or 1.0)
    handles, labels = axes[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=2, frameon=False)
    if title:
        figure.suptitle(plain(title), fontsize=10)
    return figure


def _number(row: Mapping[str, Any], name: str) -> float:
    value = row.get(name)
    return np.nan if value is None else float(value)

"""Jobs under every policy: box plots of their times over placements and seeds."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from dragonfly_env.checks.values import config_error
from dragonfly_env.colors import NOTE, SeriesStyle, looks
from dragonfly_env.plots.style import (
    TITLE_POINTS,
    fitting_legend,
    grid,
    lines_of,
    representative_load,
    wrapped,
)
from dragonfly_env.sweeps.results import Results
from dragonfly_env.sweeps.summary import OPERATION, comparable, has_jobs, job_runs

_MOST_PANELS = 8
_TITLE_IN = 2.6  # inches of a panel's width for its title
_BOX = 0.7  # width of a box as a share of its room

Boxes = dict[str, dict[str, npt.NDArray[np.float64]]]
"""Drawn values, by their name on the axis and by policy: one per run."""


def job_figure(results: Results, load: float | None = None) -> Figure:
    """Draw a column per job: run time, MPI share, and the mean times of its operations; one box per policy.

    Box: first to third quartile with the median, over all placements and seeds; whiskers: the lowest and the highest;
    a point for every run.
    """
    panels: list[tuple[str, pd.DataFrame]] = []
    for traffic in results.traffic:
        if not has_jobs(results, traffic):
            continue
        runs = job_runs(results, traffic)
        at, beside = "", traffic != "none"
        if beside:
            chosen = representative_load(results, traffic, load)
            runs, at = runs[np.isclose(runs["load"], chosen)], f" next to {traffic}, load {chosen:g}"
        panels += [(f"{number}: {name}{at}", part) for number, name, part in comparable(runs)]
    if not panels:
        raise config_error("jobs", [], "must be in the scenario for figures of jobs; these runs have none")
    panels = panels[:_MOST_PANELS]
    look = looks(results.policies)
    titles = [wrapped(title, _TITLE_IN, TITLE_POINTS) for title, _ in panels]
    figure, axes = grid(3.0, 2.3, 3, len(panels), lines=lines_of(titles))
    for column, (title, (_, part)) in enumerate(zip(titles, panels, strict=True)):
        operations = {
            str(name).removeprefix(OPERATION).removesuffix("_ns"): _by_policy(part, str(name), 1e-3)
            for name in part
            if str(name).startswith(OPERATION) and part[name].notna().any()
        }
        axes[0][column].set_title(title, fontsize=TITLE_POINTS)
        _draw(axes[0][column], {"": _by_policy(part, "run_time_ns", 1e-3)}, look)
        _draw(axes[1][column], {"": _by_policy(part, "mpi_share", 100.0)}, look)
        _draw(axes[2][column], operations, look)
    for row, label in zip(axes, ("run time (µs)", "MPI share (%)", "operation, mean (µs)"), strict=True):
        row[0].set_ylabel(label)
    fitting_legend(
        figure,
        [
            Patch(facecolor=policy_look.color, alpha=0.65, label=policy)
            for policy, policy_look in look.items()
        ],
    )
    return figure


def _by_policy(part: pd.DataFrame, column: str, scale: float) -> dict[str, npt.NDArray[np.float64]]:
    """The values of the runs that have one, by policy."""
    known = part[part[column].notna()]
    return {
        str(policy): same[column].to_numpy() * scale for policy, same in known.groupby("policy", sort=False)
    }


def _draw(axes: Axes, boxes: Boxes, look: Mapping[str, SeriesStyle]) -> None:
    """Boxes side by side, those of one name next to each other."""
    axes.grid(visible=False, axis="x")
    axes.set_xticks(
        range(len(boxes)) if any(boxes) else [], boxes if any(boxes) else [], rotation=25, ha="right"
    )
    if not any(boxes.values()):
        axes.text(0.5, 0.5, "not complete", ha="center", transform=axes.transAxes, color=NOTE)
        return
    width = 1.0 / (len(look) + 1)
    for place, values in enumerate(boxes.values()):
        for index, (policy, policy_look) in enumerate(look.items()):
            if policy not in values:
                continue
            at = place + (index - (len(look) - 1) / 2) * width
            drawn = axes.boxplot(
                [values[policy]],
                positions=[at],
                widths=_BOX * width,
                whis=(0, 100),
                patch_artist=True,
                manage_ticks=False,
                medianprops={"color": "black", "linewidth": 1.4},
            )
            drawn["boxes"][0].set(facecolor=policy_look.color, alpha=0.65)
            points = values[policy]
            axes.plot(np.full(len(points), at), points, ".", color="black", markersize=3.0, zorder=4)
    axes.set_xlim(-0.6, len(boxes) - 0.4)
    axes.set_ylim(bottom=0.0)

"""The learning curves: latency of the greedy policy over training time, next to the heuristics."""

from __future__ import annotations

import statistics
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, NullFormatter

from dragonfly_env.plots.style import COLOURS, grid, looks, save

_SHOWN = ("min", "ugal-n", "lia", "q-adaptive-fast", "neural-v1", "random")
_CURVE = COLOURS[2]  # none of these has it
_LINEAR_BELOW_NS = 2_100  # such a curve has a linear axis of its own; log axes have room for min
HOSTS = "72"
_WHAT = "72 hosts, adv+1, load 0.35; greedy policy, evaluated during training"


def draw(content: dict[str, Any], file: Path) -> Path:
    """Write the figure: one panel per case, with the median over the seeds, their range, and heuristics."""
    cases = [
        name
        for name in dict.fromkeys(run["case"] for run in content["runs"])
        if content["hosts"][name] == HOSTS
    ]
    columns = max(1, len(cases) if len(cases) <= 3 else 2)
    figure, axes = grid(4.6, 2.9, -(-len(cases) // columns), columns)
    panels = [panel for row in axes for panel in row]
    for panel, case in zip(panels, cases, strict=False):
        runs = [run for run in content["runs"] if run["case"] == case]
        _panel(panel, runs)
        panel.set_title(f"{case} ({len(runs)} seeds)")
        _references(panel, content["baselines"][HOSTS], "random " + case.rpartition(" ")[2])
    for panel in panels[len(cases) :]:
        panel.set_visible(False)
    for row in axes:
        row[0].set_ylabel("mean packet latency (ns)")
    handles, labels = axes[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False)
    figure.suptitle(_WHAT, fontsize=10)
    (path,) = save(figure, file.parent, file.stem, ("png",))
    return path


def _panel(panel: Axes, runs: list[dict[str, Any]]) -> None:
    curves = [[point for point in run["curve"] if point.get("evaluation")] for run in runs]
    seconds = [statistics.median(point["cpu_s"] for point in points) for points in zip(*curves, strict=False)]
    columns = [
        [point["evaluation"]["latency_mean_ns"] for point in points] for points in zip(*curves, strict=False)
    ]
    low, high = [min(column) for column in columns], [max(column) for column in columns]
    panel.fill_between(seconds, low, high, color=_CURVE, alpha=0.22, linewidth=0, label="range of the seeds")
    median = [statistics.median(column) for column in columns]
    panel.plot(seconds, median, color=_CURVE, marker=".", label="median")
    panel.set_xlabel("CPU time of the training (s, one core)")
    panel.set_xlim(left=0)
    if max(high) > _LINEAR_BELOW_NS:
        panel.set_yscale("log")
        panel.set_yticks([1000, 1500, 2000, 3000, 5000, 10_000, 20_000, 50_000])
        panel.yaxis.set_minor_formatter(NullFormatter())
    else:
        panel.set_ylim(1_100, 2_100)
    panel.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))


def _references(panel: Axes, baselines: dict[str, Any], random: str) -> None:
    look = looks(_SHOWN)
    for name in _SHOWN:
        if name != "random" and name not in baselines:
            continue
        rows = baselines[random if name == "random" else name]["held_out"]
        latency = statistics.fmean(row["latency_mean_ns"] for row in rows)
        if panel.get_yscale() == "linear" and latency > _LINEAR_BELOW_NS:
            panel.text(
                0.98,
                0.88,
                f"{name}: {latency:,.0f}, off the scale",
                transform=panel.transAxes,
                ha="right",
                va="top",
            )
            continue
        own = look[name]
        panel.axhline(latency, **own.line, marker=own.marker, markersize=5, linewidth=1.1, label=name)

"""Stalls and flits by class of link, and latencies of hosts: figures 6 and 10 to 14 of Chunduri et al., IPDPS 2021."""

from __future__ import annotations

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter, MaxNLocator

from dragonfly_env.lab.papers.cells import Cell
from dragonfly_env.lab.papers.figures.panels import letter
from dragonfly_env.lab.papers.findings import Findings, NotFoundYetError
from dragonfly_env.lab.papers.job_metrics import JOB_METRICS, NETWORK_CLASSES, PERCENTILES
from dragonfly_env.plots.style import grid, looks
from dragonfly_env.sweeps.statistics import mean_and_ci95

_WHAT = (("stalls", "stalls (times of a flit)"), ("flits", "flits"), ("ratio", "stalls per flit"))


def _bars(panel: Axes, findings: Findings, cells: tuple[Cell, ...], metrics: dict[str, str]) -> None:
    """Means over runs with 95 % intervals: a group of bars per metric, a bar per cell."""
    look = looks([cell.policy for cell in cells])
    width = 0.8 / len(cells)
    for number, cell in enumerate(cells):
        for place, metric in enumerate(metrics):
            try:
                mean, half = mean_and_ci95(JOB_METRICS[metric](findings, cell).tolist())
            except NotFoundYetError:
                continue
            # Nothing here can be negative.
            error = [[min(half, mean)], [half]] if half == half else None
            panel.bar(place + width * (number + 0.5) - 0.4, mean, width=0.9 * width, color=look[cell.policy].colour,
                      yerr=error, capsize=2, label=cell.policy if place == 0 else None)  # fmt: skip
    by_policy = {cell.policy: (number, cell) for number, cell in enumerate(cells)}
    stated = False
    for claim in findings.claims:
        if (
            claim.relation != "paired-ratio"
            or claim.metric not in metrics
            or claim.traffic != cells[0].traffic
        ):
            continue
        if not {claim.policy, claim.reference} <= set(by_policy):
            continue
        bar = by_policy[claim.policy][0]
        reference = float(np.nanmean(JOB_METRICS[claim.metric](findings, by_policy[claim.reference][1])))
        at = list(metrics).index(claim.metric) + width * (bar + 0.5) - 0.4
        panel.plot([at], [claim.published * reference], marker="s", linestyle="none", markerfacecolor="white",
                   markeredgecolor="black", zorder=6,
                   label=None if stated else "published, relative to the measured AD0")  # fmt: skip
        stated = True
    panel.set_xticks(range(len(metrics)), list(metrics.values()))
    panel.grid(visible=False, axis="x")


def tile_bars(findings: Findings, figure: str, *, of_job: bool = False) -> Figure:
    """Stalls, flits and their ratio by rank, one row of panels per kind of runs: of the whole machine, or of the
    routers of the watched jobs.

    Raises:
        NotFoundYetError: If nothing of it was simulated.
    """
    cells = findings.simulated(figure)
    kinds = tuple(dict.fromkeys(cell.traffic for cell in cells))
    prefix = "job_" if of_job else ""
    processors = f"{prefix}processor_stalls"
    drawn, axes = grid(2.9, 2.5, len(kinds), 4)
    for row, traffic in enumerate(kinds):
        own = tuple(cell for cell in cells if cell.traffic == traffic)
        for column, (what, label) in enumerate(_WHAT):
            panel = axes[row][column]
            names = {f"{prefix}{name.replace('-', '_')}_{what}": name for name in NETWORK_CLASSES}
            if what == "ratio":
                names[f"{prefix}network_ratio"] = "all"
            _bars(panel, findings, own, names)
            panel.set_ylabel(label)
            if what != "ratio":
                panel.yaxis.set_major_formatter(EngFormatter())
            panel.set_title(f"({letter(4 * row + column)}) {traffic}", fontsize=9)
        _bars(axes[row][3], findings, own, {processors: "processor tiles"})
        axes[row][3].set_ylabel("stalls (times of a flit)")
        axes[row][3].yaxis.set_major_formatter(EngFormatter())
        axes[row][3].set_title(f"({letter(4 * row + 3)}) {traffic}", fontsize=9)
    known: dict[str, Artist] = {}
    for panel in (panel for row in axes for panel in row):
        known |= {label: handle for handle, label in zip(*panel.get_legend_handles_labels(), strict=True)}
    drawn.legend(known.values(), known.keys(), loc="outside upper center", ncols=5, frameon=False)
    return drawn


def ratios_of_runs(findings: Findings, figure: str) -> Figure:
    """Stalls per flit on the network tiles of the jobs' routers: how many runs are below, one panel per mode.

    Raises:
        NotFoundYetError: If nothing of it was simulated.
    """
    cells = findings.simulated(figure)
    modes = tuple(dict.fromkeys(cell.policy for cell in cells))
    drawn, axes = grid(4.2, 2.9, 1, len(modes))
    for index, (panel, mode) in enumerate(zip(axes[0], modes, strict=True)):
        for cell in (cell for cell in cells if cell.policy == mode):
            values = np.sort(JOB_METRICS["job_network_ratio"](findings, cell))
            panel.step(
                values,
                np.arange(1, len(values) + 1) / len(values),
                where="post",
                marker="o",
                label=cell.traffic,
            )
        panel.set_title(f"({letter(index)}) {mode}")
        panel.set_xlabel("stalls per flit, routers of the job")
        panel.xaxis.set_major_locator(MaxNLocator(5))
        panel.set_ylim(0.0, 1.05)
    axes[0][0].set_ylabel("share of the runs")
    drawn.legend(*axes[0][0].get_legend_handles_labels(), loc="outside upper center", ncols=4, frameon=False)
    return drawn


def latency_percentiles(findings: Findings, figure: str) -> Figure:
    """Percentiles of the latencies of hosts (means over 10 us), before and after, with 95 % intervals.

    Raises:
        NotFoundYetError: If nothing of it was simulated.
    """
    cells = findings.simulated(figure)
    drawn, axes = grid(7.0, 3.0, 1, 1)
    _bars(axes[0][0], findings, cells, {f"nic_latency_p{q:g}": f"{q:g}" for q in PERCENTILES})
    axes[0][0].set_xlabel("percentile of the mean latency of a host in 10 us")
    axes[0][0].set_ylabel("latency (us)")
    axes[0][0].legend(frameon=False)
    return drawn

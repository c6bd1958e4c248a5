"""Run times of applications, stalls and flits by class of link, latencies of hosts: figures 2 to 14 and tables I and II
of Chunduri et al., IPDPS 2021.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import EngFormatter, MaxNLocator

from dragonfly_env.colors import LIGHT, PUBLISHED, REFERENCE, SERIES, looks
from dragonfly_env.lab.papers.claims import (
    Metric,
    PaperFindings,
    higher,
    lower,
    of_pair,
    pair_ratio,
    reduction,
)
from dragonfly_env.lab.papers.figures.panels import error_of, legend_of_all, letter
from dragonfly_env.lab.papers.findings import FloatArray, NotFoundYetError
from dragonfly_env.lab.papers.job_metrics import (
    MODES,
    MPI_SHARE,
    MPI_TIME,
    NETWORK_CLASSES,
    NETWORK_FLIT_RATE,
    PERCENTILES,
    RUN_TIME,
    latency_percentile,
    normalised,
    operation_times_us,
    run_times_us,
    tile_metric,
)
from dragonfly_env.lab.papers.paired import reduction_of
from dragonfly_env.plots.style import grid, wrapped
from dragonfly_env.sweeps.point import Point
from dragonfly_env.sweeps.results import mean_and_ci95

_BASE = "ad0"
_MARKS: dict[str, Any] = {"marker": "D", "color": "white", "markeredgecolor": "black", "markersize": 4.5}
_PUBLISHED: dict[str, Any] = {
    "marker": "D", "markerfacecolor": "none", "markeredgecolor": PUBLISHED, "markersize": 6.0,
    "markeredgewidth": 1.4, "linestyle": "none", "zorder": 6,
}  # fmt: skip
_TILES_IN, _TITLE_IN = 2.9, 2.3  # widths of a panel of tiles and of its title, in inches
_WHAT = (("stalls", "stalls (times of a flit)"), ("flits", "flits"), ("ratio", "stalls per flit"))
_DRAWN_AS = {NETWORK_FLIT_RATE: tile_metric("network", "flits")}
"""Metrics of claims that figures show as another one: flits in a time as flits."""
_OF_SHOWN = ("compute", "wait", "allreduce", "alltoallv")


def _by_traffic(findings: PaperFindings, figure: str) -> dict[str, list[Point]]:
    found: dict[str, list[Point]] = {}
    for point in findings.simulated(figure):
        found.setdefault(point.traffic_label, []).append(point)
    return found


def _boxes(panel: Axes, names: list[str], values: list[FloatArray]) -> None:
    """A box each with its points, its mean and its 95th percentile."""
    look = looks(names)
    drawn = panel.boxplot(values, showfliers=False, patch_artist=True, widths=0.6,
                          medianprops={"color": "black"})  # fmt: skip
    for patch, name in zip(drawn["boxes"], names, strict=True):
        patch.set_facecolor(look[name].color)
        patch.set_alpha(0.6)
    for place, runs in enumerate(values, 1):
        panel.plot(place + np.linspace(-0.2, 0.2, len(runs)), runs, "k.", markersize=3, alpha=0.5)
    places = range(1, len(values) + 1)
    panel.plot(places, [runs.mean() for runs in values], linestyle="none", zorder=4, label="mean", **_MARKS)
    panel.plot(places, [np.percentile(runs, 95) for runs in values], "_", color="black", markersize=14,
               markeredgewidth=1.6, label="95th percentile")  # fmt: skip
    panel.set_xticks(list(places), names)
    panel.grid(visible=False, axis="x")


def run_time_boxes(findings: PaperFindings, figure: str) -> Figure:
    """Times of all watched jobs by mode, one panel per kind of runs, over the mean of AD0."""
    groups = _by_traffic(findings, figure)
    columns = min(4, len(groups))
    drawn, axes = grid(2.4, 2.7, -(-len(groups) // columns), columns)
    panels = [panel for row in axes for panel in row]
    stated: list[Line2D] = []
    for panel in panels[len(groups) :]:
        panel.set_axis_off()
    for index, (panel, (traffic, points)) in enumerate(zip(panels, groups.items(), strict=False)):
        times = {
            point.policy_label: np.array([time for row in findings.rows[point] for time in run_times_us(row)])
            for point in points
        }
        policies, base = list(times), times[_BASE].mean() if _BASE in times else 1.0
        _boxes(panel, policies, [runs / base for runs in times.values()])
        panel.axhline(1.0, color=REFERENCE, linestyle="--", linewidth=1.0)
        for claim in findings.claims:
            known = (claim.metrics, claim.relation, claim.traffic, claim.reference)
            if known == ((RUN_TIME,), reduction, traffic, _BASE) and claim.policy in policies:
                place = policies.index(claim.policy) + 1.25
                stated = panel.plot([place], [1.0 - claim.published], **_PUBLISHED)
        panel.set_title(f"({letter(index)}) {traffic}", fontsize=9)
    axes[0][0].set_ylabel("run time over the mean of AD0")
    handles, _ = panels[0].get_legend_handles_labels()
    if stated:
        stated[0].set_label("published mean")
    drawn.legend(handles=[*handles, *stated], loc="outside lower center", ncols=3, frameon=False)
    return drawn


def _next_to_published(panel: Axes, pairs: list[tuple[str, float, float, Any]], label: str) -> None:
    """Published and measured numbers next to each other: (name, published, measured, error bar) of each."""
    for place, (_, published, measured, error) in enumerate(pairs):
        of_first = ("published", label) if place == 0 else (None, None)
        panel.bar(place - 0.19, published, width=0.36, color=LIGHT, label=of_first[0])
        panel.bar(
            place + 0.19, measured, width=0.36, color=SERIES[0], yerr=error, capsize=3, label=of_first[1]
        )
    names = [name for name, *_ in pairs]
    panel.set_xticks(range(len(pairs)), names, rotation=30, ha="right", rotation_mode="anchor")
    panel.grid(visible=False, axis="x")


def reductions(findings: PaperFindings, figure: str) -> Figure:
    """Draw by how much AD3 shortens run and MPI time of each application, next to what was published."""
    drawn, axes = grid(5.2, 3.2, 1, 2)
    shown = 0
    for panel, metric, title in zip(axes[0], (RUN_TIME, MPI_TIME), ("run time", "MPI time"), strict=True):
        pairs = []
        for claim in findings.claims:
            if (claim.figure, claim.metrics, claim.relation) != (figure, (metric,), reduction):
                continue
            try:
                pair = of_pair(findings, figure, claim.traffic, metric, (claim.policy, claim.reference))
            except NotFoundYetError:
                continue
            found = reduction_of(*pair)
            pairs.append((claim.traffic.split()[0], claim.published, found.mean, found.bars))
        shown += len(pairs)
        _next_to_published(panel, pairs, "measured, 95 %")
        panel.axhline(0.0, color="black", linewidth=0.8)
        panel.set_title(f"{title}: 1 - AD3 / AD0")
    if not shown:
        raise NotFoundYetError(f"{figure} was not run")
    axes[0][0].legend(frameon=False)
    return drawn


def shares(findings: PaperFindings, figure: str) -> Figure:
    """The MPI shares of isolated runs, next to those of table I that computing times were calibrated to."""
    points = findings.simulated(figure)
    stated = {claim.traffic: claim.published for claim in findings.claims if claim.metrics == (MPI_SHARE,)}
    drawn, axes = grid(5.2, 2.9, 1, 1)
    pairs = [
        (
            point.traffic_label.split()[0],
            stated[point.traffic_label],
            *error_of(MPI_SHARE.values(findings, point)),
        )
        for point in points
    ]
    _next_to_published(axes[0][0], pairs, "isolated, AD0")
    axes[0][0].set_ylabel("share of the time in MPI")
    legend_of_all(drawn, axes[0], 2)
    return drawn


def operation_bars(findings: PaperFindings, figure: str) -> Figure:
    """Draw how ranks spend their time, run by run and mode by mode (stacked)."""
    groups = _by_traffic(findings, figure)
    drawn, axes = grid(4.4, 2.9, 1, len(groups))
    labelled: set[str] = set()
    for index, (panel, (traffic, points)) in enumerate(zip(axes[0], groups.items(), strict=True)):
        place, highest, ticks = 0.0, 0.0, []
        for point in points:
            begin = place
            for row in findings.rows[point]:
                times, bottom = operation_times_us(row), 0.0
                for number, name in enumerate(_OF_SHOWN):
                    if not (height := times.get(name, 0.0)):
                        continue
                    label = None if name in labelled else name
                    labelled.add(name)
                    panel.bar(place, height, bottom=bottom, width=0.9, color=SERIES[number], label=label)
                    bottom += height
                panel.bar(place, sum(times.values()) - bottom, bottom=bottom, width=0.9, color=LIGHT)
                highest = max(highest, sum(times.values()))
                place += 1.0
            ticks.append(((begin + place - 1.0) / 2.0, point.policy_label))
            place += 1.5
        panel.set_xticks([at for at, _ in ticks], [name for _, name in ticks])
        panel.set_ylim(0.0, 1.05 * highest)
        panel.set_title(f"({letter(index)}) {traffic}", fontsize=9)
        panel.grid(visible=False, axis="x")
    axes[0][0].set_ylabel("time of a rank (µs), a bar per run")
    legend_of_all(drawn, axes[0], 4, columnspacing=1.2)
    return drawn


def z_scores(findings: PaperFindings, figure: str) -> Figure:
    """Run times of all applications in controlled runs, normalised per application."""
    scores = normalised(findings, figure)
    drawn, axes = grid(4.6, 3.2, 1, 1)
    _boxes(axes[0][0], list(MODES), [scores[mode] for mode in MODES])
    axes[0][0].set_ylabel("z-score of the run time, per application")
    legend_of_all(drawn, axes[0], 2)
    return drawn


def _bars(panel: Axes, findings: PaperFindings, points: Sequence[Point], metrics: dict[Metric, str]) -> None:
    """Means over runs with 95 % intervals: a group of bars per metric, a bar per point."""
    look = looks([point.policy_label for point in points])
    width = 0.8 / len(points)
    for number, point in enumerate(points):
        for place, metric in enumerate(metrics):
            try:
                mean, half = mean_and_ci95(metric.values(findings, point).tolist())
            except NotFoundYetError:
                continue
            # Nothing here can be negative.
            error = [[min(half, mean)], [half]] if half == half else None
            label, color = point.policy_label if place == 0 else None, look[point.policy_label].color
            panel.bar(place + width * (number + 0.5) - 0.4, mean, width=0.9 * width, color=color, yerr=error,
                      capsize=2, label=label)  # fmt: skip
    by_policy = {point.policy_label: (number, point) for number, point in enumerate(points)}
    stated = False
    for claim in findings.claims:
        if (claim.relation, claim.traffic) != (pair_ratio, points[0].traffic_label):
            continue
        (metric,) = claim.metrics
        drawn = _DRAWN_AS.get(metric, metric)
        if drawn not in metrics or not {claim.policy, claim.reference} <= set(by_policy):
            continue
        bar, measured = by_policy[claim.policy]
        reference = float(np.nanmean(metric.values(findings, by_policy[claim.reference][1])))
        factor = float(
            np.nanmean(drawn.values(findings, measured)) / np.nanmean(metric.values(findings, measured))
        )
        at = list(metrics).index(drawn) + width * (bar + 0.5) - 0.4
        panel.plot([at], [claim.published * reference * factor], marker="s", linestyle="none",
                   markerfacecolor="white", markeredgecolor="black", zorder=6,
                   label=None if stated else "published, relative to the measured AD0")  # fmt: skip
        stated = True
    _mark_orderings(panel, findings, by_policy, metrics, width)
    panel.set_xticks(range(len(metrics)), list(metrics.values()))
    panel.grid(visible=False, axis="x")


def _mark_orderings(
    panel: Axes,
    findings: PaperFindings,
    by_policy: dict[str, tuple[int, Point]],
    metrics: dict[Metric, str],
    width: float,
) -> None:
    """Draw a triangle at the height of the reference, above the policy's bar: the paper says lower, or higher."""
    marked = set()
    points = [point for _, point in by_policy.values()]
    for claim in findings.claims:
        if claim.relation not in (lower, higher) or claim.traffic != points[0].traffic_label:
            continue
        if not {claim.policy, claim.reference} <= set(by_policy):
            continue
        for metric in claim.metrics:
            if metric not in metrics:
                continue
            is_lower = claim.relation is lower
            height = float(np.nanmean(metric.values(findings, by_policy[claim.reference][1])))
            at = list(metrics).index(metric) + width * (by_policy[claim.policy][0] + 0.5) - 0.4
            label = f"published: {'lower' if is_lower else 'higher'} than this"
            panel.plot([at], [height], marker="v" if is_lower else "^", linestyle="none", zorder=6,
                       markerfacecolor="white", markeredgecolor="black",
                       label=None if label in marked else label)  # fmt: skip
            marked.add(label)


def tile_bars(findings: PaperFindings, figure: str, *, of_job: bool = False) -> Figure:
    """Stalls, flits and their ratio by rank, a row per kind of runs: of the machine or of the watched jobs' routers."""
    groups = _by_traffic(findings, figure)
    columns = []
    for what, label in _WHAT:
        metrics = {tile_metric(name, what, of_job): name for name in NETWORK_CLASSES}
        if what != "flits" or not of_job:
            metrics[tile_metric("network", what, of_job)] = "all"
        columns.append((what, label, metrics))
    columns.append((*_WHAT[0], {tile_metric("processor", "stalls", of_job): "processor tiles"}))
    drawn, axes = grid(_TILES_IN, 2.5, len(groups), len(columns))
    for row, (traffic, of_traffic) in enumerate(groups.items()):
        for column, (what, label, metrics) in enumerate(columns):
            panel = axes[row][column]
            _bars(panel, findings, of_traffic, metrics)
            panel.set_ylabel(label)
            if what != "ratio":
                panel.yaxis.set_major_formatter(EngFormatter())
            title = f"({letter(len(columns) * row + column)}) {traffic}"
            panel.set_title(wrapped(title, _TITLE_IN, 9), fontsize=9)
    legend_of_all(drawn, (panel for row in axes for panel in row), 5)
    return drawn


def ratios_of_runs(findings: PaperFindings, figure: str) -> Figure:
    """Stalls per flit on the network tiles of the jobs' routers: how many runs are below, one panel per mode."""
    points = findings.simulated(figure)
    modes = tuple(dict.fromkeys(point.policy_label for point in points))
    drawn, axes = grid(4.2, 2.9, 1, len(modes))
    for index, (panel, mode) in enumerate(zip(axes[0], modes, strict=True)):
        for point in (point for point in points if point.policy_label == mode):
            values = np.sort(tile_metric("network", "ratio", of_job=True).values(findings, point))
            panel.step(values, np.arange(1, len(values) + 1) / len(values), where="post", marker="o",
                       label=point.traffic_label)  # fmt: skip
        panel.set_title(f"({letter(index)}) {mode}")
        panel.set_xlabel("stalls per flit, routers of the job")
        panel.xaxis.set_major_locator(MaxNLocator(5))
        panel.set_ylim(0.0, 1.05)
    axes[0][0].set_ylabel("share of the runs")
    legend_of_all(drawn, axes[0][:1], 4)
    return drawn


def latency_percentiles(findings: PaperFindings, figure: str) -> Figure:
    """Percentiles of the latencies of hosts (means over 10 us), before and after, with 95 % intervals."""
    points = findings.simulated(figure)
    drawn, axes = grid(7.0, 3.0, 1, 1)
    _bars(axes[0][0], findings, points, {latency_percentile(q): f"{q:g}" for q in PERCENTILES})
    axes[0][0].set_xlabel("percentile of the mean latency of a host in 10 µs")
    axes[0][0].set_ylabel("latency (µs)")
    axes[0][0].legend(frameon=False)
    return drawn

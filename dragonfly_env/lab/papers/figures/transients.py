"""Curves over simulated time: figures 7 and 8 of HPDC 2021, figure 17 of TACO 2025."""

from __future__ import annotations

import functools
from importlib import resources

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from dragonfly_env.colors import REFERENCE, SERIES, SPAN, looks
from dragonfly_env.lab.papers.claims import PaperFindings, at_most
from dragonfly_env.lab.papers.figures.panels import legend_handles, letter, mark, published_of, say_missing
from dragonfly_env.lab.papers.findings import steps_of
from dragonfly_env.lab.papers.quantities import (
    AFTER_NS,
    PEAK_THROUGHPUT,
    SETTLING_LATENCY,
    SETTLING_THROUGHPUT,
    around_change,
)
from dragonfly_env.plots.style import curve, fitting_legend, grid, policy_legend
from dragonfly_env.sweeps.point import Point

_STYLES = ("-", "--", ":")
_BEFORE_NS, _AFTER_NS = 300.0, 1500.0


def convergence(findings: PaperFindings, figure: str, panels: tuple[tuple[str, ...], ...]) -> Figure:
    """Mean latency of the packets delivered in each bin, from an empty network; one panel per group of patterns."""
    drawn, axes = grid(4.6, 2.9, 1, len(panels))
    for index, (panel, patterns) in enumerate(zip(axes[0], panels, strict=True)):
        points = [
            point for pattern in patterns for point in findings.of(figure) if point.traffic_label == pattern
        ]
        for number, point in enumerate(points):
            label = f"{point.traffic_label}, load {point.load:g}"
            style = _STYLES[patterns.index(point.traffic_label)]
            _curve(panel, findings, point, "latency_mean_ns", 1e-3, label, SERIES[number], style)
        for claim in findings.claims:
            if claim.metrics == (SETTLING_LATENCY,) and claim.traffic in patterns:
                label = f"published: settles in {'up to ' if claim.relation is at_most else ''}{claim.published:g} µs"
                known = panel.get_legend_handles_labels()[1]
                panel.axvline(claim.published, color="black", linestyle="-.", linewidth=1.1, zorder=1,
                              label=None if label in known else label)  # fmt: skip
        panel.set_ylabel("packet latency (µs)")
        _finish(panel, f"({letter(index)}) {' and '.join(patterns)}", bool(points))
    return drawn


def varying_loads(findings: PaperFindings, figure: str, patterns: tuple[str, ...]) -> Figure:
    """Throughput of each bin while the offered load (dotted) steps; one panel per pattern."""
    drawn, axes = grid(4.6, 2.9, 1, len(patterns))
    for index, (panel, pattern) in enumerate(zip(axes[0], patterns, strict=True)):
        points = [
            point for point in findings.of(figure) if steps_of(point) and steps_of(point)[0][1] == pattern
        ]
        stated: list[Line2D] = []
        for number, point in enumerate(points):
            label = f"load {steps_of(point)[0][2]:g} to {steps_of(point)[-1][2]:g}"
            _offered(panel, point, SERIES[number])
            _curve(panel, findings, point, "accepted_load", 1.0, label, SERIES[number], "-")
            for claim in findings.claims:
                if claim.metrics == (SETTLING_THROUGHPUT,) and claim.traffic == point.traffic_label:
                    at_us = steps_of(point)[-1][0] / 1000.0 + claim.published
                    stated += panel.plot([at_us], [steps_of(point)[-1][2]], marker="D", linestyle="none", zorder=6,
                                         markerfacecolor=SERIES[number], markeredgecolor="black")  # fmt: skip
        if stated:
            stated[0].set_label("published: settled")
        panel.set_ylabel("system throughput")
        _finish(panel, f"({letter(index)}) {pattern}", bool(points))
    return drawn


_SST = "sst_uniform.csv"
"""Accepted load of SST/Merlin, the fork of the authors of HPDC 2021, in bins of 100 us: hosts, policy, seed, begin of
the bin in us, accepted load.
"""


def accepted_over_time(findings: PaperFindings, figure: str) -> Figure:
    """Accepted load of each bin, from an empty network; one panel per system. Circles: the authors' simulator."""
    points = findings.simulated(figure)
    with (resources.files("dragonfly_env.lab.papers") / _SST).open(encoding="utf-8") as file:
        sst = pd.read_csv(file)
    look = looks(tuple(dict.fromkeys(point.policy_label for point in points)))
    stated = published_of(findings, figure, PEAK_THROUGHPUT)
    systems = tuple(dict.fromkeys(point.config.topology.num_hosts for point in findings.points[figure]))
    drawn, axes = grid(4.2, 3.1, 1, len(systems))
    for index, (panel, hosts) in enumerate(zip(axes[0], systems, strict=True)):
        of_size = [point for point in points if point.config.topology.num_hosts == hosts]
        if not of_size:
            say_missing(panel)
        for point in of_size:
            ends_us, curves = findings.series(point, "accepted_load")
            begins_us = ends_us - (ends_us[1] - ends_us[0])
            line_look = look[point.policy_label]
            curve(panel, begins_us, curves, **line_look.line, label=point.policy_label, linewidth=1.4)
            theirs = sst[(sst.hosts == hosts) & (sst.policy == point.policy_label)]
            means = theirs.groupby("begin_us").accepted_load.mean()
            panel.plot(means.index, means, marker="o", linestyle="none", markersize=5, zorder=6,
                       markerfacecolor=line_look.color, markeredgecolor="black",
                       label="SST/Merlin" if point.policy_label == "q-adaptive" else None)  # fmt: skip
        mark(
            panel,
            [number for number in stated if number.point in of_size],
            functools.partial(_begin_of_peak, findings),
            {policy: line_look.color for policy, line_look in look.items()},
        )
        panel.set_title(f"({letter(index)}) {hosts:,} hosts")
        panel.set_xlabel("begin of the 100 µs (µs)")
        panel.set_ylim(0.6, 1.0)
    axes[0][0].set_ylabel("accepted load")
    handles = [handle for panel in axes[0] for handle in panel.get_legend_handles_labels()[0]]
    entries = {str(handle.get_label()): handle for handle in handles}
    fitting_legend(drawn, [*entries.values(), *legend_handles(stated)])
    return drawn


def _begin_of_peak(findings: PaperFindings, point: Point) -> float:
    """Begin of the bin in which the network accepts most, in us."""
    ends_us, curves = findings.series(point, "accepted_load")
    return float((ends_us - (ends_us[1] - ends_us[0]))[curves.mean(axis=0).argmax()])


def _curve(
    axes: Axes,
    findings: PaperFindings,
    point: Point,
    column: str,
    scale: float,
    label: str,
    color: str,
    style: str,
) -> None:
    ends_us, curves = findings.series(point, column)
    finite = np.isfinite(curves).all(axis=0)
    known, times = curves[:, finite] * scale, ends_us[finite]
    curve(axes, times, known, color, linestyle=style, label=label, linewidth=1.4)


def _offered(axes: Axes, point: Point, color: str) -> None:
    steps = steps_of(point)
    times = [step[0] / 1000.0 for step in steps] + [(point.warmup_ns + point.measure_ns) / 1000.0]
    loads = [step[2] for step in steps]
    axes.step(times, [*loads, loads[-1]], where="post", color=color, linestyle=":", linewidth=1.1, alpha=0.8,
              zorder=1)  # fmt: skip


def _finish(axes: Axes, title: str, filled: bool) -> None:
    axes.set_title(title)
    axes.set_xlabel("simulated time (µs)")
    if not filled:
        say_missing(axes)
        return
    axes.set_ylim(bottom=0.0)
    axes.margins(x=0.01)
    axes.legend(framealpha=0.85, edgecolor="none", frameon=True, fontsize=8)


def after_change(findings: PaperFindings, figure: str) -> Figure:
    """Mean latency of the packets that were generated in each bin around a change of traffic; a panel per change."""
    points = findings.simulated(figure)
    changes = tuple(dict.fromkeys(point.traffic_label for point in points))
    look = looks(tuple(dict.fromkeys(point.policy_label for point in points)))
    drawn, axes = grid(4.8, 3.1, 1, len(changes))
    for index, (panel, change) in enumerate(zip(axes[0], changes, strict=True)):
        for point in (point for point in points if point.traffic_label == change):
            ends_us, curves = findings.series(point, "generated_latency_mean_ns")
            since_ns = ends_us * 1000.0 - steps_of(point)[-1][0]
            shown = (since_ns > -_BEFORE_NS) & (since_ns <= _AFTER_NS)
            curve(panel, since_ns[shown], curves[:, shown] / 1000.0, **look[point.policy_label].line,
                  label=point.policy_label, linewidth=1.4)  # fmt: skip
        if any(claim.figure == figure and claim.traffic == change for claim in findings.claims):
            panel.axvspan(
                *AFTER_NS,
                color=SPAN,
                zorder=0,
                linewidth=0.0,
                label="time at which the text compares the policies",
            )
        panel.axvline(0.0, color=REFERENCE, linestyle=":", linewidth=1.0)
        panel.set_title(f"({letter(index)}) {change.replace('->', ' to ')}, load {points[0].load:g}")
        panel.set_xlabel("generated so many ns after the change")
        panel.set_ylim(bottom=0.0)
    axes[0][0].set_ylabel("mean packet latency (µs)")
    policy_legend(drawn, axes[0][0])
    return drawn


def quartiles_after_change(findings: PaperFindings, figure: str) -> Figure:
    """A bar per policy from the first to the third quartile of the packets generated 181 to 210 ns after the change,
    and their mean: figure 17 (c) of TACO 2025.
    """
    points = findings.simulated(figure)
    drawn, axes = grid(5.6, 3.4, 1, 1)
    panel = axes[0][0]
    for number, point in enumerate(points):
        first, mean, third = (
            ns / 1000.0 for ns in around_change(findings, point, ("q1", "mean", "q3"), AFTER_NS)
        )
        panel.bar(number, third - first, bottom=first, color=SERIES[4], width=0.6)
        panel.plot(number, mean, "k_", markersize=14)
    panel.set_xticks(range(len(points)), [point.policy_label for point in points])
    panel.set_title("181 to 210 ns after uniform turned into advc")
    panel.set_ylabel("latency (µs) of packets\ngenerated then: quartiles, mean")
    panel.set_ylim(bottom=0.0)
    return drawn

"""Latency, throughput and hops over offered load (figure 5 of HPDC 2021, one row of panels per traffic), and of
Q-routing over its limit of hops, of which section 2.3.2 describes in words what a figure would show; the sizes of its
tables (section 4).
"""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from dragonfly_env.colors import LIGHT, SERIES, SPAN, distinct_looks
from dragonfly_env.lab.papers.claims import PaperFindings
from dragonfly_env.lab.papers.figures.panels import (
    Published,
    legend_handles,
    legend_of_all,
    letter,
    mark,
    means_of,
    published_of,
    say_missing,
)
from dragonfly_env.lab.papers.quantities import (
    HOPS,
    LATENCY_MEAN,
    SYSTEMS,
    THROUGHPUT,
    TWO_LEVEL,
    WHOLE,
    best_limit,
    by_limit,
    table_size,
)
from dragonfly_env.plots.loads import legend_entries, load_figure
from dragonfly_env.plots.style import fitting_legend, grid

_TITLES = ("packet latency", "system throughput", "packet hops")
_LABELS = ("mean latency (µs)", "throughput", "mean hops")
_METRICS = (LATENCY_MEAN, THROUGHPUT, HOPS)


def load_curves(findings: PaperFindings, figure: str) -> Figure:
    """The figure, with the paper's letters and what its text states as points."""
    results = findings.results(figure)
    look = distinct_looks(results.policies)
    drawn = load_figure(results, look)
    colors = {name: line_look.color for name, line_look in look.items()}
    stated = [published_of(findings, figure, metric) for metric in _METRICS]
    shown: list[Published] = []
    for index, axes in enumerate(drawn.axes):
        traffic = results.traffic[index // 3]
        axes.set_title(f"({letter(index)}) {traffic}: {_TITLES[index % 3]}", fontsize=9, pad=9)
        axes.set_ylabel(_LABELS[index % 3])
        marked = [number for number in stated[index % 3] if number.point.traffic_label == traffic]
        if index % 3 == 0:  # latencies far above are cut off
            marked = [number for number in marked if number.value <= axes.get_ylim()[1]]
        mark(axes, marked, lambda point: point.load, colors)
        shown += marked
    if shown:
        for legend in list(drawn.legends):
            legend.remove()
        entries = [*legend_entries(drawn, results), *legend_handles(shown)]
        fitting_legend(drawn, entries)
    return drawn


_PANELS = (
    ("accepted_load", 1.0, "system throughput / offered load"),
    ("latency_mean_ns", 1e-3, "mean packet latency (µs)"),
    ("hops_mean", 1.0, "mean hops"),
)


def hop_limit_panels(findings: PaperFindings, figure: str) -> Figure:
    """The figure; a ring marks the best limit of each traffic."""
    drawn, axes = grid(3.3, 2.7, 1, len(_PANELS))
    patterns = tuple(dict.fromkeys((point.traffic_label, point.load) for point in findings.points[figure]))
    for index, (panel, (column, scale, label)) in enumerate(zip(axes[0], _PANELS, strict=True)):
        panel.set_title(f"({letter(index)})")
        panel.set_xlabel("maxQ (hops)")
        panel.set_ylabel(label)
        for number, (traffic, load) in enumerate(patterns):
            points = by_limit(findings, figure, traffic)
            if not points:
                continue
            factor = scale / load if column == "accepted_load" else scale
            values, halves = means_of(findings.values(point, column) * factor for point in points.values())
            name = f"{traffic}, load {load:g}"
            panel.errorbar(list(points), values, yerr=halves, color=SERIES[number],
                           marker="o", label=name, capsize=2.0, elinewidth=0.9)  # fmt: skip
            best = best_limit(findings, points)
            panel.plot([best], [values[list(points).index(best)]], color=SERIES[number], marker="o", markersize=10,
                       markerfacecolor="none", linestyle="none")  # fmt: skip
        if not findings.of(figure):
            say_missing(panel)
            continue
        panel.set_ylim(0.0, 1.05 if column == "accepted_load" else None)
    if findings.of(figure):
        legend_of_all(drawn, axes[0][:1], 3)
    return drawn


def memory_bars(findings: PaperFindings, figure: str) -> Figure:
    """Kilobytes per router of Q-routing's and Q-adaptive's tables, by system."""
    drawn, axes = grid(4.6, 2.9, 1, 1)
    panel = axes[0][0]
    for offset, name in enumerate((WHOLE, TWO_LEVEL)):
        for index, hosts in enumerate(SYSTEMS):
            size = table_size(hosts, name)
            bar = panel.bar(
                index + 0.36 * offset - 0.18,
                size.bytes / 1000.0,
                width=0.34,
                color=SERIES[offset],
                label=name if index == 0 else None,
            )
            panel.bar_label(bar, [f"{size.rows} x {size.ports}"], padding=2, fontsize=8)
    for claim in findings.claims:
        if claim.figure == figure:
            sizes = [table_size(hosts, WHOLE).bytes for hosts in SYSTEMS]
            panel.plot([index + 0.18 for index in range(len(SYSTEMS))],
                       [claim.published * size / 1000.0 for size in sizes], marker="D", linestyle="none",
                       markerfacecolor="white", markeredgecolor="black",
                       label=f"published: {claim.published:g} x")  # fmt: skip
    panel.set_xticks(range(len(SYSTEMS)), [f"{hosts:,} hosts" for hosts in SYSTEMS])
    panel.set_ylabel("kB per router")
    panel.set_title("rows x ports of a router's table")
    panel.margins(y=0.15)
    panel.legend(frameon=False, loc="upper left")
    panel.grid(visible=False, axis="x")
    return drawn


def window_table(findings: PaperFindings, figure: str) -> Figure:
    """A table of numbers by window, from what was measured; dark cells are not within the tolerance of the claim."""
    findings.simulated(figure)
    found = {}
    for claim in findings.claims:
        if claim.figure == figure and (
            points := findings.select(figure, traffic=claim.traffic, policy=claim.policy)
        ):
            name, _, window = claim.id.partition("-")
            found[name, window] = claim, float(np.mean(claim.metrics[0].values(findings, points[0])))
    names, windows = (tuple(dict.fromkeys(key[part] for key in found)) for part in (0, 1))
    drawn, axes = grid(7.2, 5.2, 1, 1)
    panel = axes[0][0]
    for (name, window), (claim, measured) in found.items():
        low, high = claim.accepted
        at = windows.index(window), names.index(name)
        color = SPAN if low <= measured <= high else LIGHT
        panel.add_patch(Rectangle((at[0] - 0.5, at[1] - 0.5), 1.0, 1.0, facecolor=color, edgecolor="white"))
        panel.text(*at, f"{measured:.3g}", ha="center", va="center", fontsize=8)
    published = {name: claim.published for (name, _), (claim, _) in found.items()}
    panel.set_yticks(range(len(names)), [f"{name}: {published[name]:.3g}" for name in names])
    panel.set_xticks(range(len(windows)), [f"{window.removesuffix('us')} µs" for window in windows])
    panel.set_xlim(-0.5, len(windows) - 0.5)
    panel.set_ylim(len(names) - 0.5, -0.5)
    panel.set_xlabel("window (in µs from an empty network); light: within the tolerance of the claim")
    panel.set_ylabel("claim: published value")
    panel.grid(visible=False)
    return drawn

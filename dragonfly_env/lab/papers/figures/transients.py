"""Curves over simulated time: figures 7 and 8 of HPDC 2021, figure 17 of TACO 2025."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from dragonfly_env.lab.papers.cells import Cell
from dragonfly_env.lab.papers.figures.panels import COLOURS, letter, say_missing
from dragonfly_env.lab.papers.findings import Findings
from dragonfly_env.plots.style import grid, looks, policy_legend

_STYLES = ("-", "--", ":")
_BEFORE_NS, _AFTER_NS = 300.0, 1500.0
_COMPARED_NS = (181.0, 210.0)  # generated so long after the change: section 6.3 of TACO 2025


def convergence(findings: Findings, figure: str, panels: tuple[tuple[str, ...], ...]) -> Figure:
    """Mean latency of the packets delivered in each bin, from an empty network; one panel per group of patterns."""
    drawn, axes = grid(4.6, 2.9, 1, len(panels))
    for index, (panel, patterns) in enumerate(zip(axes[0], panels, strict=True)):
        cells = [cell for pattern in patterns for cell in findings.of(figure) if cell.traffic == pattern]
        for number, cell in enumerate(cells):
            label = f"{cell.traffic}, load {cell.load:g}"
            style = _STYLES[patterns.index(cell.traffic)]
            _curve(panel, findings, cell, "latency_mean_ns", 1e-3, label, COLOURS[number], style)
        for claim in findings.claims:
            if claim.metric == "settling_latency" and claim.traffic in patterns:
                label = f"published: {'up to ' if claim.relation == 'at-most' else ''}{claim.published:g} us"
                known = panel.get_legend_handles_labels()[1]
                panel.axvline(claim.published, color="black", linestyle="-.", linewidth=1.1, zorder=1,
                              label=None if label in known else label)  # fmt: skip
        panel.set_ylabel("packet latency (us)")
        _finish(panel, findings, figure, f"({letter(index)}) {' and '.join(patterns)}", bool(cells))
    return drawn


def varying_loads(findings: Findings, figure: str, patterns: tuple[str, ...]) -> Figure:
    """Throughput of each bin while the offered load (dotted) steps; one panel per pattern."""
    drawn, axes = grid(4.6, 2.9, 1, len(patterns))
    for index, (panel, pattern) in enumerate(zip(axes[0], patterns, strict=True)):
        cells = [cell for cell in findings.of(figure) if cell.schedule and cell.schedule[0][1] == pattern]
        stated: list[Line2D] = []
        for number, cell in enumerate(cells):
            label = f"load {cell.schedule[0][2]:g} to {cell.schedule[-1][2]:g}"
            _offered(panel, cell, COLOURS[number])
            _curve(panel, findings, cell, "accepted_load", 1.0, label, COLOURS[number], "-")
            for claim in findings.claims:
                if claim.metric == "settling_throughput" and claim.traffic == cell.traffic:
                    at_us = cell.schedule[-1][0] / 1000.0 + claim.published
                    stated += panel.plot([at_us], [cell.schedule[-1][2]], marker="D", linestyle="none", zorder=6,
                                         markerfacecolor=COLOURS[number], markeredgecolor="black")  # fmt: skip
        if stated:
            stated[0].set_label("published: settled")
        panel.set_ylabel("system throughput")
        _finish(panel, findings, figure, f"({letter(index)}) {pattern}", bool(cells))
    return drawn


def _curve(
    axes: Axes,
    findings: Findings,
    cell: Cell,
    column: str,
    scale: float,
    label: str,
    colour: str,
    style: str,
) -> None:
    """The mean over seeds, and shaded what lies between the lowest and the highest."""
    ends_us, curves = findings.series(cell, column)
    known = curves[:, np.isfinite(curves).all(axis=0)] * scale
    times = ends_us[np.isfinite(curves).all(axis=0)]
    axes.plot(times, known.mean(axis=0), color=colour, linestyle=style, label=label, linewidth=1.4)
    if len(known) > 1:
        axes.fill_between(
            times, known.min(axis=0), known.max(axis=0), color=colour, alpha=0.18, linewidth=0.0
        )


def _offered(axes: Axes, cell: Cell, colour: str) -> None:
    times = [step[0] / 1000.0 for step in cell.schedule] + [(cell.warmup_ns + cell.measure_ns) / 1000.0]
    loads = [step[2] for step in cell.schedule]
    axes.step(
        times,
        [*loads, loads[-1]],
        where="post",
        color=colour,
        linestyle=":",
        linewidth=1.1,
        alpha=0.8,
        zorder=1,
    )


def _finish(axes: Axes, findings: Findings, figure: str, title: str, filled: bool) -> None:
    axes.set_title(title)
    axes.set_xlabel("simulated time (us)")
    if not filled:
        say_missing(axes, findings.absent(figure))
        return
    axes.set_ylim(bottom=0.0)
    axes.margins(x=0.01)
    axes.legend(frameon=False, fontsize=8)


def after_change(findings: Findings, figure: str) -> Figure:
    """Mean latency of the packets that were generated in each bin around a change of the traffic; one panel per change.

    Raises:
        NotFoundYetError: If nothing of it was simulated.
    """
    cells = findings.simulated(figure)
    changes = tuple(dict.fromkeys(cell.traffic for cell in cells))
    look = looks(tuple(dict.fromkeys(cell.policy for cell in cells)))
    drawn, axes = grid(4.8, 3.1, 1, len(changes))
    for index, (panel, change) in enumerate(zip(axes[0], changes, strict=True)):
        for cell in (cell for cell in cells if cell.traffic == change):
            ends_us, curves = findings.series(cell, "generated_latency_mean_ns")
            since_ns = ends_us * 1000.0 - cell.schedule[-1][0]
            shown = (since_ns > -_BEFORE_NS) & (since_ns <= _AFTER_NS)
            panel.plot(since_ns[shown], curves[:, shown].mean(axis=0), **look[cell.policy].line,
                       label=cell.policy, linewidth=1.4)  # fmt: skip
            if len(curves) > 1:
                panel.fill_between(since_ns[shown], curves[:, shown].min(axis=0), curves[:, shown].max(axis=0),
                                   color=look[cell.policy].colour, alpha=0.18, linewidth=0.0)  # fmt: skip
        if any(claim.figure == figure and claim.traffic == change for claim in findings.claims):
            panel.axvspan(
                *_COMPARED_NS, color="#f0e6c8", zorder=0, linewidth=0.0, label="published: who is lowest here"
            )
        panel.axvline(0.0, color="#999999", linestyle=":", linewidth=1.0)
        panel.set_title(f"({letter(index)}) {change.replace('->', ' to ')}, load {cells[0].load:g}")
        panel.set_xlabel("generated so many ns after the change")
        panel.set_ylim(bottom=0.0)
    axes[0][0].set_ylabel("mean packet latency (ns)")
    policy_legend(drawn, axes[0][0])
    return drawn

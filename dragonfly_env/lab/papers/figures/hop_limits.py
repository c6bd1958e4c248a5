"""Q-routing over its limit of hops: throughput, latency and hops, one line per traffic.

The paper has no such figure; section 2.3.2 describes in words what it would show.
"""

from __future__ import annotations

from matplotlib.figure import Figure

from dragonfly_env.lab.papers.figures.panels import COLOURS, letter, say_missing
from dragonfly_env.lab.papers.figures.published import error_of
from dragonfly_env.lab.papers.findings import Findings
from dragonfly_env.lab.papers.hop_limit import best_limit, by_limit
from dragonfly_env.plots.style import grid

_PANELS = (
    ("accepted_load", 1.0, "system throughput / offered load"),
    ("latency_mean_ns", 1e-3, "mean packet latency (us)"),
    ("hops_mean", 1.0, "mean hops"),
)


def hop_limit_panels(findings: Findings, figure: str) -> Figure:
    """The figure; a ring marks the best limit of each traffic."""
    drawn, axes = grid(3.3, 2.7, 1, len(_PANELS))
    patterns = tuple(dict.fromkeys((cell.traffic, cell.load) for cell in findings.cells[figure]))
    for index, (panel, (column, scale, label)) in enumerate(zip(axes[0], _PANELS, strict=True)):
        panel.set_title(f"({letter(index)})")
        panel.set_xlabel("maxQ (hops)")
        panel.set_ylabel(label)
        for number, (traffic, load) in enumerate(patterns):
            cells = by_limit(findings, figure, traffic)
            if not cells:
                continue
            factor = scale / load if column == "accepted_load" else scale
            found = [error_of(findings.values(cell, column) * factor) for cell in cells.values()]
            values, halves = [mean for mean, _ in found], [half for _, half in found]
            name = f"{traffic}, load {load:g}"
            panel.errorbar(list(cells), values, yerr=halves if any(halves) else None, color=COLOURS[number],
                           marker="o", label=name, capsize=2.0, elinewidth=0.9)  # fmt: skip
            best = best_limit(findings, cells)
            panel.plot(
                [best],
                [values[list(cells).index(best)]],
                color=COLOURS[number],
                marker="o",
                markersize=10,
                markerfacecolor="none",
                linestyle="none",
            )
        if not findings.of(figure):
            say_missing(panel, [reason.replace(" is not", "\nis not") for reason in findings.absent(figure)])
            continue
        panel.set_ylim(0.0, 1.05 if column == "accepted_load" else None)
    if findings.of(figure):
        handles, labels = axes[0][0].get_legend_handles_labels()
        drawn.legend(handles, labels, loc="outside upper center", ncols=3, frameon=False)
    return drawn

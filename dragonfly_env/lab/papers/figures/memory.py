"""The tables' sizes as bars: section 4 of HPDC 2021."""

from __future__ import annotations

from matplotlib.figure import Figure

from dragonfly_env.lab.papers.figures.panels import COLOURS
from dragonfly_env.lab.papers.findings import Findings
from dragonfly_env.lab.papers.tables import SYSTEMS, TWO_LEVEL, WHOLE, table_size
from dragonfly_env.plots.style import grid


def memory_bars(findings: Findings) -> Figure:
    """Kilobytes per router of Q-routing's and Q-adaptive's tables, by system.

    Raises:
        NotFoundYetError: If this version lacks one of the learners.
    """
    drawn, axes = grid(4.6, 2.9, 1, 1)
    panel = axes[0][0]
    for offset, name in enumerate((WHOLE, TWO_LEVEL)):
        for index, hosts in enumerate(SYSTEMS):
            size = table_size(findings.setup, hosts, name)
            bar = panel.bar(
                index + 0.36 * offset - 0.18,
                size.bytes / 1000.0,
                width=0.34,
                color=COLOURS[offset],
                label=name if index == 0 else None,
            )
            panel.bar_label(bar, [f"{size.rows} x {size.ports}"], padding=2, fontsize=8)
    for claim in findings.claims:
        if claim.metric == "table_memory":
            sizes = [table_size(findings.setup, hosts, WHOLE).bytes for hosts in SYSTEMS]
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

"""Quartiles of latency after a change of the traffic: figure 17 (c) of LIA, TACO 2025."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from dragonfly_env.lab.papers.findings import Findings
from dragonfly_env.plots.style import grid

_INTERVAL_NS = (180.0, 210.0)


def quartiles_after_change(findings: Findings, figure: str) -> Figure:
    """A bar per policy from the first to the third quartile of the packets generated 181 to 210 ns after the change,
    and their mean.

    Raises:
        NotFoundYetError: If nothing of it was simulated.
    """
    cells = findings.simulated(figure)
    drawn, axes = grid(5.6, 3.4, 1, 1)
    panel = axes[0][0]
    for number, cell in enumerate(cells):
        found = {}
        for name in ("q1", "mean", "q3"):
            ends_us, curves = findings.series(cell, f"generated_latency_{name}_ns")
            since_ns = ends_us * 1000.0 - cell.schedule[-1][0]
            chosen = (since_ns > _INTERVAL_NS[0] + 1.0) & (since_ns <= _INTERVAL_NS[1])
            found[name] = float(np.nanmean(curves[:, chosen]))
        panel.bar(number, found["q3"] - found["q1"], bottom=found["q1"], color="#56b4e9", width=0.6)
        panel.plot(number, found["mean"], "k_", markersize=14)
    panel.set_xticks(range(len(cells)), [cell.policy for cell in cells])
    panel.set_title("181 to 210 ns after uniform turned into advc")
    panel.set_ylabel("latency (ns) of packets\ngenerated then: quartiles, mean")
    panel.set_ylim(bottom=0.0)
    return drawn

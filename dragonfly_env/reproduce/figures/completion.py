"""Workloads that run to their end: figure 19 of LIA, TACO 2025."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from dragonfly_env.plots.style import grid, looks
from dragonfly_env.reproduce.figures.panels import letter
from dragonfly_env.reproduce.findings import Findings

_BASE = "min"


def speedups(findings: Findings, figure: str) -> Figure:
    """Makespan of MIN over that of every other policy, one panel per workload.

    Raises:
        NotFoundYetError: If nothing of it was simulated.
    """
    cells = findings.simulated(figure)
    workloads = tuple(dict.fromkeys(cell.traffic for cell in cells))
    look = looks(tuple(dict.fromkeys(cell.policy for cell in cells)))
    drawn, axes = grid(3.0, 3.1, 1, len(workloads))
    for index, (panel, workload) in enumerate(zip(axes[0], workloads, strict=True)):
        makespans = {
            cell.policy: findings.values(cell, "makespan_ns") for cell in cells if cell.traffic == workload
        }
        base = makespans.get(_BASE)
        if base is None:
            continue
        others = [policy for policy in makespans if policy != _BASE]
        bars = [float(np.mean(base / makespans[policy])) for policy in others]
        panel.bar(others, bars, color=[look[policy].colour for policy in others])
        panel.axhline(1.0, color="#999999", linestyle="--", linewidth=1.0)
        panel.set_xticks(range(len(others)), others, rotation=45, ha="right", rotation_mode="anchor")
        panel.set_title(f"({letter(index)}) {workload.replace(':placement=', ', ')}\nMIN: {base.mean():,.0f} ns",
                        fontsize=9)  # fmt: skip
        panel.grid(visible=False, axis="x")
    axes[0][0].set_ylabel("speed-up over MIN")
    return drawn

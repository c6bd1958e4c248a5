"""Workloads that run to their end: figure 19 of LIA, TACO 2025."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from dragonfly_env.lab.papers.figures.panels import letter
from dragonfly_env.lab.papers.figures.published import error_of
from dragonfly_env.lab.papers.findings import Findings, FloatArray
from dragonfly_env.plots.style import grid, looks

_BASE = "min"
_POINT: dict[str, Any] = {
    "marker": "s", "markerfacecolor": "white", "markeredgecolor": "black", "markersize": 6.5, "linestyle": "none",
    "zorder": 6,
}  # fmt: skip


def speedups(findings: Findings, figure: str) -> Figure:
    """Makespan of MIN over that of every other policy, one panel per workload.

    Raises:
        NotFoundYetError: If nothing of it was simulated.
    """
    cells = findings.simulated(figure)
    workloads = tuple(dict.fromkeys(cell.traffic for cell in cells))
    look = looks(tuple(dict.fromkeys(cell.policy for cell in cells)))
    drawn, axes = grid(3.0, 3.1, 1, len(workloads))
    points: list[Line2D] = []
    for index, (panel, workload) in enumerate(zip(axes[0], workloads, strict=True)):
        makespans = {
            cell.policy: findings.values(cell, "makespan_ns") for cell in cells if cell.traffic == workload
        }
        base = makespans.get(_BASE)
        if base is None:
            continue
        others = [policy for policy in makespans if policy != _BASE]
        found = [error_of(base / makespans[policy]) for policy in others]
        halves = [half for _, half in found]
        panel.bar(others, [mean for mean, _ in found], color=[look[policy].colour for policy in others],
                  yerr=halves if any(halves) else None, capsize=2.5)  # fmt: skip
        speed = _published_speedups(findings, figure, workload, base, makespans)
        for place, value in ((others.index(policy), value) for policy, value in speed):
            points += panel.plot([place], [value], **_POINT)
        panel.axhline(1.0, color="#999999", linestyle="--", linewidth=1.0)
        panel.set_xticks(range(len(others)), others, rotation=45, ha="right", rotation_mode="anchor")
        stated = "".join(
            f" (published: {claim.published:,.0f})"
            for claim in findings.claims
            if (claim.metric, claim.policy, claim.traffic, claim.hosts, claim.relation)
            == ("makespan", _BASE, workload, cells[0].hosts, "value")
        )
        name = workload.replace(":placement=", ", ")
        panel.set_title(f"({letter(index)}) {name}\nMIN: {base.mean():,.0f} ns{stated}", fontsize=8)
        panel.grid(visible=False, axis="x")
    axes[0][0].set_ylabel("speed-up over MIN")
    if points:
        points[0].set_label("published, relative to the measured rival")
        drawn.legend(handles=points[:1], loc="outside upper center", frameon=False)
    return drawn


def _published_speedups(
    findings: Findings, figure: str, workload: str, base: FloatArray, makespans: dict[str, FloatArray]
) -> list[tuple[str, float]]:
    """(policy, speed-up over MIN) that a claim makes of what was measured of the policy that it compares with."""
    hosts = findings.of(figure)[0].hosts
    return [
        (claim.policy, float(np.mean(base / makespans[claim.reference])) * (1.0 + claim.published))
        for claim in findings.claims
        if (claim.metric, claim.relation, claim.traffic, claim.hosts)
        == ("makespan", "relative-gap", workload, hosts)
        and {claim.policy, claim.reference} <= set(makespans)
    ]

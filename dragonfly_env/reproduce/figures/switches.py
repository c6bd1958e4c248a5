"""Accepted load of every router of a group: figures 6, 13 and 15 of LIA, TACO 2025."""

from __future__ import annotations

from matplotlib.figure import Figure

from dragonfly_env.plots.style import grid, looks, policy_legend
from dragonfly_env.reproduce.figures.published import error_of
from dragonfly_env.reproduce.findings import Findings
from dragonfly_env.reproduce.switches import loads_of_routers


def switch_loads(findings: Findings, figure: str) -> Figure:
    """One line per policy over the routers of a group, each the mean over all groups.

    Raises:
        NotFoundYetError: If nothing of it was simulated.
    """
    cells = findings.simulated(figure)
    look = looks([cell.policy for cell in cells])
    drawn, axes = grid(5.6, 3.4, 1, 1)
    panel = axes[0][0]
    for cell in cells:
        loads = loads_of_routers(findings, cell)
        found = [error_of(router) for router in loads.T]
        halves = [half for _, half in found]
        style = look[cell.policy]
        panel.errorbar(range(len(found)), [mean for mean, _ in found], yerr=halves if any(halves) else None,
                       **style.line, marker=style.marker, label=cell.policy, capsize=2.0, elinewidth=0.9)  # fmt: skip
    panel.set_title(f"{cells[0].traffic}, offered load {cells[0].load:g}, {cells[0].hosts:,} hosts")
    panel.set_xlabel("router of the group (the last owns the minimal links)")
    panel.set_ylabel("accepted load of its hosts")
    panel.set_xticks(range(loads_of_routers(findings, cells[0]).shape[1]))
    panel.set_ylim(0.0, 1.1 * cells[0].load)
    policy_legend(drawn, panel)
    return drawn

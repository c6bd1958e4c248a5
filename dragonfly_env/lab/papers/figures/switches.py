"""Accepted load of every router of a group: figures 6, 13, 15 and 16 of LIA, TACO 2025."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from dragonfly_env.lab.papers.figures.published import error_of
from dragonfly_env.lab.papers.findings import Findings
from dragonfly_env.lab.papers.switches import loads_of_routers, path_loads_of_routers
from dragonfly_env.plots.style import fitting_legend, grid, looks, policy_legend
from dragonfly_env.simulation.path_kinds import PATH_KINDS

_PATH_COLORS = ("#0072b2", "#d55e00", "#cc79a7", "#009e73", "#e69f00", "#56b4e9", "#999999")


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


def switch_paths(findings: Findings, figure: str) -> Figure:
    """A stacked bar per router of a group: its accepted load by the kind of path, the mean over all groups.

    Raises:
        NotFoundYetError: If it was not simulated, or by a version that did not log the kinds of paths.
    """
    (cell,) = findings.simulated(figure)
    loads = path_loads_of_routers(findings, cell).mean(axis=0)
    drawn, axes = grid(5.6, 3.4, 1, 1)
    panel = axes[0][0]
    below = np.zeros(len(loads))
    for index, (kind, color) in enumerate(zip(PATH_KINDS, _PATH_COLORS, strict=True)):
        if not loads[:, index].any():
            continue
        panel.bar(range(len(loads)), loads[:, index], bottom=below, color=color, label=kind)
        below = below + loads[:, index]
    panel.set_title(f"{cell.policy}, {cell.traffic}, offered load {cell.load:g}, {cell.hosts:,} hosts")
    panel.set_xlabel("router of the group (the last owns the minimal links)")
    panel.set_ylabel("accepted load of its hosts")
    panel.set_xticks(range(len(loads)))
    handles, _ = panel.get_legend_handles_labels()
    fitting_legend(drawn, handles, "outside upper center")
    return drawn

"""How the load is shared among the routers of a group: what LIA, TACO 2025, claims of fairness."""

from __future__ import annotations

import numpy as np

from dragonfly_env.lab.papers.cells import Cell
from dragonfly_env.lab.papers.findings import Findings, FloatArray, NotFoundYetError
from dragonfly_env.simulation.path_kinds import PATH_KINDS


def loads_of_routers(findings: Findings, cell: Cell) -> FloatArray:
    """(seeds, routers of a group) what was delivered of the hosts of each router, the mean over all groups.

    All groups are alike under the patterns that are shown so; the paper shows group 0 alone.
    """
    routers = findings.setup.topology(cell.hosts).a
    rows = [np.asarray(row["source_router_load"], np.float64) for row in findings.rows[cell]]
    means: FloatArray = np.stack([row.reshape(-1, routers).mean(axis=0) for row in rows])
    return means


def spread_of_routers(findings: Findings, cell: Cell) -> FloatArray:
    """(seeds,) the highest load of a router over the lowest."""
    loads = loads_of_routers(findings, cell)
    spread: FloatArray = loads.max(axis=1) / loads.min(axis=1)
    return spread


def path_loads_of_routers(findings: Findings, cell: Cell) -> FloatArray:
    """(seeds, routers of a group, len(PATH_KINDS)) the same by the kind of path that packets took.

    Raises:
        NotFoundYetError: If the cell was simulated by a version that did not log it.
    """
    routers = findings.setup.topology(cell.hosts).a
    rows = [row.get("source_router_path_loads") for row in findings.rows[cell]]
    known = [np.asarray(row, np.float64) for row in rows if row is not None and np.ndim(row) == 1]
    if len(known) < len(rows):
        raise NotFoundYetError("an older version simulated it and did not log kinds of paths: repeat the run")
    means: FloatArray = np.stack([row.reshape(-1, routers, len(PATH_KINDS)).mean(axis=0) for row in known])
    return means

"""How the load is shared among the routers of a group: what LIA, TACO 2025, claims of fairness."""

from __future__ import annotations

import numpy as np

from dragonfly_env.reproduce.cells import Cell
from dragonfly_env.reproduce.findings import Findings, FloatArray


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

"""Random demand matrices: who sends to whom is drawn anew for every scenario, so no pattern is learned by heart."""

from __future__ import annotations

import numpy as np

from dragonfly_env.config.topology import Dragonfly
from dragonfly_env.traffic import DemandMatrix

KINDS = ("groups", "routers")
"""Whose destinations are drawn: those of whole groups, or of each router."""


def random_demands(kind: str, topology: Dragonfly, targets: int, seed: int) -> DemandMatrix:
    """Every group, or router, sends to ``targets`` random others, each in another group, and hears from as many.

    Args:
        kind: One of ``KINDS``.
        topology: Where.
        targets: How many; one that is drawn twice gets twice as much.
        seed: Of the draws.
    """
    draws = np.random.default_rng([seed, topology.num_hosts])
    count = topology.num_groups if kind == "groups" else topology.num_routers
    group = np.arange(count) // (count // topology.num_groups)
    matrix = np.zeros((count, count))
    for _ in range(targets):
        to = draws.permutation(count)
        while (inside := np.flatnonzero(group[to] == group)).size:
            for one, other in zip(inside, draws.integers(0, count, inside.size), strict=True):
                to[one], to[other] = to[other], to[one]
        matrix[np.arange(count), to] += 1
    return DemandMatrix(matrix)

"""Random demand matrices: who sends to whom is drawn anew for every scenario, so no pattern is learned by heart."""

from __future__ import annotations

import numpy as np

from dragonfly_env.checks.values import config_error
from dragonfly_env.config.topology import Dragonfly
from dragonfly_env.traffic import DemandMatrix

KINDS = ("groups", "routers")
"""Whose destinations are drawn: those of whole groups, or of each router."""

MATCHED = "matched"
"""The name of ``matched_routers`` in mixtures."""


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


def matched_routers(topology: Dragonfly, offset: int, seed: int) -> DemandMatrix:
    """Every router sends to one router so many groups ahead, and hears from one: which one is drawn.

    Under such demands the last local link to a router is full before all else. ``tornado`` is one of them: half way
    round, and with the routers in order.

    Args:
        topology: Where.
        offset: Groups, above 0 and below the number of groups.
        seed: Of the draws.
    """
    draws = np.random.default_rng([seed, topology.num_hosts])
    routers, groups = topology.num_routers // topology.num_groups, topology.num_groups
    if not 0 < offset < groups:
        raise config_error("offset", offset, f"must be from 1 to {groups - 1}, the groups being {groups}")
    matrix = np.zeros((topology.num_routers, topology.num_routers))
    for group in range(groups):
        first = (group + offset) % groups * routers
        matrix[np.arange(group * routers, (group + 1) * routers), first + draws.permutation(routers)] = 1
    return DemandMatrix(matrix)

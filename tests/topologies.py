"""Small topologies for the tests: a row of numbers where groups are all-to-all, else settings by name."""

from __future__ import annotations

from typing import Any

import dragonfly_env as dfe

Shape = tuple[int, int, int, int, int] | dict[str, Any]
"""(p, a, h, g, trunking), or the arguments of ``Dragonfly``."""

GRIDS: dict[str, Shape] = {
    "2 x 3 grid": {
        "p": 1,
        "h": 1,
        "g": 4,
        "trunking": 2,
        "group": dfe.Grid(rows=2, columns=3, column_links=2),
    },
    "3 x 2 grid, few links": {"p": 2, "h": 1, "g": 3, "group": dfe.Grid(rows=3, columns=2, column_links=2)},
    "one row": {"p": 1, "h": 2, "g": 3, "group": dfe.Grid(rows=1, columns=4, column_links=1)},
}

PLUS: dict[str, Shape] = {
    "leaves and spines": {"p": 2, "h": 2, "g": 5, "group": dfe.LeafSpine(leaves=2, spines=2)},
    "more spines than leaves": {
        "p": 2,
        "h": 2,
        "g": 3,
        "trunking": 3,
        "group": dfe.LeafSpine(leaves=2, spines=3, links=2),
    },
}

DAMAGED: dict[str, Shape] = {
    "dead global links": {"p": 2, "a": 4, "h": 2, "g": 9, "failed": {"global_links": 0.08, "seed": 2}},
    "dead links and a dead router": {
        "p": 2,
        "a": 4,
        "h": 2,
        "g": 9,
        "failed": {"global_links": 0.05, "local_links": 0.04, "router_numbers": [7]},
    },
    "dead links of a grid": {
        "p": 1,
        "h": 2,
        "g": 5,
        "group": dfe.Grid(rows=2, columns=2, column_links=1),
        "failed": {"global_links": 0.1},
    },
}

UNEVEN: dict[str, Shape] = {
    "several links": {"p": 2, "a": 3, "wiring": [(0, 0, 1, 0), (0, 1, 1, 1), (0, 2, 2, 0), (1, 2, 2, 1)]},
    "pairs without a link": {
        "p": 2,
        "a": 4,
        "wiring": [(0, 0, 1, 0), (0, 1, 1, 1), (0, 2, 2, 0), (1, 2, 2, 1), (2, 2, 3, 0), (1, 3, 3, 1)],
    },
    "a partly built group": {"p": 2, "a": 4, "h": 2, "g": 6, "failed": {"router_numbers": [22, 23]}},
}

_OWN_LINKS = ("vlb-gl", "vlb-g")
"""Policies whose non-minimal paths begin with a global link of the source router."""

SHAPES: dict[str, Shape] = {
    "trunked": (2, 4, 2, 5, 2),
    "one pair of groups, eight links": (1, 4, 2, 2, 8),
    "half of the groups": (2, 4, 2, 5, 1),
    "two groups, one link": (2, 4, 2, 2, 1),
    "one group": (2, 4, 2, 1, 1),
    "one router per group": (2, 1, 4, 5, 1),
    "many global links": (1, 2, 5, 11, 1),
    **GRIDS,
    **PLUS,
    **DAMAGED,
    **UNEVEN,
}
"""Unlike a balanced network, each in its own way."""


def refuses(shape: str, policy: str) -> bool:
    """Whether a topology has no paths for a policy, by the names of both."""
    return shape in PLUS and policy.split()[0] in _OWN_LINKS


def topology_of(shape: Shape, arrangement: str = "palmtree") -> dfe.Dragonfly:
    """The topology of a row."""
    if isinstance(shape, dict) and "wiring" in shape:
        return dfe.Dragonfly(**shape)
    if isinstance(shape, dict):
        return dfe.Dragonfly(**shape, arrangement=arrangement)
    p, a, h, g, trunking = shape
    return dfe.Dragonfly(p, a, h, g, arrangement, trunking)

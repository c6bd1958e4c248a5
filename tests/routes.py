"""The routes in a log of packets."""

from __future__ import annotations

import itertools
from typing import Any


def routes_of(log: dict[str, Any]) -> list[list[int]]:
    """The routers that each packet of a log has passed, in its order."""
    routers, offsets = log["routers"].tolist(), log["route_offsets"].tolist()
    return [routers[first:last] for first, last in itertools.pairwise(offsets)]

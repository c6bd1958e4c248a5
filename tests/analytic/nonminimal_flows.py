"""The flow that oblivious non-minimal paths put on every link of a full Dragonfly, counted path by path from the rules
alone.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

import dragonfly_env as dfe

Link = tuple[int, int]  # router at the start, router at the end


class Wiring:
    """Minimal and non-minimal paths of a system with one link between any two routers of a group and any two groups."""

    def __init__(self, topology: dfe.Dragonfly) -> None:
        self.topology = topology
        ends = topology.links()[:, [0, 2]].tolist()
        self.between = {
            (u // topology.a, v // topology.a): (u, v) for u, v in ends if u // topology.a != v // topology.a
        }

    def minimal(self, source: int, target: int) -> list[Link]:
        """The links of the minimal path between two routers."""
        a = self.topology.a
        if source // a == target // a:
            return [(source, target)] if source != target else []
        near, far = self.between[source // a, target // a]
        return [*self.minimal(source, near), (near, far), *self.minimal(far, target)]

    def nonminimal_paths(self, kind: str, source: int) -> Iterator[tuple[float, list[Link], int]]:
        """Share, links and last router of every way to the turning point: ``g``, ``lg``, ``gl``, ``lgl``, ``min``."""
        a = self.topology.a
        if kind == "min":
            yield 1.0, [], source
            return
        out = [link for (group, _), link in self.between.items() if group == source // a]
        if not kind.startswith("l"):
            out = [link for link in out if link[0] == source]
        for near, far in out:
            first = [*self.minimal(source, near), (near, far)]
            group = far // a * a
            turns = range(group, group + a) if kind.endswith("gl") else [far]
            for turn in turns:
                yield 1 / len(out) / len(turns), [*first, *self.minimal(far, turn)], turn


def busiest_link(topology: dfe.Dragonfly, kind: str, offsets: Sequence[int]) -> float:
    """Packets per packet time on the busiest link if every host sends one, to all hosts ``offsets`` groups on alike.

    Groups are alike, so what group 0 sends to all is what all send to any.
    """
    wiring, a, g = Wiring(topology), topology.a, topology.num_groups
    flow: dict[tuple[int, int, int], float] = defaultdict(float)
    for source in range(a):
        for share, first, turn in wiring.nonminimal_paths(kind, source):
            for target in (offset % g * a + router for offset in offsets for router in range(a)):
                packets = topology.p * share / len(offsets) / a
                for u, v in [*first, *wiring.minimal(turn, target)]:
                    flow[u % a, v % a, (v // a - u // a) % g] += packets
    return max(flow.values())

"""The flow that minimal routing puts on every port of a system of grids under uniform traffic, from the rules alone."""

from __future__ import annotations

from collections import defaultdict

import dragonfly_env as dfe

Port = tuple[int, int]


def uniform_flows(topology: dfe.Dragonfly) -> dict[Port, float]:
    """Packets per packet time on each (router, port), per link of its bundle, if every host sends one.

    The rules: of the links between two groups that are on a shortest path those nearest to the router, all alike; then
    the shortest local ways to it, all alike.
    """
    grid = topology.group
    assert isinstance(grid, dfe.Grid)
    a, columns = topology.a, grid.columns
    port_to: dict[Port, int] = {}  # local ports, by router and the next one
    between: dict[tuple[int, int], list[tuple[int, int, int]]] = defaultdict(list)  # links by pair of groups
    for router, port, peer, _ in topology.links().tolist():
        if router // a == peer // a:
            port_to[router, peer] = port
        else:
            between[router // a, peer // a].append((router, port, peer))

    def apart(u: int, v: int) -> int:
        return (u % a // columns != v % a // columns) + (u % a % columns != v % a % columns)

    def corners(u: int, v: int) -> list[int]:
        """The next routers on the shortest local ways from u to v."""
        if apart(u, v) < 2:
            return [v]
        first = u - u % a
        return [
            first + u % a // columns * columns + v % a % columns,
            first + v % a // columns * columns + u % a % columns,
        ]

    def steps(u: int, target: int) -> list[tuple[float, int, int]]:
        """Share, port and next router of every way that a packet may draw."""
        if u // a == target // a:
            nexts = corners(u, target)
            return [(1 / len(nexts), port_to[u, w], w) for w in nexts]
        links = between[u // a, target // a]
        best = min((apart(u, near) + apart(far, target), apart(u, near)) for near, _, far in links)
        chosen = [
            link for link in links if (apart(u, link[0]) + apart(link[2], target), apart(u, link[0])) == best
        ]
        found = []
        for near, port, far in chosen:
            if near == u:
                found.append((1 / len(chosen), port, far))
                continue
            nexts = corners(u, near)
            found += [(1 / len(chosen) / len(nexts), port_to[u, w], w) for w in nexts]
        return found

    flow: dict[Port, float] = defaultdict(float)
    per_pair = topology.p * topology.p / topology.num_hosts
    for target in range(topology.num_routers):
        by_distance: list[list[int]] = [[] for _ in range(topology.diameter + 1)]
        for router in range(topology.num_routers):
            by_distance[topology.minimal_hops(router, target)].append(router)
        waiting = dict.fromkeys(range(topology.num_routers), per_pair)
        for routers in reversed(by_distance[1:]):
            for router in routers:
                for share, port, following in steps(router, target):
                    flow[router, port] += waiting[router] * share
                    waiting[following] += waiting[router] * share
    return {(router, port): packets / topology.port_links(port) for (router, port), packets in flow.items()}

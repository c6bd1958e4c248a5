"""The latency floor of few demands: a linear program over paths, which are added as long as they improve the solution.

Traffic that no rotation of the groups leaves unchanged, such as a permutation, has too many flows for a program over
arcs. But it has few demands, and an optimum uses few paths for each. So the program begins with the quickest path of
each demand. Its dual variables are a price for every link; a path that is cheaper at these prices than those of its
demand is added, and the program is solved again. The prices also give a bound of the optimum. The method ends when
bound and solution differ by less than ``_GAP``, and its result is the bound: never above the optimum.

Source: column generation for multicommodity flows (Ahuja, Magnanti and Orlin, Network Flows, 1993, section 17.5).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dragonfly_env.config.topology import Dragonfly

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from dragonfly_env.bounds.fluid import Arcs, Floats

MOST_DEMANDS = 4_000
"""Pairs of routers with a demand, up to which the method is used; a permutation of 2,550 hosts has 2,540."""

_GAP = 1e-5  # relative
_ROUNDS = 200
_FAR = 100.0  # times the slowest path: what a packet costs that is not carried
_NOTHING = 1e-6  # share of all demands


def least_latency(
    topology: Dragonfly, arcs: Arcs, demand: Floats, limits: Floats, hop_ns: Floats
) -> float | None:
    """The least sum of demand times hop latency over all paths; None: the demands do not fit.

    Args:
        topology: Routers.
        arcs: The links between them.
        demand: (R, R) between routers; the diagonal does not count.
        limits: (L,) what the links carry, in the same unit.
        hop_ns: (L,) of a hop over each link.
    """
    from scipy.optimize import linprog
    from scipy.sparse import csr_array, eye_array, hstack

    paths = _Paths(topology, arcs, demand)
    amount = paths.amount
    if not len(amount):
        return 0.0
    far = _FAR * float(hop_ns.max()) * 2 * len(topology.link_classes)
    prices = np.zeros(len(arcs))
    bound = -np.inf
    for _ in range(_ROUNDS):
        near = paths.add_cheapest(hop_ns + prices, hop_ns)
        bound = max(bound, float(amount @ np.minimum(near, far) - prices @ limits))
        crossed, carries, costs = paths.columns()
        found = linprog(
            np.concatenate([costs, np.full(len(amount), far)]),
            A_ub=hstack([crossed, csr_array((len(arcs), len(amount)))], format="csr"),
            b_ub=limits,
            A_eq=hstack([carries, eye_array(len(amount))], format="csr"),
            b_eq=amount,
            bounds=(0, None),
            method="highs",
        )
        if found.status != 0:
            raise RuntimeError(f"the linear program was not solved: {found.message}")
        if found.fun - bound <= _GAP * found.fun:
            break
        prices = np.maximum(0.0, -found.ineqlin.marginals)
    if found.x[len(costs) :].sum() > _NOTHING * amount.sum():
        return None
    return bound


class _Paths:
    """The paths of the program.

    Attributes:
        amount: (D,) the demands.
    """

    def __init__(self, topology: Dragonfly, arcs: Arcs, demand: Floats) -> None:
        off = demand.copy()
        np.fill_diagonal(off, 0.0)
        self._source, self._destination = np.nonzero(off)
        self.amount: Floats = off[self._source, self._destination]
        self._arcs, self._routers = arcs, topology.num_routers
        self._known: dict[tuple[int, ...], float] = {}  # demand and links of a path; its cost

    def add_cheapest(self, prices: Floats, costs: Floats) -> Floats:
        """Add the cheapest path of every demand; (D,) what each of them costs.

        Args:
            prices: (L,) of links, above 0.
            costs: (L,) the part of the price that is the cost in the program.
        """
        from scipy.sparse import csr_array
        from scipy.sparse.csgraph import dijkstra

        arcs, routers = self._arcs, self._routers
        order = np.lexsort((prices, arcs.head, arcs.tail))  # of parallel links the cheapest comes first
        pair = arcs.tail[order] * routers + arcs.head[order]
        first = order[np.concatenate([[True], pair[1:] != pair[:-1]])]
        number = np.full((routers, routers), -1)
        number[arcs.tail[first], arcs.head[first]] = first
        ends = (arcs.tail[first], arcs.head[first])
        graph = csr_array((prices[first], ends), shape=(routers, routers))
        sources = np.unique(self._source)
        distance, before = dijkstra(graph, indices=sources, return_predecessors=True)
        row = np.searchsorted(sources, self._source)
        pairs = zip(row.tolist(), self._source.tolist(), self._destination.tolist(), strict=True)
        for demand, (line, source, destination) in enumerate(pairs):
            path = [demand]
            while destination != source:
                previous = int(before[line, destination])
                path.append(int(number[previous, destination]))
                destination = previous
            self._known[tuple(path)] = float(costs[path[1:]].sum())
        found: Floats = distance[row, self._destination]
        return found

    def columns(self) -> tuple[csr_array, csr_array, Floats]:
        """(L, P) the links of each path, (D, P) its demand, (P,) its cost."""
        from scipy.sparse import csr_array

        count = len(self._known)
        lengths = [len(path) - 1 for path in self._known]
        links = np.array([link for path in self._known for link in path[1:]])
        ends = (links, np.repeat(np.arange(count), lengths))
        crossed = csr_array((np.ones(len(links)), ends), shape=(len(self._arcs), count))
        demands = np.array([path[0] for path in self._known])
        carries = csr_array((np.ones(count), (demands, np.arange(count))), shape=(len(self.amount), count))
        return crossed, carries, np.array(list(self._known.values()))

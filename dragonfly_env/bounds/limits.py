"""Bounds of what any routing can reach: the most load, and the least latency at a load.

The latency floor of few demands is a linear program over paths, which are added as long as they improve the solution.
Traffic that no rotation of the groups leaves unchanged, such as a permutation, has too many flows for a program over
arcs. But it has few demands, and an optimum uses few paths for each. So the program begins with the quickest path of
each demand. Its dual variables are a price for every link; a path that is cheaper at these prices than those of its
demand is added, and the program is solved again. The prices also give a bound of the optimum. The method ends when
bound and solution differ by less than ``_GAP``, and its result is the bound: never above the optimum.

Source: column generation for multicommodity flows (Ahuja, Magnanti and Orlin, Network Flows, 1993, section 17.5).
"""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING

import numpy as np

from dragonfly_env.bounds.demands import Demand, demand_of, offered_by
from dragonfly_env.bounds.fluid import MOST_FLOWS, Arcs, Floats, Flow, FluidModel, TooManyFlowsError
from dragonfly_env.bounds.times import least_times, packet_times
from dragonfly_env.config.links import bundled_links
from dragonfly_env.config.network import NetworkConfig
from dragonfly_env.config.topology import Dragonfly
from dragonfly_env.simulation.config import SimulationConfig

if TYPE_CHECKING:
    from scipy.sparse import csr_array


_ROUNDING = 1e-7  # error of a linear program's values


@dataclasses.dataclass(frozen=True, slots=True)
class ClassUse:
    """Utilisation of the links of one class in a solution.

    Attributes:
        name: The class, of ``Dragonfly.link_classes``.
        mean: Share of the capacity that is used, over all links of the class.
        highest: Utilisation of the busiest link.
        full: Share of the links that are full.

    Example:
        >>> bounds = dfe.bounds.Bounds(dfe.Dragonfly.preset("72"), "adv+1")
        >>> use = bounds.classes_at_most_load()[0]
        >>> use.name, round(use.highest, 3), use.full
        ('global', 1.0, 1.0)
    """

    name: str
    mean: float
    highest: float
    full: float


class Bounds:
    """The bounds of one topology, network and traffic; the linear program is set up once.

    Args:
        topology: Routers and links.
        traffic: Anything that has a demand matrix: a pattern, a mixture of patterns, a matrix of demands.
        network: Rates of links and times of hops; None: all links are as fast as those of hosts.
        seed: Seed of the run: patterns that fix something once follow from it.

    Raises:
        ConfigError: If the traffic has no demand matrix, the program is too large (see
            ``dragonfly_env.bounds.fluid.MOST_FLOWS``), or SciPy is not installed (the extra ``bounds``).

    Example:
        >>> bounds = dfe.bounds.Bounds(dfe.Dragonfly.preset("72"), "adv+1")
        >>> round(bounds.most_load, 4), bounds.limited_by_hosts
        (0.5625, False)
        >>> round(bounds.latency_floor_ns(0.3), 1)
        927.9
    """

    def __init__(
        self, topology: Dragonfly, traffic: object, *, network: NetworkConfig | None = None, seed: int = 1
    ) -> None:
        demand = demand_of(topology, traffic, network=network, seed=seed)
        self._set(
            topology, demand, NetworkConfig() if network is None else network, network is not None, MOST_FLOWS
        )

    @classmethod
    def of(cls, config: SimulationConfig, *, most_flows: int = MOST_FLOWS) -> Bounds:
        """Compute the bounds of a run.

        Args:
            config: Topology, network, traffic and seed count.
            most_flows: The size up to which linear programs are solved.
        """
        bounds = cls.__new__(cls)
        bounds._set(config.topology, offered_by(config)[0], config.network, True, most_flows)
        return bounds

    def _set(
        self, topology: Dragonfly, demand: Demand, network: NetworkConfig, rated: bool, most_flows: int
    ) -> None:
        self.topology = topology
        self.network = network
        self.demand = demand
        rates = np.ones(len(topology.link_classes))
        self._injection = 1.0
        if rated:
            times = packet_times(network, topology)
            rates = _rates(network, topology)
            sent_ps = times.injection_packet_ps  # 0: at once
            self._injection = times.load_ps / sent_ps if sent_ps else math.inf
        self._ejection = float(rates[0])
        self._most_by_hosts = float(
            min(1.0, self._injection / demand.sent.max(), self._ejection / demand.received.max())
        )
        self.model = FluidModel(topology, demand.between_routers, rates, most_flows)
        self._most: Flow | None = None

    @property
    def _limit(self) -> Flow:
        if self._most is None:
            self._most = self.model.most_load(self._most_by_hosts)
        return self._most

    @property
    def most_load(self) -> float:
        """The highest load at which all demands fit: no routing carries more of this traffic in the long run."""
        return self._limit.value

    @property
    def limited_by_hosts(self) -> bool:
        """Whether the links of hosts are what limits the load, not those between routers."""
        return self.most_load >= self._most_by_hosts * (1 - _ROUNDING)

    def latency_floor_ns(self, load: float) -> float:
        """The least mean latency of packets at a load, in ns; infinite above the most load.

        Args:
            load: Above 0.
        """
        constant_ns, hop_ns = least_times(self.network, self.topology)
        return self.latency_of(load, constant_ns, hop_ns)

    def latency_of(self, load: float, constant_ns: float, hop_ns: Floats) -> float:
        """Compute the floor with given times.

        Args:
            load: Above 0.
            constant_ns: Time of a packet that stays at its router.
            hop_ns: (classes,) more for a hop over a link of each class; that of hosts is not used.
        """
        if load > self._most_by_hosts * (1 + _ROUNDING):
            return math.inf
        found = self.model.latency(load, constant_ns, hop_ns)
        return math.inf if found is None else found.value

    def most_accepted(self, load: float) -> float:
        """The highest mean load that hosts can get through where they may be served unequally.

        Above the most load some hosts may get more through than others, so that the mean is higher than what all of
        them can get through alike. Every host sends its packets in order, so it sends the same share of all its
        demands.

        Args:
            load: That is offered.

        Returns:
            What is accepted, over all hosts, those that send less than others included.
        """
        return self.model.most_accepted(load, self.demand.of_hosts, self._injection, self._ejection)

    def classes_at_most_load(self) -> tuple[ClassUse, ...]:
        """Utilisation of links between routers at the most load on the quickest paths, by class, the fullest first."""
        nearly = self.model.latency(
            self.most_load * (1 - _ROUNDING), *least_times(self.network, self.topology)
        )
        used = (self._limit if nearly is None else nearly).utilisation
        kinds = self.model.arcs.kind
        found = []
        for kind, name in enumerate(self.topology.link_classes):
            mine = used[kinds == kind]
            if not mine.size:
                continue
            full = float(np.mean(mine > 1 - 1e-4))
            found.append(ClassUse(name, float(mine.mean()), min(1.0, float(mine.max())), full))
        return tuple(sorted(found, key=lambda use: (-use.full, -use.mean)))


def _rates(network: NetworkConfig, topology: Dragonfly) -> Floats:
    """(classes,) bandwidth of a single link of each class in the simulation, in that of a host's link as it is set."""
    times = packet_times(network, topology)
    links = np.array([1, *bundled_links(topology)])
    rates: Floats = times.load_ps / (np.array(times.packet_ps) * links)
    return rates


def most_load(
    topology: Dragonfly, traffic: object, *, network: NetworkConfig | None = None, seed: int = 1
) -> float:
    """The highest load that any routing can carry in the long run.

    The value of a linear program: demands may be split over any paths, and no link may carry more than its bandwidth.

    Args:
        topology: Routers and links.
        traffic: A pattern, a mixture or a matrix of demands, in any form that ``SimulationConfig`` takes.
        network: Network with the rates of links; None: all links are as fast as those of hosts.
        seed: Seed of the run: patterns that fix something once (a permutation, hot hosts) follow from it.

    Returns:
        The load, as a fraction of the bandwidth of the hosts' links; at most 1.

    Raises:
        ConfigError: If the traffic has no demand matrix (closed loops, traces, schedules), the program is too large, or
            SciPy is not installed (the extra ``bounds``).

    Source: this project; the maximum concurrent flow of Shahrokhi and Matula, Journal of the ACM 1990.

    Example:
        >>> topology = dfe.Dragonfly.preset("72")
        >>> round(dfe.most_load(topology, "adv+1"), 4)
        0.5625
    """
    return Bounds(topology, traffic, network=network, seed=seed).most_load


def latency_floor(config: SimulationConfig) -> float:
    """The least mean packet latency that any routing can reach in a steady state.

    The value of a linear program: demands at the load of ``config`` are split over any paths so that the mean of the
    paths' latencies is least while no link carries more than its bandwidth. Packets never wait for one another. Where
    no rotation of the groups helps, few demands (a permutation) are solved over paths, to within 0.001 percent.

    Args:
        config: Topology, network, traffic, load and seed count; the policy does not.

    Returns:
        In ns; infinite if no routing carries the load.

    Raises:
        ConfigError: As ``most_load``; and for runs with jobs.

    Source: this project; a minimum-cost multicommodity flow (Ahuja, Magnanti and Orlin, Network Flows, 1993, chapter
    17).

    Example:
        >>> config = dfe.SimulationConfig(topology="72", traffic="adv+1", load=0.3)
        >>> round(dfe.latency_floor(config), 1)
        927.9
    """
    demand, load = offered_by(config)
    try:
        return Bounds.of(config).latency_floor_ns(load)
    except TooManyFlowsError:
        if np.count_nonzero(demand.between_routers) > MOST_DEMANDS:
            raise
    topology, network = config.topology, config.network
    rates = _rates(network, topology)
    if load * max(demand.sent.max(), demand.received.max() / rates[0]) > 1 + _ROUNDING:
        return math.inf
    arcs = Arcs.of(topology)
    limits = rates[arcs.kind] * arcs.links / load
    constant_ns, hop_ns = least_times(network, topology)
    found = least_latency(topology, arcs, demand.between_routers, limits, hop_ns[arcs.kind])
    return math.inf if found is None else constant_ns + found / float(demand.between_routers.sum())


MOST_DEMANDS = 4_000
"""Pairs of routers with a demand, up to which the method is used; a permutation of 2,550 hosts has 2,540."""

_GAP = 1e-5  # relative
_ROUNDS = 200
_FAR = 100.0  # times the slowest path: what a packet costs that is not carried
_NOTHING = 1e-6  # share of all demands


def least_latency(
    topology: Dragonfly, arcs: Arcs, demand: Floats, limits: Floats, hop_ns: Floats
) -> float | None:
    """The least sum of demand times hop latency over all paths; None: the demands do not fit."""
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
        """Add the cheapest path of every demand; (D,) what each of them costs."""
        from scipy.sparse import csr_array
        from scipy.sparse.csgraph import dijkstra

        arcs, routers = self._arcs, self._routers
        order = np.lexsort((prices, arcs.head, arcs.tail))  # the cheapest of parallel links comes first
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

"""Bounds of what any routing can reach: the most load, and the least latency at a load."""

from __future__ import annotations

import dataclasses
import math

import numpy as np

from dragonfly_env.bounds.demands import Demand, demand_of, offered_by
from dragonfly_env.bounds.fluid import MOST_FLOWS, Arcs, Floats, Flow, FluidModel, TooManyFlowsError
from dragonfly_env.bounds.paths import MOST_DEMANDS, least_latency
from dragonfly_env.bounds.times import least_times, packet_times
from dragonfly_env.checks.values import check_instance
from dragonfly_env.config.network import NetworkConfig
from dragonfly_env.config.topology import Dragonfly
from dragonfly_env.simulation.config import SimulationConfig

_ROUNDING = 1e-7  # of a linear program's values


@dataclasses.dataclass(frozen=True, slots=True)
class ClassUse:
    """How full the links of one class are in a solution.

    Attributes:
        name: The class, of ``Dragonfly.link_classes``.
        mean: Share of the capacity that is used, over all links of the class.
        highest: Of the link that is used most.
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
        seed: Of the run: patterns that fix something once follow from it.

    Raises:
        ConfigError: If the traffic has no demand matrix, the program is too large (see
            ``dragonfly_env.bounds.fluid.MOST_FLOWS``), or SciPy is not installed (the extra ``bounds``).

    Example:
        >>> bounds = dfe.bounds.Bounds(dfe.Dragonfly.preset("72"), "adv+1")
        >>> round(bounds.most_load, 4), bounds.limited_by_hosts
        (0.5625, False)
        >>> round(bounds.latency_floor_ns(0.3), 1)
        999.2
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
        """Those of a run.

        Args:
            config: Topology, network, traffic and seed count.
            most_flows: The size up to which linear programs are solved.

        Raises:
            ConfigError: As the constructor; and if the run has jobs.

        Example:
            >>> config = dfe.SimulationConfig(topology="72", traffic="adv+1")
            >>> round(dfe.bounds.Bounds.of(config).most_load, 4)
            0.5625
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
        injection = 1.0
        if rated:
            times = packet_times(network, topology)
            rates = _rates(network, topology)
            sent_ps = times.injection_packet_ps  # 0: at once
            injection = times.packet_ps[0] / sent_ps if sent_ps else math.inf
        self._most_sent = float(min(1.0, injection / demand.sent.max()))
        self._most_by_hosts = float(min(self._most_sent, 1.0 / demand.received.max()))
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

        Example:
            >>> bounds = dfe.bounds.Bounds(dfe.Dragonfly.preset("72"), "adv+1")
            >>> bounds.latency_floor_ns(0.3) < bounds.latency_floor_ns(0.5)
            True
            >>> bounds.latency_floor_ns(0.6)
            inf
        """
        constant_ns, hop_ns = least_times(self.network, self.topology)
        return self.latency_of(load, constant_ns, hop_ns)

    def latency_of(self, load: float, constant_ns: float, hop_ns: Floats) -> float:
        """The same with given times.

        Args:
            load: Above 0.
            constant_ns: Of a packet that stays at its router.
            hop_ns: (classes,) more for a hop over a link of each class; that of hosts is not used.

        Example:
            >>> bounds = dfe.bounds.Bounds(dfe.Dragonfly.preset("72"), "uniform")
            >>> hop_ns = np.array([0.0, 100.0, 300.0])
            >>> bounds.latency_of(0.1, constant_ns=50.0, hop_ns=hop_ns) > 50.0
            True
        """
        if load > self._most_by_hosts * (1 + _ROUNDING):
            return math.inf
        found = self.model.latency(load, constant_ns, hop_ns)
        return math.inf if found is None else found.value

    def most_accepted(self, load: float) -> float:
        """The highest mean load that hosts can get through where routers may be served unequally.

        Above the most load some routers may accept more than others, so that the mean is higher than what all of them
        can accept alike. Every host sends its packets in order, so it accepts the same share of all its demands.

        Args:
            load: That is offered.

        Returns:
            What is accepted, over all hosts, those that send less than others included.

        Example:
            >>> bounds = dfe.bounds.Bounds(dfe.Dragonfly.preset("72"), "adv+1")
            >>> round(bounds.most_accepted(0.9), 4)
            0.5625
        """
        return self.model.most_accepted(load, self._most_sent)

    def classes_at_most_load(self) -> tuple[ClassUse, ...]:
        """How full links between routers are at the most load on the quickest paths, by class, the fullest first.

        Example:
            >>> bounds = dfe.bounds.Bounds(dfe.Dragonfly.preset("72"), "adv+1")
            >>> [use.name for use in bounds.classes_at_most_load()]
            ['global', 'local']
        """
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
    """(classes,) bandwidth of a single link of each class, in that of the link to a host."""
    packet_ps = packet_times(network, topology).packet_ps
    links = [topology.port_links(_port_of(topology, kind)) for kind in range(len(packet_ps))]
    rates: Floats = packet_ps[0] / (np.array(packet_ps) * np.array(links))
    return rates


def _port_of(topology: Dragonfly, kind: int) -> int:
    """Some port of a class; port 0 where there is none."""
    ports = np.flatnonzero(topology.port_classes() == kind)
    return int(ports[0]) if ports.size else 0


def most_load(
    topology: Dragonfly, traffic: object, *, network: NetworkConfig | None = None, seed: int = 1
) -> float:
    """The highest load that any routing can carry in the long run.

    The value of a linear program: demands may be split over any paths, and no link may carry more than its bandwidth.

    Args:
        topology: Routers and links.
        traffic: A pattern, a mixture or a matrix of demands, in any form that ``SimulationConfig`` takes.
        network: Whose rates the links have; None: all links are as fast as those of hosts.
        seed: Of the run: patterns that fix something once (a permutation, hot hosts) follow from it.

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
        999.2
    """
    check_instance("config", config, SimulationConfig)
    demand, load = offered_by(config)
    try:
        return Bounds.of(config).latency_floor_ns(load)
    except TooManyFlowsError:
        if np.count_nonzero(demand.between_routers) > MOST_DEMANDS:
            raise
    topology, network = config.topology, config.network
    if load * max(demand.sent.max(), demand.received.max()) > 1 + _ROUNDING:
        return math.inf
    arcs = Arcs.of(topology)
    limits = _rates(network, topology)[arcs.kind] * arcs.links / load
    constant_ns, hop_ns = least_times(network, topology)
    found = least_latency(topology, arcs, demand.between_routers, limits, hop_ns[arcs.kind])
    return math.inf if found is None else constant_ns + found / float(demand.between_routers.sum())

"""The optimal static split: fixed probabilities of paths that minimise the mean latency with queueing.

A source router sends a packet by the shortest path, or by an intermediate router of another group and by shortest paths
to and from there: these are the paths that the virtual channels of ``val-n`` allow. Among the splits of every demand
over them ``optimal_split`` looks for the one with the least mean latency, where a link adds the mean waiting time of
an M/D/1 queue to the time of a hop. A link whose buffer holds fewer packets than fit the time until their credits are
back is not faster than those credits allow. The objective is convex. The method is gradient projection on path flows
(Bertsekas and Gallager, Data Networks, 1992, section 5.7): each round moves flow of every demand from its dearer paths
to its cheapest one, by as much as first and second derivatives say, times one factor for all that an exact line search
finds.
"""

from __future__ import annotations

import dataclasses
import functools
import json
import math
from pathlib import Path

import numpy as np

from dragonfly_env import _core
from dragonfly_env.bounds.demands import Demand, offered_by
from dragonfly_env.bounds.fluid import Arcs, Floats, Ints, Rotation, rotation_of
from dragonfly_env.bounds.times import PacketTimes, alone_times, packet_times
from dragonfly_env.checks.files import write_arrays
from dragonfly_env.checks.values import PS_PER_NS, config_error
from dragonfly_env.config.groups import ALL_TO_ALL
from dragonfly_env.config.links import link_rows
from dragonfly_env.config.throughput import links_per_pair
from dragonfly_env.config.topology import Dragonfly
from dragonfly_env.simulation.config import SimulationConfig

SHORTEST = -1
"""Stands for no intermediate router."""

_ROUNDS = 400
_GAP = 2e-4  # relative: so far above the optimum at most
_STEEP = 0.98  # from this utilisation on the waiting time goes on along its tangent
_LEAST = 1e-6  # share of a demand: paths with less are dropped
_COLUMNS = ("sources", "destinations", "intermediates", "probabilities")


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class PathSplit:
    """Which share of the packets between two routers takes which path.

    Attributes:
        num_routers: Of the topology.
        sources: (P,) uint32 source router of each path.
        destinations: (P,) uint32 destination router.
        intermediates: (P,) int64 router that is visited in between, or ``SHORTEST``.
        probabilities: (P,) relative to the other paths of the same pair. Pairs without a path use the shortest.
        predicted_latency_ns: Mean packet latency that the model predicts; infinite above what the split carries.

    Example:
        >>> config = dfe.SimulationConfig(topology="72", traffic="adv+1", load=0.3)
        >>> split = dfe.bounds.optimal_split(config)
        >>> split.num_routers, len(split.probabilities) == len(split.sources)
        (36, True)
    """

    num_routers: int
    sources: np.ndarray[tuple[int], np.dtype[np.uint32]]
    destinations: np.ndarray[tuple[int], np.dtype[np.uint32]]
    intermediates: np.ndarray[tuple[int], np.dtype[np.int64]]
    probabilities: np.ndarray[tuple[int], np.dtype[np.float64]]
    predicted_latency_ns: float

    def to_core(self) -> _core.PathSplit:
        """As the core takes it.

        Raises:
            ConfigError: For routers out of range, or probabilities that are not finite and above 0.
        """
        return _core.PathSplit(
            self.num_routers, self.sources, self.destinations, self.intermediates, self.probabilities
        )

    def save(self, path: str | Path) -> Path:
        """Write it as ``.npz``.

        Args:
            path: Where; the ending is added if it lacks.

        Returns:
            The file.

        Raises:
            ConfigError: If it cannot be written.

        Example:
            >>> config = dfe.SimulationConfig(topology="72", traffic="adv+1", load=0.3)
            >>> dfe.bounds.optimal_split(config).save("split").name
            'split.npz'
        """
        head = {"num_routers": self.num_routers, "predicted_latency_ns": self.predicted_latency_ns}
        columns = {name: getattr(self, name) for name in _COLUMNS}
        return write_arrays(path, {"head": json.dumps(head), **columns})

    @classmethod
    def load(cls, path: str | Path) -> PathSplit:
        """Read what ``save`` wrote.

        Args:
            path: The file.

        Raises:
            ConfigError: If the file cannot be read, or holds something else.

        Example:
            >>> config = dfe.SimulationConfig(topology="72", traffic="adv+1", load=0.3)
            >>> file = dfe.bounds.optimal_split(config).save("split.npz")
            >>> dfe.bounds.PathSplit.load(file).num_routers
            36
        """
        allowed = "must be a file that bounds.PathSplit.save wrote"
        try:
            with np.load(path, allow_pickle=False) as stored:
                columns = {name: stored[name] for name in _COLUMNS}
                head = json.loads(str(stored["head"]))
            split = cls(
                int(head["num_routers"]), **columns, predicted_latency_ns=float(head["predicted_latency_ns"])
            )
            split.to_core()
        except OSError as error:
            raise config_error("split", str(path), f"{allowed} ({error.strerror or error})") from error
        except (KeyError, ValueError, TypeError) as error:
            raise config_error("split", str(path), f"{allowed} ({error})") from error
        return split


class _Paths:
    """The links of the shortest path between any two routers, where there is exactly one."""

    def __init__(self, topology: Dragonfly, arcs: Arcs, rotation: Rotation) -> None:
        if topology.group != ALL_TO_ALL or (topology.g > 1 and links_per_pair(topology) != (1, 1)):
            allowed = (
                "must have all-to-all groups and one link between any two of them: static-optimum splits over single "
                "shortest paths"
            )
            raise config_error("topology", f"{topology.group}, trunking={topology.trunking}", allowed)
        routers = topology.num_routers
        between = np.full((routers, routers), -1)
        between[arcs.tail, arcs.head] = rotation.orbit
        self.group = np.arange(routers) // topology.a
        crossing = self.group[arcs.tail] != self.group[arcs.head]
        gate = np.full((topology.g, topology.g), -1)
        gate[self.group[arcs.tail[crossing]], self.group[arcs.head[crossing]]] = np.flatnonzero(crossing)
        links = gate[self.group[:, None], self.group[None, :]]
        leaves = links >= 0
        every = np.arange(routers)
        exits, entries = arcs.tail[links], arcs.head[links]
        self.orbits: Ints = np.full((routers, routers, 3), -1)  # classes of arcs; -1: no such hop
        self.orbits[..., 0] = np.where(leaves, between[every[:, None], exits], between)
        self.orbits[..., 1] = np.where(leaves, rotation.orbit[links], -1)
        self.orbits[..., 2] = np.where(leaves, between[entries, every[None, :]], -1)

    def sums(self, values: Floats) -> Floats:
        """(R, R) the sum of a value per class of arcs over the shortest paths."""
        total: Floats = np.append(values, 0.0)[self.orbits].sum(axis=2)
        return total


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class _Links:
    """What each class of arcs adds to the latency of the packets that cross it."""

    hop_ns: Floats
    packet_ns: Floats
    capacity: Floats

    def marginal_ns(self, load: Floats) -> Floats:
        """By how much the latency of all packets together grows with the load."""
        used = load / self.capacity
        below = np.minimum(used, _STEEP)
        slope = self.packet_ns * (2 - below) * below / (2 * (1 - below) ** 2)
        found: Floats = self.hop_ns + slope + (used - below) * self.packet_ns / (1 - below) ** 3
        return found

    def curvature_ns(self, load: Floats) -> Floats:
        """The derivative of that."""
        below = np.minimum(load / self.capacity, _STEEP)
        found: Floats = self.packet_ns / (1 - below) ** 3 / self.capacity
        return found

    def latency_ns(self, load: Floats) -> float:
        """Of all packets together; infinite where a link is overloaded."""
        used = load / self.capacity
        if (used >= 1).any():
            return math.inf
        return _dot(load, self.hop_ns + _wait_ns(self.packet_ns, used))


def _wait_ns(packet_ns: Floats | float, used: Floats) -> Floats:
    """The mean waiting time in an M/D/1 queue."""
    found: Floats = packet_ns * used / (2 * (1 - used))
    return found


def _dot(one: Floats, other: Floats) -> float:
    """The scalar product, added up in NumPy's own order: that of a BLAS library depends on the machine."""
    return float((one * other).sum())


class _Split:
    """Demands, and the paths that carry them so far."""

    def __init__(self, paths: _Paths, links: _Links, demand: Floats, sources: int) -> None:
        self.paths, self.links = paths, links
        own = paths.group[:sources, None] == paths.group[None, :]
        self.fixed = np.where(own, demand[:sources], 0.0)
        self.source, self.destination = np.nonzero(~own & (demand[:sources] > 0))
        self.amount = demand[self.source, self.destination]
        count = len(self.amount)
        self.demand = np.arange(count)  # of each path
        self.via = np.full(count, SHORTEST)
        self.share = np.ones(count)

    def sums_of_paths(self, sums: Floats) -> Floats:
        """(P,) the sum of a value over each path; ``sums``: over shortest paths."""
        source, destination = self.source[self.demand], self.destination[self.demand]
        direct = self.via == SHORTEST
        found: Floats = np.where(
            direct, sums[source, destination], sums[source, self.via] + sums[self.via, destination]
        )
        return found

    def load(self, shares: Floats) -> Floats:
        """Of every class of arcs. ``shares``: of the paths; without them the fixed demands are not counted."""
        source, destination = self.source[self.demand], self.destination[self.demand]
        routers = len(self.paths.group)
        flow = shares * self.amount[self.demand]
        direct = self.via == SHORTEST
        ends = np.concatenate(
            [
                source * routers + np.where(direct, destination, self.via),
                (self.via * routers + destination)[~direct],
            ]
        )
        between = np.bincount(ends, np.concatenate([flow, flow[~direct]]), routers * routers)
        return self._on_links(between.reshape(routers, routers).astype(np.float64))

    def load_of_fixed(self) -> Floats:
        """Of the demands inside groups."""
        routers = len(self.paths.group)
        between = np.zeros((routers, routers))
        between[: len(self.fixed)] = self.fixed
        return self._on_links(between)

    def _on_links(self, between: Floats) -> Floats:
        count = len(self.links.capacity)
        source, destination = np.nonzero(between)
        orbits = self.paths.orbits[source, destination]
        weights = np.repeat(between[source, destination], 3)
        found: Floats = np.bincount(orbits.ravel() + 1, weights, count + 1)[1:].astype(np.float64)
        return found

    def add_cheapest(self, sums: Floats) -> None:
        """A path by the best intermediate router for every demand that it would make cheaper."""
        group = self.paths.group
        best = np.full(len(self.amount), SHORTEST)
        cost = np.full(len(self.amount), np.inf)
        for source in np.unique(self.source):
            mine = np.flatnonzero(self.source == source)
            others = np.flatnonzero(group != group[source])
            by_way = sums[source, others][:, None] + sums[np.ix_(others, self.destination[mine])]
            chosen = by_way.argmin(axis=0)
            best[mine] = others[chosen]
            cost[mine] = by_way[chosen, np.arange(len(mine))]
        now = np.full(len(self.amount), np.inf)
        np.minimum.at(now, self.demand, self.sums_of_paths(sums))
        new = np.flatnonzero(cost < now * (1 - 1e-9))
        self.demand = np.concatenate([self.demand, new])
        self.via = np.concatenate([self.via, best[new]])
        self.share = np.concatenate([self.share, np.zeros(len(new))])

    def improve(self) -> float:
        """One round. Returns how far the cost was above the least of the paths known by then, as a fraction."""
        fixed = self.load_of_fixed()
        load = fixed + self.load(self.share)
        sums = self.paths.sums(self.links.marginal_ns(load))
        self.add_cheapest(sums)
        cost = self.sums_of_paths(sums)
        least = np.full(len(self.amount), np.inf)
        np.minimum.at(least, self.demand, cost)
        excess = cost - least[self.demand]
        amount = self.amount[self.demand]
        flow = amount * self.share
        gap = _dot(flow, excess) / _dot(flow, cost)
        if gap < _GAP:
            return gap
        best = np.full(len(self.amount), -1)
        cheapest = np.flatnonzero(excess <= 0)
        best[self.demand[cheapest[::-1]]] = cheapest[::-1]  # the first of equally cheap ones
        bends = self.sums_of_paths(self.paths.sums(self.links.curvature_ns(load)))
        step = np.minimum(self.share, excess / ((bends + bends[best[self.demand]]) * amount))
        np.add.at(step, best, -np.bincount(self.demand, step, len(self.amount)))
        moved = self.load(step)
        self.share = self.share - self._factor(load, moved) * step
        kept = (self.share > _LEAST) | (self.via == SHORTEST)
        self.demand, self.via, self.share = self.demand[kept], self.via[kept], self.share[kept]
        self.share = self.share / np.bincount(self.demand, self.share, len(self.amount))[self.demand]
        return gap

    def _factor(self, load: Floats, moved: Floats) -> float:
        """How much of a step makes the latency least: where its derivative is 0, at most all of it."""
        low, high = 0.0, 1.0
        if _dot(self.links.marginal_ns(load - moved), moved) > 0:
            return 1.0
        for _ in range(30):
            middle = (low + high) / 2
            if _dot(self.links.marginal_ns(load - middle * moved), moved) > 0:
                low = middle
            else:
                high = middle
        return low


def optimal_split(config: SimulationConfig) -> PathSplit:
    """The split of the traffic of a run over paths that has the least mean latency.

    Args:
        config: Topology, network, traffic, load and seed count; the policy does not.

    Returns:
        Probabilities for every pair of routers with a demand, and the mean latency that the model predicts.

    Raises:
        ConfigError: If the traffic has no demand matrix, if the run has jobs, or if the topology has several shortest
            paths between routers (grids, trunking).

    Source: this project; Bertsekas and Gallager, Data Networks, 1992, sections 5.4 and 5.7.

    Example:
        >>> config = dfe.SimulationConfig(topology="72", traffic="adv+1", load=0.3)
        >>> split = dfe.bounds.optimal_split(config)
        >>> split.predicted_latency_ns > dfe.latency_floor(config)
        True
    """
    topology = config.topology
    arcs = Arcs.of(topology)
    demand, load = offered_by(config)
    rotation = rotation_of(topology, arcs, demand.between_routers)
    paths = _Paths(topology, arcs, rotation)
    times = packet_times(config.network, topology)
    constant_ns, hop_ns = alone_times(config.network, topology)
    kinds = np.zeros(int(rotation.orbit.max(initial=-1)) + 1, dtype=np.int64)
    kinds[rotation.orbit] = arcs.kind
    rows = link_rows(config.network, topology)
    interval_ps = [  # between packets: of the link, or of the credits for the buffer behind it
        max(packet, credit / row["buffer_packets"])
        for packet, credit, row in zip(times.packet_ps[1:], times.credit_ps[1:], rows, strict=True)
    ]
    interval_ns = np.array([0.0, *interval_ps])[kinds] / PS_PER_NS
    links = _Links(hop_ns[kinds], interval_ns, times.packet_ps[0] / PS_PER_NS / interval_ns)
    split = _Split(paths, links, demand.between_routers * load, rotation.step)
    if len(split.amount):
        for _ in range(_ROUNDS):
            if split.improve() < _GAP:
                break
    used = split.load_of_fixed() + split.load(split.share)
    sent = float(demand.between_routers[: rotation.step].sum()) * load
    predicted = constant_ns + links.latency_ns(used) / sent + _at_hosts_ns(config, demand, load, times)
    return _expanded(split, rotation, topology.num_routers, predicted)


def _at_hosts_ns(config: SimulationConfig, demand: Demand, load: float, times: PacketTimes) -> float:
    """The mean wait for the links of hosts: to them, and where arrivals are random from them too."""
    waits = 0.0
    links = [(demand.received, times.packet_ps[0])]
    if config.injection != "periodic" and times.injection_packet_ps:
        links.append((demand.sent, times.injection_packet_ps))
    for rates, packet_ps in links:
        used = rates * load * packet_ps / times.packet_ps[0]
        if (used >= 1).any():
            return math.inf
        waits += _dot(rates, _wait_ns(packet_ps / PS_PER_NS, used)) / float(rates.sum())
    return waits


def _expanded(split: _Split, rotation: Rotation, routers: int, predicted: float) -> PathSplit:
    """For every router, from those of the first groups."""
    taken = split.share > 0
    demand, via = split.demand[taken], split.via[taken]
    by_way = np.bincount(demand, via != SHORTEST, len(split.amount)) > 0
    listed = by_way[demand]  # what goes by the shortest path alone needs no entry
    demand, via, share = demand[listed], via[listed], split.share[taken][listed]
    turns = np.arange(rotation.copies)[:, None] * rotation.step

    def turned(column: Ints) -> Ints:
        moved: Ints = (column[None, :] + turns) % routers
        return moved.ravel()

    return PathSplit(
        num_routers=routers,
        sources=turned(split.source[demand]).astype(np.uint32),
        destinations=turned(split.destination[demand]).astype(np.uint32),
        intermediates=np.where(np.tile(via == SHORTEST, rotation.copies), SHORTEST, turned(via)),
        probabilities=np.tile(share, rotation.copies),
        predicted_latency_ns=predicted,
    )


@functools.lru_cache(maxsize=8)
def _known_split(key: str) -> PathSplit:
    return optimal_split(SimulationConfig.from_json(key))


def split_of(config: SimulationConfig) -> PathSplit:
    """``optimal_split``, kept for the next run with the same traffic.

    Raises:
        ConfigError: As ``optimal_split``.
    """
    offered_by(config)  # which may refuse; what is left are settings that do not change the split
    return _known_split(
        SimulationConfig(
            topology=config.topology,
            network=config.network,
            traffic=config.traffic,
            load=config.load,
            injection=config.injection,
            seed=config.seed,
        ).to_json()
    )

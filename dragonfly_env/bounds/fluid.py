"""The fluid model: demands flow over links of limited capacity, split over any paths at all.

Routers are nodes, links between routers are arcs. One commodity per destination router d: a flow ``f[d, arc] >= 0``
that is conserved at every router except d, where it ends; ``sum over d of f[d, arc] <= capacity[arc]``. Three linear
programs over these flows are bounds of all routing, see ``dragonfly_env.bounds.limits``.

**Symmetry.** If a rotation of the groups by k maps arcs to arcs of the same class and demands to themselves, then the
mean of a solution over all such rotations is a solution of the same value. So commodities for the destinations of the
first k groups are enough, with one capacity row per class of arcs that the rotation maps to each other. The rotation is
looked for in the actual links and demands; k is the number of groups where there is none.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from dragonfly_env.checks.values import config_error
from dragonfly_env.config.topology import Dragonfly
from dragonfly_env.errors import ConfigError

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

MOST_FLOWS = 400_000
"""Flows of the largest program that is solved. 1,056 hosts with a rotation by one group have 23,000."""

_SAME = 1e-9  # share of the largest demand; demands that differ by less are equal
_DIGITS = 9  # decimals to which demands of hosts are compared


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Arcs:
    """The links between routers, one arc for all links of one class from one router to another.

    Attributes:
        tail: (L,) the router that it leaves.
        head: (L,) the router that it leads to.
        kind: (L,) its class, an index into ``Dragonfly.link_classes``.
        links: (L,) how many links it stands for; a degraded link counts as the share of its rate that it carries.
    """

    tail: Ints
    head: Ints
    kind: Ints
    links: Floats

    @classmethod
    def of(cls, topology: Dragonfly) -> Arcs:
        """Collect the links of a topology, by tail and head."""
        rows = topology.links().astype(np.int64)
        kinds = topology.port_classes()[rows[:, 1]]
        keys = np.stack([rows[:, 0], rows[:, 2], kinds], axis=1)
        unique, index = np.unique(keys, axis=0, return_inverse=True)
        parallel = np.array([topology.port_links(port) for port in range(topology.radix)])[rows[:, 1]]
        carried = parallel * topology.link_rates()
        links = np.bincount(index.ravel(), weights=carried, minlength=len(unique)).astype(np.float64)
        return cls(unique[:, 0], unique[:, 1], unique[:, 2], links)

    def __len__(self) -> int:
        return len(self.tail)


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Rotation:
    """A rotation of the groups that changes neither links nor demands.

    Attributes:
        step: By so many routers it moves each of them.
        copies: So often it must be repeated until all is as before.
        orbit: (L,) the class of every arc under it, from 0.
    """

    step: int
    copies: int
    orbit: Ints


def rotation_of(topology: Dragonfly, arcs: Arcs, demand: Floats) -> Rotation:
    """The smallest rotation of the groups under which links and demands stay what they are."""
    groups, routers = topology.num_groups, topology.num_routers
    group_of_routers = topology.group_of_routers()
    links = np.stack([arcs.tail, arcs.head, arcs.kind, arcs.links], axis=1)
    tolerance = _SAME * float(demand.max(initial=0.0))
    for k in range(1, groups + 1):
        if groups % k:
            continue
        step = int(np.searchsorted(group_of_routers, k))
        moved = links.copy()
        moved[:, :2] = (moved[:, :2] + step) % routers
        if k < groups:
            if not np.array_equal(moved[np.lexsort(moved.T[::-1])], links):
                continue
            if np.abs(np.roll(demand, (step, step), axis=(0, 1)) - demand).max(initial=0.0) > tolerance:
                continue
        turns = arcs.tail // step * step
        based = np.stack([arcs.tail - turns, (arcs.head - turns) % routers, arcs.kind], axis=1)
        _, orbit = np.unique(based, axis=0, return_inverse=True)
        return Rotation(step, groups // k, orbit.ravel().astype(np.int64))
    raise AssertionError("a whole turn changes nothing")


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Flow:
    """A solution.

    Attributes:
        value: Value of the objective.
        utilisation: (L,) the share of each arc's capacity that is used.
    """

    value: float
    utilisation: Floats


class TooManyFlowsError(ConfigError):
    """The linear programs over arcs are too large."""

    @classmethod
    def of(cls, field: str, value: object, allowed: str) -> TooManyFlowsError:
        """Make the error with the message of a refused setting."""
        return cls(str(config_error(field, value, allowed)))


class FluidModel:
    """The linear programs of one topology and one matrix of demands.

    Args:
        topology: Routers and links.
        demand: (R, R) what each router sends to each other at a load of 1, in the bandwidth of a host's link.
        capacity: (classes,) bandwidth of a single link of each class in the same unit; that of hosts is not used.
        most_flows: The size up to which programs are solved.
    """

    def __init__(
        self, topology: Dragonfly, demand: Floats, capacity: Floats, most_flows: int = MOST_FLOWS
    ) -> None:
        require_scipy()
        self.topology = topology
        self.arcs = Arcs.of(topology)
        self.demand = demand
        self.capacity = capacity[self.arcs.kind] * self.arcs.links
        self.rotation = rotation_of(topology, self.arcs, demand)
        base = np.arange(self.rotation.step)
        self._off = demand.copy()
        np.fill_diagonal(self._off, 0.0)
        self.destinations: Ints = base[self._off[:, base].any(axis=0)]
        variables = len(self.destinations) * len(self.arcs)
        if variables > most_flows:
            raise TooManyFlowsError.of(
                "topology",
                f"{topology.num_hosts:,} hosts, {variables:,} flows",
                f"must be smaller: at most {most_flows:,} flows (links times destination routers), some 800 hosts "
                "whose groups no rotation maps to each other",
            )
        self._balance, self._shared, self._columns = self._matrices()

    def _matrices(self) -> tuple[csr_array, csr_array, Ints]:
        """Conservation (a row per commodity and router but its destination), loads of the classes of arcs, and the arc
        of every column.
        """
        from scipy import sparse

        arcs, routers = self.arcs, self.topology.num_routers
        count = len(arcs)
        ends = np.concatenate([arcs.tail, arcs.head])
        signs = np.concatenate([np.ones(count), -np.ones(count)])
        incidence = sparse.csr_array((signs, (ends, np.tile(np.arange(count), 2))), shape=(routers, count))
        blocks, columns = [], []
        for destination in self.destinations:
            kept = np.flatnonzero(arcs.tail != destination)
            rows = np.flatnonzero(np.arange(routers) != destination)
            blocks.append(incidence[rows][:, kept])
            columns.append(kept)
        arc_of = np.concatenate(columns) if columns else np.zeros(0, np.int64)
        balance = sparse.block_diag(blocks, format="csr") if blocks else sparse.csr_array((0, 0))
        orbit = self.rotation.orbit[arc_of]
        shape = (int(self.rotation.orbit.max(initial=-1)) + 1, len(arc_of))
        shared = sparse.csr_array((np.ones(len(arc_of)), (orbit, np.arange(len(arc_of)))), shape=shape)
        return sparse.csr_array(balance), shared, arc_of

    @property
    def offered(self) -> float:
        """The sum that all hosts send at a load of 1, per copy of the rotation."""
        return float(self.demand[: self.rotation.step].sum())

    def _wanted(self) -> Floats:
        """The right side of the conservation rows at a load of 1."""
        routers = np.arange(self.topology.num_routers)
        parts = [self._off[routers != d, d] for d in self.destinations]
        return np.concatenate(parts) if parts else np.zeros(0)

    def _limits(self) -> Floats:
        """The capacity of each class of arcs."""
        limits = np.zeros(int(self.rotation.orbit.max(initial=-1)) + 1)
        limits[self.rotation.orbit] = self.capacity
        return limits

    def most_load(self, most: float) -> Flow:
        """Maximise the load at which all demands fit."""
        from scipy import sparse

        if not len(self.destinations):
            return Flow(most, np.zeros(len(self.arcs)))
        columns = self._balance.shape[1]
        costs = np.zeros(columns + 1)
        costs[-1] = -1.0
        equal = sparse.hstack([self._balance, sparse.csr_array(-self._wanted()[:, None])], format="csr")
        below = sparse.hstack([self._shared, sparse.csr_array((self._shared.shape[0], 1))], format="csr")
        upper = np.full(columns + 1, np.inf)
        upper[-1] = most
        found = _solve(costs, below, self._limits(), equal, np.zeros(equal.shape[0]), upper)
        if found is None:
            raise AssertionError("a load of 0 is always possible")
        return Flow(min(most, float(found[-1])), self._utilisation(found[:-1]))

    def latency(self, load: float, constant_ns: float, hop_ns: Floats) -> Flow | None:
        """Minimise the mean latency of packets at a load; None: the demands do not fit."""
        if not len(self.destinations):
            return Flow(constant_ns, np.zeros(len(self.arcs)))
        costs = hop_ns[self.arcs.kind[self._columns]]
        # Flows are relative to the load, so that the program stays well scaled at small loads.
        found = _solve(costs, self._shared, self._limits() / load, self._balance, self._wanted())
        if found is None:
            return None
        mean = constant_ns + float(costs @ found) / self.offered
        return Flow(mean, self._utilisation(found) * load)

    def most_accepted(self, load: float, of_hosts: Floats, injection: float, ejection: float) -> float:
        """Maximise the mean load that is accepted where each host may get less through than it is offered.

        Every host sends its demands in fixed proportions, as one queue does, but any share of them. Hosts of a router
        with the same demands have one variable together. The links to the hosts of a router take together what they
        can.

        Args:
            load: That is offered.
            of_hosts: (H, R) what each host sends to each router at a load of 1.
            injection: Bandwidth of the link from a host.
            ejection: Bandwidth of the link to a host.

        Returns:
            What all hosts send on average, in the bandwidth of a host's link.
        """
        from scipy import sparse

        step, routers = self.rotation.step, self.topology.num_routers
        demands, sent, router = self._senders(of_hosts)
        rows, columns, values = [], [], []
        for i, destination in enumerate(self.destinations):
            # Conservation rows of a destination: one per router but itself, see _matrices.
            for copy in range(self.rotation.copies):
                source = copy * step + router
                flow = demands[:, (destination - copy * step) % routers]
                used = np.flatnonzero((flow > 0) & (source != destination))
                rows.append(i * (routers - 1) + source[used] - (source[used] > destination))
                columns.append(used)
                values.append(-flow[used])
        senders, flows = len(demands), self._balance.shape[1]
        where = (np.concatenate([np.zeros(0, int), *rows]), np.concatenate([np.zeros(0, int), *columns]))
        shape = (self._balance.shape[0], senders)
        equal = sparse.hstack(
            [self._balance, sparse.csr_array((np.concatenate([np.zeros(0), *values]), where), shape=shape)],
            format="csr",
        )
        received = demands.reshape(senders, -1, step).sum(axis=1).T
        below = sparse.block_diag([self._shared, sparse.csr_array(received)], format="csr")
        limits = np.concatenate([self._limits(), self.topology.hosts_of_routers()[:step] * ejection])
        costs = np.concatenate([np.zeros(flows), -demands.sum(axis=1)])
        upper = np.concatenate([np.full(flows, np.inf), np.minimum(load, injection / sent)])
        found = _solve(costs, below, limits, equal, np.zeros(equal.shape[0]), upper)
        if found is None:
            raise AssertionError("to accept nothing is always possible")
        return float(-costs @ found) * self.rotation.copies / self.topology.num_hosts

    def _senders(self, of_hosts: Floats) -> tuple[Floats, Floats, Ints]:
        """Groups of hosts with the same demands at routers that the rotation maps to each other: what a group sends to
        each router per copy of the rotation, what a host of it sends in all, and the router, of those that come first.
        """
        router = self.topology.router_of_hosts()
        turns = router // self.rotation.step * self.rotation.step
        ahead = (np.arange(self.topology.num_routers) + turns[:, None]) % self.topology.num_routers
        turned = np.take_along_axis(of_hosts, ahead, axis=1)
        keys = np.column_stack([router - turns, np.round(turned / turned.max(), _DIGITS)])
        sends = np.flatnonzero(turned.any(axis=1))
        _, first, count = np.unique(keys[sends], axis=0, return_index=True, return_counts=True)
        representative = turned[sends[first]]
        total = representative * count[:, None] / self.rotation.copies
        return total, representative.sum(axis=1), (router - turns)[sends[first]]

    def _utilisation(self, flows: Floats) -> Floats:
        by_orbit = self._shared @ flows
        used: Floats = by_orbit[self.rotation.orbit] / self.capacity
        return used


def require_scipy() -> None:
    """Raise ``ConfigError`` unless the extra is installed."""
    try:
        import scipy.optimize
        import scipy.sparse  # noqa: F401
    except ImportError as error:
        raise config_error(
            "bounds", None, "needs the extra [bounds], which is not installed (no module 'scipy')"
        ) from error


def _solve(
    costs: Floats,
    below: csr_array,
    limits: Floats,
    equal: csr_array,
    wanted: Floats,
    upper: Floats | None = None,
) -> Floats | None:
    """The minimiser of costs over flows of at least 0; None if there is none. Interior point, or else simplex."""
    from scipy.optimize import linprog

    bounds: Any = (0, None) if upper is None else np.stack([np.zeros(len(upper)), upper], axis=1)
    for method in ("highs-ipm", "highs-ds"):  # programs without a solution may end the first with an error
        found = linprog(costs, A_ub=below, b_ub=limits, A_eq=equal, b_eq=wanted, bounds=bounds, method=method)
        if found.status == 0:
            return np.asarray(found.x, dtype=np.float64)
        if found.status == 2:
            return None
    raise RuntimeError(f"the linear program was not solved: {found.message}")

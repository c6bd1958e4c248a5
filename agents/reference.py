"""``ReferenceLearner``: the learners of the core in NumPy. It receives reports, learns and decides; ``q_routing`` and
``q_adaptive`` have the rules, as ``csrc/routing/q_routing.cpp`` and ``q_adaptive.cpp`` have them.

Each keeps its own tables and decides for the batches of an environment as the core's learner would: the same
``trace_hash()``, and the same tables bit for bit (float32, computed in double precision as in the core). It exists to
be read and changed; the core is ten to a hundred times as fast (most without a routing delay: batches are small).
"""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from dragonfly_env.checks.values import PS_PER_NS
from dragonfly_env.config.network import link_rows
from dragonfly_env.decisions.batch import IntArray
from dragonfly_env.simulation.q_values import as_q_table

if TYPE_CHECKING:
    from dragonfly_env.decisions.batch import DecisionBatch
    from dragonfly_env.decisions.feedback import HopFeedback
    from dragonfly_env.envs.batched import BatchedRoutingEnv
    from dragonfly_env.policy import Policy
    from dragonfly_env.simulation.config import SimulationConfig

FloatArray: TypeAlias = npt.NDArray[np.float64]
BoolArray: TypeAlias = npt.NDArray[np.bool_]

# A received report: when it counts, the value that it is about, and what that should have been.
_REPORT = np.dtype(
    [
        ("time_ps", np.int64),
        ("router", np.int64),
        ("row", np.int64),
        ("port", np.int64),
        ("target", np.float32),
    ]
)


class Wiring:
    """Initial values of a learner. Ports are numbered from the first local one.

    Attributes:
        topology: Topology of the times.
        groups: (m,) the group of every router.
        slots: (H,) the port of its router that every host is connected to.
        peers: (m, A) the router at the other end of every port; -1 where nothing is connected.
        is_global: (A,) bool.
        latency_ps: (A,) of the links alone.
        hop_ps: (A,) from the input buffer of one router to that of the next, without any congestion.
        packet_ps: (A,) one packet on the link.
        local_latency_ps: Latency of the first class of local links.
        global_latency_ps: Latency of global links.
    """

    def __init__(self, config: SimulationConfig) -> None:
        topology = self.topology = config.topology
        self.groups = topology.group_of_routers()
        self.slots = topology.port_of_hosts()
        self.peers = np.full((topology.num_routers, topology.radix - topology.p), -1, dtype=np.int64)
        router, port, peer, _ = topology.links().astype(np.int64).T
        self.peers[router, port - topology.p] = peer
        self.is_global = np.arange(topology.radix - topology.p) >= topology.num_local_ports
        classes = topology.port_classes()[topology.p :] - 1
        rows = link_rows(config.network, topology)
        packet_ps = np.array([row["packet_ps"] for row in rows], dtype=np.int64)
        latency_ps = np.array([row["latency_ps"] for row in rows], dtype=np.int64)
        self.latency_ps: IntArray = latency_ps[classes]
        self.packet_ps: IntArray = packet_ps[classes]
        self.local_latency_ps, self.global_latency_ps = int(latency_ps[0]), int(latency_ps[-1])
        core = config.network.to_core()
        at_routers = (
            core["routing_delay_ps"]
            + core["crossbar_latency_ps"]
            + core["output_latency_ps"]
            + core["input_latency_ps"]
        )
        serialisation = 0 if config.network.switching == "cut-through" else self.packet_ps
        self.hop_ps: IntArray = at_routers + serialisation + self.latency_ps

    @property
    def connected(self) -> npt.NDArray[np.bool_]:
        """(m, A) whether a link is there."""
        return self.peers >= 0

    def time_to_group(self, each_ps: IntArray) -> IntArray:
        """(m, g) the times of the hops from a router into a group, added up; 0 in that group.

        Args:
            each_ps: (A,) of one hop, by port.
        """
        topology, m = self.topology, len(self.groups)
        core = topology.to_core()
        total = np.zeros((m, topology.num_groups), dtype=np.int64)
        for group in range(topology.num_groups):
            for router in range(m):
                at = router
                while self.groups[at] != group:
                    port = core.port_towards_group(at, group) - topology.p
                    total[router, group] += each_ps[port]
                    at = int(self.peers[at, port])
        return total

    def minimal_latency_ps(self) -> IntArray:
        """(m, m) the latencies of the links on the minimal path from one router to another, added up."""
        topology, m = self.topology, len(self.groups)
        port = np.array(
            [[topology.minimal_port(r, d) - topology.p if r != d else 0 for d in range(m)] for r in range(m)]
        )
        peer = np.take_along_axis(self.peers, port, axis=1)
        here = np.eye(m, dtype=np.bool_)
        total = np.zeros((m, m), dtype=np.int64)
        for _ in range(topology.diameter):
            rest = total[peer, np.arange(m)]
            total = np.where(here, 0, self.latency_ps[port] + rest)
        return total


@dataclasses.dataclass(frozen=True, slots=True)
class Visits:
    """N packets, each at a router that has an estimate for it.

    Attributes:
        routers: (N,) where they are.
        rows: (N,) of the router's table.
        minimal: (N,) the action along a shortest path, or the only legal one.
        hops: (N,) links between routers so far.
        by_global: (N,) whether the last one was global.
        leaves: (N,) whether the router is outside the destination group.
        time_ps: (N,) of the decision.
        draws: (N, D) uniform in [0, 1).
        queued: (N, A) packets in the queues of every port; (N, 0) if the learner does not look.
        occupancy: (N, A) the same and credits in use.
    """

    routers: IntArray
    rows: IntArray
    minimal: IntArray
    hops: IntArray
    by_global: BoolArray
    leaves: BoolArray
    time_ps: IntArray
    draws: FloatArray
    queued: FloatArray
    occupancy: FloatArray

    def take(self, which: IntArray) -> Visits:
        """Some of them."""
        return Visits(*(getattr(self, field.name)[which] for field in dataclasses.fields(self)))


class ReferenceLearner(ABC):
    """A learner of the core, in NumPy, for one environment.

    Tables go on from one episode to the next; make another one to start afresh. It takes ``env.feedback()`` for
    itself: what others have collected it cannot learn from.

    Args:
        policy: Its name and parameters.
        env: An environment of one scenario that ``BatchedRoutingEnv.for_policy`` made for the policy.
    """

    def __init__(self, policy: Policy, env: BatchedRoutingEnv) -> None:
        self._policy = policy
        self._given: Any = policy.parameters
        self._env = env
        self._wiring = Wiring(env.config)
        self._table = np.array(self._initial_table(), dtype=np.float32, order="C")
        # The time up to which a router has learnt between the times of a batch, by router.
        self._up_to = np.full(len(self._wiring.groups), -1, dtype=np.int64)
        self._episode = env.episode
        self._reports = np.zeros(0, dtype=_REPORT)
        # Row of each decision and its estimate of the rest of the path, until the report on it has come.
        self._decided: dict[int, tuple[int, float]] = {}

    @property
    def name(self) -> str:
        """The name of the learner."""
        return self._policy.name

    @property
    def scope(self) -> str:
        """``"all"``: learners also receive reports from routers that had no choice."""
        return self._policy.scope

    @property
    def action(self) -> str:
        """``"port"``."""
        return self._policy.action

    @property
    def table(self) -> npt.NDArray[np.float32]:
        """(m, rows, ports) estimates in ns at ``env.time_ns``, as ``Simulation.q_table()``; infinite: the port is
        closed. A read-only view: it changes while the episode goes on.
        """
        if self._episode == self._env.episode > 0:
            self.receive(self._env.feedback())
            self._learn(self._reports["time_ps"] <= _ps(self._env.time_ns))
        view = self._table.view()
        view.flags.writeable = False
        return view

    def load_table(self, values: npt.ArrayLike) -> None:
        """Replace the tables; as ``Simulation.load_q_table``, which documents values and errors."""
        self._table = as_q_table(values, self._table.shape, self._wiring.topology)

    def act(self, batch: DecisionBatch) -> IntArray:
        """Read the reports, then decide; every decision sees the tables as they are at its time.

        Args:
            batch: The N decisions that wait in the environment.

        Returns:
            (N,) actions. Equal values: the lowest port.

        Raises:
            StateError: If too much feedback had piled up in the environment (``max_uncollected_bytes``).

        Source: Kang, Wang, Lan, HPDC 2021, sections 2.3 and 4.
        """
        self._begin_episode()
        self.receive(self._env.feedback())
        actions = batch.minimal_actions()
        if not len(batch):
            return actions
        # No later decision of a router is about anything earlier.
        self._learn(self._reports["time_ps"] <= _ps(batch.time_ns.min()))
        raised = np.flatnonzero(self._estimates(batch))
        visits = self._visits(batch, actions, raised)
        rest = np.zeros(len(raised))
        for now in one_time_per_router(visits.routers, visits.time_ps):
            here = visits.take(now)
            self._learn_up_to(here.routers, here.time_ps)
            actions[raised[now]], rest[now] = self._decide(here)
        self._decided.update(
            zip(
                batch.decision_ids[raised].tolist(),
                zip(visits.rows.tolist(), rest.tolist(), strict=True),
                strict=True,
            )
        )
        return actions

    def receive(self, feedback: HopFeedback) -> None:
        """Take in reports; each is learnt when the clock gets to its ``time_ns``."""
        reports = np.zeros(len(feedback), dtype=_REPORT)
        known = np.zeros(len(feedback), dtype=np.bool_)
        rest = np.zeros(len(feedback))
        for i, following in enumerate(feedback.next_decision_ids.tolist()):
            rest[i] = self._decided.get(following, (0, 0.0))[1]  # nothing is left where no router decided
        for i, decision in enumerate(feedback.decision_ids.tolist()):  # each has one report
            if (decided := self._decided.pop(decision, None)) is not None:
                known[i], reports["row"][i] = True, decided[0]
        reports["time_ps"] = _ps(feedback.time_ns)
        reports["router"] = feedback.agents
        reports["port"] = feedback.ports
        reports["target"] = self._rounded(feedback.travel_ns) + rest
        self._reports = np.concatenate([self._reports, reports[known]])

    # Parts of a learner.

    @abstractmethod
    def _initial_table(self) -> npt.NDArray[np.floating]:
        """(m, rows, ports) estimates before the first packet."""

    @abstractmethod
    def _estimates(self, batch: DecisionBatch) -> BoolArray:
        """(N,) whether the router has a row for the packet."""

    @abstractmethod
    def _rows(self, batch: DecisionBatch) -> IntArray:
        """(N,) row of each packet in its router's table; anything if it has no row."""

    @abstractmethod
    def _decide(self, visits: Visits) -> tuple[IntArray, FloatArray]:
        """(N,) actions, and (N,) what the routers before are told of the rest of the path, in ns."""

    @abstractmethod
    def _updated(self, values: FloatArray, targets: FloatArray) -> FloatArray:
        """(N,) values after a report each."""

    def _rounded(self, ns: FloatArray) -> FloatArray:
        """Times as the learner keeps them."""
        return ns

    def _congestion(self, batch: DecisionBatch) -> tuple[FloatArray, FloatArray]:
        """(N, A) packets in the queues of every port, and (N, A) the same and credits in use, if it looks at them."""
        nothing = np.zeros((len(batch), 0))
        return nothing, nothing

    def _learns(self, time_ps: IntArray) -> BoolArray:
        """(N,) whether it still learns and explores at these times."""
        return np.ones(len(time_ps), dtype=np.bool_)

    # Inside.

    def _begin_episode(self) -> None:
        """Forget the reports of the episode before."""
        if self._episode == self._env.episode:
            return
        self._episode = self._env.episode
        self._reports = self._reports[:0]
        self._decided.clear()

    def _visits(self, batch: DecisionBatch, minimal: IntArray, which: IntArray) -> Visits:
        packets = batch.packets[which]
        routers = batch.agents[which].astype(np.int64)
        topology = self._wiring.topology
        queued, occupancy = self._congestion(batch)
        return Visits(
            routers=routers,
            rows=self._rows(batch)[which],
            minimal=minimal[which],
            hops=packets["hops"].astype(np.int64),
            by_global=packets["input_port"] >= topology.p + topology.num_local_ports,
            leaves=packets["destination_group"] != self._wiring.groups[routers],
            time_ps=_ps(batch.time_ns[which]),
            draws=batch.draws[which],
            queued=queued[which],
            occupancy=occupancy[which],
        )

    def _learn_up_to(self, routers: IntArray, time_ps: IntArray) -> None:
        """Learn what has reached each router up to a time of its own."""
        if not len(self._reports):
            return
        self._up_to[routers] = time_ps
        self._learn(self._reports["time_ps"] <= self._up_to[self._reports["router"]])
        self._up_to[routers] = -1

    def _learn(self, due: BoolArray) -> None:
        """Learn some of the reports, in the order of time."""
        reports = self._reports[due]
        if not len(reports):
            return
        self._reports = self._reports[~due]
        reports = reports[np.argsort(reports["time_ps"], kind="stable")]
        reports = reports[self._learns(reports["time_ps"])]
        cells = np.ravel_multi_index((reports["router"], reports["row"], reports["port"]), self._table.shape)
        values = self._table.reshape(-1)
        while len(cells):  # several reports on one value count one after the other
            first = np.unique(cells, return_index=True)[1]
            old = values[cells[first]].astype(np.float64)
            targets = reports["target"][first].astype(np.float64)
            known = np.isfinite(old) & np.isfinite(targets)  # a closed port stays closed, and tells nothing
            values[cells[first[known]]] = self._updated(old[known], targets[known])
            cells, reports = np.delete(cells, first), np.delete(reports, first)


def one_time_per_router(routers: IntArray, time_ps: IntArray) -> Iterator[IntArray]:
    """Cut decisions into rounds.

    Args:
        routers: (N,) who decides.
        time_ps: (N,) when.

    Yields:
        Decisions: those of the first time of every router, then of the second time of those that have one, and so on.
    """
    order = np.lexsort((time_ps, routers))
    routers, time_ps = routers[order], time_ps[order]
    other_router = np.diff(routers, prepend=-1) != 0
    number = np.cumsum(other_router | (np.diff(time_ps, prepend=-1) != 0))
    first_of_router = np.maximum.accumulate(np.where(other_router, number, 0))
    rank = number - first_of_router
    for k in range(rank.max(initial=-1) + 1):
        yield order[rank == k]


def _ps(ns: Any) -> Any:
    """Whole picoseconds, as the core counts: comparisons are exact."""
    return np.rint(np.multiply(ns, PS_PER_NS)).astype(np.int64)

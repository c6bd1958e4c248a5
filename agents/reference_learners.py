"""The learners of the core in NumPy: ``ReferenceLearner`` receives reports, learns and decides; a subclass per learner
has its rules, as ``csrc/routing/q_routing.cpp`` and ``q_adaptive.cpp`` have them.

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
from dragonfly_env.config.groups import ALL_TO_ALL
from dragonfly_env.config.links import link_rows
from dragonfly_env.decisions.batch import IntArray
from dragonfly_env.simulation.q_values import as_q_table

if TYPE_CHECKING:
    from dragonfly_env.decisions.batch import DecisionBatch
    from dragonfly_env.decisions.feedback import HopFeedback
    from dragonfly_env.envs.batched import BatchedRoutingEnv
    from dragonfly_env.policies import Policy
    from dragonfly_env.simulation.config import SimulationConfig

FloatArray: TypeAlias = npt.NDArray[np.float64]
BoolArray: TypeAlias = npt.NDArray[np.bool_]

_QUEUES = ("queue_packets", "credits_in_use")  # features: together what waits and travels in front of a port

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
        topology: What it describes.
        groups: (m,) the group of every router.
        peers: (m, A) the router at the other end of every port; -1 where nothing is connected.
        is_global: (A,) bool.
        latency_ps: (A,) of the links alone.
        hop_ps: (A,) from the input buffer of one router to that of the next, without any congestion.
        packet_ps: (A,) one packet on the link.
        local_latency_ps: Of the first class of local links, alone.
        global_latency_ps: Of the global ones.
    """

    def __init__(self, config: SimulationConfig) -> None:
        topology = self.topology = config.topology
        self.groups = np.arange(topology.num_routers) // topology.a
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
        # By decision: its row, and what it tells of the rest of the way. Until the report on it has come.
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
            self.hear(self._env.feedback())
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
        self.hear(self._env.feedback())
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

    def hear(self, feedback: HopFeedback) -> None:
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
        """(N,) that row; anything where there is none."""

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


class QRoutingReference(ReferenceLearner):
    """Every router sends a packet where its table expects the shortest time to the destination router, until the
    packet has made ``max_hops`` hops; from then on, and inside the destination group, it goes minimally.

    Source: Boyan and Littman, NIPS 1993; Kang, Wang, Lan, HPDC 2021, section 2.3, equation 1.
    """

    def _initial_table(self) -> npt.NDArray[np.floating]:
        """A row per destination router: the latencies of the links on the shortest path through each port."""
        wiring = self._wiring
        onwards = wiring.minimal_latency_ps()[wiring.peers].transpose(0, 2, 1)
        ns = (wiring.latency_ps + onwards) / PS_PER_NS
        return np.where(wiring.connected[:, None, :], ns, np.inf)

    def _estimates(self, batch: DecisionBatch) -> BoolArray:
        """Unless the packet never leaves its group."""
        packets = batch.packets
        between: BoolArray = self._wiring.groups[packets["source_router"]] != packets["destination_group"]
        return between

    def _rows(self, batch: DecisionBatch) -> IntArray:
        return batch.packets["destination_router"].astype(np.int64)

    def _decide(self, visits: Visits) -> tuple[IntArray, FloatArray]:
        """Every router outside the destination group has a choice, up to a number of hops."""
        values = self._table[visits.routers, visits.rows].astype(np.float64)
        rows, is_open = np.arange(len(values)), np.isfinite(values)
        best = values.argmin(axis=1)
        port = (visits.draws[:, 1] * values.shape[1]).astype(np.int64)
        explores = visits.draws[:, 0] < self._given["epsilon"]
        taken = np.where(is_open[rows, best], best, visits.minimal)
        taken = np.where(explores & is_open[rows, port], port, taken)
        free = visits.leaves & (visits.hops < self._given["max_hops"])
        return np.where(free, taken, visits.minimal), values[rows, best]

    def _updated(self, values: FloatArray, targets: FloatArray) -> FloatArray:
        """Equation 1."""
        updated: FloatArray = values + self._given["alpha"] * (targets - values)
        return updated


class QAdaptiveReference(ReferenceLearner):
    """The source router and the first router of an intermediate group leave the minimal port when their table promises
    a gain above a threshold; a packet makes at most five hops, on five VCs.

    A router's table has a row per destination group and slot of the source host on its router, (g-1) * p rows, and a
    column per port between routers; a value is the time in ns that a packet is expected to need to the destination
    group. The next router reports the travel time plus its own best value; the report travels back with the credit.
    Good news count with ``alpha``, bad news with ``beta`` (hysteretic Q-learning).

    The parameters of ``q-adaptive-queue`` and ``q-adaptive-fast`` differ in their defaults alone (docs/learning.md).

    Source: Kang, Wang, Lan, HPDC 2021, section 4, figure 4, equations 2 and 3.
    """

    def _initial_table(self) -> npt.NDArray[np.floating]:
        """A row per other group and slot, per other group, or per router. A router's own group has no rows, but
        where rows are routers zeros.
        """
        by_group = self._initial_by_group()
        m, g, ports = by_group.shape
        if self._given["rows"] == "router":
            return by_group[:, self._wiring.groups]
        if g == 1:
            return np.full((m, 1, ports), np.inf)
        others = np.array([np.delete(np.arange(g), own) for own in range(g)])
        rows = by_group[np.arange(m)[:, None], others[self._wiring.groups]]
        return np.repeat(rows, self._slots, axis=1)

    def _initial_by_group(self) -> FloatArray:
        """(m, g, ports) where estimates start, in ns."""
        wiring, m = self._wiring, len(self._wiring.groups)
        peers, groups = wiring.peers[:, None, :], np.arange(wiring.topology.num_groups)[None, :, None]
        if self._given["initial_values"] == "latency" and wiring.topology.group == ALL_TO_ALL:  # as published
            direct = wiring.is_global & (wiring.groups[peers] == groups)
            ps = wiring.global_latency_ps + np.where(direct, 0, wiring.local_latency_ps)
        else:  # through the port, and on from the router behind it
            each = wiring.latency_ps if self._given["initial_values"] == "latency" else wiring.hop_ps
            ps = each + wiring.time_to_group(each)[peers, groups]
        ns = self._rounded(ps / PS_PER_NS)
        ns = np.where(groups == wiring.groups[:, None, None], 0.0, ns)
        return np.broadcast_to(np.where(peers >= 0, ns, np.inf), (m, groups.size, peers.shape[2]))

    @property
    def _looks_at_queues(self) -> bool:
        return self._given["exploration"] != "uniform" or self._sees_queues

    @property
    def _sees_queues(self) -> bool:
        return bool(self._given["queue_weight"] > 0 or self._given["occupancy_weight"] > 0)

    @property
    def _slots(self) -> int:
        """Rows per destination group: by the source host's place on its router."""
        return self._wiring.topology.p if self._given["rows"] == "group-slot" else 1

    def _estimates(self, batch: DecisionBatch) -> BoolArray:
        """Outside the destination group; there, a value is the time to get to it."""
        own = self._wiring.groups[batch.agents]
        leaves: BoolArray = batch.packets["destination_group"] != own
        return leaves

    def _rows(self, batch: DecisionBatch) -> IntArray:
        packets, slots = batch.packets, self._slots
        if self._given["rows"] == "router":
            return packets["destination_router"].astype(np.int64)
        group, own = packets["destination_group"].astype(np.int64), self._wiring.groups[batch.agents]
        rows: IntArray = (group - (group > own)) * slots + packets["source_host"] % slots
        return rows

    def _decide(self, visits: Visits) -> tuple[IntArray, FloatArray]:
        """The source router and the first router of an intermediate group have a choice."""
        values = self._table[visits.routers, visits.rows].astype(np.float64)
        best = values.argmin(axis=1)
        promised = values  # what waits in front of a port now is no news for others
        if self._sees_queues:
            waiting = (
                self._given["queue_weight"] * visits.queued
                + self._given["occupancy_weight"] * visits.occupancy
            )
            promised = values + self._wiring.packet_ps / PS_PER_NS * waiting
        locals_ = self._wiring.topology.num_local_ports
        first = locals_ if self._given["source_ports"] == "global" else 0
        others = first + promised[:, first:].argmin(axis=1)
        any_local = (visits.draws[:, 2] * locals_).astype(np.int64)
        at_source = visits.hops == 0
        between = (visits.hops == 1) & visits.by_global & (visits.minimal < locals_)
        taken = visits.minimal
        taken = np.where(at_source, self._choose(visits, promised, others, self._given["q_thld1"]), taken)
        taken = np.where(between, self._choose(visits, promised, any_local, self._given["q_thld2"]), taken)
        reported = taken if self._given["next_value"] == "taken" else best
        return taken, values[np.arange(len(taken)), reported]

    def _choose(self, visits: Visits, values: FloatArray, other: IntArray, threshold: float) -> IntArray:
        """The minimal port or another one by equation 2, or a random port."""
        rows = np.arange(len(values))
        q_minimal, q_other = values[rows, visits.minimal], values[rows, other]
        with np.errstate(divide="ignore", invalid="ignore"):
            stays = (q_minimal - q_other) / q_minimal < threshold
        is_open = np.isfinite(values)
        greedy = np.where(stays | ~is_open[rows, other], visits.minimal, other)
        port = self._unknown_port(visits, is_open)
        explores = (visits.draws[:, 0] < self._given["epsilon"]) & self._learns(visits.time_ps)
        return np.where(explores & is_open[rows, port], port, greedy)

    def _unknown_port(self, visits: Visits, is_open: BoolArray) -> IntArray:
        """The drawn port, or from there on round the router the first open one with the fewest packets."""
        ports = is_open.shape[1]
        drawn: IntArray = (visits.draws[:, 1] * ports).astype(np.int64)
        if self._given["exploration"] == "uniform":
            return drawn
        round_the_router = (drawn[:, None] + np.arange(ports)) % ports
        packets = np.where(is_open, visits.occupancy, np.inf)
        first = np.take_along_axis(packets, round_the_router, axis=1).argmin(axis=1)
        return np.asarray((drawn + first) % ports, dtype=np.int64)

    def _updated(self, values: FloatArray, targets: FloatArray) -> FloatArray:
        """Equation 3: good news count alpha, bad news beta."""
        delta = targets - values
        return self._rounded(values + np.where(delta < 0, self._given["alpha"], self._given["beta"]) * delta)

    def _rounded(self, ns: FloatArray) -> FloatArray:
        return np.trunc(ns) if self._given["integer_values"] else ns

    def _congestion(self, batch: DecisionBatch) -> tuple[FloatArray, FloatArray]:
        if not self._looks_at_queues:
            return super()._congestion(batch)
        queued, in_use = (batch.layout.counts(batch.obs, name).astype(np.float64) for name in _QUEUES)
        return queued, queued + in_use

    def _learns(self, time_ps: IntArray) -> BoolArray:
        until = self._given["learn_until_ns"]
        return (time_ps < int(until * PS_PER_NS)) | (int(until * PS_PER_NS) == 0)


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

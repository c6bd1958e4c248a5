"""Q-adaptive in NumPy: the core's ``q-adaptive``, rule by rule."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from dragonfly_env.agents.reference import BoolArray, FloatArray, ReferenceLearner, Visits
from dragonfly_env.checks.values import PS_PER_NS
from dragonfly_env.config.groups import ALL_TO_ALL
from dragonfly_env.decisions.batch import IntArray

if TYPE_CHECKING:
    from dragonfly_env.decisions.batch import DecisionBatch

_QUEUES = ("queue_packets", "credits_in_use")  # features: together what waits and travels in front of a port


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
        others = np.array([np.delete(np.arange(g), source) for source in range(g)])
        rows = by_group[np.arange(m)[:, None], others[self._wiring.groups]]
        return np.repeat(rows, self._slots, axis=1)

    def _initial_by_group(self) -> FloatArray:
        """(m, g, ports) where estimates start, in ns."""
        wiring, m = self._wiring, len(self._wiring.groups)
        peers, groups = wiring.peers[:, None, :], np.arange(wiring.topology.num_groups)[None, :, None]
        if (
            self._given["initial_values"] == "latency" and wiring.topology.group == ALL_TO_ALL
        ):  # the published rule
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
        group_of_router = self._wiring.groups[batch.agents]
        leaves: BoolArray = batch.packets["destination_group"] != group_of_router
        return leaves

    def _rows(self, batch: DecisionBatch) -> IntArray:
        packets, slots = batch.packets, self._slots
        if self._given["rows"] == "router":
            return packets["destination_router"].astype(np.int64)
        group, group_of_router = (
            packets["destination_group"].astype(np.int64),
            self._wiring.groups[batch.agents],
        )
        rows: IntArray = (group - (group > group_of_router)) * slots
        if slots > 1:
            rows += self._wiring.slots[packets["source_host"]]
        return rows

    def _decide(self, visits: Visits) -> tuple[IntArray, FloatArray]:
        """The source router and the first router of an intermediate group have a choice."""
        values = self._table[visits.routers, visits.rows].astype(np.float64)
        best = values.argmin(axis=1)
        promised = values  # the report leaves out the packets that wait in front of a port now
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

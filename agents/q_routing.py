"""Q-routing in NumPy: the core's ``q-routing``, rule by rule."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from dragonfly_env.agents.reference import BoolArray, FloatArray, ReferenceLearner, Visits
from dragonfly_env.checks.values import PS_PER_NS
from dragonfly_env.decisions.batch import IntArray

if TYPE_CHECKING:
    from dragonfly_env.decisions.batch import DecisionBatch


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
        """Every router estimates, unless the packet never leaves its group."""
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

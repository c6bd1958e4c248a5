"""Counters of network interfaces: one row per host."""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from dragonfly_env.checks.values import PS_PER_NS
from dragonfly_env.metrics.tables import Table

if TYPE_CHECKING:
    from dragonfly_env.config.topology import Dragonfly

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class HostTable(Table):
    """Counters of hosts, one row each. Arrays are read-only.

    ``sent``: packets that left its source queue. Of its packets that were delivered (to any host): ``delivered``,
    ``latency_mean_ns`` (from generation, so the wait in the source queue counts) and ``network_latency_mean_ns`` (from
    leaving the source queue: what a network interface sees of its requests; their responses would add the quiet path
    back, which does not depend on how requests are routed). These are 0 and NaN unless
    ``SimulationConfig.host_latency`` is set.

    Example:
        >>> config = dfe.SimulationConfig(topology="72", host_latency=True)
        >>> hosts = dfe.simulate(config, measure_ns=5_000).hosts
        >>> len(hosts), hosts.latency_mean_ns.shape
        (72, (72,))
    """

    host: IntArray
    """(n,) the number of each host."""
    router: IntArray
    """(n,) its router."""
    sent: IntArray
    delivered: IntArray
    latency_mean_ns: FloatArray
    network_latency_mean_ns: FloatArray

    @classmethod
    def build(
        cls,
        topology: Dragonfly,
        *,
        sent: IntArray,
        delivered: IntArray | None,
        latency_sum_ps: IntArray | None,
        network_latency_sum_ps: IntArray | None,
    ) -> HostTable:
        """The table from (num_hosts,) counters; None: not counted."""
        hosts = np.arange(topology.num_hosts, dtype=np.int64)
        none = np.zeros(len(hosts), np.int64)
        known = none if delivered is None else delivered
        return cls(
            host=hosts,
            router=topology.router_of_hosts(),
            sent=sent,
            delivered=known,
            latency_mean_ns=mean_ns(latency_sum_ps, known),
            network_latency_mean_ns=mean_ns(network_latency_sum_ps, known),
        ).sealed()


def mean_ns(sum_ps: IntArray | None, count: IntArray) -> FloatArray:
    """Means of sums, NaN where nothing was counted."""
    if sum_ps is None:
        return np.full(len(count), math.nan)
    means: FloatArray = np.divide(
        sum_ps, count * PS_PER_NS, out=np.full(len(count), math.nan), where=count > 0
    )
    return means

"""The wiring of a topology and the times of its links as arrays, for tables that start with them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from dragonfly_env.config import SimulationConfig
    from dragonfly_env.network_config import NetworkConfig


class HopTimes(NamedTuple):
    """What one hop takes."""

    latency_ps: int
    """Of the link alone."""
    hop_ps: int
    """From the input buffer of one router to that of the next, without any congestion."""
    packet_ps: int
    """One packet on the link."""


class Wiring:
    """What a learner knows before the first packet. Ports are numbered from the first local one.

    Attributes:
        topology: What it describes.
        groups: (m,) the group of every router.
        peers: (m, A) the router at the other end of every port; -1 where nothing is connected.
        is_global: (A,) bool.
        local: What a hop over a local link takes.
        far: What one over a global link takes.
    """

    def __init__(self, config: SimulationConfig) -> None:
        topology = self.topology = config.topology
        self.groups = np.arange(topology.num_routers) // topology.a
        self.peers = np.full((topology.num_routers, topology.radix - topology.p), -1, dtype=np.int64)
        router, port, peer, _ = topology.links().astype(np.int64).T
        self.peers[router, port - topology.p] = peer
        self.is_global = np.arange(topology.radix - topology.p) >= topology.a - 1
        network = config.network.to_core()
        self.local = _hop_times(config.network, network.latency_ps_local, network.packet_ps_local)
        self.far = _hop_times(config.network, network.latency_ps_global, network.packet_ps_global)

    @property
    def latency_ps(self) -> npt.NDArray[np.int64]:
        """(A,) of the links alone."""
        return np.where(self.is_global, self.far.latency_ps, self.local.latency_ps)

    @property
    def packet_ps(self) -> npt.NDArray[np.int64]:
        """(A,) one packet on the link."""
        return np.where(self.is_global, self.far.packet_ps, self.local.packet_ps)

    @property
    def connected(self) -> npt.NDArray[np.bool_]:
        """(m, A) whether a link is there."""
        return self.peers >= 0

    def owns_link_to_group(self) -> npt.NDArray[np.bool_]:
        """(m, g) whether a router has a global link to a group."""
        owns = np.zeros((len(self.groups), self.topology.num_groups), dtype=np.bool_)
        router, port = np.nonzero(self.connected & self.is_global)
        owns[router, self.groups[self.peers[router, port]]] = True
        return owns

    def minimal_latency_ps(self) -> npt.NDArray[np.int64]:
        """(m, m) the latencies of the links on the minimal path from one router to another, added up."""
        topology, m = self.topology, len(self.groups)
        port = np.array(
            [[topology.minimal_port(r, d) - topology.p if r != d else 0 for d in range(m)] for r in range(m)]
        )
        peer = np.take_along_axis(self.peers, port, axis=1)
        here = np.eye(m, dtype=np.bool_)
        total = np.zeros((m, m), dtype=np.int64)
        for _ in range(3):  # a minimal path has at most three hops
            rest = total[peer, np.arange(m)]
            total = np.where(here, 0, self.latency_ps[port] + rest)
        return total


def _hop_times(network: NetworkConfig, latency_ps: int, packet_ps: int) -> HopTimes:
    core = network.to_core()
    at_routers = (
        core.routing_delay_ps + core.crossbar_latency_ps + core.output_latency_ps + core.input_latency_ps
    )
    serialisation = 0 if network.switching == "cut-through" else packet_ps
    return HopTimes(latency_ps, at_routers + serialisation + latency_ps, packet_ps)

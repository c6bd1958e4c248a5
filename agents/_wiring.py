"""The wiring of a topology and the times of its links as arrays, for tables that start with them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from dragonfly_env.config.links import link_rows

if TYPE_CHECKING:
    from dragonfly_env.config.simulation import SimulationConfig

IntArray = npt.NDArray[np.int64]


class Wiring:
    """What a learner knows before the first packet. Ports are numbered from the first local one.

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
        packet_ps, latency_ps = np.array(link_rows(config.network, topology), dtype=np.int64)[:, :2].T
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
        """(m, g) the times of the hops on the way from a router into a group, added up; 0 in that group.

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

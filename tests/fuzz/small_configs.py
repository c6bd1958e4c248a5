"""Configurations that take a moment to simulate, of every form of traffic."""

from __future__ import annotations

from typing import Any

import numpy as np

from dragonfly_env import SimulationConfig
from dragonfly_env.config.topology import Dragonfly
from dragonfly_env.simulation import Simulation
from dragonfly_env.traffic import HostMixture, Schedule, Trace, WeightedMixture

_TOPOLOGY = Dragonfly(2, 4, 2, g=5)
_MOST_HOSTS = 500
_MOST_PACKETS = 200_000

SMALL_CONFIGS: tuple[SimulationConfig, ...] = (
    SimulationConfig(
        topology=_TOPOLOGY, policy="ugal-n", network="lia", injection="bernoulli", series_bin_ns=10
    ),
    SimulationConfig(
        topology=_TOPOLOGY, policy={"name": "q-adaptive", "alpha": 0.5}, traffic="hotspot:hosts=3"
    ),
    SimulationConfig(topology=_TOPOLOGY, traffic=Schedule(((0.0, "uniform", 0.3), (100.5, "adv+1", 0.6)))),
    SimulationConfig(
        topology=_TOPOLOGY,
        traffic=HostMixture(
            ((range(20), "uniform"), (range(20, 30), WeightedMixture(((1, "advc"), (2, "tornado")))))
        ),
    ),
    SimulationConfig(topology=_TOPOLOGY, traffic=np.eye(5)[::-1], source_queue_packets=7),
    SimulationConfig(
        topology=_TOPOLOGY,
        traffic=Trace.from_columns(
            time_ns=[0, 1.5], src=[0, 1], dst=[5, 6], bytes=[100, 300], routers=["0 2", ""]
        ),
    ),
)

SMALL_SCENARIO: dict[str, Any] = {
    "name": "small",
    "loads": [0.2, "0.3:0.5:0.1"],
    "seeds": [1, 2],
    "warmup_ns": 100.0,
    "measure_ns": 200.0,
    "threads": 1,
    "injection": "poisson",
    "source_queue_packets": 3,
    "policies": ["min", "ugal-n:bias_packets=2", {"name": "q-routing", "max_hops": 3}],
    "traffic": [
        "adv+1",
        {"pattern": "hotspot", "hosts": 4, "loads": [0.1]},
        {"schedule": [[0.0, "uniform", 0.4], [1000.0, "adv+1", 0.4]], "label": "switch"},
    ],
    "topology": {"p": 2, "a": 4, "h": 2},
    "network": {"preset": "q-adaptive", "router_clock_ns": 1.6},
}


def buffered_packets(config: SimulationConfig) -> int:
    """How many packets the buffers of the routers hold, about."""
    network, topology = config.network, config.topology
    buffered = max(
        network.host_buffer_packets,
        network.local_buffer_packets,
        network.global_buffer_packets,
        network.output_buffer_packets,
    )
    return topology.num_routers * topology.radix * max(network.local_vcs, network.global_vcs, 6) * buffered


def simulate_if_small(config: SimulationConfig) -> None:
    """Run a configuration for a moment if a moment is what it takes."""
    large = config.topology.num_hosts > _MOST_HOSTS or buffered_packets(config) > _MOST_PACKETS
    if large or config.message_packets > 100:
        return
    simulation = Simulation(config.replace(threads=min(config.threads, 2)))
    simulation.run(300)
    simulation.metrics()
    simulation.check_invariants()

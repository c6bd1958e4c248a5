"""No run on random small systems accepts more than its bound, or is faster than its floor."""

from __future__ import annotations

import math

import numpy as np
import pytest

import dragonfly_env as dfe
from dragonfly_env.bounds import Bounds
from dragonfly_env.traffic import DemandMatrix

pytest.importorskip("scipy", reason="needs the extra [bounds]")

SYSTEMS, SHARES = 300, 10
WARMUP_NS, MEASURE_NS = 10_000.0, 30_000.0


def topology_of(draw: np.random.Generator) -> dfe.Dragonfly:
    a, h = int(draw.integers(1, 5)), int(draw.integers(1, 3))
    g = int(draw.integers(2, min(6, a * h + 1) + 1))
    return dfe.Dragonfly(p=int(draw.integers(1, 5)), a=a, h=h, g=g)


def network_of(draw: np.random.Generator) -> dfe.NetworkConfig:
    """Clocks from much shorter to much longer than the time of a packet, which is 32 ns at 4 GB/s."""
    kinds = ("host", "local", "global")
    rates = {f"{kind}_bandwidth_gbytes_per_s": float(draw.choice([2.0, 4.0, 5.3, 8.0])) for kind in kinds}
    buffers = {f"{kind}_buffer_packets": 200 for kind in kinds}
    return dfe.NetworkConfig(
        **rates,
        **buffers,
        local_latency_ns=float(draw.integers(1, 50)),
        global_latency_ns=float(draw.integers(10, 300)),
        router_clock_ns=float(draw.choice([0.8, 3.2, 10.0, 32.0, 40.0, 64.0, 100.0])),
        routing_delay_ns=float(draw.choice([0.0, 10.0, 100.0])),
        link_start=str(draw.choice(["timer", "timer", "immediate"])),
        decide_at=str(draw.choice(["arrival", "head"])),
    )


def demands_of(draw: np.random.Generator, hosts: int) -> np.ndarray:
    """A destination per host, or several; some hosts are silent."""
    if draw.random() < 0.7:
        matrix = np.zeros((hosts, hosts))
        receivers = draw.permutation(hosts) if draw.random() < 0.5 else draw.integers(0, hosts, hosts)
        matrix[np.arange(hosts), receivers] = draw.choice([0.0, 0.5, 1.0], hosts, p=[0.2, 0.3, 0.5])
    else:
        matrix = draw.random((hosts, hosts)) * (draw.random((hosts, hosts)) < 0.5)
    matrix[0, -1] = 1.0
    return matrix


@pytest.mark.parametrize(
    "share", [pytest.param(share, marks=[pytest.mark.slow] if share else []) for share in range(SHARES)]
)
def test_no_run_passes_a_bound(share: int) -> None:
    for system in range(share, SYSTEMS, SHARES):
        draw = np.random.default_rng(system)
        topology, network = topology_of(draw), network_of(draw)
        matrix = demands_of(draw, topology.num_hosts)
        bounds = Bounds(topology, DemandMatrix(matrix), network=network)
        load = float(draw.choice([0.05, 0.3, 0.7, 1.0]))
        config = dfe.SimulationConfig(
            topology=topology,
            network=network,
            traffic=DemandMatrix(matrix),
            load=load,
            policy=str(draw.choice(["min", "ugal-n", "par"] if topology.num_groups > 2 else ["min"])),
            injection=str(draw.choice(["periodic", "poisson"])),
            source_queue_packets=50,
            seed=system,
        )
        metrics = dfe.simulate(config, warmup_ns=WARMUP_NS, measure_ns=MEASURE_NS)
        # Windows cut packets; where destinations or times are drawn, so is what fits.
        few = 2 * network.packet_time_ns / MEASURE_NS
        drawn = config.injection == "poisson" or bool((np.count_nonzero(matrix, axis=1) > 1).any())
        noise = 4 / math.sqrt(max(1, metrics.packets_delivered)) if drawn else 0.0
        assert metrics.accepted_load <= bounds.most_accepted(load) * (1 + noise) + few, system
        for beyond in (1.001, 1.1, 1.5, 3.0):
            assert bounds.latency_floor_ns(beyond * bounds.most_load) == math.inf, system
        floor = bounds.latency_floor_ns(load)
        if math.isfinite(floor) and metrics.packets_delivered:
            assert metrics.latency_mean_ns >= floor * (1 - noise / 2), system

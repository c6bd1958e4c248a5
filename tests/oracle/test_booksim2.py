"""Minimal routing on a machine with dead global links, next to the figures of BookSim2 (commit 28f4329).

BookSim2's ``anynet`` of the same links: local links of 10 cycles and global links of 100, which are the weights of its
shortest paths, flits of one cycle, one flit per packet, 8 VCs of 512 flits, a router pipeline of one cycle per hop and
3 per packet, ``internal_speedup = 4``, ``traffic = uniform``; four samples of 10,000 cycles, the first a warm-up. A
cycle is 1 ns here. BookSim2 takes one of the equally short paths by a third group where packets here draw, for 2 of 36
pairs of groups.
"""

from __future__ import annotations

import pytest

import dragonfly_env as dfe

NETWORK = dfe.NetworkConfig(
    host_bandwidth_gbytes_per_s=128,
    local_bandwidth_gbytes_per_s=128,
    global_bandwidth_gbytes_per_s=128,
    injection_latency_ns=1.0,
    ejection_latency_ns=0.99,
    local_latency_ns=9.99,
    global_latency_ns=99.99,
    input_latency_ns=0.0,
    output_latency_ns=0.0,
    crossbar_bandwidth_gbytes_per_s=12_800,
    router_clock_ns=0.01,
    routing_delay_ns=0.0,
    host_buffer_packets=512,
    local_buffer_packets=512,
    global_buffer_packets=512,
    output_buffer_packets=512,
    link_start="immediate",
)
"""A packet takes 1 ns, a router 0.01 ns: 11 ns per local hop, 101 ns per global hop, 4 ns the rest."""

DEAD = "global_links=0.05"
FIGURES = {
    (None, 0.1): 109.49,
    (None, 0.5): 110.59,
    (None, 0.7): 111.99,
    (DEAD, 0.1): 114.54,
    (DEAD, 0.3): 114.99,
    (DEAD, 0.5): 115.79,
    (DEAD, 0.7): 117.67,
}
"""Failures and load; mean latency from generation on, in cycles. The damaged machine saturates at 0.87."""


@pytest.mark.parametrize(("failed", "load"), FIGURES)
def test_mean_latencies_are_those_of_booksim2(failed: str | None, load: float) -> None:
    config = dfe.SimulationConfig(
        topology=dfe.Dragonfly.preset("72", failed=failed),
        network=NETWORK,
        policy="min",
        traffic="uniform",
        load=load,
        injection="bernoulli",
    )
    result = dfe.simulate(config, warmup_ns=3_000, measure_ns=20_000)
    assert result.latency_mean_ns == pytest.approx(FIGURES[failed, load], rel=0.003)

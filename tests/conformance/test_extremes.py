"""Settings at the edge of their ranges: counters do not wrap, and delays add up exactly however long they are."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

import dragonfly_env as dfe
from dragonfly_env.traffic import Trace

SMALL = dfe.Dragonfly.preset("72")


def test_a_port_may_queue_more_than_65535_packets() -> None:
    """Two VCs share the port to the group's other router, and both queues grow to 60,000 packets."""
    network = dfe.NetworkConfig.preset("q-adaptive", output_buffer_packets=60_000)
    config = dfe.SimulationConfig(topology=dfe.Dragonfly(16, 2, 2), network=network, load=1.0)
    simulation = dfe.Simulation(config)
    simulation.run(1_000_000)
    simulation.check_invariants()
    m = simulation.metrics()
    assert m.packets_in_network / config.topology.num_routers > 2**16


def test_packets_may_wait_for_longer_than_a_32_bit_clock_counts() -> None:
    """Everybody sends to one host, whose link needs 100 us for a packet: the last in the queue wait for 6 s."""
    # Decided once: by default a blocked head decides again at every clock, some billions of times here.
    network = dfe.NetworkConfig.preset(
        "lia", host_bandwidth_gbytes_per_s=0.0025, output_buffer_packets=60_000, decide_at="head"
    )
    config = dfe.SimulationConfig(
        topology=SMALL, network=network, traffic="hotspot:hosts=1,fraction=1", load=1.0, watchdog_ns=2e6
    )
    simulation = dfe.Simulation(config)
    for _ in range(5):
        simulation.run(1e9)
        simulation.check_invariants()
    m = simulation.metrics()
    assert m.latency_max_ns > 4e9
    packet_times = 5e9 / network.packet_time_ns
    assert m.packets_delivered == pytest.approx(packet_times, abs=3)


# Number of times that a packet meets each delay on a path of h hops, one of them global.
TIMES_MET: dict[str, Callable[[int], int]] = {
    "injection_latency_ns": lambda hops: 1,
    "ejection_latency_ns": lambda hops: 1,
    "global_latency_ns": lambda hops: 1,
    "local_latency_ns": lambda hops: hops - 1,
    "input_latency_ns": lambda hops: hops + 1,
    "output_latency_ns": lambda hops: hops + 1,
    "crossbar_latency_ns": lambda hops: hops + 1,
    "routing_delay_ns": lambda hops: hops + 1,
}


def alone(network: dfe.NetworkConfig, destination: int) -> dfe.Metrics:
    """Send a packet through an empty network."""
    trace = Trace.from_columns(time_ns=[0], src=[0], dst=[destination], bytes=[1])
    config = dfe.SimulationConfig(topology=SMALL, network=network, traffic=trace, watchdog_ns=1e9)
    simulation = dfe.Simulation(config)
    simulation.run(3e6)
    m = simulation.metrics()
    assert m.packets_delivered == 1
    return m


@given(
    st.sampled_from(list(TIMES_MET)),
    st.sampled_from([1, 2, 63, 64, 65, 1_000, 4_097, 30_011, 99_999]),
    st.sampled_from(range(8, 72)),
    st.sampled_from(["timer", "immediate"]),
    st.sampled_from(["arrival", "head"]),
)
def test_a_longer_delay_comes_on_top_exactly_as_often_as_it_is_met(
    field: str, longer_ns: int, destination: int, link_start: str, decide_at: str
) -> None:
    # Whole nanoseconds and a clock of one: no phase of a clock is in between.
    network = dfe.NetworkConfig.preset(
        "q-adaptive",
        router_clock_ns=1,
        crossbar_bandwidth_gbytes_per_s=32,
        link_start=link_start,
        decide_at=decide_at,
    )
    before = alone(network, destination)
    after = alone(network.replace(**{field: getattr(network, field) + longer_ns}), destination)
    assert after.hops_sum == before.hops_sum
    met = TIMES_MET[field](before.hops_sum)
    assert after.latency_mean_ns - before.latency_mean_ns == met * longer_ns

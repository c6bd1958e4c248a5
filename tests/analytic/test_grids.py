"""Grids: lone packets and saturation, by hand.

Network ``q-adaptive``, 128 bytes at 4 GB/s a link. From edge to input (see test_zero_load_latency.py) a link takes its
packet time on the timer, 10 out, its latency and 10 in: rank 1 32 + 50 = 82 ns; rank 2, three links in one,
10.67 + 50 = 60.67; rank 3, two links in one, 16 + 320 = 336. The next edges of the 3.2-ns clock are 83.2, 60.8 and,
since 336 is an edge itself, 339.2 after the first. That is what a hop costs. The rest is as on any other network: 52
to the first buffer, up to 3.2 to the next edge, 52 from the last edge to the host.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import dragonfly_env as dfe
from dragonfly_env.traffic import Trace
from tests.analytic.grid_flows import uniform_flows
from tests.routes import routes_of

SMALL = dfe.Dragonfly.preset("theta-m8")
HOP_PS = {"rank-1": 83_200, "rank-2": 60_800, "rank-3": 339_200}


def test_a_lone_packet_takes_the_time_of_every_class_of_link() -> None:
    """Send one packet at a time, 3 us apart: from host 0 to one host of every router of the first three groups."""
    network = dfe.NetworkConfig.preset("q-adaptive")
    hosts = [router * 2 for router in range(1, 72)]
    times = [3_000.0 * i + 1.0 for i in range(len(hosts))]
    trace = Trace.from_columns(time_ns=times, src=[0] * len(hosts), dst=hosts, bytes=[128] * len(hosts))
    config = dfe.SimulationConfig(
        topology=SMALL,
        network=network,
        traffic=trace,
        injection="trace",
        packet_log=True,
    )
    simulation = dfe.Simulation(config)
    simulation.run(3_000.0 * len(hosts))
    log = simulation.packet_log()
    assert len(log["src"]) == len(hosts)
    kinds = {(router, peer): SMALL.port_kind(port) for router, port, peer, _ in SMALL.links().tolist()}
    for created, delivered, route in zip(log["created_ns"], log["delivered_ns"], routes_of(log), strict=True):
        hops = [kinds[step] for step in itertools.pairwise(route)]
        # The time of generation within the clock's period shifts the first edge; whole periods are the same.
        latency_ps = round((delivered - created) * 1000)
        lone = 52_000 - (round(created * 1000) + 52_000) % 3_200 + 3_200 + 52_000
        assert latency_ps == lone + sum(HOP_PS[kind] for kind in hops), (route, hops)


@pytest.mark.parametrize("traffic", ["adv+1", "adv-3"])
def test_min_under_adv_carries_three_bundles_per_group(traffic: str) -> None:
    """48 hosts of a group share 3 bundles of 2 links: 6 packets per packet time, x = 6 / 48 = 0.125."""
    load = _accepted(0.2, traffic)
    assert load == pytest.approx(6 / 48, rel=0.03)


def test_min_under_uniform_fills_every_link_as_counted_until_the_busiest_is_full() -> None:
    """Counted over all pairs: the flow on every link if every host sends one packet per packet time. Hosts are four
    times as fast as links here: else nothing would ever be full (the bound were 1.45 of their load).
    """
    flows = uniform_flows(SMALL)
    bound = 1.0 / (4.0 * max(flows.values()))
    assert 0.3 < bound < 0.4
    m = _run(0.97 * bound, "uniform", fast_hosts=True)
    assert m.accepted_load == pytest.approx(0.97 * bound, rel=0.03)
    sent = m.ports.of(direction="out")
    ends = list(zip(sent.router.tolist(), sent.port.tolist(), strict=True))
    counted = np.array([flows[end] for end in ends if end in flows])
    between = np.array([end in flows for end in ends])
    assert sent.kind[~between].tolist() == ["host"] * SMALL.num_hosts
    used = sent.utilisation[between]
    assert used == pytest.approx(0.97 * bound * 4.0 * counted, abs=0.1)
    assert used.mean() == pytest.approx(0.97 * bound * 4.0 * counted.mean(), rel=0.01)
    full = _run(1.15 * bound, "uniform", fast_hosts=True)
    assert full.accepted_load < 0.98 * 1.15 * bound
    assert full.ports.utilisation.max() > 0.97


def _accepted(load: float, traffic: str) -> float:
    return _run(load, traffic).accepted_load


def _run(load: float, traffic: str, *, fast_hosts: bool = False) -> dfe.Metrics:
    fast = {"host_bandwidth_gbytes_per_s": 16.0, "host_buffer_packets": 128} if fast_hosts else {}
    network = dfe.NetworkConfig.preset(
        "q-adaptive",
        local_buffer_packets=128,
        global_buffer_packets=128,
        output_buffer_packets=128,
        periodic_intervals="exact",
        **fast,
    )
    config = dfe.SimulationConfig(
        topology=SMALL, network=network, traffic=traffic, load=load, policy="min", source_queue_packets=20
    )
    return dfe.simulate(config, warmup_ns=20_000, measure_ns=40_000)

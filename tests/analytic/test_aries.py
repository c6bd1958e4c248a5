"""``NetworkConfig.preset("aries")`` on grids: lone packets and saturation, by hand.

A packet's head takes 75 ns through a router: 44 until it is routed, at most one more to an edge of the 1-ns clock (one
that is ready on an edge waits for the next), 30 through the crossbar. Wires take 5 (rank 1), 15 (rank 2) and 80 ns
(rank 3), those from and to hosts 1 and 0; the host waits for the tail, 84 bytes at 13.44 GB/s: 6.25 ns.

A port sends a packet in 84 / 5.25 = 16 ns (rank 1), 5.33 (three links of rank 2) and 84 / 9.38 = 8.96 (two of rank 3).
"""

from __future__ import annotations

import itertools

import pytest

import dragonfly_env as dfe
from dragonfly_env.traffic import Trace
from tests.analytic.grid_flows import uniform_flows
from tests.routes import routes_of

SMALL = dfe.Dragonfly.preset("theta-m8")
WIRE_NS = {"rank-1": 5, "rank-2": 15, "rank-3": 80}
PORT_NS = {"rank-1": 16.0, "rank-2": 5.33, "rank-3": 8.96}
HOST_NS = 6.25


def test_a_lone_packet_takes_75_ns_per_router_and_the_wires() -> None:
    """Send one packet at a time, 1 us apart: from host 0 to one host of every router of the first three groups.
    Every row has a gateway, so the longest way is one hop along the row, the optical one, a row and a column:
    1 + 5 * 75 + 5 + 80 + 5 + 15 + 6.25 = 487.25 ns, below 500; each of its hops adds
    (80 + 155 + 80 + 90) / 4 = 101.25.
    """
    hosts = [router * 2 for router in range(1, 72)]
    times = [1_000.0 * i + 1.0 for i in range(len(hosts))]
    trace = Trace.from_columns(time_ns=times, src=[0] * len(hosts), dst=hosts, bytes=[64] * len(hosts))
    config = dfe.SimulationConfig(
        topology=SMALL, network="aries", traffic=trace, injection="trace", packet_log=True
    )
    simulation = dfe.Simulation(config)
    simulation.run(1_000.0 * len(hosts))
    log = simulation.packet_log()
    assert len(log["src"]) == len(hosts)
    kinds = {(router, peer): SMALL.port_kind(port) for router, port, peer, _ in SMALL.links().tolist()}
    latencies = {}
    for created, delivered, route in zip(
        log["created_ns"],
        log["delivered_ns"],
        routes_of(log),
        strict=True,
    ):
        hops = [kinds[step] for step in itertools.pairwise(route)]
        expected = 1 + 75 * (len(hops) + 1) + sum(WIRE_NS[kind] for kind in hops) + HOST_NS
        assert delivered - created == pytest.approx(expected, abs=1e-6), hops
        latencies[tuple(hops)] = delivered - created
    assert max(latencies.values()) == pytest.approx(487.25, abs=1e-6)
    assert max(map(len, latencies)) == 4
    beside = 1 + 75 + HOST_NS  # two hosts of one router
    per_hop = [(latency - beside) / len(hops) for hops, latency in latencies.items()]
    assert (min(per_hop), max(per_hop)) == pytest.approx((80, 155), abs=1e-6)
    assert (487.25 - beside) / 4 == 101.25


@pytest.mark.parametrize(("network", "packets"), [("aries", 1), ("aries-256", 4)])
def test_ports_are_as_fast_as_their_links_together(network: str, packets: int) -> None:
    """In ns per packet; a packet of 336 bytes takes four times as long, and buffers hold as many bytes."""
    preset = dfe.NetworkConfig.preset(network)
    assert preset.packet_time_ns == pytest.approx(packets * HOST_NS)
    rows = dict(zip(SMALL.link_classes[1:], preset.to_core(SMALL)["links"], strict=True))
    for name, port in rows.items():
        assert port["packet_ps"] / 1000 == pytest.approx(packets * PORT_NS[name], abs=0.03)
        assert port["latency_ps"] == WIRE_NS[name] * 1000
        assert port["buffer_packets"] * packets == {"rank-1": 32, "rank-2": 3 * 32, "rank-3": 2 * 64}[name]
    assert preset.flits_per_packet == 14 * packets


def test_min_under_uniform_saturates_where_the_bundles_between_groups_are_full() -> None:
    """The packets of a group's 48 hosts leave in 11 of 12 cases, through 3 bundles to each of 11 groups, all alike:
    x = (33 / 8.96) / (48 * 11/12 / 6.25) = 0.5232. The busiest links of rank 1, counted, are less full.
    """
    bound = (33 / PORT_NS["rank-3"]) / (48 * 11 / 12 / HOST_NS)
    flows = uniform_flows(SMALL)
    busiest = max(
        flow * SMALL.port_links(port) * PORT_NS[SMALL.port_kind(port)] / HOST_NS
        for (_, port), flow in flows.items()
    )
    assert 1 / busiest == pytest.approx(bound, rel=1e-6)
    assert _accepted("uniform", 0.97 * bound) == pytest.approx(0.97 * bound, rel=0.01)
    assert _accepted("uniform", 1.0) == pytest.approx(bound, rel=0.03)


@pytest.mark.parametrize("traffic", ["adv+1", "adv-3"])
def test_min_under_adv_saturates_where_three_bundles_are_full(traffic: str) -> None:
    """48 hosts of a group share 3 bundles: x = (3 / 8.96) / (48 / 6.25) = 0.0436."""
    bound = (3 / PORT_NS["rank-3"]) / (48 / HOST_NS)
    assert _accepted(traffic, 0.2) == pytest.approx(bound, rel=0.03)


def _accepted(traffic: str, load: float) -> float:
    config = dfe.SimulationConfig(
        topology=SMALL, network="aries", traffic=traffic, load=load, policy="min", source_queue_packets=20
    )
    return dfe.simulate(config, warmup_ns=8_000, measure_ns=5_000).accepted_load

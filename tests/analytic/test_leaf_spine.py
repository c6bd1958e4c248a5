"""Dragonfly+, by hand: lone packets, loads of minimal paths, and the most that any routing carries.

272 hosts: 17 groups of 4 leaves and 4 spines, 4 hosts per leaf, 4 global links per spine, one link per pair of groups.
"""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest

import dragonfly_env as dfe
from dragonfly_env.traffic import Trace
from tests.routes import routes_of

SYSTEM = dfe.Dragonfly.preset("dfp-272")


@pytest.mark.parametrize(
    ("links", "local_ps"),
    [
        # 128 bytes at 4 GB/s: 32 ns on the timer, 10 out, 30 of latency, 10 in, then the next edge of the 3.2-ns clock.
        (1, 83_200),
        (2, 67_200),  # two links in one: 16 ns instead of 32
    ],
)
def test_a_lone_packet_takes_the_time_of_its_links(links: int, local_ps: int) -> None:
    """Send one packet at a time, 3 us apart, from host 0 to the first host of every other leaf."""
    topology = dfe.Dragonfly(p=2, h=2, group=dfe.LeafSpine(leaves=3, spines=2, links=links))
    hosts = list(range(2, topology.num_hosts, 2))
    times = [3_000.0 * i + 1.0 for i in range(len(hosts))]
    trace = Trace.from_columns(time_ns=times, src=[0] * len(hosts), dst=hosts, bytes=[128] * len(hosts))
    network = dfe.NetworkConfig.preset("q-adaptive")
    config = dfe.SimulationConfig(
        topology=topology, network=network, traffic=trace, injection="trace", packet_log=True
    )
    simulation = dfe.Simulation(config)
    simulation.run(3_000.0 * len(hosts))
    log = simulation.packet_log()
    assert len(log["src"]) == len(hosts)
    hop_ps = {
        "local": local_ps,
        "global": 355_200,
    }  # 32 + 10 + 300 + 10 = 352 is an edge itself: the next one
    kinds = {(router, peer): topology.port_kind(port) for router, port, peer, _ in topology.links().tolist()}
    routers = topology.router_of_hosts()
    for host, created, delivered, route in zip(
        log["dst"], log["created_ns"], log["delivered_ns"], routes_of(log), strict=True
    ):
        hops = [kinds[step] for step in itertools.pairwise(route)]
        same = topology.group_of(int(routers[host])) == 0
        assert hops == (["local", "local"] if same else ["local", "global", "local"])
        lone = 52_000 - (round(created * 1000) + 52_000) % 3_200 + 3_200 + 52_000
        assert round((delivered - created) * 1000) == lone + sum(hop_ps[kind] for kind in hops), route


def test_min_under_uniform_takes_the_hops_that_are_counted() -> None:
    """Destinations: 4 of 272 at the same leaf, 12 two hops and 256 three hops away, which is 792 / 272 on average."""
    config = dfe.SimulationConfig(topology=SYSTEM, traffic="uniform", load=0.3)
    metrics = dfe.simulate(config, warmup_ns=5_000, measure_ns=50_000)
    assert metrics.hops_mean == pytest.approx(792 / 272, abs=0.005)
    assert metrics.hop_histogram.nonzero()[0].tolist() == [0, 2, 3]


def test_min_under_adv_shares_one_link_among_the_hosts_of_a_group() -> None:
    config = dfe.SimulationConfig(topology=SYSTEM, network="lia", traffic="adv+1", load=0.5)
    metrics = dfe.simulate(config, warmup_ns=20_000, measure_ns=20_000)
    assert metrics.accepted_load == pytest.approx(1 / 16, rel=0.01)


@pytest.mark.parametrize("arrangement", ["palmtree", "absolute"])
def test_the_most_load_is_what_links_allow(arrangement: str) -> None:
    """adv+1: the direct link carries 1, the 15 others of a group 1/2 each, shared by 16 hosts. Uniform: a leaf sends
    268 / 272 of four hosts' load up its four links.
    """
    topology = SYSTEM.replace(arrangement=arrangement)
    adversarial = dfe.bounds.Bounds(topology, "adv+1")
    assert adversarial.most_load == pytest.approx(float((Fraction(15, 2) + 1) / 16), rel=1e-6)
    assert adversarial.most_load == pytest.approx(17 / 32, rel=1e-6)
    uniform = dfe.bounds.Bounds(topology, "uniform")
    assert uniform.limited_by_hosts
    assert uniform.model.most_load(2.0).value == pytest.approx(272 / 268, rel=1e-6)


def test_the_most_that_is_accepted_counts_the_hosts_of_leaves() -> None:
    bounds = dfe.bounds.Bounds(SYSTEM, "adv+1")
    assert bounds.most_accepted(0.3) == pytest.approx(0.3, rel=1e-6)
    assert bounds.most_accepted(1.0) == pytest.approx(17 / 32, rel=1e-6)


def test_policies_that_decide_at_spines_too_carry_more_under_adv() -> None:
    """UGAL compares queues of the leaf, where minimal and other paths go to the same spines. PAR decides again at the
    spine, which sees the queue of the direct link.
    """
    config = dfe.SimulationConfig(topology=SYSTEM, network="lia", traffic="adv+1", load=0.5)
    accepted = [
        dfe.simulate(config.replace(policy=policy), warmup_ns=20_000, measure_ns=10_000).accepted_load
        for policy in ("min", "ugal-n", "par")
    ]
    assert accepted[0] < 0.07
    assert 0.2 < accepted[1] < 0.35
    assert 0.45 < accepted[2] <= 17 / 32


def test_metrics_have_no_host_links_and_no_load_at_spines() -> None:
    config = dfe.SimulationConfig(topology=SYSTEM, load=0.2, host_latency=True, group_latency=True)
    metrics = dfe.simulate(config, warmup_ns=2_000, measure_ns=5_000)
    spines = SYSTEM.place_of_routers() >= 4
    assert np.isnan(metrics.router_accepted_load).tolist() == spines.tolist()
    assert metrics.fairness.jain > 0.99
    assert {kind: totals.ports for kind, totals in metrics.link_classes.items()} == {
        "host": 272,
        "local": 544,
        "global": 272,
    }
    assert not spines[metrics.ports.of(kind="host").router].any()
    assert {kind: len(ports) for kind, ports in metrics.ports.tiles().items()} == {
        "host-in": 272,
        "local": 544,
        "host-out": 272,
        "global": 272,
    }
    assert metrics.hosts.router.tolist() == SYSTEM.router_of_hosts().tolist()

"""Qualitative claims of the LIA paper on its policies, on 1,056 hosts (h = 4) instead of 5,256.

Network ``lia``; Bernoulli injection whose trials are lost when the injection queue is full. Steady states are short,
so latencies count within 2 %. What is not met is in docs/reproduction/taco25.md.
"""

from __future__ import annotations

import functools

import numpy as np
import pytest

import dragonfly_env as dfe

ADAPTIVE = ("ugal-ideal", "pb", "pb-acor", "tpr")


def config_of(
    policy: dfe.Policy | str, traffic: str, load: float, hosts: str = "1056"
) -> dfe.SimulationConfig:
    return dfe.SimulationConfig(
        topology=dfe.Dragonfly.preset(hosts),
        network=dfe.NetworkConfig.preset("lia"),
        traffic=traffic,
        load=load,
        policy=policy,
        injection="bernoulli",
        source_queue_packets=1,
        source_queue_full="lose",
        seed=1,
    )


@functools.cache
def measured(policy: str, traffic: str, load: float) -> dfe.Metrics:
    return dfe.simulate(config_of(policy, traffic, load), warmup_ns=8_000, measure_ns=4_000)


@pytest.mark.parametrize("load", [0.1, 0.3])
@pytest.mark.parametrize(
    "traffic", ["adv+1", *(pytest.param(name, marks=pytest.mark.slow) for name in ("adv+4", "advc"))]
)
def test_lia_has_the_lowest_latency_of_the_adaptive_policies(traffic: str, load: float) -> None:
    """Section 6.2.2. On small systems, below, advc is tested by default."""
    lia = measured("lia", traffic, load).latency_mean_ns
    assert lia < 1.02 * min(measured(policy, traffic, load).latency_mean_ns for policy in ADAPTIVE)


def test_short_nonminimal_paths_save_a_fifth_under_adv_1() -> None:
    """Section 6.2.2 says 25 % and more at a load of 10 % for h = 6; measured here: 24 to 27 %."""
    lia = measured("lia", "adv+1", 0.1).latency_mean_ns
    for policy in ("ugal-ideal", "pb", "tpr"):
        assert lia < 0.8 * measured(policy, "adv+1", 0.1).latency_mean_ns


def test_full_injection_queues_do_not_make_uniform_traffic_adverse() -> None:
    """Section 6.1.1: with w = 0.1 throughput is that of counters of injected packets. Measured as in the paper from
    60 us on, when queues are full; w = 1 is the figure's counter-example.
    """

    def accepted(weight: float) -> float:
        lia = dfe.make_policy("lia", stored_weight=weight)
        config = config_of(lia, "uniform", 1.0, "72")
        return dfe.simulate(config, warmup_ns=60_000, measure_ns=20_000).accepted_load

    injected = accepted(0.0)
    assert accepted(0.1) == pytest.approx(injected, rel=0.01)
    assert accepted(1.0) < 0.95 * injected


@pytest.mark.parametrize(("hosts", "load"), [("72", 0.15), ("72", 0.3), ("72", 0.4), ("342", 0.15)])
def test_small_systems_have_the_lowest_latency_under_advc_too(hosts: str, load: float) -> None:
    """Thresholds follow the size: with those of table 1, LIA was 8 % above ``pb-acor`` with 342 hosts at 0.15."""

    def latency(policy: str) -> float:
        metrics = dfe.simulate(config_of(policy, "advc", load, hosts), warmup_ns=10_000, measure_ns=10_000)
        return metrics.latency_mean_ns

    assert latency("lia") < 1.02 * min(latency(policy) for policy in ("min", "vlb-g", "vlb-gl", *ADAPTIVE))


def test_pb_acor_lengthens_its_nonminimal_paths_with_the_load_and_lia_with_the_pattern() -> None:
    """Section 6.2.2: under adv+1 short non-minimal paths do at any load, and only LIA knows."""
    hops = {
        (policy, load): measured(policy, "adv+1", load).hops_mean
        for policy in ("lia", "pb-acor", "pb")
        for load in (0.1, 0.3)
    }
    assert hops["pb-acor", 0.1] < hops["pb", 0.1] - 0.5
    assert hops["pb-acor", 0.3] > hops["pb-acor", 0.1] + 1
    assert hops["lia", 0.3] < hops["pb", 0.3] - 1


def test_adv_h_needs_the_second_local_hop_above_a_load_of_1_over_h() -> None:
    """Section 4.3.2: a remote counter reaches 20 packets at that load, for every h; below it LIA's non-minimal paths
    are a hop shorter.
    """
    below, above = (measured("lia", "adv+4", load) for load in (0.1, 0.4))
    share = [m.minimal_fraction for m in (below, above)]
    loads = [
        (m.hops_mean - 3 * s) / (1 - s) for m, s in zip((below, above), share, strict=True)
    ]  # minimal paths have 3 hops at most, so these are lower bounds
    assert above.hops_mean > below.hops_mean + 0.5
    assert loads[0] < 4.2 < loads[1]


def test_under_advc_every_router_of_a_group_is_served_alike() -> None:
    """Section 6.2.3: the routers that own the minimal links send their own non-minimal paths elsewhere."""
    config = config_of("lia", "advc", 0.5).replace(packet_log=True)
    simulation = dfe.Simulation(config)
    simulation.run(8_000)
    simulation.reset_statistics()
    simulation.run(5_000)
    t = config.topology
    routers = simulation.packet_log()["src"] // t.p
    delivered = np.bincount(routers, minlength=t.num_routers).reshape(-1, t.a).sum(axis=0)
    assert delivered.max() < 1.05 * delivered.min()

"""Every policy and every pattern of the registry, on every network and on odd topologies, saturated and drained.

What is registered is tested: a new policy or pattern needs no line here.
"""

from __future__ import annotations

import functools
import itertools
import math
from typing import Any

import numpy as np
import pytest

import dragonfly_env as dfe
from dragonfly_env import _core
from tests.ready import NETWORKS, ready
from tests.routes import routes_of
from tests.topologies import GRIDS, PLUS, SHAPES, Shape, refuses, topology_of

PRESETS = NETWORKS
ARRANGEMENTS = tuple(_core.arrangements())
SMALL = dfe.Dragonfly.preset("72")

EVERY_SHAPE: dict[str, Shape] = {
    "balanced": (2, 4, 2, 9, 1),
    "one router": (3, 1, 0, 1, 1),
    "two hosts": (1, 2, 0, 1, 1),
    "many hosts": (6, 3, 1, 4, 1),
    "many routers": (1, 6, 1, 7, 1),
    **SHAPES,
}


def run_and_drain(config: dfe.SimulationConfig, duration_ns: float = 600) -> dfe.Metrics:
    """Saturate, check the invariants at two times, drain; the metrics of the whole run."""
    simulation = dfe.Simulation(config)
    simulation.run(duration_ns / 2)
    simulation.check_invariants()
    simulation.run(duration_ns / 2)
    simulation.check_invariants()
    generated = simulation.metrics().packets_generated
    assert simulation.drain() is True
    simulation.check_invariants()
    m = simulation.metrics()
    assert m.packets_in_flight == 0
    assert m.packets_generated == m.packets_injected == m.packets_delivered == generated
    return m


def check_sane(m: dfe.Metrics) -> None:
    """Check the metrics of a drained run with traffic."""
    assert m.packets_delivered > 0
    assert (
        0 < m.latency_min_ns <= m.latency_percentile_ns(50) <= m.latency_percentile_ns(99) <= m.latency_max_ns
    )
    assert m.latency_min_ns <= m.latency_mean_ns <= m.latency_max_ns
    assert 0 < m.network_latency_mean_ns <= m.latency_mean_ns
    assert 0 <= m.minimal_fraction <= 1
    assert 0 < m.fairness.jain <= 1 + 1e-12
    assert m.hop_histogram.sum() == m.latency_histogram.sum() == m.packets_delivered
    assert m.hop_histogram @ np.arange(m.hop_histogram.size) == m.hops_sum
    assert m.router_injected.sum() == m.router_delivered.sum() == m.packets_delivered
    assert m.packet_hops == m.hops_sum + m.packets_delivered == m.counters.link_packets.sum()
    assert (m.ports.utilisation <= 1 + 1e-9).all()
    assert m.score < 0
    numbers = [value for name, value in m.to_dict().items() if name != "score" and value is not None]
    assert all(math.isfinite(value) and value >= 0 for value in numbers)


@functools.cache
def longest_path(topology: dfe.Dragonfly, policy: str) -> int:
    """The most hops that the policy's paths have there."""
    return int(
        _core.channel_dependencies(
            topology.to_core(), policy, ready(policy).to_core()["parameters"], "stage"
        )[1]
    )


def config_of(**settings: Any) -> dfe.SimulationConfig | None:
    """A saturated network, or None if the pattern needs a larger topology."""
    topology = settings.pop("topology", SMALL)
    traffic = settings.pop("traffic")
    try:
        dfe.SimulationConfig(topology=topology, traffic=traffic)
    except dfe.ConfigError:
        return None
    return dfe.SimulationConfig(topology=topology, traffic=traffic, load=1.0, **settings)


@pytest.mark.product(preset=PRESETS, policy=dfe.policies(), traffic=dfe.traffic_patterns())
def test_every_policy_carries_every_pattern_at_full_load_and_drains(
    preset: str, policy: str, traffic: str
) -> None:
    network = dfe.NetworkConfig.preset(preset)
    config = config_of(network=network, policy=ready(policy), traffic=traffic, watchdog_ns=4_000)
    assert config is not None, "72 hosts are enough for every pattern"
    m = run_and_drain(config)
    check_sane(m)
    assert m.hop_histogram.nonzero()[0].max() <= longest_path(SMALL, policy)


CLOSED_LOOPS = tuple(info["example"] for info in _core.patterns() if info["closed_loop"])


@pytest.mark.product(preset=PRESETS, policy=dfe.policies(), traffic=CLOSED_LOOPS)
def test_every_policy_brings_every_workload_to_its_end(preset: str, policy: str, traffic: str) -> None:
    config = dfe.SimulationConfig(
        topology=SMALL, network=dfe.NetworkConfig.preset(preset), policy=ready(policy), traffic=traffic
    )
    simulation = dfe.Simulation(config)
    m = simulation.run_to_completion()
    simulation.check_invariants()
    check_sane(m)
    assert simulation.progress() == 1.0
    assert m.messages is not None
    assert m.messages.sent == m.messages.delivered > 0
    assert m.packets_in_flight == 0
    assert m.packets_generated == m.packets_delivered
    assert m.makespan_ns == m.duration_ns == simulation.time_ns
    assert m.hop_histogram.nonzero()[0].max() <= longest_path(SMALL, policy)


@pytest.mark.parametrize("shape", EVERY_SHAPE)
@pytest.mark.parametrize("traffic", CLOSED_LOOPS)
def test_every_workload_ends_or_is_refused_on_every_shape(traffic: str, shape: str) -> None:
    config = config_of(topology=topology_of(EVERY_SHAPE[shape]), traffic=traffic, policy="min")
    if config is not None:
        check_sane(dfe.Simulation(config).run_to_completion())


@pytest.mark.product(
    policy=dfe.policies(),
    shape=tuple(EVERY_SHAPE),
    arrangement=ARRANGEMENTS,
    preset=PRESETS,
    traffic=("uniform", "adv+1"),
)
def test_every_policy_works_on_every_shape(
    policy: str, shape: str, arrangement: str, preset: str, traffic: str
) -> None:
    topology = topology_of(EVERY_SHAPE[shape], arrangement)
    network = dfe.NetworkConfig.preset(preset)
    config = config_of(topology=topology, network=network, policy=ready(policy), traffic=traffic)
    if config is None:
        assert traffic == "adv+1"
        assert topology.num_groups == 1
    elif refuses(shape, policy):
        with pytest.raises(dfe.ConfigError, match="no router with hosts has a global link of its own"):
            dfe.Simulation(config)
    else:
        check_sane(run_and_drain(config))


@pytest.mark.parametrize("shape", EVERY_SHAPE)
@pytest.mark.parametrize("traffic", dfe.traffic_patterns())
def test_every_pattern_works_or_is_refused_on_every_shape(traffic: str, shape: str) -> None:
    config = config_of(topology=topology_of(EVERY_SHAPE[shape]), traffic=traffic, policy="min")
    if config is not None:
        check_sane(run_and_drain(config))


@pytest.mark.product(
    policy=dfe.policies(), full=("stall", "lose"), injection=("periodic", "bernoulli", "poisson")
)
def test_short_source_queues_and_long_messages_lose_nothing_that_they_took(
    policy: str, full: str, injection: str
) -> None:
    config = config_of(
        policy=ready(policy),
        traffic="adv+1",
        injection=injection,
        source_queue_packets=7,
        source_queue_full=full,
        message_packets=3,
    )
    assert config is not None
    m = run_and_drain(config, 6000)
    check_sane(m)
    assert m.packets_generated % 3 == 0 or full == "stall"
    assert m.packets_lost % 3 == 0
    assert (m.packets_lost > 0) == (full == "lose")


@pytest.mark.parametrize("preset", PRESETS)
def test_minimal_routing_takes_shortest_paths(preset: str) -> None:
    for shape in ("balanced", "trunked", "many routers", "half of the groups", *GRIDS, *PLUS):
        topology = topology_of(EVERY_SHAPE[shape])
        config = dfe.SimulationConfig(
            topology=topology, network=dfe.NetworkConfig.preset(preset), load=0.3, packet_log=True
        )
        simulation = dfe.Simulation(config)
        simulation.run(3000)
        log = simulation.packet_log()
        routers = topology.router_of_hosts()
        pairs = zip(*(routers[log[end]].tolist() for end in ("src", "dst")), strict=True)
        assert log["hops"].tolist() == [topology.minimal_hops(*pair) for pair in pairs]


@pytest.mark.parametrize("policy", dfe.policies())
def test_routes_in_the_log_are_walks_over_links(policy: str) -> None:
    config = dfe.SimulationConfig(
        topology=SMALL, policy=ready(policy), traffic="adv+1", load=0.8, packet_log=True
    )
    simulation = dfe.Simulation(config)
    simulation.run(3000)
    linked = {(router, peer) for router, _, peer, _ in SMALL.links().tolist()}
    for route in routes_of(simulation.packet_log()):
        assert all(step in linked for step in itertools.pairwise(route))


def test_the_same_seed_is_the_same_traffic_for_every_policy() -> None:
    """The k-th packet of a host has one destination, and with unbounded source queues one time, under every policy."""
    seen = []
    for policy in dfe.policies():
        config = dfe.SimulationConfig(
            topology=SMALL, policy=ready(policy), injection="poisson", load=0.6, packet_log=True, seed=3
        )
        simulation = dfe.Simulation(config)
        simulation.run(4000)
        assert simulation.drain()
        log = simulation.packet_log()
        columns = (log["src"], log["number"], log["dst"], log["created_ns"])
        seen.append(sorted(zip(*(column.tolist() for column in columns), strict=True)))
    assert all(traffic == seen[0] for traffic in seen)

"""Policies called from Python give the run that the core gives alone, bit for bit.

What is registered is tested: by the library's reference implementation, or by the rule in ``rules.py``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dragonfly_env as dfe
from dragonfly_env.metrics.metrics import HALF
from dragonfly_env.sweeps.measure import AgentSimulation
from tests.parity.cases import PRESETS, config_of, config_of_shape, decided_once, native, play
from tests.parity.rules import act, in_numpy
from tests.products import in_turn
from tests.ready import ready
from tests.topologies import SHAPES, refuses, topology_of

REFERENCES = dfe.policies()  # test_learners.py has more about those that learn


def routed_from_python(
    config: dfe.SimulationConfig, policy: dfe.Policy, duration_ns: float, **options: Any
) -> dfe.BatchedRoutingEnv:
    """Results of the policy in Python, at the end of the episode."""
    env = dfe.BatchedRoutingEnv.for_policy(config, policy, duration_ns=duration_ns, **options)
    play(env, in_numpy(policy, env))
    return env


def check_equal(
    config: dfe.SimulationConfig, policy: dfe.Policy, duration_ns: float = 3000.0, **options: Any
) -> dfe.BatchedRoutingEnv:
    """Run both ways and compare."""
    alone = native(config, policy, duration_ns)
    env = routed_from_python(config, policy, duration_ns, **options)
    assert env.trace_hash() == alone.trace_hash()
    assert counted(env.metrics()) == counted(alone.metrics())
    return env


def counted(metrics: dfe.Metrics) -> dict[str, Any]:
    """Counts that both have: environments go from batch to batch, without halves of a window."""
    of_halves = ("saturated", "stationary", "fitting_window_ns", *HALF)
    return {name: value for name, value in metrics.to_dict().items() if name not in of_halves}


@pytest.mark.product(
    name=REFERENCES,
    preset=PRESETS,
    decide_at=("arrival", "head"),
    traffic=("uniform", "adv+1"),
    load=(0.4, 0.6, 1.0),
    routing_delay_ns=(0.0, 20.0, 40.0),
)
def test_every_policy_runs_the_same_history_from_python(
    name: str, preset: str, decide_at: str, traffic: str, load: float, routing_delay_ns: float
) -> None:
    network = dfe.NetworkConfig.preset(preset, decide_at=decide_at, routing_delay_ns=routing_delay_ns)
    saturated = {"injection": "poisson", "source_queue_packets": 20} if load == 1.0 else {}
    check_equal(config_of(network=network, traffic=traffic, load=load, **saturated), ready(name), 1200.0)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("parameters", [{}, {"minimal_candidates": 3, "ties": "random"}])
def test_any_gateway_is_drawn_alike(shape: str, parameters: dict[str, Any]) -> None:
    policy = dfe.make_policy("ad0", gateways="any", **parameters)
    check_equal(config_of_shape(shape, load=0.6), policy)


@pytest.mark.product(
    name=("val-g", "val-n", "vlb-gl", "vlb-g", "vlb-lg"),
    own_group=("local", "global"),
    shape=tuple(SHAPES),
    avoid=(True, False),
    network=("default", "lia"),
)
def test_packets_to_their_own_group_take_the_same_nonminimal_paths(
    name: str, own_group: str, shape: str, avoid: bool, network: str
) -> None:
    policy = dfe.make_policy(name, own_group=own_group, avoid_destination_group=avoid)
    config = config_of_shape(shape, load=0.8).replace(traffic="uniform", network=network)
    if refuses(shape, name):
        with pytest.raises(dfe.ConfigError, match="no router with hosts has a global link of its own"):
            dfe.Simulation(config.replace(policy=policy))
        return
    check_equal(decided_once(config), policy)


@pytest.mark.parametrize("name", REFERENCES)
def test_342_hosts_with_the_other_arrangements(name: str) -> None:
    for arrangement in ("absolute", "palmtree-plus"):
        topology = dfe.Dragonfly.preset("342", arrangement=arrangement)
        check_equal(config_of(topology=topology, load=0.3), ready(name), 1500.0)


@pytest.mark.parametrize("name", REFERENCES)
def test_the_number_of_threads_does_not_matter(name: str) -> None:
    config = config_of(topology=dfe.Dragonfly.preset("1056"), traffic="uniform", load=0.5)
    assert dfe.Simulation(config.replace(threads=2)).num_partitions > 1
    policy = ready(name)
    expected = native(config, policy, 700.0).trace_hash()
    assert routed_from_python(config.replace(threads=2), policy, 700.0).trace_hash() == expected


@pytest.mark.parametrize("name", REFERENCES)
def test_histories_stay_equal_until_the_network_is_empty(name: str) -> None:
    policy = ready(name)
    config = config_of(load=0.6, network="q-adaptive")
    alone = native(config, policy, 1000.0)
    env = dfe.BatchedRoutingEnv.for_policy(config, policy, duration_ns=1000.0)
    reference = in_numpy(policy, env)
    play(env, reference)
    before = env.trace_hash()
    assert alone.drain()
    env.drain(reference)
    assert env.trace_hash() == alone.trace_hash() != before
    assert env.metrics().packets_in_flight == 0


@pytest.mark.product(
    policy=(
        ("val-g", {"avoid_destination_group": False}),
        ("vlb-g", {"avoid_destination_group": False}),
        ("ugal-n", {"bias_packets": 3.5}),
        ("ugal-n", {"bias_packets": -1e9}),
        ("ugal-n", {"bias_packets": 1e9}),
        ("ugal-n", {"nonminimal_candidates": 3}),
        ("ugal-g", {"nonminimal_candidates": 4, "avoid_destination_group": False, "bias_packets": -1}),
        ("par", {"nonminimal_candidates": 3, "bias_packets": -2.5}),
        ("par", {"avoid_destination_group": False}),
        ("ugal-n", {"minimal_candidates": 2}),
        ("par", {"minimal_candidates": 3, "nonminimal_candidates": 2}),
        ("pb", {"congestion_factor": 1.05, "congestion_offset_packets": 0.5}),
        ("pb", {"congestion_factor": 0.0, "congestion_offset_packets": 0.0}),
        ("pb", {"minimal_candidates": 2, "nonminimal_candidates": 2, "bias_packets": 2.5}),
        ("pb", {"avoid_destination_group": False, "congestion_offset_packets": 1}),
        ("pb", {"congestion_metric": "vc", "congestion_offset_packets": 1}),
        ("pb-acor", {"congestion_metric": "vc"}),
        ("pb", {"weights": "hops", "congestion_offset_packets": 50}),
        ("pb-acor", {"weights": "hops", "congestion_metric": "vc"}),
        ("ugal-n", {"congestion_metric": "queued"}),
        ("ugal-g", {"congestion_metric": "queued", "nonminimal_candidates": 3, "bias_packets": 1}),
        ("par", {"congestion_metric": "queued"}),
        ("ugal-ideal", {"bias_packets": -2.5, "minimal_candidates": 2, "nonminimal_candidates": 3}),
        ("acor", {"first_increase": 3, "second_increase": 7, "hysteresis_ns": 90.5}),
        ("acor", {"avoid_destination_group": False}),
        ("pb-acor", {"first_increase": 2, "nonminimal_candidates": 2, "congestion_offset_packets": 1}),
        ("tpr", {"window_ns": 333.3, "low_packets": 1, "high_packets": 1, "mixed_bias_packets": 0.5}),
        ("tpr", {"avoid_destination_group": False, "nonminimal_candidates": 2}),
        (
            "lia",
            {"saturated_groups": 1, "saturated_packets": 0.3, "remote_packets": 0.7, "stored_weight": 0.37},
        ),
        (
            "lia",
            {"window_ns": 1000, "remote_packets": 3, "minimal_candidates": 2, "nonminimal_candidates": 2},
        ),
        ("lia", {"avoid_destination_group": False, "adverse_bias_packets": -3}),
        ("ad", {"ties": "random", "minimal_candidates": 1, "nonminimal_candidates": 3}),
        ("ad", {"nonminimal_shift_second": 1, "minimal_add_first": 2, "nonminimal_add_later": 3}),
        ("ad0", {"ties": "nonminimal", "avoid_destination_group": False}),
        ("ad0", {"decide": "source"}),
        ("ad0", {"later_nonminimal": "any"}),
        ("ad1", {"in_destination_group": True, "nonminimal_candidates": 1}),
        ("ad0", {"gateways": "any"}),
        ("ad3", {"gateways": "any", "decide": "source", "in_group": False}),
        ("ad1", {"in_group": False, "levels_near": 64, "levels_far": 8, "wire_share": 0.5}),
        ("ad3", {"decide": "source", "in_group": False, "ties": "random", "levels_near": 100}),
    ),
    trunking=(1, 2),
    network=("default", "lia"),
)
def test_parameters_do_not_matter(policy: tuple[str, dict[str, Any]], trunking: int, network: str) -> None:
    name, parameters = policy
    topology = dfe.Dragonfly(p=2, a=4, h=2, g=5, trunking=trunking)
    config = config_of(topology=topology, load=0.8, network=network)
    check_equal(config, dfe.make_policy(name, **parameters), 1500.0)


@pytest.mark.parametrize("name", [name for name in REFERENCES if not ready(name).learns])
def test_the_observation_alone_is_enough(name: str) -> None:
    """Behind standard views a policy sees the observation and the mask only."""
    policy = ready(name)
    config = config_of(load=0.5)
    env = dfe.BatchedRoutingEnv.for_policy(config, policy, duration_ns=3000.0)
    batch = env.reset(seed=config.seed)
    while not env.done:
        seen = dfe.DecisionBatch.from_observations(env.layout, np.array(batch.obs), np.array(batch.mask))
        batch = env.step(act(policy, seen))
    assert env.trace_hash() == native(config, policy, 3000.0).trace_hash()


@pytest.mark.parametrize(("name", "preset"), in_turn(REFERENCES, PRESETS))
def test_what_is_measured_after_a_warm_up_is_equal_too(name: str, preset: str) -> None:
    policy = ready(name)
    config = config_of(network=preset, series_bin_ns=500.0)
    alone = native(config, policy, 1500.0)
    alone.reset_statistics()
    alone.run(1000.5)
    other = AgentSimulation(config, in_numpy(policy))
    other.run(1500.0)
    other.reset_statistics()
    other.run(1000.5)
    assert other.time_ns == alone.time_ns == 2500.5
    assert other.trace_hash() == alone.trace_hash()
    assert other.metrics().to_dict() == alone.metrics().to_dict()
    assert np.array_equal(other.metrics().ports.utilisation, alone.metrics().ports.utilisation)


@pytest.mark.parametrize("threads", [1, 2])
def test_what_routers_tell_each_other_does_not_depend_on_threads(threads: int) -> None:
    policy = dfe.make_policy("pb", congestion_factor=1.1, congestion_offset_packets=1)
    config = config_of(topology=dfe.Dragonfly.preset("1056"), load=0.5, threads=threads)
    expected = native(config.replace(threads=1), policy, 1500.0).trace_hash()
    assert native(config, policy, 1500.0).trace_hash() == expected
    assert routed_from_python(config, policy, 1500.0).trace_hash() == expected


@pytest.mark.product(
    parameters=(
        {},
        {"ties": "random"},
        {"decide": "source"},
        {"in_group": False},
        {"later_nonminimal": "any", "in_destination_group": True},
    ),
    name=("ad0", "ad1", "ad2", "ad3"),
    topology=("2 x 3 grid", "3 x 2 grid, few links"),
    traffic=("uniform", "adv+1"),
)
def test_the_modes_of_aries_run_the_same_history_on_grids(
    parameters: dict[str, Any], name: str, topology: str, traffic: str
) -> None:
    grid = topology_of(SHAPES[topology])
    config = config_of(topology=grid, network="aries", traffic=traffic, load=0.7)
    check_equal(config, dfe.make_policy(name, **parameters), 1600.0)


@pytest.mark.parametrize("name", ["ad0", "ad3"])
def test_the_modes_of_aries_run_the_same_history_on_its_machine(name: str) -> None:
    config = config_of(topology=dfe.Dragonfly.preset("theta-m8"), network="aries", load=0.7)
    env = check_equal(config, dfe.make_policy(name), 1200.0)
    assert 0 < env.metrics().minimal_fraction < 1


@pytest.mark.parametrize("name", ["ugal-n", "par", "pb", "ugal-ideal", "pb-acor", "tpr", "lia", "ad0", "ad3"])
def test_the_policy_under_test_decides_something(name: str) -> None:
    """Equal hashes would mean little if everything went one way."""
    share = routed_from_python(config_of(load=0.4), dfe.make_policy(name), 5000.0).metrics().minimal_fraction
    assert 0.05 < share < 0.95

"""Learners called from Python give the run that they give in the core, and learn the same tables, bit for bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dragonfly_env as dfe
from dragonfly_env.agents import evaluate_policy
from dragonfly_env.agents.reference import ReferenceLearner
from tests.parity.cases import PRESETS, config_of, play
from tests.products import in_turn

LEARNERS = ["q-adaptive", "q-adaptive-fast", "q-routing"]


def played(config: dfe.SimulationConfig, learner: Any, duration_ns: float) -> tuple[Any, ReferenceLearner]:
    """An environment at the end of its episode, and the reference implementation that decided in it."""
    env = dfe.BatchedRoutingEnv.for_policy(config, learner, duration_ns=duration_ns, transitions=False)
    reference = learner.reference(env)
    play(env, reference)
    return env, reference


def check_equal(config: dfe.SimulationConfig, learner: Any, duration_ns: float = 2200.0) -> None:
    """Run both ways; compare histories and tables, the first ones too."""
    alone = dfe.Simulation(config.replace(policy=learner))
    before = alone.q_table().copy()
    fresh = learner.reference(dfe.BatchedRoutingEnv.for_policy(config, learner))
    np.testing.assert_array_equal(fresh.table, before)
    alone.run(duration_ns)
    env, reference = played(config, learner, duration_ns)
    assert alone.metrics().packets_delivered > 0
    assert env.trace_hash() == alone.trace_hash()
    assert reference.table.dtype == alone.q_table().dtype
    np.testing.assert_array_equal(reference.table, alone.q_table())
    if config.topology.num_groups > 1:
        assert (reference.table != before).any()


@pytest.mark.product(learner=LEARNERS, preset=PRESETS, decide_at=("arrival", "head"), epsilon=(0.0, 0.1))
def test_a_learner_learns_the_same_from_python(
    learner: Any, preset: str, decide_at: str, epsilon: float
) -> None:
    network = dfe.NetworkConfig.preset(preset, decide_at=decide_at)
    check_equal(config_of(network=network), dfe.make_policy(learner, epsilon=epsilon))


@pytest.mark.parametrize(
    ("parameters", "network"),
    in_turn(
        [
            {"integer_values": True},
            {"integer_values": True, "beta": 0.5, "initial_values": "path-time"},
            {"next_value": "taken"},
            {"initial_values": "path-time"},
            {"rows": "group"},
            {"rows": "router", "next_value": "taken"},
            {"learn_until_ns": 2000.0, "epsilon": 1.0},
            {"alpha": 1.0, "beta": 1.0, "epsilon": 1.0},
            {"q_thld1": -5.0, "q_thld2": -5.0},
            {"q_thld1": 1e9, "q_thld2": 0.0},
            {"exploration": "least-occupied", "epsilon": 0.5},
            {"occupancy_weight": 1.0},
            {"queue_weight": 0.5},
            {"queue_weight": 0.37, "occupancy_weight": 0.11, "initial_values": "path-time"},
            {"occupancy_weight": 0.23, "exploration": "least-occupied", "next_value": "taken"},
            {"source_ports": "global"},
            {"source_ports": "global", "queue_weight": 2.0, "next_value": "taken", "rows": "router"},
        ],
        ("default", "q-adaptive"),
    ),
)
def test_parameters_of_q_adaptive_do_not_matter(parameters: dict[str, Any], network: str) -> None:
    check_equal(config_of(network=network), dfe.make_policy("q-adaptive", **{"epsilon": 0.1, **parameters}))


@pytest.mark.parametrize(
    "parameters", [{"max_hops": 1}, {"max_hops": 5}, {"max_hops": 12}, {"alpha": 1.0, "epsilon": 1.0}]
)
@pytest.mark.parametrize("network", ["default", "lia"])
def test_parameters_of_q_routing_do_not_matter(parameters: dict[str, Any], network: str) -> None:
    check_equal(
        config_of(network=network), dfe.make_policy("q-routing", **{"epsilon": 0.1, **parameters}), 2000.0
    )


@pytest.mark.parametrize("initial_values", ["latency", "path-time"])
@pytest.mark.parametrize(
    "changes", [{}, {"link_start": "immediate"}, {"link_start": "immediate", "switching": "cut-through"}]
)
def test_initial_values_follow_the_network(changes: dict[str, str], initial_values: str) -> None:
    network = dfe.NetworkConfig(
        routing_delay_ns=30.0,
        crossbar_latency_ns=7.0,
        local_latency_ns=11.0,
        global_bandwidth_gbytes_per_s=2.0,
        **changes,
    )
    check_equal(
        config_of(network=network), dfe.make_policy("q-adaptive", epsilon=0.1, initial_values=initial_values)
    )


@pytest.mark.parametrize("preset", ["default", "q-adaptive"])
@pytest.mark.parametrize("learner", LEARNERS)
def test_the_number_of_threads_does_not_matter(learner: Any, preset: str) -> None:
    topology = dfe.Dragonfly.preset("1056", arrangement="absolute")
    config = config_of(topology=topology, network=preset, traffic="uniform", threads=2)
    assert dfe.Simulation(config).num_partitions > 1
    check_equal(config, dfe.make_policy(learner, epsilon=0.1), 1000.0)


@pytest.mark.parametrize("preset", ["default", "q-adaptive"])
@pytest.mark.parametrize("learner", LEARNERS)
def test_tables_stay_equal_until_the_network_is_empty(learner: Any, preset: str) -> None:
    config, policy = config_of(network=preset, load=0.3), dfe.make_policy(learner, epsilon=0.1)
    alone = dfe.Simulation(config.replace(policy=policy))
    alone.run(1500.0)
    env, reference = played(config, policy, 1500.0)
    for _ in range(2):
        alone.run(700.5)
        batch = env.extend(700.5)
        while not env.done:
            batch = env.step(reference.act(batch))
        np.testing.assert_array_equal(reference.table, alone.q_table())
    assert alone.drain()
    env.drain(reference)
    assert env.trace_hash() == alone.trace_hash()
    # The last reports may still be on their way; the reference implementation knows all of them.
    alone.run(2000.0)
    reference.receive(env.feedback())
    reference._learn(np.full(len(reference._reports), True))
    np.testing.assert_array_equal(reference.table, alone.q_table())
    assert not reference._decided  # every decision had its report


@pytest.mark.parametrize("learner", LEARNERS)
def test_an_evaluation_is_the_same_in_the_core_and_in_python(learner: Any) -> None:
    inside, outside = (
        evaluate_policy(
            dfe.make_policy(learner, epsilon=0.05),
            config_of(),
            warmup_ns=1000.0,
            measure_ns=1000.0,
            native=native,
        ).to_dict()
        for native in (True, False)
    )
    assert inside == outside

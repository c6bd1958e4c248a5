"""A rollout of the core is the run of the same policy from Python, with log-probabilities of the time of decisions."""

from __future__ import annotations

import copy
import dataclasses
import os
import signal
import threading
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import dragonfly_env as dfe
from dragonfly_env.baselines import MlpNetwork
from dragonfly_env.baselines.mlp import scores as scores_of
from dragonfly_env.baselines.mlp_arithmetic import log_probabilities, tamed
from dragonfly_env.decisions.batch import Rollout, Transitions
from tests.parity.cases import config_of, native
from tests.parity.test_mlp import ACTIONS, ACTIVATIONS, CROSSINGS_AND_WAITS, OUTPUTS, SCORINGS, policy_of

Key = tuple[int, int]


def joined(parts: Sequence[Transitions]) -> Transitions:
    """All parts, by scenario and decision id."""
    columns = {
        field.name: np.concatenate([getattr(part, field.name) for part in parts])
        for field in dataclasses.fields(Transitions)
    }
    order = np.lexsort((columns["decision_ids"], columns["scenario"]))
    return Transitions(**{name: column[order] for name, column in columns.items()})


def keys_of(transitions: Transitions) -> list[Key]:
    return list(zip(transitions.scenario.tolist(), transitions.decision_ids.tolist(), strict=True))


def from_python(env: dfe.BatchedRoutingEnv, policy: dfe.Policy) -> tuple[Transitions, dict[Key, np.float32]]:
    """An episode by ``step``: its transitions, and the log-probability of each decision by the NumPy reference."""
    parts, logs = [], {}
    batch = env.reset(seed=7)
    while not env.done:
        actions = policy.act(batch)
        of_actions = np.zeros(len(batch), np.float32)
        if policy.network.output == "softmax":
            scores = tamed(scores_of(policy.network, batch))
            all_logs = log_probabilities(scores, batch.mask, policy.network.temperature)
            of_actions = all_logs[np.arange(len(batch)), actions]
        keys = zip(batch.scenario.tolist(), batch.decision_ids.tolist(), strict=True)
        logs |= dict(zip(keys, of_actions, strict=True))
        batch = env.step(actions)
        parts.append(env.transitions())
    return joined(parts), logs


def collected(env: dfe.BatchedRoutingEnv, policy: Any, count: int) -> list[Rollout]:
    """An episode of rollouts."""
    env.reset(seed=7)
    rollouts = []
    while not env.done:
        rollouts.append(env.rollout(policy, transitions=count))
        assert len(rollouts[-1]) >= count or env.done
    return rollouts


def check_equal(
    config: dfe.SimulationConfig | list[dfe.SimulationConfig],
    policy: dfe.Policy,
    count: int = 50,
    **options: Any,
) -> list[Rollout]:
    """Every bit of an episode of rollouts is that of an episode by ``step``."""
    env = dfe.BatchedRoutingEnv.for_policy(config, policy, duration_ns=2_000.0, **options)
    transitions, logs = from_python(env, policy)
    hashes = [env.trace_hash(scenario) for scenario in range(env.num_scenarios)]
    rollouts = collected(env, policy, count)
    assert [env.trace_hash(scenario) for scenario in range(env.num_scenarios)] == hashes
    assert sum(rollout.decisions for rollout in rollouts) == len(logs)
    ours = joined([rollout.transitions for rollout in rollouts])
    assert len(rollouts) > 1  # the episode is cut
    for field in dataclasses.fields(Transitions):
        np.testing.assert_array_equal(getattr(ours, field.name), getattr(transitions, field.name))
    for rollout in rollouts:
        expected = np.array([logs[key] for key in keys_of(rollout.transitions)], np.float32)
        np.testing.assert_array_equal(rollout.log_probs.view(np.uint32), expected.view(np.uint32))
    return rollouts


@pytest.mark.product(action=ACTIONS, scoring=SCORINGS, activation=ACTIVATIONS, output=OUTPUTS)
def test_a_rollout_has_the_bits_of_the_reference_and_of_the_policy_of_the_core(
    action: str, scoring: str, activation: str, output: str
) -> None:
    config = config_of(traffic="uniform", load=0.3)
    for scope, reward in (("source", "hop"), ("every", "delivery")):
        policy = policy_of(
            config,
            action=action,
            scoring=scoring,
            activation=activation,
            output=output,
            scope=scope,
            seed=3,
            temperature=0.3,
            hidden_units=(13, 6),
        )
        rollouts = check_equal(config, policy, reward=reward)
        logs = np.concatenate([rollout.log_probs for rollout in rollouts])
        assert (logs.min() < -0.5) == (output == "softmax")
        assert logs.max() <= 0
        env = dfe.BatchedRoutingEnv.for_policy(config, policy, duration_ns=2_000.0)
        collected(env, policy, 1_000)
        assert env.trace_hash() == native(config, policy, 2_000.0).trace_hash()


@pytest.mark.parametrize("threads", [1, 2])
def test_scenarios_of_several_sizes_share_a_rollout(threads: int) -> None:
    sizes = (dfe.Dragonfly.preset("72"), dfe.Dragonfly(2, 4, 2, 5), dfe.Dragonfly.preset("342"))
    configs = [config_of(topology=topology, threads=threads) for topology in sizes]
    policy = policy_of(
        configs[0],
        features=("candidate_kind", "candidate_time_packets", "candidate_packets", "hops"),
        scale=(0.0, 16.0, 16.0, 0.0),
        output="softmax",
        seed=2,
    )
    check_equal(configs, policy, 300, occupancy_unit="packets")


def test_a_network_with_a_second_stage_decides_as_the_policy_does() -> None:
    fields: dict[str, Any] = {"features": CROSSINGS_AND_WAITS, "nonminimal_kinds": ("gl", "lgl", "g", "lg")}
    policy = policy_of(config_of(), nonminimal_candidates=3, second_stage=True, seed=1, **fields)
    check_equal(config_of(), policy)
    check_equal(config_of(), dfe.make_policy("neural-v1"))  # type: ignore[arg-type]


def test_log_probabilities_near_and_at_their_limits_are_the_logarithms_of_the_softmax() -> None:
    rng = np.random.default_rng(1)
    scores = (rng.standard_normal((5_000, 7)) * 10 ** rng.uniform(-3, 3, (5_000, 1))).astype(np.float32)
    mask = rng.random(scores.shape) < 0.6
    mask[:, 2] = True
    for temperature in (0.01, 1.0, 30.0):
        logs = log_probabilities(scores, mask, temperature)
        exponents = scores.astype(np.float64) / np.float32(temperature)
        exponents -= np.where(mask, exponents, -np.inf).max(axis=1, keepdims=True)
        weights = np.exp(np.where(mask, np.maximum(exponents, -700), -np.inf))
        exact = exponents - np.log(weights.sum(axis=1))[:, None]
        assert (np.isinf(logs) == ~mask).all()
        shown = mask & (exponents > -80)
        np.testing.assert_allclose(logs[shown], exact[shown], rtol=2e-7, atol=3e-7)
        assert (logs[mask & ~shown] > -90.0).all()  # finite where no draw would ever choose them


def softmax(seed: int) -> MlpNetwork:
    return MlpNetwork.random(seed=seed, output="softmax")


def env_of(**options: Any) -> dfe.BatchedRoutingEnv:
    shown: dict[str, Any] = {"scope": "source", "action": "path", "features": softmax(1).features}
    return dfe.BatchedRoutingEnv(config_of(), **{**shown, "duration_ns": 4_000.0, **options})


def test_a_decision_keeps_the_log_probability_of_the_policy_that_made_it() -> None:
    env = env_of()
    env.reset(seed=1)
    logs: dict[int, dict[int, float]] = {1: {}, 2: {}}
    for seed in logs:
        other = copy.deepcopy(env)
        while not other.done:  # one policy to the end
            rollout = other.rollout(softmax(seed), 10**6)
            logs[seed] |= dict(
                zip(rollout.transitions.decision_ids.tolist(), rollout.log_probs.tolist(), strict=True)
            )
    first = env.rollout(softmax(1), 500)
    second = env.rollout(softmax(2), 1_200)
    assert first.log_probs.tolist() == [logs[1][i] for i in first.transitions.decision_ids.tolist()]
    ids = second.transitions.decision_ids.tolist()
    early = [logs[1].get(i) == log for i, log in zip(ids, second.log_probs.tolist(), strict=True)]
    assert 20 < sum(early) < len(second) - 20


def test_python_and_rollouts_take_turns_and_copies_go_on_alike() -> None:
    env = env_of(duration_ns=10_000.0)
    env.reset(seed=1)
    made_by_step = 0
    for _ in range(10):
        rollout = env.rollout(softmax(1), 150)
        made_by_step += int(np.isnan(rollout.log_probs).sum())
        assert np.isfinite(rollout.log_probs).any()
        copies = [copy.deepcopy(env), dfe.BatchedRoutingEnv.restore(env.snapshot()), env.fork()]
        batch = env.pending
        batch = env.step(batch.minimal_actions())
        for other in copies:
            other.step(other.pending.minimal_actions())
            assert np.array_equal(other.pending.obs, batch.obs)
            ours = copy.deepcopy(env).rollout(softmax(2), 50)
            theirs = other.rollout(softmax(2), 50)
            assert np.array_equal(ours.log_probs, theirs.log_probs, equal_nan=True)
            assert np.array_equal(ours.transitions.next_obs, theirs.transitions.next_obs)
    assert made_by_step > 50


def test_ctrl_c_stops_a_rollout_and_nothing_is_lost() -> None:
    whole, env = env_of(duration_ns=150_000.0), env_of(duration_ns=150_000.0)
    whole.reset(seed=1)
    undisturbed = whole.rollout(softmax(1), 10**9)
    env.reset(seed=1)
    threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        env.rollout(softmax(1), 10**9)
    assert 0 < env.time_ns < 150_000
    rest = env.rollout(softmax(1), 10**9)
    assert env.trace_hash() == whole.trace_hash()
    np.testing.assert_array_equal(rest.transitions.decision_ids, undisturbed.transitions.decision_ids)
    np.testing.assert_array_equal(rest.log_probs, undisturbed.log_probs)


def test_a_rollout_ends_with_the_episode_and_refuses_what_does_not_fit() -> None:
    env = env_of()
    with pytest.raises(dfe.StateError, match=r"^rollout\(\): call reset\(\) first"):
        env.rollout(softmax(1), 10)
    env.reset()
    with pytest.raises(dfe.ConfigError, match="must be a policy with a neural network"):
        env.rollout(dfe.make_policy("ugal-n"), 10)
    with pytest.raises(dfe.ConfigError, match=r"^transitions = 0"):
        env.rollout(softmax(1), 0)
    with pytest.raises(dfe.ConfigError, match="chooses ports"):
        env.rollout(MlpNetwork.random(action="port"), 10)
    with pytest.raises(dfe.ConfigError, match="'age': must be one that this network shows"):
        env.rollout(MlpNetwork.random(features=("candidate_kind", "age")), 10)
    rollout = env.rollout(softmax(1), 10**9)
    assert env.done
    assert len(env.pending) == 0
    assert 0 < len(rollout) < 10**9
    with pytest.raises(dfe.StateError, match="the episode is over"):
        env.rollout(softmax(1), 10)
    without = env_of(transitions=False)
    without.reset()
    with pytest.raises(dfe.StateError, match=r"rollout\(\): the environment was made with transitions=False"):
        without.rollout(softmax(1), 10)
    small = env_of(max_uncollected_bytes=10_000)
    small.reset()
    with pytest.raises(dfe.StateError, match=r"rollout\(\): more than 10000 bytes"):
        small.rollout(softmax(1), 10**6)
    assert not small.done  # it stopped at once
    times = env_of(occupancy_unit="ns")
    times.reset()
    assert len(times.rollout(softmax(1), 10)) >= 10  # columns as they are
    with pytest.raises(dfe.ConfigError, match="which counts packets"):
        times.rollout(MlpNetwork.random(scale=(0.0, 16.0, 0.0, 0.0, 0.0)), 10)

"""The linear learner: it beats random paths and heuristics with every seed, its file, the core."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import dragonfly_env as dfe
from dragonfly_env.agents import RandomPolicy, evaluate_policy, fit, load_agent, make_agent
from dragonfly_env.errors import ConfigError, StateError

pytest.importorskip("torch", reason="agents' files need the extra [sb3]")

from dragonfly_env.agents.path_times import PathTimesAgent

CONFIG = dfe.SimulationConfig(topology="72", traffic="adv+1", load=0.35)
TIMES = {"warmup_ns": 10_000.0, "measure_ns": 10_000.0, "seed": 102}


def trained(seed: int = 1) -> PathTimesAgent:
    agent = PathTimesAgent(seed=seed)
    fit(agent, CONFIG, episodes=4, episode_ns=5_000.0)
    return agent


@pytest.mark.parametrize("seed", [1, 2])
def test_a_short_training_is_better_than_random_paths_and_heuristics(seed: int) -> None:
    learned = evaluate_policy(trained(seed), CONFIG, **TIMES).latency_mean_ns
    for policy in (RandomPolicy(), "ugal-n", "lia"):
        assert learned < evaluate_policy(policy, CONFIG, **TIMES).latency_mean_ns


def test_a_saved_agent_decides_as_before_and_goes_on_learning(tmp_path: Path) -> None:
    agent = trained()
    agent.save(tmp_path / "agent.zip")
    loaded = load_agent(tmp_path / "agent.zip")
    assert isinstance(loaded, PathTimesAgent)
    np.testing.assert_array_equal(loaded.weights, agent.weights)
    fit(loaded, CONFIG, episodes=6, first_episode=4, episode_ns=2_000.0)
    assert loaded.episodes == 6


def test_the_core_decides_as_the_agent_that_was_exported(tmp_path: Path) -> None:
    agent = trained()
    policy = dfe.make_policy("mlp", weights=agent.export_mlp(tmp_path / "agent"))
    env = dfe.BatchedRoutingEnv.for_policy(CONFIG, policy, duration_ns=2_000.0)
    batch = env.reset(seed=1)
    decisions = equal = 0
    while not env.done:
        actions = policy.act(batch)
        chosen = agent.act(batch)
        decisions, equal = decisions + len(batch), equal + int((actions == chosen).sum())
        batch = env.step(actions)
    assert decisions > 300
    assert equal > 0.99 * decisions  # single against double precision


def test_calls_that_make_no_sense_are_refused(tmp_path: Path) -> None:
    with pytest.raises(StateError, match=r"export_mlp\(\): there are no weights yet"):
        make_agent("path-times").export_mlp(tmp_path / "agent")  # type: ignore[attr-defined]
    with pytest.raises(ConfigError, match=r"^explore = 2"):
        make_agent("path-times", explore=2)

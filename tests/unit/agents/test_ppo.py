"""The agent that learns by PPO from exact transitions: its rollouts, its determinism, its file, other sizes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dragonfly_env as dfe
from dragonfly_env.agents import fit, load_agent, make_env
from dragonfly_env.agents.settings import PpoSettings
from dragonfly_env.errors import ConfigError, StateError

pytest.importorskip("stable_baselines3")

from dragonfly_env.agents._sb3 import torch
from dragonfly_env.agents.ppo import ActionScores, PpoAgent, Rollout
from dragonfly_env.baselines import Mlp

TINY = dfe.SimulationConfig(topology=dfe.Dragonfly(p=1, a=3, h=1), traffic="adv+1", load=0.4)
SYSTEM = dfe.SimulationConfig(topology=dfe.Dragonfly.preset("72"), traffic="adv+1", load=0.35, seed=2)
QUICK: dict[str, Any] = {
    "rollout_transitions": 100,
    "batch_transitions": 40,
    "epochs": 2,
    "hidden_units": (8, 4),
    "learning_rate": 0.02,
}
SHORT: dict[str, Any] = {"episode_ns": 3_000.0}


def trained(seed: int = 1, config: Any = TINY, **settings: Any) -> PpoAgent:
    agent = PpoAgent(PpoSettings(**{**QUICK, **settings}), seed=seed)
    fit(agent, config, episodes=2, **SHORT)
    assert agent.statistics()["improvements"] > 2
    return agent


def weights(agent: PpoAgent) -> list[Any]:
    return [
        tensor.detach().numpy() for part in (agent._network, agent._average) for tensor in part.parameters()
    ]


def test_a_rollout_joins_what_was_chosen_with_what_came_of_it_in_each_scenario() -> None:
    configs = [TINY, TINY.replace(load=0.6, seed=9), TINY.replace(traffic="uniform")]
    env = dfe.BatchedRoutingEnv(configs, scope="every", action="path", reward="delivery", duration_ns=2_000.0)
    rollout, said, waiting, ended = Rollout(), {}, 0, 0
    batch = env.reset(seed=3)
    rng = np.random.default_rng(1)
    while not env.done:
        likely = rng.random(len(batch)).astype(np.float32)
        actions = batch.minimal_actions()
        keys = zip(batch.scenario.tolist(), batch.decision_ids.tolist(), strict=True)
        said |= dict(zip(keys, likely.tolist(), strict=True))
        rollout.chosen(batch, likely)
        batch = env.step(actions)
        transitions = env.transitions()
        rollout.ended(transitions)
        waiting += len(transitions)
        assert len(rollout) == waiting
        if waiting > 150:
            samples, now = rollout.take(), list(rollout_keys(transitions))
            assert samples is not None
            assert len(samples.actions) == waiting
            np.testing.assert_array_equal(
                samples.log_probabilities[-len(now) :], np.array([said[key] for key in now], np.float32)
            )
            np.testing.assert_array_equal(
                samples.returns[-len(now) :], transitions.rewards.astype(np.float32)
            )
            assert samples.masks[np.arange(waiting), samples.actions].all()
            ended, waiting = ended + waiting, 0
    assert ended > 300
    assert rollout.take() is None or waiting > 0


def rollout_keys(transitions: Any) -> Any:
    return zip(transitions.scenario.tolist(), transitions.decision_ids.tolist(), strict=True)


def test_scores_do_not_depend_on_the_number_or_order_of_actions() -> None:
    network = ActionScores(3, (8,))
    rows = torch.rand(5, 4, 3)
    masks = torch.tensor([[True, True, False, True]]).expand(5, 4)
    logs, values = network.log_probabilities(rows, masks), network.values(rows, masks)
    np.testing.assert_allclose(logs.exp().sum(dim=1).detach(), 1.0, rtol=1e-6)
    assert torch.isinf(logs[:, 2]).all()
    order = [3, 0, 1]
    fewer = rows[:, order], masks[:, order]
    np.testing.assert_allclose(network.log_probabilities(*fewer).detach(), logs[:, order].detach(), rtol=1e-5)
    np.testing.assert_allclose(network.values(*fewer).detach(), values.detach(), rtol=1e-5)


def test_a_saved_agent_is_the_one_that_was_saved_and_goes_on_learning(tmp_path: Path) -> None:
    agent = PpoAgent(PpoSettings(**QUICK), seed=1)
    fit(agent, TINY, episodes=2, seed=3, **SHORT)
    agent.save(tmp_path / "agent.zip")
    loaded = load_agent(tmp_path / "agent.zip")
    assert isinstance(loaded, PpoAgent)
    loaded.save(tmp_path / "again.zip")
    assert (tmp_path / "again.zip").read_bytes() == (tmp_path / "agent.zip").read_bytes()
    before = loaded.statistics()["improvements"]
    fit(loaded, TINY, episodes=4, first_episode=2, seed=3, **SHORT)
    assert loaded.statistics()["improvements"] > before > 0


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"sample": False},
        {"scope": "every", "nonminimal_kinds": ("lgl", "g")},
        {"action": "port", "scope": "every"},
    ],
)
def test_the_core_decides_as_the_agent_that_was_exported(settings: dict[str, Any], tmp_path: Path) -> None:
    agent = trained(config=SYSTEM, **settings)
    policy = Mlp(weights=str(agent.export_mlp(tmp_path / "agent")))
    env = dfe.BatchedRoutingEnv.for_policy(SYSTEM, policy, duration_ns=2_000.0)
    asked = dfe.BatchedRoutingEnv(SYSTEM, **agent.env_options())
    assert env.layout == asked.layout
    decisions = equal = 0
    batch = env.reset(seed=SYSTEM.seed)
    while not env.done:
        actions = policy.act(batch)
        decisions, equal = decisions + len(batch), equal + int((actions == agent.act(batch)).sum())
        batch = env.step(actions)
    assert decisions > 300
    assert equal > 0.995 * decisions  # the rest: scores or draws within rounding
    native = dfe.Simulation(SYSTEM.replace(policy=policy))
    native.run(2_000)
    assert native.trace_hash() == env.trace_hash()


def test_calls_and_settings_that_make_no_sense_are_refused(tmp_path: Path) -> None:
    agent = PpoAgent(PpoSettings(**QUICK))
    with pytest.raises(StateError, match=r"export_mlp\(\)"):
        agent.export_mlp(tmp_path / "agent.npz")
    with pytest.raises(ConfigError, match=r"^scope = 'progressive': must be"):
        PpoSettings(action="port", scope="progressive")
    per_port = PpoAgent(PpoSettings(features=("hops", "queue_packets")))
    with pytest.raises(ConfigError, match=r"^features = 'queue_packets': is per port"):
        per_port.prepare(make_env(TINY, per_port, duration_ns=1_000.0))
    other = PpoAgent(PpoSettings(features=("hops", "candidate_hops")))
    with pytest.raises(ConfigError, match=r"^features = .*this ppo agent was trained with"):
        trained().prepare(make_env(TINY, other, duration_ns=1_000.0))

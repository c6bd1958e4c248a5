"""The agent that learns by PPO from exact transitions: its rollouts, its determinism, its file, other sizes."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dragonfly_env as dfe
from dragonfly_env.agents import CongestedTrainingWarning, fit, load_agent, ppo
from dragonfly_env.errors import ConfigError, StateError

pytest.importorskip("torch")

import torch

from dragonfly_env.agents.ppo import (
    ActionScores,
    PpoAgent,
    PpoSettings,
    common_returns,
    draw_actions,
)

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
    return [tensor.detach().numpy() for tensor in agent.networks.parameters()]


def test_collecting_in_the_core_learns_what_acting_from_python_learns() -> None:
    """Equal decisions and returns, up to rounding, give almost the same network after one improvement."""
    several = [TINY, TINY.replace(load=0.6, seed=9), TINY.replace(traffic="uniform")]
    settings = PpoSettings(**{**QUICK, "rollout_transitions": 10**6, "batch_transitions": 10**6})
    agents = [PpoAgent(settings, seed=1) for _ in range(2)]
    envs = [dfe.BatchedRoutingEnv(several, duration_ns=4_000.0, **agent.env_options()) for agent in agents]
    for agent, env in zip(agents, envs, strict=True):
        agent.prepare(env)
        agent.set_training(True)
        batch = env.reset(seed=1)
        while not env.done:
            if agent is agents[0]:
                rollout = agent.collect(env)
            else:
                batch = env.step(agent.act(batch))
                agent.learn(env.transitions())
        agent.improve()
    assert rollout.decisions >= len(rollout) > 300
    assert envs[0].trace_hash(0) == envs[1].trace_hash(0)
    rows, masks = agents[0].rows.of(rollout.transitions.obs), torch.from_numpy(rollout.transitions.mask)
    for function in ("log_probabilities", "values"):
        ours, theirs = (getattr(agent.newest, function)(rows, masks).detach() for agent in agents)
        np.testing.assert_allclose(ours, theirs, atol=1e-3)


def test_log_probabilities_of_a_rollout_are_those_of_the_network() -> None:
    agent = PpoAgent(PpoSettings(**QUICK, scope="every", occupancy_unit="ns"), seed=1)
    env = dfe.BatchedRoutingEnv(SYSTEM, duration_ns=4_000.0, **agent.env_options())
    agent.prepare(env)
    env.reset(seed=1)
    rollout = env.rollout(agent.policy_in_core(), 500)
    seen = rollout.transitions
    logs = agent.newest.log_probabilities(agent.rows.of(seen.obs), torch.from_numpy(seen.mask))
    actions = torch.from_numpy(seen.actions.astype(np.int64))
    of_actions = logs.gather(1, actions[:, None])[:, 0].detach().numpy()
    np.testing.assert_allclose(rollout.log_probs, of_actions, atol=1e-5)


def test_a_return_of_the_second_stage_has_the_times_of_the_packets_that_leave_later() -> None:
    """Relative to their mean, each packet once, discounted by how much later it leaves, and only in its own pool."""

    class Made:
        rewards = np.array([-1.0, -2.0, -0.5, -6.0, -4.0])
        decision_time_ns = np.array([0.0, 100.0, 150.0, 200.0, 100.0])
        hops = np.array([0, 0, 1, 0, 0])  # the third: a second decision

    made: Any = Made
    once, twice = np.exp(-0.1), np.exp(-0.2)  # the mean of the first pool is -3
    pools = np.array([0, 0, 0, 0, 1])
    returns = common_returns(made, pools, horizon_ns=1_000.0)
    expected = [-1.0 + once * 1.0 - twice * 3.0, -2.0 - once * 3.0, -0.5 - np.exp(-0.05) * 3.0, -6.0, -4.0]
    np.testing.assert_allclose(returns, expected, rtol=1e-6)


def test_the_second_stage_begins_after_the_decisions_of_the_first_and_depends_on_whose_time_counts() -> None:
    second = {"first_stage_decisions": 300, "common_transitions": 200}
    agents = [trained(config=SYSTEM, share=share, **second) for share in ("packet", "group", "all")]
    assert all(agent.second_stage for agent in agents)
    packet, group, everyone = map(weights, agents)
    assert any((ours != theirs).any() for ours, theirs in zip(packet, everyone, strict=True))
    assert any((ours != theirs).any() for ours, theirs in zip(group, everyone, strict=True))


def test_the_weights_that_were_best_in_a_validation_act_and_a_congested_end_is_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    agent = PpoAgent(PpoSettings(**QUICK, validation_decisions=0), seed=1)
    costs = iter([50.0, 60.0, 40.0, 45.0, 90.0, 95.0])  # drawn and likeliest by episode
    monkeypatch.setattr(agent, "_measure", lambda output: [next(costs)])
    with pytest.warns(CongestedTrainingWarning, match="its last weights cost 2.2 times as much"):
        fit(agent, TINY, episodes=3, **SHORT)
    assert (agent.best_costs, agent.costs, agent.greedy) == ([40.0], [90.0], False)
    best, average = (list(network.parameters()) for network in (agent.best, agent.average))
    assert any((ours != theirs).any() for ours, theirs in zip(best, average, strict=True))
    assert agent.acting(agent._built("test"))[0] is agent.best.policy


def test_likeliest_actions_that_go_on_improving_are_found_although_drawn_ones_were_never_better(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    agent = PpoAgent(PpoSettings(**QUICK, validation_decisions=0), seed=1)
    costs = {"softmax": iter([50.0, 45.0]), "greedy": iter([30.0, 25.0])}
    monkeypatch.setattr(agent, "_measure", lambda output: [next(costs[output])])
    fit(agent, TINY, episodes=2, **SHORT)
    assert (agent.best_costs, agent.costs, agent.greedy) == ([25.0], [25.0], True)


def test_a_network_over_all_columns_is_refused_in_another_size() -> None:
    agent = trained(config=SYSTEM, scoring="all")
    other = SYSTEM.replace(topology=dfe.Dragonfly.preset("342"))
    with pytest.raises(ConfigError, match=r"^scoring = 'all': fits only systems"):
        agent.prepare(dfe.BatchedRoutingEnv(other, **agent.env_options()))


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


@pytest.mark.filterwarnings("ignore::dragonfly_env.agents.CongestedTrainingWarning")  # a short training
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
        {"scoring": "all"},
        {"scoring": "all", "action": "port", "scope": "every"},
        {"scope": "every", "nonminimal_kinds": ("lgl", "g")},
        {"action": "port", "scope": "every"},
    ],
)
def test_the_core_decides_as_the_agent_that_was_exported(settings: dict[str, Any], tmp_path: Path) -> None:
    agent = trained(config=SYSTEM, **settings)
    policy = dfe.make_policy("mlp", weights=agent.export_mlp(tmp_path / "agent"))
    env = dfe.BatchedRoutingEnv.for_policy(SYSTEM, policy, duration_ns=2_000.0)
    needed = dfe.BatchedRoutingEnv(SYSTEM, **agent.env_options())
    assert env.layout == needed.layout
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


def test_actions_are_drawn_as_often_as_they_are_likely_and_never_without_probability() -> None:
    rng = np.random.default_rng(0)
    weights = np.array([[0.0, 1.0, 3.0, 0.0], [2.0, 0.0, 0.0, 0.0], [1e-300, 0.0, 0.0, 1.0]])
    counts = np.zeros(weights.shape)
    for _ in range(4_000):
        counts[np.arange(3), draw_actions(weights, rng.random(3))] += 1
    np.testing.assert_allclose(counts / 4_000, weights / weights.sum(axis=1, keepdims=True), atol=0.03)
    for draw in (0.0, np.nextafter(1.0, 0.0)):
        chosen = draw_actions(weights, np.full(3, draw))
        assert (weights[np.arange(3), chosen] > 0).all()


def test_calls_and_settings_that_make_no_sense_are_refused(tmp_path: Path) -> None:
    agent = PpoAgent(PpoSettings(**QUICK))
    with pytest.raises(StateError, match=r"export_mlp\(\)"):
        agent.export_mlp(tmp_path / "agent.npz")
    with pytest.raises(ConfigError, match=r"^scope = 'progressive': must be"):
        PpoSettings(action="port", scope="progressive")
    env_of = functools.partial(dfe.BatchedRoutingEnv.for_policy, TINY, duration_ns=1_000.0)
    per_port = PpoAgent(PpoSettings(features=("hops", "queue_packets")))
    with pytest.raises(ConfigError, match=r"^features = 'queue_packets': is per port"):
        per_port.prepare(env_of(per_port))
    other = PpoAgent(PpoSettings(features=("hops", "candidate_hops")))
    with pytest.raises(ConfigError, match=r"^features = .*this ppo agent was trained with"):
        trained().prepare(env_of(other))


def test_a_validation_keeps_few_transitions_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    agent = trained()
    agent.validate()
    whole = agent.costs
    monkeypatch.setattr(ppo, "_PIECE", 200)
    few = {**agent.env_options(), "max_uncollected_bytes": 400_000}
    monkeypatch.setattr(agent, "env_options", lambda: few)
    agent.validate()
    assert agent.costs == whole

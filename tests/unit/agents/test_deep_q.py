"""The deep Q agent, on decisions made by hand."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dragonfly_env.errors import ConfigError

pytest.importorskip("torch")

import torch

import dragonfly_env as dfe
from dragonfly_env.agents.deep_q import DeepQAgent, DeepQSettings, ReplayBuffer
from tests.unit.fake_env import FakeTransitions, FakeWorld

QUICK = DeepQSettings(
    hidden_units=(16,),
    learning_rate=0.01,
    first_transitions=50,
    train_every_transitions=8,
    batch_transitions=32,
    target_update_steps=20,
    target_update_share=1.0,
    epsilon_decisions=2_000,
)


def trained(
    settings: DeepQSettings = QUICK, seed: int = 3, rounds: int = 400
) -> tuple[DeepQAgent, FakeWorld]:
    world, agent = FakeWorld(), DeepQAgent(settings, seed=seed)
    agent.set_training(True)
    states = np.arange(16) % world.length
    for _ in range(rounds):
        actions = agent.act(world.batch(states))  # type: ignore[arg-type]
        states, transitions = world.step(states, actions)
        agent.learn(transitions)  # type: ignore[arg-type]
    agent.set_training(False)
    return agent, world


def values(agent: DeepQAgent, world: FakeWorld) -> Any:
    with torch.no_grad():
        return agent.online(torch.from_numpy(world.obs(np.arange(world.length)))).numpy()


def test_values_are_the_time_to_the_end_through_the_decisions_of_others() -> None:
    agent, world = trained()
    learned = values(agent, world)
    assert learned[:, 1] == pytest.approx([-4, -3, -2, -1], abs=0.3)
    assert (agent.act(world.batch(np.arange(4))) == 1).all()  # type: ignore[arg-type]


def test_an_illegal_action_is_never_taken_and_never_enters_a_target() -> None:
    world, agent = FakeWorld(), DeepQAgent(dataclasses.replace(QUICK, epsilon_start=1.0, epsilon_end=1.0))
    agent.set_training(True)
    states = np.arange(1_000) % world.length
    actions = agent.act(world.batch(states))  # type: ignore[arg-type]
    assert set(actions.tolist()) == {0, 1}
    for network in (agent.online, agent.target):
        with torch.no_grad():
            network[-1].bias[2] = 1e6  # an illegal action looks best
    assert (agent.act(world.batch(states)) != 2).all()  # type: ignore[arg-type]
    _, transitions = world.step(states, actions)
    agent.learn(transitions)  # type: ignore[arg-type]
    assert agent.statistics()["gradient_steps"] > 0
    assert agent.statistics()["loss"] < 100


def test_it_explores_only_while_it_trains_and_less_and_less() -> None:
    agent, world = trained(rounds=10)
    assert agent.epsilon == 0.0
    agent.set_training(True)
    assert agent.epsilon == pytest.approx(1.0 - 0.98 * 160 / 2_000)
    agent.act(world.batch(np.zeros(4_000, np.int64)))  # type: ignore[arg-type]
    assert agent.epsilon == pytest.approx(QUICK.epsilon_end)


def test_a_saved_agent_acts_and_goes_on_as_the_one_that_was_saved(tmp_path: Path) -> None:
    agent, world = trained(rounds=60)
    agent.metadata = {"made": "by a test"}
    agent.save(tmp_path / "deep" / "agent.zip")
    loaded = DeepQAgent.load(tmp_path / "deep" / "agent.zip")
    assert loaded.settings == agent.settings
    assert loaded.metadata == {"made": "by a test"}
    assert {**loaded.statistics(), "buffer_transitions": 0, "loss": 0} == {
        **agent.statistics(),
        "buffer_transitions": 0,
        "loss": 0,
    }
    np.testing.assert_array_equal(values(agent, world), values(loaded, world))
    loaded.set_training(True)
    agent.set_training(True)
    assert loaded.epsilon == agent.epsilon
    loaded.save(tmp_path / "again.zip")
    assert (tmp_path / "again.zip").read_bytes() == (tmp_path / "deep" / "agent.zip").read_bytes()


def transitions_of(numbers: Any) -> FakeTransitions:
    """Transitions that carry their number everywhere."""
    count = len(numbers)
    column = np.asarray(numbers, np.float32)[:, None]
    return FakeTransitions(
        *(column, np.asarray(numbers), -column[:, 0].astype(float), column + 1),
        *(np.ones((count, 2), bool), np.zeros(count, bool)),
    )


def test_the_replay_buffer_keeps_the_newest_transitions_whole() -> None:
    buffer = ReplayBuffer(10, 1, 2, np.random.default_rng(0))
    for start, stop in ((0, 4), (4, 4), (4, 9), (9, 13)):
        buffer.extend(transitions_of(range(start, stop)))  # type: ignore[arg-type]
        assert buffer.filled == min(10, stop)
        held = set(range(max(0, stop - 10), stop))
        obs, actions, rewards, next_obs, *_ = buffer.draw(200)
        assert {int(v) for v in obs[:, 0]} == held
        assert torch.equal(actions.float(), obs)
        assert torch.equal(rewards, -obs)
        assert torch.equal(next_obs, obs + 1)
    buffer.extend(transitions_of(range(100, 137)))  # type: ignore[arg-type]
    assert {int(v) for v in buffer.draw(500)[0][:, 0]} == set(range(127, 137))


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("action", "link"),
        ("hidden_units", (0,)),
        ("nonminimal_kinds", ("lgl", "x")),
        ("learning_rate", 0),
        ("batch_transitions", 200_000),
    ],
)
def test_impossible_settings_are_refused_by_name(field: str, value: Any) -> None:
    with pytest.raises(ConfigError, match=f"^{field} = "):
        DeepQSettings(**{field: value})


def test_an_agent_over_ports_does_not_fit_routers_with_more_ports() -> None:
    agent = DeepQAgent(QUICK)
    for hosts in ("72", "342"):
        config = dfe.SimulationConfig(topology=dfe.Dragonfly.preset(hosts), traffic="uniform", load=0.2)
        env = dfe.BatchedRoutingEnv.for_policy(config, agent, duration_ns=1_000.0)
        if hosts == "72":
            agent.prepare(env)
    with pytest.raises(ConfigError, match=r"8 actions, but .* trained with 5: choose an agent over paths"):
        agent.prepare(env)

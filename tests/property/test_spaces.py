"""Observations, states and actions of views lie in their spaces: over networks, buffers, patterns and actions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

import dragonfly_env as dfe
from dragonfly_env import dragonfly_v0
from dragonfly_env.decisions.layout import ALL_FEATURES, CANDIDATE_FEATURES, FEATURES
from dragonfly_env.envs.packet import PacketRouting
from tests.property.configurations import SEEDS, settings_of_runs

DECISIONS = [
    ("every", "port"),
    ("source", "port"),
    ("all", "port"),
    ("every", "path"),
    ("source-all", "path"),
]


@st.composite
def options(draw: st.DrawFn) -> dict[str, Any]:
    """Keyword arguments of a view; they may not suit each other."""
    scope, action = draw(st.sampled_from(DECISIONS))
    features = draw(st.sampled_from([None, FEATURES, ALL_FEATURES, (*FEATURES, *CANDIDATE_FEATURES)]))
    return {
        **draw(settings_of_runs()),
        "scope": scope,
        "action": action,
        "features": features,
        "occupancy_unit": draw(st.sampled_from(["buffers", "packets", "ns"])),
        "duration_ns": draw(st.sampled_from([300.0, 2_000.0])),
        "warmup_ns": draw(st.sampled_from([0.0, 3_000.0])),
    }


def made(make: Any, given: dict[str, Any]) -> Any:
    try:
        return make(**given)
    except dfe.ConfigError:
        return None


def a_legal(mask: np.ndarray, random: np.random.Generator) -> int:
    return int(random.choice(np.flatnonzero(mask)))


@given(chosen=options(), seed=SEEDS)
@settings(max_examples=60)
def test_a_view_s_observations_and_states_lie_in_its_spaces(chosen: dict[str, Any], seed: int) -> None:
    env = made(dragonfly_v0.parallel_env, chosen)
    if env is None:
        return
    random = np.random.default_rng(seed)
    spaces = {name: env.observation_space(name) for name in env.possible_agents}
    observations, _ = env.reset(seed=seed)
    for rounds in range(60):
        assert env.state_space.contains(env.state())
        for name, seen in observations.items():
            assert spaces[name].contains(seen), name
        if not env.agents:
            break
        actions = {name: a_legal(seen["action_mask"], random) for name, seen in observations.items()}
        assert all(env.action_space(name).contains(action) for name, action in actions.items())
        observations = env.step(actions)[0]
        event(f"{min(rounds, 10)} rounds")


@given(chosen=options(), seed=SEEDS)
@settings(max_examples=30)
def test_observations_and_states_of_one_router_after_another_lie_in_the_spaces(
    chosen: dict[str, Any], seed: int
) -> None:
    env = made(dragonfly_v0.env, chosen)
    if env is None:
        return
    random = np.random.default_rng(seed)
    spaces = {name: env.observation_space(name) for name in env.possible_agents}
    env.reset(seed=seed)
    turns = 0
    for name in env.agent_iter(max_iter=150):
        seen, _, terminated, truncated, _ = env.last()
        assert spaces[name].contains(seen), name
        assert env.state_space.contains(env.state())
        if terminated or truncated:
            env.step(None)
            continue
        action = a_legal(seen["action_mask"], random)
        assert env.action_space(name).contains(action)
        env.step(action)
        turns += 1
    event(f"{min(turns, 10)} turns")


@given(chosen=options(), seed=SEEDS)
@settings(max_examples=30)
def test_rows_of_a_vector_environment_lie_in_its_space(chosen: dict[str, Any], seed: int) -> None:
    pytest.importorskip("stable_baselines3", reason="needs the extra [sb3]")
    env = made(dfe.RouterVecEnv, chosen)
    if env is None:
        return
    random = np.random.default_rng(seed)
    env.seed(seed % 2**32)
    seen = env.reset()
    for _ in range(40):
        for row in seen:
            assert env.observation_space.contains(row)
        actions = np.array([a_legal(mask, random) for mask in env.action_masks()])
        assert all(env.action_space.contains(action) for action in actions)
        seen, _, dones, infos = env.step(actions)
        if dones[0]:
            event("an episode ends")
            for info in infos:
                assert env.observation_space.contains(info["terminal_observation"])


@given(chosen=options(), seed=SEEDS)
@settings(max_examples=30)
def test_a_packet_s_observations_lie_in_its_space(chosen: dict[str, Any], seed: int) -> None:
    env = made(PacketRouting, {key: chosen[key] for key in chosen if key != "reward"})
    if env is None:
        return
    random = np.random.default_rng(seed)
    over = True
    for _ in range(40):
        if over:
            try:
                seen, _ = env.reset()
            except dfe.ConfigError:  # no packet waits in the whole simulated time
                return
            over = False
        else:
            seen, _, terminated, truncated, _ = env.step(a_legal(seen["action_mask"], random))
            over = terminated or truncated
        assert env.observation_space.contains(seen)


@pytest.mark.parametrize(
    "chosen",
    [
        {"traffic": "hotspot:hosts=1,fraction=1.0", "load": 0.8},
        {"traffic": "uniform", "load": 1.0},
        {"traffic": "uniform", "load": 1.0, "network": "aries"},
        {"traffic": "adv+1", "load": 1.0, "network": "q-adaptive"},
        {"traffic": "adv+1", "load": 1.0, "network": "lia"},
    ],
    ids=str,
)
def test_the_state_of_a_congested_network_lies_in_its_space(chosen: dict[str, Any]) -> None:
    env = dragonfly_v0.parallel_env(topology="72", duration_ns=8_000.0, seed=1, **chosen)
    random = np.random.default_rng(1)
    observations, _ = env.reset()
    most = 0.0
    while env.agents:
        observations = env.step(
            {name: a_legal(seen["action_mask"], random) for name, seen in observations.items()}
        )[0]
        state = env.state()
        assert env.state_space.contains(state)
        most = max(most, float(state.max()))
    assert most > 0.4

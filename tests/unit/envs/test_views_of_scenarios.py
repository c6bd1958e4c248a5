"""Views of several scenarios, and the options of a reset."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
import pytest

import dragonfly_env as dfe
from dragonfly_env import dragonfly_v0
from tests.unit.small_env import config

SMALL: dict[str, Any] = {"duration_ns": 800.0, "warmup_ns": 0.0}
CHANGE = {"traffic": "uniform", "load": 0.7, "seed": 12}


def several() -> list[dfe.SimulationConfig]:
    return [config(seed=4), config(seed=5, traffic="uniform", load=0.6)]


def drawn(seed: int) -> list[dfe.SimulationConfig]:
    return [config(load=0.2 + seed % 7 / 20), config(traffic="uniform")]


def growing(seed: int) -> dfe.SimulationConfig:
    """The first network has 36 routers, later ones have twelve."""
    return config(topology=dfe.Dragonfly.preset("72") if seed == 1 else dfe.Dragonfly(p=1, a=3, h=1))


def alone(**options: Any) -> list[int]:
    """The history of each scenario when all packets go minimally."""
    found = []
    for scenario in several():
        env = dfe.BatchedRoutingEnv(scenario, **{**SMALL, **options})
        batch = env.reset()
        while not env.done:
            batch = env.step(batch.minimal_actions())
        found.append(env.trace_hash())
    return found


def hashes(env: dfe.BatchedRoutingEnv) -> list[int]:
    return [env.trace_hash(i) for i in range(env.num_scenarios)]


def test_the_parallel_view_has_the_routers_of_all() -> None:
    env = dragonfly_v0.parallel_env(config=several(), illegal_action="raise", **SMALL)
    assert len(env.possible_agents) == 72
    observations, _ = env.reset()
    while env.agents:
        rows = env.round_batch
        chosen = dict(zip(env.acting, rows.minimal_actions().tolist(), strict=True))
        assert all(not observations[name]["action_mask"][-1] for name in chosen)
        observations, rewards, _, _, _ = env.step(
            {**dict.fromkeys(env.agents, env.core.num_actions), **chosen}
        )
        assert set(rewards) == set(env.possible_agents)
        assert env.state().shape == env.state_space.shape == (72, env.core.state_shape[1])
    assert hashes(env.core) == alone()


def test_states_of_networks_of_different_sizes_are_padded() -> None:
    large = config(topology=dfe.Dragonfly.preset("342"))
    settings = {"action": "path", "scope": "source", "features": ["hops"]}
    env = dragonfly_v0.parallel_env(config=[config(), large], **settings, **SMALL)
    env.reset()
    state = env.state()
    assert state.shape == env.state_space.shape == (36 + 114, env.core.state(1).shape[1])
    width = env.core.state(0).shape[1]
    assert np.array_equal(state[:36, :width], env.core.state(0))
    assert np.array_equal(state[36:], env.core.state(1))
    assert not state[:36, width:].any()


def test_the_aec_view_has_the_routers_of_all() -> None:
    env = dragonfly_v0.raw_env(config=several(), illegal_action="raise", **SMALL)
    env.reset()
    acted = set()
    while not env.truncations[env.agent_selection]:
        acted.add(env.agent_selection)
        env.step(int(env.selected_batch.minimal_actions()[0]))
    assert hashes(env.core) == alone()
    assert max(int(name.removeprefix("router_")) for name in acted) > 36


def test_the_vector_view_has_the_routers_of_all() -> None:
    pytest.importorskip("stable_baselines3")
    env = dfe.RouterVecEnv(several(), illegal_action="raise", **SMALL)
    assert env.num_envs == 72
    env.reset()
    masks = env.action_masks()
    assert masks[36:, :-1].any()
    done = False
    while not done:
        rounds = env._rounds
        assert rounds is not None
        actions = np.full(72, env.core.num_actions)
        actions[rounds.acting] = rounds.batch.minimal_actions()
        _, _, dones, infos = env.step(actions)
        done = bool(dones.any())
    assert dones.all()
    assert [infos[0]["trace_hash"], infos[36]["trace_hash"]] == alone()
    assert "metrics" in infos[36]
    assert "decisions" not in infos[36]


def test_the_vector_view_takes_options_by_scenario() -> None:
    pytest.importorskip("stable_baselines3")
    env = dfe.RouterVecEnv(several(), **SMALL)
    env.set_options([CHANGE, {"load": 0.1}])
    env.reset()
    first, second = env.core.configs
    assert (first.traffic, first.load, first.seed, second.load) == ("uniform", 0.7, 12, 0.1)
    env.reset()
    assert env.core.config.traffic == "adv+1"
    env.set_options({"load": 0.3})
    env.reset()
    assert [config.load for config in env.core.configs] == [0.3, 0.3]
    with pytest.raises(dfe.ConfigError, match="must be 2: one for each scenario"):
        env.set_options([{"load": 0.1}] * 72)


def test_drawn_scenarios_in_a_view_keep_their_places() -> None:
    env = dragonfly_v0.parallel_env(config=drawn, load=0.3, **SMALL)
    env.reset(seed=3)
    assert {config.load for config in env.core.configs} == {0.3}
    assert len(env.possible_agents) == 72
    changing = dragonfly_v0.parallel_env(
        config=growing, action="path", scope="source", features=["hops"], seed=1, **SMALL
    )
    assert changing.core.seed == 1
    changing.reset()
    with pytest.raises(dfe.ConfigError, match="a place for each"):
        changing.reset(seed=2)


def made_views() -> dict[str, Callable[[], tuple[Any, Callable[[], dfe.SimulationConfig]]]]:
    def parallel() -> tuple[Any, Callable[[], dfe.SimulationConfig]]:
        env = dragonfly_v0.parallel_env(config=config(), **SMALL)
        return env, lambda: env.core.config

    def aec() -> tuple[Any, Callable[[], dfe.SimulationConfig]]:
        env = dragonfly_v0.env(config=config(), **SMALL)
        return env, lambda: env.unwrapped.core.config

    def packet() -> tuple[Any, Callable[[], dfe.SimulationConfig]]:
        env: Any = gymnasium.make("dragonfly_env/PacketRouting-v0", config=config(), duration_ns=5_000.0)
        return env, lambda: env.unwrapped.core.config

    return {"parallel": parallel, "aec": aec, "packet": packet}


@pytest.mark.parametrize("view", made_views())
def test_options_change_the_episode_that_begins(view: str) -> None:
    env, present = made_views()[view]()
    env.reset(options=CHANGE)
    assert (present().traffic, present().load, present().seed) == ("uniform", 0.7, 12)
    env.reset(seed=3)
    assert (present().traffic, present().load, present().seed) == ("adv+1", 0.35, 3)
    for options in ({"pattern": "uniform"}, {"load": 2.0}, {"traffic": "nothing"}):
        with pytest.raises(dfe.ConfigError):
            env.reset(options=options)


def test_drawn_scenarios_begin_with_a_seed_of_the_operating_system() -> None:
    first, other = (dragonfly_v0.parallel_env(config=drawn, **SMALL) for _ in range(2))
    assert first.core.seed != other.core.seed

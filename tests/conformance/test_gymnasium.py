"""The Gymnasium id passes Gymnasium's checker, and what it does not look at: whole runs, bad input, memory."""

from __future__ import annotations

import copy
import functools
import subprocess
import sys
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AsyncVectorEnv

import dragonfly_env as dfe

PACKET = "dragonfly_env/PacketRouting-v0"

VARIANTS: dict[str, dict[str, Any]] = {
    "packet": {},
    "packet, paths": {"background": "par"},
    "packet, forced hops too": {"scope": "all", "traffic": "uniform", "load": 0.9},
    "packet, source router": {"scope": "source", "reward": "delivery", "render_mode": "ansi"},
    "packet, no routing delay": {"network": "q-adaptive", "warmup_ns": 0.0, "duration_ns": 5_000.0},
    "packet, image": {"render_mode": "rgb_array", "features": ["queue_packets", "is_minimal"]},
}


def make(**settings: Any) -> gymnasium.Env[Any, Any]:
    return gymnasium.make(PACKET, **settings)


def run(env: gymnasium.Env[Any, Any], episodes: int, seed: int) -> tuple[list[float], list[int]]:
    """Random actions; rewards of all steps, and the trace hash after each episode."""
    rng = np.random.default_rng(seed)
    view: Any = env.unwrapped
    rewards, hashes = [], []
    for episode in range(episodes):
        env.reset(seed=seed if episode == 0 else None)
        over = False
        while not over:
            action = rng.integers(env.action_space.n)  # type: ignore[attr-defined]  # it is Discrete
            _, reward, terminated, truncated, _ = env.step(action)
            rewards.append(float(reward))
            over = terminated or truncated
        hashes.append(view.core.trace_hash())
    return rewards, hashes


@pytest.mark.parametrize("settings", VARIANTS.values(), ids=VARIANTS)
def test_gymnasiums_checker(settings: dict[str, Any]) -> None:
    check_env(make(**settings).unwrapped)


def test_the_id_is_known_without_an_import() -> None:
    code = f"import gymnasium; gymnasium.make('dragonfly_env:{PACKET}').reset(seed=1)"
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True)


def test_importing_twice_registers_once() -> None:
    from dragonfly_env.envs import registration

    spec = gymnasium.spec(PACKET)
    registration.register()
    assert gymnasium.spec(PACKET) is spec


def test_one_seed_is_one_history() -> None:
    settings, episodes = {"duration_ns": 20_000.0}, 60
    first = run(make(**settings), episodes, seed=3)
    again = make(**settings)
    run(again, 2, seed=4)
    assert run(again, episodes, seed=3) == first
    assert run(make(threads=2, **settings), episodes, seed=3) == first
    assert run(make(**settings), episodes, seed=4) != first
    assert len(set(first[1])) > 1


def test_without_a_seed_the_configuration_says_it_and_then_the_generator_goes_on() -> None:
    def two(env: gymnasium.Env[Any, Any], seed: int | None) -> list[Any]:
        firsts = [env.reset(seed=seed)[0], env.reset()[0]]
        return [list(first.values()) for first in firsts]

    def warm(**settings: Any) -> gymnasium.Env[Any, Any]:
        return make(warmup_ns=2_000.0, **settings)  # so that there is something to see at once

    given, implied, other = two(warm(), 5), two(warm(seed=5), None), two(warm(seed=6), None)
    for rows, same in zip(given, implied, strict=True):
        assert all(np.array_equal(a, b) for a, b in zip(rows, same, strict=True))
    assert not all(np.array_equal(a, b) for a, b in zip(given[0], other[0], strict=True))
    assert not all(np.array_equal(a, b) for a, b in zip(given[0], given[1], strict=True))


def test_a_mapping_describes_the_simulation_too() -> None:
    config = dfe.SimulationConfig(topology=dfe.Dragonfly.preset("72"), policy="ugal-n", load=0.2)
    given: Any = make(config=config).unwrapped
    told: Any = make(config=config.to_dict()).unwrapped
    assert given.core.config == told.core.config == config


def given(env: gymnasium.Env[Any, Any]) -> gymnasium.Env[Any, Any]:
    return env


@pytest.mark.parametrize("settings", [{}, {"flat_observation": True}], ids=str)
def test_gymnasiums_vector_of_processes_takes_environments(settings: dict[str, Any]) -> None:
    env = make(duration_ns=1_000.0, warmup_ns=500.0, **settings)
    env.reset(seed=1)
    vector = AsyncVectorEnv([functools.partial(given, copy.deepcopy(env)) for _ in range(2)], context="spawn")
    try:
        seen, _ = vector.reset(seed=[1, 2])
        masks = seen[:, -5:] if settings else seen["action_mask"]
        assert masks.shape == (2, 5)
        for _ in range(5):
            seen, rewards, *_ = vector.step(vector.action_space.sample())
        assert rewards.shape == (2,)
    finally:
        vector.close()

"""The Gymnasium ids pass Gymnasium's checker, and what it does not look at: whole runs, bad input, memory."""

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
BIAS = "dragonfly_env/BiasControl-v0"

VARIANTS: dict[str, tuple[str, dict[str, Any]]] = {
    "packet": (PACKET, {}),
    "packet, paths": (PACKET, {"background": "par"}),
    "packet, forced hops too": (PACKET, {"scope": "all", "traffic": "uniform", "load": 0.9}),
    "packet, source router": (PACKET, {"scope": "source", "reward": "delivery", "render_mode": "ansi"}),
    "packet, no routing delay": (PACKET, {"network": "q-adaptive", "warmup_ns": 0.0, "duration_ns": 5_000.0}),
    "packet, image": (PACKET, {"render_mode": "rgb_array", "features": ["queue_packets", "is_minimal"]}),
    "bias": (BIAS, {}),
    "bias, continuous": (BIAS, {"action": "box", "render_mode": "ansi"}),
    "bias, par": (BIAS, {"policy": "par", "throughput_weight": 2.0, "warmup_ns": 0.0}),
    "bias, image": (BIAS, {"render_mode": "rgb_array", "interval_ns": 500.0}),
}
variants = pytest.mark.parametrize(("name", "settings"), VARIANTS.values(), ids=VARIANTS)
ids = pytest.mark.parametrize("name", [PACKET, BIAS])


def make(name: str, **settings: Any) -> gymnasium.Env[Any, Any]:
    return gymnasium.make(name, **settings)


def run(env: gymnasium.Env[Any, Any], episodes: int, seed: int) -> tuple[list[float], list[int]]:
    """Random actions; rewards of all steps, and the trace hash after each episode."""
    rng = np.random.default_rng(seed)
    view: Any = env.unwrapped
    rewards, hashes = [], []
    for episode in range(episodes):
        env.reset(seed=seed if episode == 0 else None)
        over = False
        while not over:
            action = rng.integers(env.action_space.n)  # type: ignore[attr-defined]  # both are Discrete
            _, reward, terminated, truncated, _ = env.step(action)
            rewards.append(float(reward))
            over = terminated or truncated
        hashes.append(view.trace_hash() if hasattr(view, "trace_hash") else view.core.trace_hash())
    return rewards, hashes


@variants
def test_gymnasiums_checker(name: str, settings: dict[str, Any]) -> None:
    check_env(make(name, **settings).unwrapped)


@ids
def test_the_ids_are_known_without_an_import(name: str) -> None:
    code = f"import gymnasium; gymnasium.make('dragonfly_env:{name}').reset(seed=1)"
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True)


@ids
def test_importing_twice_registers_once(name: str) -> None:
    from dragonfly_env.envs import registration

    spec = gymnasium.spec(name)
    registration.register()
    assert gymnasium.spec(name) is spec


@pytest.mark.parametrize(("name", "episodes"), [(PACKET, 60), (BIAS, 2)])
def test_one_seed_is_one_history(name: str, episodes: int) -> None:
    settings = {"duration_ns": 20_000.0}
    first = run(make(name, **settings), episodes, seed=3)
    again = make(name, **settings)
    run(again, 2, seed=4)
    assert run(again, episodes, seed=3) == first
    assert run(make(name, threads=2, **settings), episodes, seed=3) == first
    assert run(make(name, **settings), episodes, seed=4) != first
    assert len(set(first[1])) > 1


@ids
def test_without_a_seed_the_configuration_says_it_and_then_the_generator_goes_on(name: str) -> None:
    def two(env: gymnasium.Env[Any, Any], seed: int | None) -> list[Any]:
        firsts = [env.reset(seed=seed)[0], env.reset()[0]]
        return [list(first.values()) if isinstance(first, dict) else [first] for first in firsts]

    def warm(**settings: Any) -> gymnasium.Env[Any, Any]:
        return make(name, warmup_ns=2_000.0, **settings)  # so that there is something to see at once

    given, implied, other = two(warm(), 5), two(warm(seed=5), None), two(warm(seed=6), None)
    for rows, same in zip(given, implied, strict=True):
        assert all(np.array_equal(a, b) for a, b in zip(rows, same, strict=True))
    assert not all(np.array_equal(a, b) for a, b in zip(given[0], other[0], strict=True))
    assert not all(np.array_equal(a, b) for a, b in zip(given[0], given[1], strict=True))


@ids
def test_a_mapping_describes_the_simulation_too(name: str) -> None:
    config = dfe.SimulationConfig(topology=dfe.Dragonfly.preset("72"), policy="ugal-n", load=0.2)
    given: Any = make(name, config=config).unwrapped
    told: Any = make(name, config=config.to_dict()).unwrapped
    of = (lambda env: env.config) if name == BIAS else (lambda env: env.core.config)
    assert of(given) == of(told) == config


def given(env: gymnasium.Env[Any, Any]) -> gymnasium.Env[Any, Any]:
    return env


@pytest.mark.parametrize("settings", [{}, {"flat_observation": True}], ids=str)
def test_gymnasiums_vector_of_processes_takes_environments(settings: dict[str, Any]) -> None:
    env = make(f"dragonfly_env:{PACKET}", duration_ns=1_000.0, warmup_ns=500.0, **settings)
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

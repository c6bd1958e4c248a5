"""Environments go to other processes: pickled, copied, and in the vector classes of the ecosystem."""

from __future__ import annotations

import copy
import functools
import pickle
from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AsyncVectorEnv

import dragonfly_env as dfe
from dragonfly_env import dragonfly_v0
from dragonfly_env.envs.bias import BiasControl
from dragonfly_env.envs.packet import PacketRouting

SHORT: dict[str, Any] = {"duration_ns": 1_000.0, "warmup_ns": 500.0}
CONFIG = dfe.SimulationConfig(topology=dfe.Dragonfly.preset("72"), traffic="adv+1", load=0.35, seed=11)


class Extended(dfe.BatchedRoutingEnv):
    """Somebody's own environment, with a constructor of its own."""

    def __init__(self, load: float) -> None:
        super().__init__(CONFIG.replace(load=load), duration_ns=1_000.0)


ENVIRONMENTS: dict[str, Callable[[], Any]] = {
    "batched": lambda: dfe.BatchedRoutingEnv(CONFIG, duration_ns=1_000.0),
    "for a policy": lambda: dfe.BatchedRoutingEnv.for_policy(
        CONFIG, dfe.make_policy("ugal-n"), duration_ns=1_000.0
    ),
    "extended": lambda: Extended(0.2),
    "parallel": lambda: dragonfly_v0.parallel_env(traffic="adv+1", **SHORT),
    "aec": lambda: dragonfly_v0.env(mask_in="info", **SHORT),
    "raw": lambda: dragonfly_v0.raw_env(for_policy="par", **SHORT),
    "packet": lambda: PacketRouting(CONFIG, background="ugal-n", **SHORT),
    "bias": lambda: BiasControl(interval_ns=500.0, **SHORT),
    "made": lambda: gymnasium.make("dragonfly_env/PacketRouting-v0", flat_observation=True, **SHORT),
}
WRAPPED = ("aec", "made")
COPIES: dict[str, Callable[[Any], Any]] = {
    "pickle": lambda env: pickle.loads(pickle.dumps(env)),
    "deepcopy": copy.deepcopy,
    "copy": copy.copy,
}


def episode(env: Any) -> int:
    """The next episode, or the first decisions of one packet; its history."""
    begun = env.reset()
    if isinstance(env, dfe.BatchedRoutingEnv):
        while not env.done:
            begun = env.step(begun.minimal_actions())
        return env.trace_hash()
    if isinstance(env, gymnasium.Env):
        for _ in range(2):
            if any(env.step(0)[2:4]):
                break
        inner = env.unwrapped
        return inner.trace_hash() if isinstance(inner, BiasControl) else inner.core.trace_hash()  # type: ignore[attr-defined]
    inner = env.unwrapped
    if isinstance(begun, tuple):
        while env.agents:
            env.step({}) if not env.acting else env.step(dict.fromkeys(env.possible_agents, inner._idle))
    else:
        for _ in env.agent_iter():
            _, _, _, over, _ = env.last()
            env.step(None if over else inner._idle)
    return inner.core.trace_hash()


@pytest.mark.parametrize(
    ("name", "how"),
    # A shallow copy of a wrapper has the same environment inside.
    [(name, how) for name in ENVIRONMENTS for how in COPIES if how != "copy" or name not in WRAPPED],
)
def test_a_copy_goes_on_with_the_seeds_of_the_original(name: str, how: str) -> None:
    made = COPIES[how]
    original = ENVIRONMENTS[name]()
    fresh = made(original)
    histories = [episode(original)]
    assert episode(fresh) == histories[0] != 0
    copied = made(original)
    again = made(copied)
    histories.append(episode(original))
    assert histories[0] != histories[1]
    assert episode(copied) == episode(again) == histories[1]


def made_by_gymnasium(**settings: Any) -> gymnasium.Env[Any, Any]:
    return gymnasium.make("dragonfly_env:dragonfly_env/PacketRouting-v0", **SHORT, **settings)


def given(env: Any) -> Any:
    return env


@pytest.mark.parametrize("settings", [{}, {"flat_observation": True}], ids=str)
def test_gymnasiums_vector_of_processes_takes_environments(settings: dict[str, Any]) -> None:
    env = made_by_gymnasium(**settings)
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


def test_stable_baselines_vector_of_processes_takes_environments() -> None:
    pytest.importorskip("stable_baselines3", reason="needs the extra [sb3]")
    from stable_baselines3.common.vec_env import SubprocVecEnv

    env = PacketRouting(CONFIG, **SHORT)
    vector = SubprocVecEnv([functools.partial(given, env)], start_method="spawn")
    try:
        seen = vector.reset()
        assert isinstance(seen, dict)
        assert seen["observation"].shape[0] == 1
        vector.step(np.array([vector.action_space.sample()]))
        assert vector.env_method("action_masks")[0].shape == (5,)
    finally:
        vector.close()

"""Stable-Baselines3 and sb3-contrib take the environments as they are: their checker, and a short training each."""

from __future__ import annotations

import functools
from typing import Any

import gymnasium
import numpy as np
import pytest

pytest.importorskip("stable_baselines3", reason="needs the extra [sb3]")
pytest.importorskip("sb3_contrib", reason="needs the extra [sb3]")

import stable_baselines3 as sb3
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.evaluation import evaluate_policy
from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported
from stable_baselines3.common import evaluation as sb3_evaluation
from stable_baselines3.common.env_checker import check_env
from stable_baselines3.common.vec_env import SubprocVecEnv, VecCheckNan, VecMonitor, VecNormalize

import dragonfly_env as dfe

PACKET = "dragonfly_env/PacketRouting-v0"
SHORT: dict[str, Any] = {"duration_ns": 2_000.0, "warmup_ns": 1_000.0}


def make(name: str, **settings: Any) -> gymnasium.Env[Any, Any]:
    return gymnasium.make(name, **settings)


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"background": "ugal-n", "render_mode": "rgb_array"},
        {"scope": "all", "render_mode": "ansi"},
        {"scope": "source", "network": "q-adaptive", "duration_ns": 5_000.0},
    ],
    ids=str,
)
def test_the_checker(settings: dict[str, Any]) -> None:
    env = make(PACKET, **settings)
    check_env(env, skip_render_check=False)
    check_env(env.unwrapped, skip_render_check=False)


def test_maskable_ppo_learns_on_router_vec_env_and_never_breaks_a_mask() -> None:
    env = dfe.RouterVecEnv(illegal_action="raise", **SHORT)
    assert is_masking_supported(env)
    model = MaskablePPO(
        "MlpPolicy", VecMonitor(env), n_steps=64, batch_size=64, n_epochs=1, device="cpu", seed=1
    )
    model.learn(total_timesteps=3 * 64 * env.num_envs)
    assert model.num_timesteps == 3 * 64 * env.num_envs
    assert len(model.ep_info_buffer) > 0

    observations = env.reset()
    for _ in range(50):
        actions, _ = model.predict(observations, action_masks=get_action_masks(env), deterministic=True)
        observations, _, _, _ = env.step(actions)
    mean, spread = evaluate_policy(model, env, n_eval_episodes=env.num_envs, warn=False)
    assert mean < 0
    assert np.isfinite(spread)


class Minimal:
    """A model that takes shortest paths."""

    def __init__(self, env: dfe.RouterVecEnv) -> None:
        self.env = env

    def predict(self, observations: Any, **_: Any) -> tuple[Any, None]:
        return self.env.action_masks().argmax(axis=1), None


def test_evaluate_policy_counts_a_slot_as_an_episode() -> None:
    env = dfe.RouterVecEnv(seed=1, **SHORT)

    def returns(count: int) -> list[float]:
        env.seed(5)
        rewards, _ = sb3_evaluation.evaluate_policy(
            Minimal(env), env, n_eval_episodes=count, return_episode_rewards=True, warn=False
        )
        return rewards

    every = returns(env.num_envs)
    batch = dfe.BatchedRoutingEnv(env.core.config, **SHORT)
    decisions = batch.reset(seed=5)
    while not batch.done:
        decisions = batch.step(decisions.mask.argmax(axis=1))
    assert sum(every) == pytest.approx(batch.rewards_by_router().sum(), rel=1e-5)
    # Fewer than slots: the last routers only.
    assert returns(3) == every[-3:]


def test_ppo_without_masks_is_kept_legal() -> None:
    env = dfe.RouterVecEnv(**SHORT)
    wrapped = VecCheckNan(VecNormalize(env), raise_exception=True)
    model = sb3.PPO("MlpPolicy", wrapped, n_steps=64, batch_size=64, n_epochs=1, device="cpu", seed=1)
    model.learn(total_timesteps=64 * env.num_envs)
    assert env.core.time_ns > 0


@pytest.mark.parametrize("algorithm", ["DQN", "PPO", "MaskablePPO"])
def test_learners_take_one_packets_journey(algorithm: str) -> None:
    env = make(PACKET, **SHORT)
    if algorithm == "DQN":
        model: Any = sb3.DQN(
            "MultiInputPolicy", env, learning_starts=32, buffer_size=500, device="cpu", seed=1
        )
    elif algorithm == "PPO":
        model = sb3.PPO("MultiInputPolicy", env, n_steps=64, batch_size=32, n_epochs=1, device="cpu", seed=1)
    else:
        model = MaskablePPO(
            "MultiInputPolicy", env, n_steps=64, batch_size=32, n_epochs=1, device="cpu", seed=1
        )
    model.learn(total_timesteps=128)
    _, info = env.reset(seed=1)
    assert info["illegal_actions"] == 0
    if algorithm == "MaskablePPO":
        assert is_masking_supported(model.get_env())


def given(env: gymnasium.Env[Any, Any]) -> gymnasium.Env[Any, Any]:
    return env


def test_the_vector_of_processes_takes_environments() -> None:
    vector = SubprocVecEnv([functools.partial(given, make(PACKET, **SHORT))], start_method="spawn")
    try:
        seen = vector.reset()
        assert isinstance(seen, dict)
        assert seen["observation"].shape[0] == 1
        vector.step(np.array([vector.action_space.sample()]))
        assert vector.env_method("action_masks")[0].shape == (5,)
    finally:
        vector.close()

"""Stable-Baselines3's own DQN, unchanged, on the Gymnasium view: one packet's journey is one episode.

The other packets follow UGAL. Needs the extra [sb3]. DQN knows no masks: an illegal action becomes the
minimal one. ``idqn_batched.py`` learns from every packet.
"""

from __future__ import annotations

import gymnasium
import numpy as np
import stable_baselines3
import torch

import dragonfly_env  # noqa: F401  # registers the environments


def mean_return(env: gymnasium.Env, model: stable_baselines3.DQN | None, journeys: int) -> float:
    """Mean reward of a journey, with a model's actions or with random legal ones."""
    rng, total = np.random.default_rng(5), 0.0
    for journey in range(journeys):
        observation, info = env.reset(seed=1_000 if journey == 0 else None)
        over = False
        while not over:
            if model is None:
                action = int(rng.choice(np.flatnonzero(info["action_mask"])))
            else:
                action = int(model.predict(observation, deterministic=True)[0])
            observation, reward, terminated, truncated, info = env.step(action)
            total += float(reward)
            over = terminated or truncated
    return total / journeys


def main() -> None:
    """Train for some thousand packets."""
    torch.set_num_threads(1)  # faster for networks this small
    env = gymnasium.make("dragonfly_env/PacketRouting-v0", background="ugal-n", warmup_ns=2_000.0)
    model = stable_baselines3.DQN(
        "MultiInputPolicy",
        env,
        learning_starts=500,
        exploration_fraction=0.5,
        target_update_interval=500,
        gamma=1.0,
        seed=1,
        device="cpu",
    )
    model.learn(2_000)
    print(f"random: {mean_return(env, None, 100):.2f} µs a journey")
    print(f"DQN:    {mean_return(env, model, 100):.2f} µs a journey")
    env.close()


if __name__ == "__main__":
    main()

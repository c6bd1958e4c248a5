"""sb3-contrib's MaskablePPO, unchanged, on the vector environment: one slot per router, one shared network.

Needs the extra [sb3]. What it reaches in minutes is in docs/learning.md.
"""

from __future__ import annotations

import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback

import dragonfly_env as dfe
from dragonfly_env.envs.vec import RouterVecEnv


class PrintEpisodes(BaseCallback):
    """Prints the mean packet latency of every episode that ends."""

    def _on_step(self) -> bool:
        if self.locals["dones"][0]:
            metrics = self.locals["infos"][0]["metrics"]
            print(f"after {self.num_timesteps:>6} steps: {metrics.latency_mean_ns:.0f} ns a packet")
        return True


def main() -> None:
    """Train for a few rollouts. A packet is rewarded for about 30 steps after its decision: hence the long horizon."""
    torch.set_num_threads(1)  # faster for networks this small
    config = dfe.SimulationConfig(topology=dfe.Dragonfly.preset("72"), traffic="adv+1", load=0.35)
    env = RouterVecEnv(
        config,
        scope="source",
        action="path",
        duration_ns=20_000.0,
        warmup_ns=2_000.0,
        reward_scale_ns=100_000.0,
    )
    model = MaskablePPO(
        "MlpPolicy",
        env,
        n_steps=512,
        batch_size=2048,
        n_epochs=4,
        gamma=0.998,
        gae_lambda=0.998,
        learning_rate=1e-3,
        seed=1,
        device="cpu",
    )
    model.learn(6 * 512 * env.num_envs, callback=PrintEpisodes())
    env.close()


if __name__ == "__main__":
    main()

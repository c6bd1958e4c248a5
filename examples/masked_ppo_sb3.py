"""sb3-contrib's MaskablePPO, unchanged, on the vector environment: all routers of eight networks, one shared policy.

Eight networks make 288 slots: a call of the policy decides for all of them, and gradient steps take 2,048 slots. Both
make a decision cheap. A slot in six idles. Needs the extra [sb3].
"""

from __future__ import annotations

import argparse

import numpy as np
import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback

import dragonfly_env as dfe
from dragonfly_env.agents import IntArray, evaluate_over_seeds
from dragonfly_env.decisions.batch import DecisionBatch

CONFIG = dfe.SimulationConfig(topology=dfe.Dragonfly.preset("72"), traffic="adv+1", load=0.35)


class PrintEpisodes(BaseCallback):
    """Prints the mean packet latency of every episode, over the networks."""

    made = 0

    def _on_step(self) -> bool:
        if self.locals["dones"][0]:
            self.made += self.locals["infos"][0]["decisions"]
            ends = [info["metrics"] for info in self.locals["infos"] if "metrics" in info]
            print(f"{self.made:>9,} decisions: {np.mean([one.latency_mean_ns for one in ends]):.0f} ns")
        return True


class Trained:
    """The model as a policy: draws paths from its distribution, with the random numbers of PyTorch."""

    name, scope, action = "masked-ppo", "source", "path"

    def __init__(self, model: MaskablePPO) -> None:
        self.model = model

    def act(self, batch: DecisionBatch) -> IntArray:
        """Choose a path for every packet. A batch has no action idle, so the mask gets one more column."""
        masks = np.pad(batch.mask, ((0, 0), (0, 1)))
        actions: IntArray = self.model.predict(batch.obs.copy(), action_masks=masks)[0]
        return actions


def main() -> None:
    """Train, and measure on traffic that the training did not have."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=1_500_000, help="steps of slots: 1.2 for each decision")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    torch.set_num_threads(1)  # faster for networks this small
    env = dfe.RouterVecEnv(
        [CONFIG] * 8,
        scope="source",
        action="path",
        share="group",
        duration_ns=20_000.0,
        reward_scale_ns=10_000.0,
    )
    model = MaskablePPO(
        "MlpPolicy",
        env,
        n_steps=64,
        batch_size=2048,
        n_epochs=3,
        gamma=0.98,
        gae_lambda=0.99,
        learning_rate=lambda left: 1e-3 * max(left, 0.05),
        policy_kwargs={"net_arch": [32]},
        seed=given.seed,
        device="cpu",
    )
    model.learn(given.steps, callback=PrintEpisodes())
    measured = evaluate_over_seeds(Trained(model), CONFIG, seeds=(101, 102))
    print(f"masked-ppo on new traffic: {measured.latency_mean_ns:.0f} ns")
    env.close()


if __name__ == "__main__":
    main()

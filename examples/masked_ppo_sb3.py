"""sb3-contrib's MaskablePPO, unchanged, on the vector environment: all routers of eight networks, one shared policy.

Eight networks make 288 slots: a call of the policy decides for all of them, and gradient steps take 2,048 slots. Both
make a decision cheap. Needs the extra [sb3].
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import numpy as np
import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback

import dragonfly_env as dfe
from dragonfly_env.agents import IntArray, evaluate_over_seeds
from dragonfly_env.decisions.batch import DecisionBatch

CONFIG = dfe.SimulationConfig(topology=dfe.Dragonfly.preset("72"), traffic="adv+1", load=0.35)


class Report(BaseCallback):
    """Reports the mean packet latency of every episode, over the networks."""

    def __init__(self, report: Callable[[int, float], None] | None) -> None:
        super().__init__()
        self.report, self.made = report, 0

    def _on_step(self) -> bool:
        if self.locals["dones"][0]:
            infos = self.locals["infos"]
            self.made += infos[0]["decisions"]
            latencies = [info["metrics"].latency_mean_ns for info in infos if "metrics" in info]
            if self.report is not None:
                self.report(self.made, float(np.mean(latencies)))
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


def train(*, seed: int, steps: int, report: Callable[[int, float], None] | None = None) -> Trained:
    """Train from random paths.

    Args:
        seed: Seed of weights, actions and traffic.
        steps: Steps of slots, of which 5 in 6 are decisions.
        report: Called after every episode with the decisions so far, and the mean latency in ns.
    """
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
        seed=seed,
        device="cpu",
    )
    model.learn(steps, callback=Report(report))
    return Trained(model)


def main() -> None:
    """Train, and measure on traffic that the training did not have."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--steps", type=int, default=1_500_000, help="of slots: 1.2 for each decision")
    given = parser.parse_args()
    policy = train(
        **vars(given), report=lambda made, latency: print(f"{made:>9,} decisions: {latency:.0f} ns")
    )
    measured = evaluate_over_seeds(policy, CONFIG, seeds=(101, 102))
    print(f"{policy.name} on new traffic: {measured.latency_mean_ns:.0f} ns")


if __name__ == "__main__":
    main()

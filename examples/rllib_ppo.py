"""RLlib's PPO with action masks on the parallel PettingZoo view: every router is an agent of one shared policy.

Needs the extra [rllib]; ``make test-rllib`` runs this in an environment of its own. RLlib's ``ParallelPettingZooEnv``
takes the view, and ``ActionMaskingTorchRLModule`` takes its masks, under the names that ``ForMaskingModules`` gives.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
import ray
from gymnasium import spaces
from pettingzoo.utils import BaseParallelWrapper
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.rl_module.multi_rl_module import MultiRLModuleSpec
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.rllib.env.wrappers.pettingzoo_env import ParallelPettingZooEnv
from ray.rllib.examples.rl_modules.classes.action_masking_rlm import ActionMaskingTorchRLModule
from ray.tune.registry import register_env

from dragonfly_env import dragonfly_v0


class ForMaskingModules(BaseParallelWrapper):
    """Observations as RLlib's modules for action masks expect them: ``observations`` and ``action_mask`` in float32."""

    def observation_space(self, agent: str) -> spaces.Dict:
        """The features, and the mask as numbers from 0 to 1."""
        space = self.env.observation_space(agent)
        mask = spaces.Box(0.0, 1.0, space["action_mask"].shape, np.float32)
        return spaces.Dict({"observations": space["observation"], "action_mask": mask})

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, Any]:
        """Start an episode."""
        observations, infos = self.env.reset(seed=seed, options=options)
        return self._renamed(observations), infos

    def step(self, actions: dict[str, int]) -> tuple[Any, ...]:
        """One round."""
        observations, *others = self.env.step(actions)
        return self._renamed(observations), *others

    def _renamed(self, observations: dict[str, Any]) -> dict[str, Any]:
        return {
            name: {"observations": seen["observation"], "action_mask": seen["action_mask"].astype(np.float32)}
            for name, seen in observations.items()
        }


def make_env(settings: dict[str, Any]) -> ParallelPettingZooEnv:
    """The environment of one runner, from settings of ``dragonfly_v0``."""
    env = dragonfly_v0.parallel_env(**settings, mask_in="observation")
    return ParallelPettingZooEnv(ForMaskingModules(env))


def make_config(**settings: object) -> PPOConfig:
    """PPO for one policy that all routers share."""
    register_env("dragonfly", make_env)
    router = RLModuleSpec(module_class=ActionMaskingTorchRLModule, model_config={"head_fcnet_hiddens": [32]})
    return (
        PPOConfig()
        # RLlib's own check of environments samples without masks; "raise" shows that training never breaks one.
        .environment(
            "dragonfly", env_config={"illegal_action": "raise", **settings}, disable_env_checking=True
        )
        .env_runners(num_env_runners=0)
        .multi_agent(policies={"router"}, policy_mapping_fn=lambda agent, *_args, **_kwargs: "router")
        .rl_module(rl_module_spec=MultiRLModuleSpec(rl_module_specs={"router": router}))
        .training(train_batch_size_per_learner=400, minibatch_size=200, num_epochs=2)
    )


def main() -> None:
    """Train for a few iterations, far too few to route well."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--iterations", type=int, default=2)
    iterations = parser.parse_args().iterations
    ray.init(num_cpus=1, include_dashboard=False, log_to_driver=False, configure_logging=False)
    algorithm = make_config(traffic="adv+1", load=0.35, duration_ns=5_000.0, seed=3).build_algo()
    for iteration in range(1, iterations + 1):
        result = algorithm.train()
        steps = int(result["env_runners"]["num_env_steps_sampled_lifetime"])
        loss = float(result["learners"]["router"]["total_loss"])
        print(f"iteration {iteration}: {steps} rounds, loss {loss:.3f}", flush=True)
    algorithm.stop()
    ray.shutdown()


if __name__ == "__main__":
    main()

"""RLlib's PPO with action masks on the parallel PettingZoo view: every router is an agent of one shared policy.

Needs the extra [rllib]; ``make test-rllib`` runs this in an environment of its own. RLlib's ``ParallelPettingZooEnv``
takes the view through ``RoutersThatAct``, which leaves out idle routers, and ``ActionMaskingTorchRLModule`` its masks.
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


class RoutersThatAct(BaseParallelWrapper):
    """The routers of a round that have a packet, as RLlib's modules for action masks expect their observations.

    A reward waits until its router acts again. At the end of an episode all routers that ever acted are shown again.
    """

    def observation_space(self, agent: str) -> spaces.Dict:
        """The features, and the mask as numbers from 0 to 1."""
        space = self.env.observation_space(agent)
        mask = spaces.Box(0.0, 1.0, space["action_mask"].shape, np.float32)
        return spaces.Dict({"observations": space["observation"], "action_mask": mask})

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, Any]:
        """Start an episode."""
        observations, _ = self.env.reset(seed=seed, options=options)
        self._owed = dict.fromkeys(observations, 0.0)
        self._acted: dict[str, None] = {}
        return self._shown(observations, self.env.acting), {}

    def step(self, actions: dict[str, int]) -> tuple[Any, ...]:
        """Do a round."""
        self._acted |= dict.fromkeys(actions)
        observations, rewards, terminations, truncations, _ = self.env.step(actions)
        for name, reward in rewards.items():
            self._owed[name] += reward
        names = self.env.acting if self.env.agents else list(self._acted)
        rewards = {name: self._owed.pop(name) for name in names}
        self._owed |= dict.fromkeys(names, 0.0)
        ends = [{name: of_all[name] for name in names} for of_all in (terminations, truncations)]
        return self._shown(observations, names), rewards, *ends, {}

    @staticmethod
    def _shown(observations: dict[str, Any], names: list[str]) -> dict[str, Any]:
        masks = {name: observations[name]["action_mask"].astype(np.float32) for name in names}
        return {
            name: {"observations": observations[name]["observation"], "action_mask": mask}
            for name, mask in masks.items()
        }


def make_env(settings: dict[str, Any]) -> ParallelPettingZooEnv:
    """The environment of one runner, from settings of ``dragonfly_v0``."""
    return ParallelPettingZooEnv(RoutersThatAct(dragonfly_v0.parallel_env(**settings)))


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

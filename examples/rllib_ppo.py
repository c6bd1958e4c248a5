"""RLlib's PPO with action masks, unchanged: every router an agent of one shared policy.

Needs the extra [rllib]; ``make test-rllib`` runs this in an environment of its own. RLlib's default modules take
neither a ``Dict`` nor masks; ``ActionMaskingTorchRLModule`` takes both, and comes with RLlib.
"""

from __future__ import annotations

import argparse

import ray
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.rl_module.multi_rl_module import MultiRLModuleSpec
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.rllib.examples.rl_modules.classes.action_masking_rlm import ActionMaskingTorchRLModule

from dragonfly_env.envs.rllib import RouterMultiAgentEnv


def make_config(**env_config: object) -> PPOConfig:
    """PPO for one policy that all routers share; ``env_config`` are settings of ``RouterMultiAgentEnv``."""
    router = RLModuleSpec(module_class=ActionMaskingTorchRLModule, model_config={"head_fcnet_hiddens": [32]})
    return (
        PPOConfig()
        # RLlib's own check of environments samples without masks; "raise" shows that training never breaks one.
        .environment(
            RouterMultiAgentEnv,
            env_config={"illegal_action": "raise", **env_config},
            disable_env_checking=True,
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

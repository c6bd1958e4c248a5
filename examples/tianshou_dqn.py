"""Tianshou's DQN on the AEC view: a small network, one learner per router, with action masks.

Needs ``pip install tianshou`` next to the package; ``make test-frameworks`` runs this in an environment of its own.
Tianshou takes the mask out of observations, where it is by default.
"""

from __future__ import annotations

import torch
from tianshou.algorithm import DQN
from tianshou.algorithm.modelfree.dqn import DiscreteQLearningPolicy
from tianshou.algorithm.multiagent.marl import MultiAgentOffPolicyAlgorithm
from tianshou.algorithm.optim import AdamOptimizerFactory
from tianshou.data import Collector, VectorReplayBuffer
from tianshou.env import DummyVectorEnv, PettingZooEnv
from tianshou.trainer import OffPolicyTrainerParams
from tianshou.utils.net.common import Net

from dragonfly_env import Dragonfly, dragonfly_v0


def make_env() -> PettingZooEnv:
    """Six routers in three groups of two."""
    return PettingZooEnv(
        dragonfly_v0.env(
            topology=Dragonfly(p=1, a=2, h=1),
            traffic="adv+1",
            load=0.5,
            duration_ns=3_000.0,
            illegal_action="raise",
        )
    )


def main() -> None:
    """Train for two short epochs, far too few to route well."""
    torch.set_num_threads(1)  # faster for networks this small
    torch.manual_seed(1)
    env = make_env()
    features = env.observation_space["observation"].shape
    learners = []
    for _ in env.agents:
        net = Net(state_shape=features, action_shape=env.action_space.n, hidden_sizes=[32])
        policy = DiscreteQLearningPolicy(
            model=net,
            action_space=env.action_space,
            observation_space=env.observation_space["observation"],
            eps_training=0.2,
        )
        learners.append(
            DQN(policy=policy, optim=AdamOptimizerFactory(lr=1e-3), gamma=0.9, target_update_freq=50)
        )
    algorithm = MultiAgentOffPolicyAlgorithm(algorithms=learners, env=env)
    environments = DummyVectorEnv([make_env])
    collector = Collector(algorithm, environments, VectorReplayBuffer(5_000, 1), exploration_noise=True)
    result = algorithm.run_training(
        OffPolicyTrainerParams(
            training_collector=collector,
            test_collector=None,
            max_epochs=2,
            epoch_num_steps=200,
            collection_step_num_env_steps=50,
            update_step_num_gradient_steps_per_sample=0.2,
            batch_size=32,
        )
    )
    print(f"{result.train_step} turns, {result.update_step} updates of {len(learners)} learners")


if __name__ == "__main__":
    main()

"""TorchRL on the parallel view: one masked policy that all routers share, trained by REINFORCE.

Needs ``pip install torchrl`` next to the package; ``make test-frameworks`` runs this in an environment of its own.
"""

from __future__ import annotations

import torch
from tensordict.nn import TensorDictModule
from torchrl.envs.libs.pettingzoo import PettingZooWrapper
from torchrl.modules import MLP, MaskedCategorical, ProbabilisticActor

from dragonfly_env import dragonfly_v0


def make_env() -> PettingZooWrapper:
    """All 36 routers in one group; an action that the mask forbids would raise."""
    env = dragonfly_v0.parallel_env(
        traffic="adv+1", load=0.35, duration_ns=2_000.0, seed=1, illegal_action="raise"
    )
    return PettingZooWrapper(env, group_map={"routers": env.possible_agents}, categorical_actions=True)


def main() -> None:
    """Train for a few episodes, far too few to route well."""
    torch.set_num_threads(1)  # faster for networks this small
    torch.manual_seed(1)
    env = make_env()
    num_actions = env.action_spec["routers", "action"].space.n
    observation = (
        "routers",
        "observation",
        "observation",
    )  # next to it was the mask, which the wrapper moved
    features = env.observation_spec[observation].shape[-1]
    network = MLP(in_features=features, out_features=num_actions, num_cells=[64])
    scores = TensorDictModule(network, in_keys=[observation], out_keys=[("routers", "logits")])
    actor = ProbabilisticActor(
        scores,
        in_keys={"logits": ("routers", "logits"), "mask": ("routers", "action_mask")},
        out_keys=[("routers", "action")],
        distribution_class=MaskedCategorical,
        return_log_prob=True,
        log_prob_key=("routers", "log_prob"),
    )
    optimiser = torch.optim.Adam(network.parameters(), lr=1e-3)
    for episode in range(1, 4):
        with torch.no_grad():
            rounds = env.rollout(200, actor)
        rewards = rounds["next", "routers", "reward"].squeeze(-1)
        returns = rewards.flip(0).cumsum(0).flip(0)  # returns of each router, to the end of the episode
        advantage = (returns - returns.mean(1, keepdim=True)) / (returns.std() + 1e-6)
        distribution = actor.get_dist(rounds)
        loss = -(distribution.log_prob(rounds["routers", "action"]) * advantage).mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        print(f"episode {episode}: {len(rounds)} rounds, reward {rewards.sum():.1f} µs, loss {loss:.3f}")


if __name__ == "__main__":
    main()

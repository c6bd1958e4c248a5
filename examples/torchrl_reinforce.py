"""TorchRL on the parallel view: one masked policy that all routers share, trained by REINFORCE.

Needs ``pip install torchrl`` next to the package; ``make test-frameworks`` runs this in an environment of its own.
TorchRL takes the mask out of one place only, makes tensors of all infos, and wants the same ones in every step:
``FeaturesAndMasks`` leaves the features in observations and the mask in infos, and nothing else.
"""

from __future__ import annotations

from typing import Any

import torch
from pettingzoo.utils import BaseParallelWrapper
from tensordict.nn import TensorDictModule
from torchrl.envs.libs.pettingzoo import PettingZooWrapper
from torchrl.modules import MLP, MaskedCategorical, ProbabilisticActor

from dragonfly_env import dragonfly_v0


class FeaturesAndMasks(BaseParallelWrapper[str, Any, int]):
    """Observations that are plain vectors of features, and infos that hold nothing but the action mask."""

    def observation_space(self, agent: str) -> Any:
        """The features of a router."""
        return self.env.observation_space(agent)["observation"]  # type: ignore[index]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, Any]:
        """Begin an episode."""
        return self._parts(self.env.reset(seed=seed, options=options)[0])

    def step(self, actions: dict[str, int]) -> tuple[Any, Any, Any, Any, Any]:
        """Do a round."""
        observations, rewards, terminations, truncations, _ = self.env.step(actions)
        features, masks = self._parts(observations)
        return features, rewards, terminations, truncations, masks

    @staticmethod
    def _parts(observations: Any) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
        features = {agent: seen["observation"] for agent, seen in observations.items()}
        return features, {agent: {"action_mask": seen["action_mask"]} for agent, seen in observations.items()}


def make_env() -> PettingZooWrapper:
    """All 36 routers in one group; an action that the mask forbids would raise."""
    env = dragonfly_v0.parallel_env(
        traffic="adv+1", load=0.35, duration_ns=2_000.0, seed=1, illegal_action="raise"
    )
    return PettingZooWrapper(
        FeaturesAndMasks(env), group_map={"routers": env.possible_agents}, categorical_actions=True
    )


def main() -> None:
    """Train for a few episodes, far too few to route well."""
    torch.set_num_threads(1)  # faster for networks this small
    torch.manual_seed(1)
    env = make_env()
    num_actions = env.action_spec["routers", "action"].space.n
    features = env.observation_spec["routers", "observation"].shape[-1]
    network = MLP(in_features=features, out_features=num_actions, num_cells=[64])
    scores = TensorDictModule(network, in_keys=[("routers", "observation")], out_keys=[("routers", "logits")])
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
        returns = rewards.flip(0).cumsum(0).flip(0)  # of each router, to the end of the episode
        advantage = (returns - returns.mean(1, keepdim=True)) / (returns.std() + 1e-6)
        distribution = actor.get_dist(rounds)
        loss = -(distribution.log_prob(rounds["routers", "action"]) * advantage).mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        print(f"episode {episode}: {len(rounds)} rounds, reward {rewards.sum():.1f} µs, loss {loss:.3f}")


if __name__ == "__main__":
    main()

"""Proximal policy optimisation for routers: sb3-contrib's MaskablePPO on the vector environment of all routers.

Every router is a slot of ``RouterVecEnv``; all share one network, and a router without a packet idles. Rewards are
those of the standard views: what completes in a step is given to the router that decided, mixed with what its other
packets earned. That makes credit assignment hard, compared with the exact transitions that ``deep_q`` learns from;
this agent shows what an off-the-shelf method makes of it.

Sources: Schulman et al., arXiv:1707.06347 (PPO); Huang, Ontanon, arXiv:2006.14171 (invalid action masking).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from dragonfly_env.agents._choice import pick
from dragonfly_env.agents._network_agent import NetworkAgent
from dragonfly_env.agents._sb3 import (
    BaseCallback,
    MaskableActorCriticPolicy,
    MaskablePPO,
    OwnRandomness,
    VecEnvWrapper,
    gymnasium,
    one_thread,
    polyak_update,
    seeded,
    torch,
)
from dragonfly_env.agents._trained_on import LayoutFacts
from dragonfly_env.agents.settings import MaskedPpoSettings
from dragonfly_env.agents.training import Episode, Schedule
from dragonfly_env.baselines._mlp_arithmetic import best_legal
from dragonfly_env.checks.values import config_error
from dragonfly_env.decisions.batch import IntArray
from dragonfly_env.errors import StateError

if TYPE_CHECKING:
    from dragonfly_env.decisions.batch import DecisionBatch, Transitions
    from dragonfly_env.envs.options import Several
    from dragonfly_env.simulation.config import SimulationConfig


class MaskedPpoAgent(NetworkAgent):
    """A policy network that all routers share, trained by MaskablePPO.

    Args:
        settings: What it sees and how it learns.
        seed: Of its initial weights, its actions while it trains and the order of its samples.

    Raises:
        ConfigError: For a seed out of range.

    Example:
        >>> agent = dfe.agents.MaskedPpoAgent(seed=1)
        >>> config = dfe.SimulationConfig(topology="72", load=0.1)
        >>> env = dfe.BatchedRoutingEnv(config, **agent.env_options())
        >>> agent.prepare(env)
        >>> agent.set_training(False)
        >>> agent.act(env.reset(seed=1)).dtype, agent.statistics()
        (dtype('int64'), {})
    """

    kind: ClassVar[str] = "masked-ppo"
    settings_class: ClassVar[type[MaskedPpoSettings]] = MaskedPpoSettings
    counters: ClassVar[dict[str, str]] = {"steps": "_steps"}
    settings: MaskedPpoSettings

    def __init__(self, settings: MaskedPpoSettings | None = None, *, seed: int = 0) -> None:
        super().__init__(settings, seed=seed)
        self._average: Any = None  # of its weights; acts when it is evaluated
        self._steps = 0
        self._statistics: dict[str, float] = {}

    def __repr__(self) -> str:
        return f"<MaskedPpoAgent {self.scope}/{self.action} after {self._steps} steps>"

    def learn(self, transitions: Transitions) -> None:
        """Refuse: an on-policy method does not learn from single transitions.

        Raises:
            StateError: Always.

        Example:
            >>> agent = dfe.agents.make_agent("masked-ppo", seed=1)
            >>> try:
            ...     agent.learn(None)
            ... except dfe.StateError as error:
            ...     print(type(error).__name__)
            StateError
        """
        raise StateError("learn(): this agent trains in a loop of its own; use dragonfly_env.agents.train")

    def statistics(self) -> dict[str, float]:
        """What MaskablePPO logged about its last improvement, e.g. ``entropy_loss``."""
        return dict(self._statistics)

    def episodes(self, config: SimulationConfig | Several, schedule: Schedule) -> Iterator[Episode]:
        """Train by rollouts of all routers; an episode is reported after the rollout in which it was completed.

        See ``OwnLoop.episodes``.

        Args:
            config: The network and its traffic.
            schedule: How long to train.

        Example:
            >>> short = {"rollout_steps": 16, "batch_steps": 64}
            >>> agent = dfe.agents.make_agent("masked-ppo", **short)
            >>> config = dfe.SimulationConfig(topology="72", load=0.05)
            >>> [progress] = dfe.agents.fit(agent, config, episodes=1, episode_ns=2_000)
            >>> progress.episode
            1
        """
        from dragonfly_env.envs.vec import RouterVecEnv

        vec: Any = RouterVecEnv(
            config, **self.env_options(), duration_ns=schedule.episode_ns, warmup_ns=schedule.warmup_ns
        )
        self.prepare(vec.core)
        if self._factors is not None:
            raise config_error(
                "occupancy_unit",
                vec.core.layout.occupancy_unit,
                "stands for other packets here than where this masked-ppo agent was trained: it acts here, but it "
                "cannot go on learning (train with occupancy_unit='packets', which is the same everywhere)",
            )
        self._learns_here()
        if self.settings.pays_bonus:
            vec = DeliveryBonus(vec, self.settings.delivery_bonus_ns / self.settings.reward_scale_ns)
        settings, first = self.settings, schedule.numbers[0]
        randomness = OwnRandomness(self.seed)
        with randomness, one_thread():
            model = MaskablePPO(
                MaskableActorCriticPolicy,
                vec,
                learning_rate=settings.learning_rate,
                n_steps=settings.rollout_steps,
                batch_size=min(settings.batch_steps, settings.rollout_steps * vec.num_envs),
                n_epochs=settings.epochs,
                gamma=settings.discount,
                gae_lambda=settings.gae_lambda,
                clip_range=settings.clip,
                ent_coef=settings.entropy_weight,
                vf_coef=settings.value_weight,
                max_grad_norm=settings.max_gradient_norm,
                policy_kwargs={"net_arch": list(settings.hidden_units)},
                device="cpu",
            )
        model.policy.load_state_dict(self._network.state_dict())
        model.policy.optimizer.load_state_dict(self._network.optimizer.state_dict())
        self._network = model.policy
        vec.seed(schedule.episode_seed(first))
        watch = _Watch()
        try:
            for _ in schedule.numbers:
                while not watch.finished:
                    with randomness, one_thread():
                        model.learn(
                            settings.rollout_steps * vec.num_envs, callback=watch, reset_num_timesteps=False
                        )
                    self._steps += settings.rollout_steps * vec.num_envs
                    polyak_update(
                        model.policy.parameters(), self._average.parameters(), settings.average_share
                    )
                    logged = model.logger.name_to_value
                    self._statistics = {
                        name.removeprefix("train/"): float(value)
                        for name, value in logged.items()
                        if name.startswith("train/")
                    }
                yield watch.finished.pop(0)
        finally:
            vec.close()

    def _choose(self, batch: DecisionBatch) -> IntArray:
        network, mask = self._average, np.array(batch.mask)
        hidden = network.mlp_extractor.forward_actor(torch.from_numpy(self._in_trained_units(batch.obs)))
        scores = network.action_net(hidden).numpy()[:, : mask.shape[1]]  # without idle
        if not self.settings.sample:
            return best_legal(scores, mask)
        scores = np.where(mask, scores, -np.inf).astype(np.float64)
        weights = np.exp(scores - scores.max(axis=1, keepdims=True))
        return pick(weights, batch.draws[:, 0])

    def _build(self, facts: LayoutFacts) -> None:
        self._network, self._average = self._new_network(facts), self._new_network(facts)

    def _new_network(self, facts: LayoutFacts) -> Any:
        with seeded(self.seed):
            network = MaskableActorCriticPolicy(
                facts.observation_space(),
                gymnasium.spaces.Discrete(facts.num_actions + 1),  # the last is idle
                lambda _: self.settings.learning_rate,
                net_arch=list(self.settings.hidden_units),
            )
        network.set_training_mode(False)
        return network

    def _parts(self) -> dict[str, Any]:
        return {
            "network": self._network,
            "average": self._average,
            "optimizer": self._network.optimizer,
        }


class DeliveryBonus(VecEnvWrapper):
    """Adds a constant to the reward of a router for every packet of its that is delivered.

    Rewards that are minus times are given on delivery. So a policy that congests the network delivers less and, for the
    time being, gives less. With a bonus above the usual latency every delivery is worth something, a late one less.

    Args:
        venv: A ``RouterVecEnv`` in which every payment is for one delivered packet.
        bonus: In units of the reward.
    """

    def __init__(self, venv: Any, bonus: float) -> None:
        super().__init__(venv)
        self._bonus = bonus

    def reset(self) -> Any:
        """As the environment's."""
        return self.venv.reset()

    def step_wait(self) -> Any:
        """As the environment's, with higher rewards."""
        observations, rewards, dones, infos = self.venv.step_wait()
        if rewards.any() and not dones[0]:  # after the last step the payments are those of the new episode
            paid = np.bincount(self.venv.core.payments()[0], minlength=self.num_envs)
            rewards = rewards + (self._bonus * paid).astype(rewards.dtype)
        return observations, rewards, dones, infos


class _Watch(BaseCallback):
    """Collects the episodes that end during a rollout."""

    def __init__(self) -> None:
        super().__init__()
        self.finished: list[Episode] = []
        self._reward_sum = 0.0

    def _on_step(self) -> bool:
        self._reward_sum += float(np.sum(self.locals["rewards"], dtype=np.float64))
        if self.locals["dones"][0]:
            infos = self.locals["infos"]
            metrics, *others = (info["metrics"] for info in infos if "metrics" in info)
            decisions, simulated_ns = infos[0]["decisions"], infos[0]["simulated_ns"]
            self.finished.append(
                Episode(metrics, decisions, decisions, self._reward_sum, simulated_ns, tuple(others))
            )
            self._reward_sum = 0.0
        return True

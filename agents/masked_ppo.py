"""Proximal policy optimisation for routers: sb3-contrib's MaskablePPO on the vector environment of all routers.

Every router is a slot of ``RouterVecEnv``; all share one network, and a router without a packet idles. Rewards are
those of the standard views: what completes in a step is paid to the router that decided, mixed with what its other
packets earned. That makes credit assignment hard, compared with the exact transitions that ``deep_q`` learns from;
this agent shows what an off-the-shelf method makes of it.

Sources: Schulman et al., arXiv:1707.06347 (PPO); Huang, Ontanon, arXiv:2006.14171 (invalid action masking).
"""

from __future__ import annotations

import dataclasses
import io
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from dragonfly_env._validate import check_integer, config_error
from dragonfly_env.agents._choice import best_legal, pick
from dragonfly_env.agents._layouts import LayoutFacts
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
from dragonfly_env.agents.masked_ppo_settings import MaskedPpoSettings
from dragonfly_env.agents.protocol import IntArray
from dragonfly_env.agents.storage import read_agent, write_agent
from dragonfly_env.agents.training import Episode, Schedule
from dragonfly_env.errors import StateError

if TYPE_CHECKING:
    from dragonfly_env.config import SimulationConfig
    from dragonfly_env.envs.batch import DecisionBatch, Transitions
    from dragonfly_env.envs.batched import BatchedRoutingEnv

_WEIGHTS = "weights.pt"


class MaskedPpoAgent:
    """A policy network that all routers share, trained by MaskablePPO.

    Args:
        settings: What it sees and how it learns.
        seed: Of its initial weights, its actions while it trains and the order of its samples.

    Raises:
        ConfigError: For a seed out of range.
    """

    kind: ClassVar[str] = "masked-ppo"

    def __init__(self, settings: MaskedPpoSettings | None = None, *, seed: int = 0) -> None:
        self.settings = MaskedPpoSettings() if settings is None else settings
        if not isinstance(self.settings, MaskedPpoSettings):
            raise config_error("settings", settings, "must be MaskedPpoSettings")
        self.seed = check_integer("seed", seed, 0, 2**32 - 1)
        self.metadata: dict[str, Any] = {}
        self._facts: LayoutFacts | None = None
        self._layout: object = None  # the layout object that was checked last
        self._topology: dict[str, Any] = {}
        self._network: Any = None  # that learns
        self._average: Any = None  # of its weights; acts when it is evaluated
        self._steps = 0
        self._statistics: dict[str, float] = {}

    def __repr__(self) -> str:
        return f"<MaskedPpoAgent {self.scope}/{self.action} after {self._steps} steps>"

    @property
    def name(self) -> str:
        """``"masked-ppo"``."""
        return self.kind

    @property
    def scope(self) -> str:
        """Which decisions it must be asked for."""
        return self.settings.scope

    @property
    def action(self) -> str:
        """What it answers with."""
        return self.settings.action

    def env_options(self) -> dict[str, Any]:
        """See ``Learner.env_options``."""
        return self.settings.env_options()

    def set_training(self, on: bool) -> None:
        """See ``Learner.set_training``; it trains in a loop of its own, ``episodes``."""

    def learn(self, transitions: Transitions) -> None:
        """Refuse: an on-policy method does not learn from single transitions.

        Raises:
            StateError: Always.
        """
        raise StateError("learn(): this agent trains in a loop of its own; use dragonfly_env.agents.train")

    def statistics(self) -> dict[str, float]:
        """What MaskablePPO logged about its last improvement, e.g. ``entropy_loss``."""
        return dict(self._statistics)

    def prepare(self, env: BatchedRoutingEnv) -> None:
        """See ``Learner.prepare``."""
        self._fit_layout(env.layout, env.num_actions)
        self._topology = env.config.topology.to_dict()

    def act(self, batch: DecisionBatch) -> IntArray:
        """See ``Policy.act``.

        Raises:
            ConfigError: If the batch has another layout than that of the training.
        """
        self._fit_layout(batch.layout, batch.mask.shape[1])
        if len(batch) == 0:
            return np.zeros(0, dtype=np.int64)
        network, mask = self._average, np.array(batch.mask)
        with torch.no_grad(), one_thread():
            hidden = network.mlp_extractor.forward_actor(torch.from_numpy(np.array(batch.obs)))
            scores = network.action_net(hidden).numpy()[:, : mask.shape[1]]  # without idle
        if not self.settings.sample:
            return best_legal(scores, mask)
        scores = np.where(mask, scores, -np.inf).astype(np.float64)
        weights = np.exp(scores - scores.max(axis=1, keepdims=True))
        return pick(weights, batch.draws[:, 0])

    def episodes(self, config: SimulationConfig, schedule: Schedule) -> Iterator[Episode]:
        """Train by rollouts of all routers; an episode is reported after the rollout in which it ended.

        See ``OwnLoop.episodes``.
        """
        from dragonfly_env.envs.vec import RouterVecEnv

        vec: Any = RouterVecEnv(
            config, **self.env_options(), duration_ns=schedule.episode_ns, warmup_ns=schedule.warmup_ns
        )
        self.prepare(vec.core)
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

    def _fit_layout(self, layout: Any, num_actions: int) -> None:
        """Build the network for a layout the first time; then the layout must stay what it was."""
        if self._network is not None and layout is self._layout:
            return
        facts = LayoutFacts.of(layout, num_actions)
        if self._facts is None:
            self._facts = facts
        self._facts.require(facts, f"this {self.kind} agent")
        self._layout = layout
        if self._network is None:
            self._network, self._average = self._build(self._facts), self._build(self._facts)

    def _build(self, facts: LayoutFacts) -> Any:
        with seeded(self.seed):
            network = MaskableActorCriticPolicy(
                facts.observation_space(),
                gymnasium.spaces.Discrete(facts.num_actions + 1),  # the last is idle
                lambda _: self.settings.learning_rate,
                net_arch=list(self.settings.hidden_units),
            )
        network.set_training_mode(False)
        return network

    def save(self, path: str | Path) -> None:
        """See ``Learner.save``."""
        if self._network is None or self._facts is None:
            raise StateError("save(): there is no network yet; train the agent or call prepare(env) first")
        header = {
            "kind": self.kind,
            "metadata": self.metadata,
            "settings": dataclasses.asdict(self.settings),
            "seed": self.seed,
            "layout": dataclasses.asdict(self._facts),
            "topology": self._topology,
            "steps": self._steps,
        }
        content = io.BytesIO()
        state = {
            "network": self._network.state_dict(),
            "average": self._average.state_dict(),
            "optimizer": self._network.optimizer.state_dict(),
        }
        torch.save(state, content)
        write_agent(path, header, {_WEIGHTS: content.getvalue()})

    @classmethod
    def load(cls, path: str | Path) -> MaskedPpoAgent:
        """See ``Learner.load``."""
        header, members = read_agent(path, (_WEIGHTS,), kind=cls.kind)
        try:
            agent = cls(MaskedPpoSettings(**header["settings"]), seed=header["seed"])
            agent.metadata = dict(header["metadata"])
            agent._facts = LayoutFacts.from_dict(header["layout"])
            agent._topology = dict(header["topology"])
            agent._steps = check_integer("steps", header["steps"], 0, 2**62)
            agent._network, agent._average = agent._build(agent._facts), agent._build(agent._facts)
            state = torch.load(io.BytesIO(members[_WEIGHTS]), weights_only=True)
            agent._network.load_state_dict(state["network"])
            agent._average.load_state_dict(state["average"])
            agent._network.optimizer.load_state_dict(state["optimizer"])
        except (KeyError, TypeError, ValueError, RuntimeError, EOFError, OSError) as error:
            raise config_error("agent", str(path), f"must be a saved {cls.kind} agent ({error})") from error
        return agent


class DeliveryBonus(VecEnvWrapper):
    """Adds a constant to the reward of a router for every packet of its that is delivered.

    Rewards that are minus times are paid on delivery. So a policy that congests the network delivers less and, for the
    time being, pays less. With a bonus above the usual latency every delivery is worth something, a late one less.

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
        info = self.locals["infos"][0]
        if self.locals["dones"][0]:
            metrics, decisions = info["metrics"], info["decisions"]
            self.finished.append(
                Episode(metrics, decisions, decisions, self._reward_sum, info["simulated_ns"])
            )
            self._reward_sum = 0.0
        return True

"""Deep Q-learning for routers, fed with exact transitions: settings, replay buffer, agent.

An off-the-shelf DQN sees one agent whose next observation is its own. In a network the consequence of an action
shows at *another* router. The core's transitions join them: (observation here, action, time spent, observation at the
next router, its mask, delivered). All routers share one network and one buffer. Values are minus the expected time to
delivery in microseconds; illegal actions are left out of the choice and of the target's maximum.

Sources: Mnih et al., Nature 2015 (DQN); van Hasselt, Guez, Silver, AAAI 2016 (double Q); Boyan, Littman, NIPS 1993
(values as delivery times, learned from the next router's).
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt
import torch

from dragonfly_env.agents.network_agent import (
    MOST,
    Adam,
    NetworkAgent,
    TrainedLayout,
    candidate_kinds,
    dense_layers,
    feature_of,
    layer_sizes,
    move_towards,
    observed_features,
    occupancy_units,
    one_thread,
    seeded,
)
from dragonfly_env.agents.random_policy import any_legal
from dragonfly_env.baselines.mlp_arithmetic import best_legal
from dragonfly_env.checks.values import config_error
from dragonfly_env.config.rows import boolean, choice, integer, normalise, real, show_changes
from dragonfly_env.decisions.batch import IntArray
from dragonfly_env.decisions.layout import OCCUPANCY_FEATURES

if TYPE_CHECKING:
    from dragonfly_env.decisions.batch import DecisionBatch, Transitions
    from dragonfly_env.decisions.layout import Layout


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class DeepQSettings:
    """Settings of ``DeepQAgent``: its observations and rewards, its network and its learning rule.

    Raises:
        ConfigError: For a value out of range.

    Example:
        >>> settings = dfe.agents.DeepQSettings(hidden_units=(32,), discount=0.9)
        >>> settings.action, settings.scope
        ('port', 'every')
    """

    action: str = choice(
        "port",
        ("port", "path"),
        doc="Meaning of an action: the next port, or one of a few candidate paths.",
    )
    scope: str = choice(
        "every",
        ("every", "all", "source"),
        doc="Routers that decide. With paths chosen at the 'source' a decision has no successor: the value of a "
        "path is the expected time to delivery, learned without bootstrapping.",
    )
    reward: str = choice(
        "hop",
        ("hop", "delivery"),
        doc="Reward of a decision: minus the time to the packet's next decision, or minus the time to its "
        "delivery (then without bootstrapping). With scope 'source' the two rewards are equal.",
    )
    features: tuple[str, ...] | None = observed_features("those of the environment")
    occupancy_unit: str = occupancy_units()
    nonminimal_kinds: tuple[str, ...] = candidate_kinds()
    hidden_units: tuple[int, ...] = layer_sizes((64, 64), "Sizes of the hidden layers (ReLU).")
    learning_rate: float = real(5e-4, 0.0, 1.0, open_low=True, doc="Step size of Adam.")
    discount: float = real(
        1.0,
        0.0,
        1.0,
        doc="Discount of the next decision's value; 1: values are times to delivery, as in Q-routing.",
    )
    double_q: bool = boolean(
        True, doc="Whether the online network picks the next action that the target network values."
    )
    loss: str = choice(
        "huber", ("huber", "squared"), doc="Loss of the temporal difference, in units of the reward (1 us)."
    )
    batch_transitions: int = integer(256, 1, 2**20, unit="transitions", doc="Transitions per gradient step.")
    train_every_transitions: int = integer(
        256, 1, MOST, unit="transitions", doc="New transitions per gradient step."
    )
    first_transitions: int = integer(
        2_000,
        1,
        MOST,
        unit="transitions",
        doc="Transitions that are collected before the first gradient step.",
    )
    buffer_transitions: int = integer(100_000, 1, 2**27, unit="transitions", doc="Size of the replay buffer.")
    target_update_steps: int = integer(
        1, 1, MOST, unit="gradient steps", doc="Gradient steps after which the target network moves."
    )
    target_update_share: float = real(
        0.005,
        0.0,
        1.0,
        open_low=True,
        doc="Step by which the target network moves towards the online network; below 1 it averages recent weights, "
        "at 1 it is a copy.",
    )
    averaged: bool = boolean(
        True, doc="Whether the target network, the steadier one, acts when the agent does not train."
    )
    max_gradient_norm: float = real(
        10.0, 0.0, 1e9, open_low=True, doc="Norm above which gradients are shortened."
    )
    epsilon_start: float = real(1.0, 0.0, 1.0, doc="Share of random actions at the beginning.")
    epsilon_end: float = real(0.02, 0.0, 1.0, doc="Share of random actions at the end.")
    epsilon_decisions: int = integer(
        300_000,
        1,
        2**53,
        unit="decisions",
        doc="Decisions over which the share of random actions falls, linearly.",
    )

    __repr__ = show_changes

    def __post_init__(self) -> None:
        normalise(self)
        if self.batch_transitions > self.buffer_transitions:
            allowed = f"must be at most buffer_transitions = {self.buffer_transitions}"
            raise config_error("batch_transitions", self.batch_transitions, allowed)


class ReplayBuffer:
    """A ring of the newest transitions of all routers.

    Args:
        size: Transitions that it holds.
        num_features: F.
        num_actions: A.
        rng: For sampling.
    """

    def __init__(self, size: int, num_features: int, num_actions: int, rng: np.random.Generator) -> None:
        self.size, self.rng = size, rng
        self.filled = 0
        self.next = 0  # the row that is written next
        self.obs = np.zeros((size, num_features), np.float32)
        self.actions = np.zeros((size, 1), np.int64)
        self.rewards = np.zeros((size, 1), np.float32)
        self.next_obs = np.zeros((size, num_features), np.float32)
        self.next_masks = np.zeros((size, num_actions), np.bool_)
        self.done = np.zeros((size, 1), np.float32)  # 1: delivered

    def extend(self, transitions: Transitions) -> None:
        """Append transitions; the oldest give way, and the buffer keeps at most the last ``size``."""
        first = max(0, len(transitions.rewards) - self.size)
        kept = len(transitions.rewards) - first
        rows = (self.next + np.arange(kept)) % self.size
        self.obs[rows] = transitions.obs[first:]
        self.actions[rows, 0] = transitions.actions[first:]
        self.rewards[rows, 0] = transitions.rewards[first:]
        self.next_obs[rows] = transitions.next_obs[first:]
        self.next_masks[rows] = transitions.next_mask[first:]
        self.done[rows, 0] = transitions.done[first:]
        self.next = (self.next + kept) % self.size
        self.filled = min(self.size, self.filled + kept)

    def draw(self, count: int) -> tuple[Any, ...]:
        """``count`` transitions as tensors, drawn with replacement: (B, F), (B, 1), (B, 1), (B, F), (B, A), (B, 1)."""
        rows = self.rng.integers(self.filled, size=count)
        columns = (self.obs, self.actions, self.rewards, self.next_obs, self.next_masks, self.done)
        return tuple(torch.from_numpy(column[rows]) for column in columns)


class DeepQAgent(NetworkAgent):
    """A deep Q-network that all routers share.

    Everything random in it follows from ``seed``; while it explores, from the random numbers of the batches too. So
    equal settings, seeds and environments learn the same. Its file does not hold the replay buffer: a loaded agent
    that goes on training fills it anew.

    Args:
        settings: Observations and learning.
        seed: Seed of the initial weights and of the samples from the replay buffer.

    Raises:
        ConfigError: For a seed out of range.

    Example:
        >>> agent = dfe.agents.DeepQAgent(dfe.agents.DeepQSettings(), seed=1)
        >>> config = dfe.SimulationConfig(topology="72", load=0.1)
        >>> env = dfe.BatchedRoutingEnv(config, **agent.env_options())
        >>> agent.prepare(env)
        >>> agent.set_training(True)
        >>> batch = env.step(agent.act(env.reset(seed=1)))
        >>> agent.learn(env.transitions())
        >>> agent.statistics()["gradient_steps"], agent.epsilon > 0.9
        (0.0, True)
    """

    kind: ClassVar[str] = "deep-q"
    settings_class: ClassVar[type[DeepQSettings]] = DeepQSettings
    counters: ClassVar[tuple[str, ...]] = ("decisions", "gradient_steps")
    settings: DeepQSettings

    def __init__(self, settings: DeepQSettings | None = None, *, seed: int = 0) -> None:
        super().__init__(settings, seed=seed)
        self.replay: ReplayBuffer | None = None
        self.decisions = 0  # made while exploring
        self.gradient_steps = 0
        self._owed = 0  # transitions since the last gradient step
        self._loss = 0.0  # a running mean
        self._factors: npt.NDArray[np.float32] | None = (
            None  # from units of the environment to those of the training
        )

    def __repr__(self) -> str:
        return f"<DeepQAgent {self.scope}/{self.action} after {self.gradient_steps} gradient steps>"

    @property
    def epsilon(self) -> float:
        """The share of random actions now."""
        if not self.training:
            return 0.0
        done = min(1.0, self.decisions / self.settings.epsilon_decisions)
        return self.settings.epsilon_start + done * (self.settings.epsilon_end - self.settings.epsilon_start)

    def statistics(self) -> dict[str, float]:
        """Loss (running mean), share of random actions, gradient steps, transitions in the buffer."""
        return {
            "loss": self._loss,
            "epsilon": self.epsilon,
            "gradient_steps": float(self.gradient_steps),
            "buffer_transitions": float(self.replay.filled if self.replay is not None else 0),
        }

    def build(self, trained: TrainedLayout) -> None:
        """See ``NetworkAgent``: the online network and the target network, equal at first."""
        sizes = (len(trained.columns), *self.settings.hidden_units, trained.num_actions)
        with seeded(self.seed):
            self.online, self.target = dense_layers(sizes), dense_layers(sizes)
        self.target.load_state_dict(self.online.state_dict())
        self.networks = torch.nn.ModuleDict({"online": self.online, "target": self.target})
        self.optimizer = Adam(self.online)

    def choose(self, batch: DecisionBatch) -> IntArray:
        """The best actions for a ``batch``; in training a share ``epsilon`` is random."""
        network = self.target if self.settings.averaged and not self.training else self.online
        values = network(torch.from_numpy(self._in_trained_units(batch.obs))).numpy()
        actions = best_legal(values, batch.mask)
        if self.training:
            draws = batch.draws
            random = draws[:, 0] < self.epsilon
            actions = np.where(random, any_legal(batch.mask, draws[:, 1]), actions)
            self.decisions += len(batch)
        return actions

    def learn(self, transitions: Transitions) -> None:
        """See ``Learner.learn``: remember, then one gradient step per ``train_every_transitions``."""
        count, settings = len(transitions.rewards), self.settings
        if count == 0:
            return
        trained = self._built("learn()")
        self._learns_here()
        if self.replay is None:
            rng = np.random.default_rng([self.seed, 1, self.gradient_steps])
            size = settings.buffer_transitions
            self.replay = ReplayBuffer(size, len(trained.columns), trained.num_actions, rng)
        if self._factors is not None:
            obs, next_obs = map(self._in_trained_units, (transitions.obs, transitions.next_obs))
            transitions = dataclasses.replace(transitions, obs=obs, next_obs=next_obs)
        self.replay.extend(transitions)
        if self.replay.filled < min(settings.first_transitions, settings.buffer_transitions):
            return
        self._owed += count
        with one_thread():
            while self._owed >= settings.train_every_transitions:
                self._owed -= settings.train_every_transitions
                self.improve(*self.replay.draw(settings.batch_transitions))

    def improve(
        self, obs: Any, actions: Any, rewards: Any, next_obs: Any, next_masks: Any, done: Any
    ) -> None:
        """A gradient step on B transitions from ``ReplayBuffer.draw``: ``obs``, ``actions``, ``rewards``, ``next_obs``,
        ``next_masks`` and ``done``.
        """
        settings = self.settings
        with torch.no_grad():
            # Illegal next actions are worth minus infinity, delivered packets nothing more.
            next_values = self.target(next_obs)
            guide = self.online(next_obs) if settings.double_q else next_values
            best = guide.masked_fill(~next_masks, -torch.inf).argmax(dim=1, keepdim=True)
            targets = rewards + settings.discount * (1.0 - done) * next_values.gather(1, best)
        values = self.online(obs).gather(1, actions)
        huber = settings.loss == "huber"
        measure = torch.nn.functional.smooth_l1_loss if huber else torch.nn.functional.mse_loss
        loss = measure(values, targets)
        self.optimizer.step(loss, settings.learning_rate, settings.max_gradient_norm)
        self.gradient_steps += 1
        self._loss += (float(loss.detach()) - self._loss) * max(0.01, 1.0 / self.gradient_steps)
        if self.gradient_steps % settings.target_update_steps == 0:
            move_towards(self.target, self.online, settings.target_update_share)

    def adapt(self, layout: Layout, here: TrainedLayout, trained: TrainedLayout) -> None:
        """See ``NetworkAgent``. Occupancies in packets can be converted, whichever buffers their unit follows from:
        units of packets are powers of two, so nothing is lost.
        """
        who = f"this {self.kind} agent"
        trained.check_unit(here, who)
        problem = ""
        if here.num_actions != trained.num_actions:
            problem = (
                f"{here.num_actions} actions, but {who} was trained with {trained.num_actions}: choose an agent over "
                "paths, which fits systems of other sizes"
            )
        elif len(here.columns) != len(trained.columns):
            problem = f"{len(here.columns)} features, but {who} was trained with {len(trained.columns)}"
        elif here.columns != trained.columns:
            other, known = next(
                pair for pair in zip(here.columns, trained.columns, strict=True) if pair[0] != pair[1]
            )
            problem = f"feature {other!r}, where {who} was trained with {known!r}"
        else:
            counted = np.array([feature_of(column) in OCCUPANCY_FEATURES for column in trained.columns])
            units, units_here = np.array(trained.units), np.array(here.units)
            if (units_here != units)[~counted].any():
                problem = f"features are scaled otherwise than those that {who} was trained with"
        if problem:
            raise config_error("layout", f"{len(here.columns)} features", problem)
        factors = np.where(counted, units_here / np.where(counted, units, 1.0), 1.0)
        self._factors = None if (factors == 1.0).all() else factors.astype(np.float32)

    def acting(self, trained: TrainedLayout) -> tuple[Any, dict[str, float], dict[str, Any]]:
        """See ``NetworkAgent``."""
        network = self.target if self.settings.averaged else self.online
        return network, trained.features, {"scoring": "all"}

    def _in_trained_units(self, obs: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        """(N, F) observations as the network expects them: a new array."""
        return np.array(obs) if self._factors is None else obs * self._factors

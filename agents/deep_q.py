"""Deep Q-learning for routers: Stable-Baselines3's DQN network, optimiser and replay buffer, fed with exact
transitions.

An off-the-shelf DQN sees one agent whose next observation is its own. In a network the consequence of an action
shows at *another* router. The core's transitions join them: (observation here, action, time spent, observation at the
next router, its mask, delivered). All routers share one network and one buffer. Values are minus the expected time to
delivery in microseconds; illegal actions are left out of the choice and of the target's maximum.

Sources: Mnih et al., Nature 2015 (DQN); van Hasselt, Guez, Silver, AAAI 2016 (double Q); Boyan, Littman, NIPS 1993
(values as delivery times, learned from the next router's).
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from dragonfly_env.agents._choice import any_legal
from dragonfly_env.agents._network_agent import NetworkAgent
from dragonfly_env.agents._sb3 import (
    DQNPolicy,
    ReplayBuffer,
    gymnasium,
    one_thread,
    polyak_update,
    seeded,
    torch,
)
from dragonfly_env.agents._trained_on import LayoutFacts
from dragonfly_env.agents.settings import DeepQSettings
from dragonfly_env.baselines._mlp_arithmetic import best_legal
from dragonfly_env.decisions.batch import IntArray
from dragonfly_env.errors import StateError

if TYPE_CHECKING:
    from dragonfly_env.decisions.batch import DecisionBatch, Transitions


class MaskedSamples(NamedTuple):
    """B transitions as tensors."""

    observations: torch.Tensor  # (B, F)
    actions: torch.Tensor  # (B, 1) int64
    next_observations: torch.Tensor  # (B, F)
    next_masks: torch.Tensor  # (B, A) bool
    dones: torch.Tensor  # (B, 1): 1 if delivered
    rewards: torch.Tensor  # (B, 1)


class TransitionBuffer(ReplayBuffer):
    """A ring of transitions of all routers.

    Stable-Baselines3's ``add`` takes one step of every environment; here M transitions come at once, so they are
    copied into its arrays directly. Sampling draws from a generator of its own, not from NumPy's global one.

    Args:
        size: Transitions that it holds.
        observation_space: Box (F,).
        num_actions: A.
        rng: For sampling.
    """

    pos: int
    full: bool

    def __init__(
        self, size: int, observation_space: gymnasium.spaces.Box, num_actions: int, rng: np.random.Generator
    ) -> None:
        super().__init__(size, observation_space, gymnasium.spaces.Discrete(num_actions), device="cpu")
        self._rng = rng
        self.next_masks = np.zeros((size, num_actions), dtype=np.bool_)

    @property
    def filled(self) -> int:
        """How many transitions it holds."""
        return int(self.size())

    def extend(self, transitions: Transitions) -> None:
        """Append M transitions; the oldest give way. Of more than ``size`` only the last ones are kept."""
        count = len(transitions.rewards)
        first = max(0, count - self.buffer_size)
        kept = count - first
        rows = (self.pos + np.arange(kept)) % self.buffer_size
        self.observations[rows, 0] = transitions.obs[first:]
        self.next_observations[rows, 0] = transitions.next_obs[first:]
        self.next_masks[rows] = transitions.next_mask[first:]
        self.actions[rows, 0, 0] = transitions.actions[first:]
        self.rewards[rows, 0] = transitions.rewards[first:]
        self.dones[rows, 0] = transitions.done[first:]
        self.full = bool(self.full or self.pos + kept >= self.buffer_size)
        self.pos = int((self.pos + kept) % self.buffer_size)

    def draw(self, count: int) -> MaskedSamples:
        """``count`` transitions, drawn with replacement."""
        rows = self._rng.integers(self.filled, size=count)

        def column(values: npt.NDArray[Any]) -> torch.Tensor:
            return torch.from_numpy(values[rows])

        return MaskedSamples(
            observations=column(self.observations[:, 0]),
            actions=column(self.actions[:, 0]).long(),
            next_observations=column(self.next_observations[:, 0]),
            next_masks=column(self.next_masks),
            dones=column(self.dones),
            rewards=column(self.rewards),
        )


class DeepQAgent(NetworkAgent):
    """A deep Q-network that all routers share.

    Everything random in it follows from ``seed``; while it explores, from the random numbers of the batches too. So
    equal settings, seeds and environments learn the same. Its file does not hold the replay buffer: a loaded agent
    that goes on training fills it anew.

    Args:
        settings: What it sees and how it learns.
        seed: Of its initial weights and of the sampling from the replay buffer.

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
    counters: ClassVar[tuple[str, ...]] = ("_decisions", "_steps")
    settings: DeepQSettings

    def __init__(self, settings: DeepQSettings | None = None, *, seed: int = 0) -> None:
        super().__init__(settings, seed=seed)
        self._replay: TransitionBuffer | None = None
        self._decisions = 0  # made while exploring
        self._owed = 0  # transitions since the last gradient step
        self._steps = 0
        self._loss = 0.0  # a running mean

    def __repr__(self) -> str:
        return f"<DeepQAgent {self.scope}/{self.action} after {self._steps} gradient steps>"

    @property
    def epsilon(self) -> float:
        """The share of random actions now."""
        if not self.training:
            return 0.0
        done = min(1.0, self._decisions / self.settings.epsilon_decisions)
        return self.settings.epsilon_start + done * (self.settings.epsilon_end - self.settings.epsilon_start)

    def statistics(self) -> dict[str, float]:
        """Loss (running mean), share of random actions, gradient steps, transitions in the buffer."""
        return {
            "loss": self._loss,
            "epsilon": self.epsilon,
            "gradient_steps": float(self._steps),
            "buffer_transitions": float(self._replay.filled if self._replay is not None else 0),
        }

    def learn(self, transitions: Transitions) -> None:
        """See ``Learner.learn``: remember, then one gradient step per ``train_every_transitions``."""
        count = len(transitions.rewards)
        if count == 0:
            return
        facts, settings = self._facts, self.settings
        if facts is None:
            raise StateError("learn(): call prepare(env) or act(batch) first")
        self._learns_here()
        if self._replay is None:
            rng = np.random.default_rng([self.seed, 1, self._steps])
            self._replay = TransitionBuffer(
                settings.buffer_transitions, facts.observation_space(), facts.num_actions, rng
            )
        if self._factors is not None:
            transitions = dataclasses.replace(
                transitions,
                obs=self._in_trained_units(transitions.obs),
                next_obs=self._in_trained_units(transitions.next_obs),
            )
        self._replay.extend(transitions)
        if self._replay.filled < min(settings.first_transitions, settings.buffer_transitions):
            return
        self._owed += count
        with one_thread():
            while self._owed >= settings.train_every_transitions:
                self._owed -= settings.train_every_transitions
                self._improve()

    def _choose(self, batch: DecisionBatch) -> IntArray:
        """The best actions; in training a share ``epsilon`` is random."""
        network = self._network
        acting = network.q_net_target if self.settings.averaged and not self.training else network.q_net
        values = acting(torch.from_numpy(self._in_trained_units(batch.obs))).numpy()
        actions = best_legal(values, batch.mask)
        if self.training:
            draws = batch.draws
            random = draws[:, 0] < self.epsilon
            actions = np.where(random, any_legal(batch.mask, draws[:, 1]), actions)
            self._decisions += len(batch)
        return actions

    def _improve(self) -> None:
        """A gradient step."""
        network, replay, settings = self._network, self._replay, self.settings
        assert network is not None
        assert replay is not None
        sample = replay.draw(settings.batch_transitions)
        with torch.no_grad():
            # Illegal next actions are worth minus infinity, delivered packets nothing more.
            following = network.q_net_target(sample.next_observations)
            guide = network.q_net(sample.next_observations) if settings.double_q else following
            best = guide.masked_fill(~sample.next_masks, -torch.inf).argmax(dim=1, keepdim=True)
            target = sample.rewards + settings.discount * (1.0 - sample.dones) * following.gather(1, best)
        value = network.q_net(sample.observations).gather(1, sample.actions)
        measure = (
            torch.nn.functional.smooth_l1_loss if settings.loss == "huber" else torch.nn.functional.mse_loss
        )
        loss = measure(value, target)
        network.optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(network.q_net.parameters(), settings.max_gradient_norm)
        network.optimizer.step()
        self._steps += 1
        self._loss += (float(loss.detach()) - self._loss) * max(0.01, 1.0 / self._steps)
        if self._steps % settings.target_update_steps == 0:
            polyak_update(
                network.q_net.parameters(), network.q_net_target.parameters(), settings.target_update_share
            )

    def _acting(self, facts: LayoutFacts) -> tuple[Any, dict[str, float], dict[str, Any]]:
        network = self._network.q_net_target if self.settings.averaged else self._network.q_net
        return network.q_net, facts.features, {"scoring": "all"}

    def _build(self, facts: LayoutFacts) -> None:
        with seeded(self.seed):
            self._network = DQNPolicy(
                facts.observation_space(),
                gymnasium.spaces.Discrete(facts.num_actions),
                lambda _: self.settings.learning_rate,
                net_arch=list(self.settings.hidden_units),
            )
        self._network.set_training_mode(False)  # no layer behaves otherwise in training

    def _networks(self) -> dict[str, Any]:
        return {"network": self._network}

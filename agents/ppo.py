"""Proximal policy optimisation on exact transitions: settings, network, rollout, advantages, update, in this order.

MaskablePPO on the vector environment (``examples/masked_ppo_sb3.py``) is rewarded per step, for all decisions that
complete in it. The core's transitions say for each decision how long its packet still took: that is its return,
without discount, bootstrapping or other packets' times in it, so nothing is left for generalised advantage estimation
to estimate. A baseline predicts the return from what the router saw; the advantage is the return minus that
prediction. Probabilities are over the legal actions of the row that decided. One small network scores each action with
the same weights, as pointer networks do and as the core's ``mlp`` with ``scoring="candidate"``, so an agent fits every
size of system.

Sources: Vinyals, Fortunato, Jaitly, NIPS 2015 (pointer networks); Schulman et al., arXiv:1707.06347 (PPO); Huang,
Ontanon, arXiv:2006.14171 (invalid action masking).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt
import torch

from dragonfly_env.agents.network_agent import (
    NetworkAgent,
    TrainedLayout,
    candidate_kinds,
    dense_layers,
    layer_sizes,
    move_towards,
    observed_features,
    occupancy_units,
    one_thread,
    seeded,
)
from dragonfly_env.baselines._mlp_arithmetic import best_legal
from dragonfly_env.baselines.mlp_network import SCOPES, check_scope
from dragonfly_env.checks.values import config_error
from dragonfly_env.config.rows import boolean, choice, integer, normalise, real, show_changes
from dragonfly_env.decisions.batch import IntArray
from dragonfly_env.decisions.layout import OCCUPANCY_FEATURES, PER_ACTION

if TYPE_CHECKING:
    from dragonfly_env.decisions.batch import DecisionBatch, Rollout, Transitions
    from dragonfly_env.decisions.layout import Layout
    from dragonfly_env.envs.batched import BatchedRoutingEnv

FloatArray = npt.NDArray[np.float32]

FEATURES = MappingProxyType(
    {
        "path": (
            "hops",
            "destination_demand",
            "destination_remote_demand",
            "candidate_kind",
            "candidate_time_packets",
            "candidate_packets",
            "candidate_vc_packets",
            "candidate_queue_packets",
        ),
        "port": ("queue_packets", "credits_in_use", "link_class", "is_minimal", "hops", "waiting", "traffic"),
    }
)
"""Default features by action. The number of columns per path or port is the same for every size of system."""


# Settings.


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class PpoSettings:
    """Settings of ``PpoAgent``: its observations, its network and its learning rule.

    Raises:
        ConfigError: For a value out of range.

    Example:
        >>> settings = dfe.agents.PpoSettings(hidden_units=(16, 16))
        >>> settings.action, settings.scope, settings.reward
        ('path', 'source', 'delivery')
    """

    action: str = choice(
        "path", ("path", "port"), doc="Meaning of an action: one of a few candidate paths, or the next port."
    )
    scope: str = choice(
        "source",
        SCOPES,
        doc="Routers that decide, see ``EnvOptions``; the last three with paths only.",
    )
    features: tuple[str, ...] | None = observed_features(
        "``ppo.FEATURES`` of the action, whose number of columns does not depend on the size of the system"
    )
    occupancy_unit: str = occupancy_units()
    nonminimal_kinds: tuple[str, ...] = candidate_kinds()
    hidden_units: tuple[int, ...] = layer_sizes(
        (32, 32),
        "Sizes of the hidden layers (ReLU) of the network that scores an action, and of the baseline's.",
    )
    learning_rate: float = real(2e-3, 0.0, 1.0, open_low=True, doc="Step size of Adam.")
    rollout_transitions: int = integer(
        32_768, 2, 2**24, unit="transitions", doc="Transitions that are completed between two improvements."
    )
    batch_transitions: int = integer(1024, 2, 2**24, unit="transitions", doc="Transitions per gradient step.")
    epochs: int = integer(3, 1, 1000, doc="Passes over a rollout.")
    epoch_share: float = real(
        1.0, 0.0, 1.0, open_low=True, doc="Share of the rollout, drawn anew, that a pass takes."
    )
    clip: float = real(
        0.2, 0.0, 1.0, open_low=True, doc="Most that a probability ratio moves: PPO's epsilon."
    )
    entropy_weight: float = real(0.003, 0.0, 1e3, doc="Weight of the entropy bonus in the loss.")
    value_weight: float = real(0.5, 0.0, 1e3, doc="Weight of the baseline's loss (Huber, in units of 1 us).")
    max_gradient_norm: float = real(
        0.5, 0.0, 1e9, open_low=True, doc="Norm above which gradients are shortened."
    )
    average_share: float = real(
        0.1,
        0.0,
        1.0,
        open_low=True,
        doc="Step by which the weights of evaluations move to the newest weights after each improvement; 1: a copy.",
    )
    sample: bool = boolean(
        True,
        doc="Whether the agent also draws its actions in evaluations (from the batch's random numbers); if not, it "
        "takes the most probable action.",
    )

    __repr__ = show_changes

    def __post_init__(self) -> None:
        normalise(self)
        check_scope(self.scope, self.action)

    @property
    def reward(self) -> str:
        """``"delivery"``: what a decision brought is one number, the time to its packet's delivery."""
        return "delivery"


# Network: observations become a row of inputs per action; each row is scored with the same weights.


class ActionScores(torch.nn.Module):
    """A score for each action, and what a decision is worth: a baseline.

    The baseline is a network of the mean over the legal actions of what a hidden layer makes of each, so it does not
    depend on their number or order either (Zaheer et al., NIPS 2017).

    Args:
        inputs: F.
        hidden_units: Sizes of the hidden layers.
    """

    def __init__(self, inputs: int, hidden_units: Sequence[int]) -> None:
        super().__init__()
        self.policy = dense_layers((inputs, *hidden_units, 1))
        self.embedding = dense_layers((inputs, hidden_units[0]))
        self.value = dense_layers((*hidden_units, 1))
        with torch.no_grad():  # all actions alike at first
            self.policy[-1].weight.mul_(0.01)
            self.policy[-1].bias.zero_()

    def log_probabilities(self, rows: Any, masks: Any) -> Any:
        """(N, A) of legal actions, from rows (N, A, F) and masks (N, A); minus infinity of others."""
        scores = self.policy(rows)[..., 0].masked_fill(~masks, -torch.inf)
        return torch.log_softmax(scores, dim=1)

    def values(self, rows: Any, masks: Any) -> Any:
        """(N,) what is to be expected of decisions."""
        legal = masks[..., None].float()
        mean = (torch.relu(self.embedding(rows)) * legal).sum(dim=1) / legal.sum(dim=1)
        return self.value(mean)[:, 0]


class ActionRows:
    """Inputs of a network for each action: the columns of an observation, gathered and in fixed units.

    Args:
        layout: Layout of the observations.
        action: ``"path"`` or ``"port"``.
        units: See ``units_of``: those of the training, not those of the layout.

    Raises:
        ConfigError: If a feature is neither of the decision nor of an action, or none is of an action.
    """

    def __init__(self, layout: Layout, action: str, units: Mapping[str, float]) -> None:
        own, columns = PER_ACTION[action], []
        for block in layout.blocks:
            if block.per not in ("decision", own):
                allowed = f"is per {block.per}; a network that scores each {action} sees what is per decision or {own}"
                raise config_error("features", block.name, allowed)
            columns.append(
                np.arange(block.columns.start, block.columns.stop)
                if block.per == own
                else np.full(layout.num_actions, block.columns.start)
            )
        if all(block.per != own for block in layout.blocks):
            names = [block.name for block in layout.blocks]
            raise config_error("features", names, f"must show something of each {action}")
        self._columns = np.stack(columns, axis=1)
        self._factors = np.array(
            [block.unit / units[block.name] if units[block.name] > 0 else 1.0 for block in layout.blocks],
            dtype=np.float32,
        )

    def of(self, obs: FloatArray) -> Any:
        """(N, A, F) tensor of observations (N, columns)."""
        return torch.from_numpy(obs[:, self._columns] * self._factors)


def units_of(trained: TrainedLayout) -> dict[str, float]:
    """The features of a training, each with the unit that the network expects (quantity / value); 0: squashed.

    Packets and hops are counted in units that do not depend on the network's buffers; other units are those of the
    training.
    """
    units = {}
    for name, unit in trained.features.items():
        fixed = 2.0 if name in ("candidate_kind", "hops", "candidate_hops") else unit
        if name.endswith("_packets"):
            fixed = 16.0
        in_ns = trained.occupancy_unit == "ns" and name in OCCUPANCY_FEATURES  # the same in every network
        units[name] = unit if unit == 0 or in_ns else fixed
    return units


# Rollout: decisions with what came of them.


class Samples(NamedTuple):
    """M decisions with what came of them."""

    obs: FloatArray  # (M, columns)
    masks: npt.NDArray[np.bool_]  # (M, A) of the rows that decided
    actions: IntArray  # (M,)
    log_probs: FloatArray  # (M,) of these, when they were chosen; NaN: not known
    returns: FloatArray  # (M,)
    scenarios: npt.NDArray[np.int32]  # (M,)

    @classmethod
    def of(cls, transitions: Transitions, log_probs: FloatArray | None = None) -> Samples:
        """The completed ones among transitions; their actions had these log-probabilities."""
        if log_probs is None:
            log_probs = np.full(len(transitions), np.nan, np.float32)
        log_probs, completed = log_probs[~transitions.truncated], transitions.completed()
        return cls(
            obs=completed.obs,
            masks=completed.mask,
            actions=completed.actions.astype(np.int64),
            log_probs=log_probs,
            returns=completed.rewards.astype(np.float32),
            scenarios=completed.scenario,
        )


def draw_actions(probabilities: npt.NDArray[np.floating], draws: npt.NDArray[np.float64]) -> IntArray:
    """(N,) an action per row of (N, A) probabilities, from (N,) draws in [0, 1); never one of probability 0."""
    edges = np.cumsum(probabilities, axis=1)
    wanted = np.minimum(draws * edges[:, -1], np.nextafter(edges[:, -1], 0.0))
    return np.asarray((edges > wanted[:, None]).argmax(axis=1), dtype=np.int64)


# Advantages.


def normalised_per_scenario(advantages: FloatArray, scenarios: npt.NDArray[np.int32]) -> FloatArray:
    """Advantages with mean 0 and deviation 1 in each scenario: else the most congested one would decide alone."""
    count = np.maximum(np.bincount(scenarios), 1)
    mean = np.bincount(scenarios, advantages) / count
    rest = advantages - mean[scenarios]
    deviation = np.sqrt(np.bincount(scenarios, rest**2) / count)
    return (rest / (deviation[scenarios] + 1e-8)).astype(np.float32)


class PpoAgent(NetworkAgent):
    """A network that scores actions, shared by all routers and trained by PPO on packets' exact returns.

    Everything random in it follows from ``seed`` and from the random numbers of the batches.

    Args:
        settings: Observations and learning.
        seed: Seed of the initial weights and of the order of samples.

    Raises:
        ConfigError: For a seed out of range.

    Example:
        >>> agent = dfe.agents.PpoAgent(dfe.agents.PpoSettings(), seed=1)
        >>> config = dfe.SimulationConfig(topology="72", load=0.1)
        >>> env = dfe.BatchedRoutingEnv(config, **agent.env_options())
        >>> agent.prepare(env)
        >>> agent.set_training(True)
        >>> batch = env.step(agent.act(env.reset(seed=1)))
        >>> agent.learn(env.transitions())
        >>> agent.end_episode()
        >>> agent.statistics()["improvements"]
        0.0
    """

    kind: ClassVar[str] = "ppo"
    settings_class: ClassVar[type[PpoSettings]] = PpoSettings
    counters: ClassVar[tuple[str, ...]] = ("improvements",)
    settings: PpoSettings

    def __init__(self, settings: PpoSettings | None = None, *, seed: int = 0) -> None:
        super().__init__(settings, seed=seed)
        self.improvements = 0
        self._collected: list[Samples] = []
        self._statistics: dict[str, float] = {}

    def __repr__(self) -> str:
        return f"<PpoAgent {self.scope}/{self.action} after {self.improvements} improvements>"

    def env_options(self) -> dict[str, Any]:
        """See ``Learner.env_options``."""
        features = self.settings.features if self.settings.features is not None else FEATURES[self.action]
        return {**super().env_options(), "features": features}

    def statistics(self) -> dict[str, float]:
        """Gain, the baseline's loss, entropy and the share of clipped ratios in the last improvement; how many there
        were.
        """
        return {**self._statistics, "improvements": float(self.improvements)}

    # Network.

    def build(self, trained: TrainedLayout) -> None:
        """See ``NetworkAgent``: the network that learns, and the average of its weights that acts when evaluated."""
        sizes = len(trained.features), self.settings.hidden_units
        with seeded(self.seed):
            self.newest, self.average = ActionScores(*sizes), ActionScores(*sizes)
        self.average.load_state_dict(self.newest.state_dict())
        self.networks = torch.nn.ModuleDict({"newest": self.newest, "average": self.average})
        self.optimizer = torch.optim.Adam(self.newest.parameters(), lr=self.settings.learning_rate)

    def choose(self, batch: DecisionBatch) -> IntArray:
        """Drawn actions for a ``batch``, in training and where the settings say so; else the likeliest."""
        network = self.newest if self.training else self.average
        mask = np.array(batch.mask)
        logs = network.log_probabilities(self.rows.of(batch.obs), torch.from_numpy(mask)).numpy()
        if not (self.training or self.settings.sample):
            return best_legal(logs, mask)
        return draw_actions(np.exp(logs.astype(np.float64)), batch.draws[:, 0])

    # Rollout.

    def set_training(self, on: bool) -> None:
        """See ``Learner.set_training``. A rollout that was begun is forgotten: what follows is another episode."""
        super().set_training(on)
        self._collected = []

    def collect(self, env: BatchedRoutingEnv) -> Rollout:
        """Let the network decide in the core until a rollout is complete, or to the end of the episode, and learn from
        it: several times as fast as ``act`` and ``learn``.

        Args:
            env: The environment that the agent was prepared for, in an episode.
        """
        wanted = self.settings.rollout_transitions - self._num_collected()
        rollout = env.rollout(self.policy_in_core(), max(1, wanted))
        self._take(Samples.of(rollout.transitions, rollout.log_probs))
        return rollout

    def learn(self, transitions: Transitions) -> None:
        """See ``Learner.learn``: one improvement per ``rollout_transitions``. Actions count as drawn by the present
        weights, although decisions that were open during the last improvement were made by earlier ones.
        """
        self._built("learn()")
        self._take(Samples.of(transitions))

    def end_episode(self) -> None:
        """Improve on what is left of the last rollout, if it fills a gradient step, and forget the episode."""
        if self._num_collected() >= self.settings.batch_transitions:
            self.improve()
        self._collected = []

    def _num_collected(self) -> int:
        return sum(len(samples.actions) for samples in self._collected)

    def _take(self, samples: Samples) -> None:
        if len(samples.actions) == 0:
            return
        self._learns_here()
        self._collected.append(samples)
        if self._num_collected() >= self.settings.rollout_transitions:
            self.improve()

    # Update.

    def improve(self) -> None:
        """Gradient steps on the samples that were collected, which are forgotten."""
        samples = Samples(*map(np.concatenate, zip(*self._collected, strict=True)))
        self._collected = []
        settings, network, count = self.settings, self.newest, len(samples.actions)
        rng = np.random.default_rng([self.seed, 1, self.improvements])
        figures: list[tuple[float, ...]] = []
        with one_thread():
            rows, masks = self.rows.of(samples.obs), torch.from_numpy(samples.masks)
            actions, old_logs = (
                torch.from_numpy(samples.actions)[:, None],
                torch.from_numpy(samples.log_probs),
            )
            returns = torch.from_numpy(samples.returns)
            with torch.no_grad():
                errors = (returns - network.values(rows, masks)).numpy()
                if np.isnan(samples.log_probs).any():
                    logs = network.log_probabilities(rows, masks).gather(1, actions)[:, 0]
                    old_logs = torch.where(torch.isnan(old_logs), logs, old_logs)
            advantages = torch.from_numpy(normalised_per_scenario(errors, samples.scenarios))
            taken = max(1, round(count * settings.epoch_share))
            for _ in range(settings.epochs):
                drawn = rng.permutation(count)[:taken]
                for some in np.array_split(drawn, max(1, taken // settings.batch_transitions)):
                    at = torch.from_numpy(some)
                    # The clipped objective, with the entropy of the legal actions and the baseline's error.
                    logs = network.log_probabilities(rows[at], masks[at])
                    ratio = torch.exp(logs.gather(1, actions[at])[:, 0] - old_logs[at])
                    clipped = torch.clamp(ratio, 1 - settings.clip, 1 + settings.clip)
                    gain = torch.min(ratio * advantages[at], clipped * advantages[at]).mean()
                    entropy = -(logs.exp() * logs.masked_fill(~masks[at], 0.0)).sum(dim=1).mean()
                    values = network.values(rows[at], masks[at])
                    value_loss = torch.nn.functional.smooth_l1_loss(values, returns[at])
                    loss = settings.value_weight * value_loss - gain - settings.entropy_weight * entropy
                    self.optimizer.zero_grad()
                    loss.backward()
                    torch.nn.utils.clip_grad_norm_(network.parameters(), settings.max_gradient_norm)
                    self.optimizer.step()
                    share = (torch.abs(ratio - 1) > settings.clip).float().mean()
                    figures.append((gain.item(), value_loss.item(), entropy.item(), share.item()))
        move_towards(self.average, network, settings.average_share)
        self.improvements += 1
        names = ("policy_gain", "value_loss", "entropy", "clipped")
        self._statistics = dict(zip(names, np.mean(figures, axis=0).tolist(), strict=True))

    # In other networks, and in the core.

    def adapt(self, layout: Layout, here: TrainedLayout, trained: TrainedLayout) -> None:
        """See ``NetworkAgent``. Features and kinds of candidates must be those of the training; sizes need not, and
        ``ActionRows`` converts packets.
        """
        who = f"this {self.kind} agent"
        trained.check_unit(here, who)
        for field, known, seen in (
            ("features", tuple(trained.features), tuple(here.features)),
            ("nonminimal_kinds", trained.candidates, here.candidates),
        ):
            if known != seen:
                raise config_error(field, list(seen), f"{who} was trained with {', '.join(known)}")
        for name, unit in here.features.items():
            if (unit == 0) != (trained.features[name] == 0):
                raise config_error("features", name, f"is scaled otherwise than {who} was trained with")
        self.rows = ActionRows(layout, self.action, units_of(trained))

    def policy_in_core(self) -> Any:
        """The network that learns as the core's ``MlpNetwork``, which draws its actions."""
        trained = self._built("collect()")
        units = units_of(trained)
        if trained.occupancy_unit == "ns":  # the same in every network: nothing need be converted
            units = {name: 0.0 if name in OCCUPANCY_FEATURES else unit for name, unit in units.items()}
        return self.as_mlp(self.newest.policy, units, scoring="candidate", output="softmax")

    def acting(self, trained: TrainedLayout) -> tuple[Any, dict[str, float], dict[str, Any]]:
        """See ``NetworkAgent``."""
        output = "softmax" if self.settings.sample else "greedy"
        return self.average.policy, units_of(trained), {"scoring": "candidate", "output": output}

"""Proximal policy optimisation in two stages: settings, network, rollout, returns, update, validation, in this order.

MaskablePPO on the vector environment (``examples/masked_ppo_sb3.py``) is rewarded per step, for all decisions that
complete in it. The core's transitions say for each decision how long its packet still took. In the first stage that is
the return: no discount, bootstrapping or other packet's time is in it, so nothing is left for generalised advantage
estimation to estimate. A baseline predicts the return from what the router saw; the advantage is the return minus that
prediction. Routers that minimise the times of their own packets delay the others, though: a Wardrop equilibrium. So in
the second stage the return has the times of all packets that leave in the next microsecond, too, relative to their
mean. Its noise is large, and it teaches little to a network that knows nothing yet.

Probabilities are over the legal actions of the row that decided. One small network scores each action with the same
weights, as pointer networks do and as the core's ``mlp`` with ``scoring="candidate"``, so an agent fits every size of
system. The agent measures its weights on validation traffic from time to time, and acts with the best ones.

Sources: Vinyals, Fortunato, Jaitly, NIPS 2015 (pointer networks); Schulman et al., arXiv:1707.06347 (PPO); Huang,
Ontanon, arXiv:2006.14171 (invalid action masking); Wolpert, Tumer, Advances in Complex Systems 4, 2001 (own and common
rewards).
"""

from __future__ import annotations

import copy
import dataclasses
import warnings
from collections.abc import Mapping, Sequence
from statistics import geometric_mean
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt
import torch

from dragonfly_env.agents.learner import CongestedTrainingWarning
from dragonfly_env.agents.network_agent import (
    Adam,
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
from dragonfly_env.baselines.mlp_arithmetic import best_legal
from dragonfly_env.baselines.mlp_network import SCOPES, MlpNetwork, check_scope
from dragonfly_env.checks.values import MAX_SEED, config_error
from dragonfly_env.config.rows import choice, integer, normalise, real, show_changes
from dragonfly_env.decisions.batch import IntArray
from dragonfly_env.decisions.layout import OCCUPANCY_FEATURES, PER_ACTION
from dragonfly_env.envs.batched import BatchedRoutingEnv

if TYPE_CHECKING:
    from dragonfly_env.decisions.batch import DecisionBatch, Rollout, Transitions
    from dragonfly_env.decisions.layout import Layout

FloatArray = npt.NDArray[np.float32]
TimeArray = npt.NDArray[np.float64]
_VALIDATION_WARMUP_NS, _VALIDATION_NS = 20_000.0, 30_000.0
_JOBS_FACTOR = 5  # an application sends in phases, so a window holds several of its iterations
_ALL = 2**62  # transitions: to the end of an episode
_PIECE = 100_000  # transitions of a validation that are in memory at once
_UNKNOWN_NS = (
    2_000.0  # wait assumed for packets that are open at the end of an episode, which are the slow ones
)

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
        doc="Routers that decide, see ``EnvOptions``; from the third on with paths only.",
    )
    scoring: str = choice(
        "candidate",
        ("candidate", "all"),
        doc="Passes of the network: one per action, which fits every size of system; or one per decision over all "
        "columns, which learns faster and fits one size.",
    )
    features: tuple[str, ...] | None = observed_features(
        "``ppo.FEATURES`` of the action, whose number of columns does not depend on the size of the system; with "
        "scoring 'all' the usual ones"
    )
    occupancy_unit: str = occupancy_units()
    nonminimal_kinds: tuple[str, ...] = candidate_kinds()
    hidden_units: tuple[int, ...] = layer_sizes(
        (32, 32),
        "Sizes of the hidden layers (ReLU) of the network that scores an action, and of the baseline's.",
    )
    first_stage_decisions: int = integer(
        150_000,
        0,
        2**53,
        unit="decisions",
        doc="Decisions of the first stage, in which the return of a decision is the time of its own packet. The second "
        "stage begins with the next episode.",
    )
    share: str = choice(
        "all",
        ("packet", "group", "all"),
        doc="Packets whose times make up a return of the second stage: those of the network, those that routers of the "
        "same group send, or the decision's own packet as in the first stage.",
    )
    learning_rate: float = real(
        2e-3,
        0.0,
        1.0,
        open_low=True,
        doc="Step size of Adam at the beginning of the first stage; it falls to a twentieth until the end.",
    )
    common_learning_rate: float = real(
        1.5e-3, 0.0, 1.0, open_low=True, doc="Step size of Adam in the second stage."
    )
    rollout_transitions: int = integer(
        16_384,
        2,
        2**24,
        unit="transitions",
        doc="Transitions that are completed between two improvements of the first stage.",
    )
    common_transitions: int = integer(
        38_000,
        2,
        2**24,
        unit="transitions",
        doc="Transitions between two improvements of the second stage, at least; they are of whole episodes.",
    )
    batch_transitions: int = integer(
        1024,
        2,
        2**24,
        unit="transitions",
        doc="Transitions per gradient step of the first stage; four times as many in the second.",
    )
    epochs: int = integer(3, 1, 1000, doc="Passes over a rollout in the first stage; one less in the second.")
    horizon_ns: float = real(
        1_000.0,
        0.0,
        1e9,
        open_low=True,
        unit="ns",
        doc="Delay of a later packet whose time counts 1 / e in a return of the second stage.",
    )
    clip: float = real(
        0.2, 0.0, 1.0, open_low=True, doc="Most that a probability ratio moves: PPO's epsilon."
    )
    entropy_weight: float = real(
        0.003, 0.0, 1e3, doc="Weight of the entropy bonus in the loss of the first stage."
    )
    value_weight: float = real(0.5, 0.0, 1e3, doc="Weight of the baseline's loss (Huber).")
    max_gradient_norm: float = real(
        0.5, 0.0, 1e9, open_low=True, doc="Norm above which gradients are shortened."
    )
    average_share: float = real(
        0.5,
        0.0,
        1.0,
        open_low=True,
        doc="Step by which the averaged weights move to the newest weights after each improvement; 1: a copy.",
    )
    validation_decisions: int = integer(
        200_000,
        0,
        2**53,
        unit="decisions",
        doc="Decisions between two validations of the averaged weights; 0: each episode is followed by one.",
    )
    validation_seed: int = integer(10_001, 0, MAX_SEED, doc="Seed of the traffic of validations.")

    __repr__ = show_changes

    def __post_init__(self) -> None:
        normalise(self)
        check_scope(self.scope, self.action)

    @property
    def reward(self) -> str:
        """``"delivery"``: what a decision brought is one number, the time to its packet's delivery."""
        return "delivery"


# Networks. Scoring "candidate": observations become a row of inputs per action, each scored with the same weights.


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
        """(N, A) log-probabilities of legal actions, for rows (N, A, F) and masks (N, A); others: minus infinity."""
        scores = self.policy(rows)[..., 0].masked_fill(~masks, -torch.inf)
        return torch.log_softmax(scores, dim=1)

    def values(self, rows: Any, masks: Any) -> Any:
        """(N,) expected returns of the decisions."""
        legal = masks[..., None].float()
        mean = (torch.relu(self.embedding(rows)) * legal).sum(dim=1) / legal.sum(dim=1)
        return self.value(mean)[:, 0]


class DecisionScores(torch.nn.Module):
    """Scores of the actions and the value of a decision, from all its columns at once; for one size of system.

    Args:
        inputs: Columns.
        hidden_units: Sizes of the hidden layers.
        num_actions: A.
    """

    def __init__(self, inputs: int, hidden_units: Sequence[int], num_actions: int) -> None:
        super().__init__()
        self.policy = dense_layers((inputs, *hidden_units, num_actions))
        self.value = dense_layers((inputs, *hidden_units, 1))
        with torch.no_grad():
            self.policy[-1].weight.mul_(0.01)
            self.policy[-1].bias.zero_()

    def log_probabilities(self, rows: Any, masks: Any) -> Any:
        """(N, A) log-probabilities of legal actions, for observations (N, columns), masks (N, A); else -inf."""
        return torch.log_softmax(self.policy(rows).masked_fill(~masks, -torch.inf), dim=1)

    def values(self, rows: Any, masks: Any) -> Any:
        """(N,) expected returns of the decisions."""
        return self.value(rows)[:, 0]


class DecisionRows:
    """Inputs of ``DecisionScores``: observations as they are.

    Raises:
        ConfigError: If the columns are not those of the training.
    """

    def __init__(self, here: TrainedLayout, trained: TrainedLayout) -> None:
        for field in ("columns", "units", "num_actions"):
            if getattr(here, field) != getattr(trained, field):
                allowed = "fits only systems with the columns and actions of the training: choose 'candidate'"
                raise config_error("scoring", "all", allowed)

    def of(self, obs: FloatArray) -> Any:
        """(N, columns) tensor of observations."""
        return torch.from_numpy(np.array(obs))


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
        per_action, columns = PER_ACTION[action], []
        for block in layout.blocks:
            if block.per not in ("decision", per_action):
                needed = f"decision or {per_action}"
                allowed = f"is per {block.per}; a network that scores each {action} sees what is per {needed}"
                raise config_error("features", block.name, allowed)
            columns.append(
                np.arange(block.columns.start, block.columns.stop)
                if block.per == per_action
                else np.full(layout.num_actions, block.columns.start)
            )
        if all(block.per != per_action for block in layout.blocks):
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
        in_ns = trained.occupancy_unit == "ns" and name in OCCUPANCY_FEATURES  # equal in every network
        units[name] = unit if unit == 0 or in_ns else fixed
    return units


# Rollout: decisions with what came of them.


class Samples(NamedTuple):
    """M decisions with what came of them."""

    obs: FloatArray  # (M, columns)
    masks: npt.NDArray[np.bool_]  # (M, A) masks of the rows that decided
    actions: IntArray  # (M,)
    log_probs: FloatArray  # (M,) log-probabilities of the actions when they were chosen; NaN: unknown
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


# Common returns.


def common_returns(transitions: Transitions, pools: IntArray, horizon_ns: float) -> FloatArray:
    """(M,) the return of each decision, and those of the packets of its pool that leave later, discounted.

    Later packets count relative to their mean, so that their number does not matter, and each with the return of its
    first decision.

    Args:
        transitions: Transitions of one episode, with the return of each packet.
        pools: (M,) a number for each pool.
        horizon_ns: A packet that leaves so much later counts 1 / e.
    """
    rewards, times_ns = transitions.rewards, transitions.decision_time_ns
    first = transitions.hops == 0
    counts = np.maximum(1, np.bincount(pools, first))
    means = np.bincount(pools, rewards * first) / counts
    later = np.zeros(len(rewards))
    order = np.lexsort((times_ns, pools))
    gains = ((rewards - means[pools]) * first)[order].tolist()
    kept = np.exp(-np.diff(times_ns[order]).clip(min=0) / horizon_ns) * (np.diff(pools[order]) == 0)
    sums, total = [0.0] * len(gains), 0.0
    for at in range(len(gains) - 2, -1, -1):
        sums[at] = total = kept[at] * (gains[at + 1] + total)
    later[order] = sums
    returns: FloatArray = (rewards + later).astype(np.float32)
    return returns


class PpoAgent(NetworkAgent):
    """A network that scores actions, shared by all routers and trained by PPO: on each packet's own time first, on the
    time of all packets afterwards.

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
    counters: ClassVar[tuple[str, ...]] = (
        *("improvements", "decisions", "second_stage"),
        *("costs", "best_costs", "greedy"),
    )
    settings: PpoSettings

    def __init__(self, settings: PpoSettings | None = None, *, seed: int = 0) -> None:
        super().__init__(settings, seed=seed)
        self.improvements = self.decisions = 0
        self.second_stage = self.settings.first_stage_decisions == 0
        self.costs: list[float] = []  # packets in the system at the last validation, by scenario
        self.best_costs: list[float] = []  # packets in the system at the best validation, by scenario
        self.greedy = (
            False  # whether the likeliest actions were better than drawn ones in the best validation
        )
        self._collected: list[Samples] = []
        self._validated_at = 0
        self._env: BatchedRoutingEnv | None = None  # environment of the training
        self._statistics: dict[str, float] = {}

    def __repr__(self) -> str:
        return f"<PpoAgent {self.scope}/{self.action} after {self.improvements} improvements>"

    def env_options(self) -> dict[str, Any]:
        """See ``Learner.env_options``."""
        options = super().env_options()
        if self.settings.features is None and self.settings.scoring == "candidate":
            options["features"] = FEATURES[self.action]
        return options

    def statistics(self) -> dict[str, float]:
        """Gain, the baseline's loss, entropy and the share of clipped ratios in the last improvement; how many there
        were; the geometric mean of the costs (packets in the system) in the last validation and in the best one.
        """
        found = {**self._statistics, "improvements": float(self.improvements)}
        if self.costs:
            found |= {"validated": geometric_mean(self.costs), "best": geometric_mean(self.best_costs)}
        return found

    # Network.

    def build(self, trained: TrainedLayout) -> None:
        """See ``NetworkAgent``: the network that learns, the average of its weights, and the best average."""
        hidden, columns = self.settings.hidden_units, len(trained.columns)
        with seeded(self.seed):
            if self.settings.scoring == "all":
                self.newest: Any = DecisionScores(columns, hidden, trained.num_actions)
            else:
                self.newest = ActionScores(len(trained.features), hidden)
        self.average, self.best = copy.deepcopy(self.newest), copy.deepcopy(self.newest)
        self.networks = torch.nn.ModuleDict(
            {"newest": self.newest, "average": self.average, "best": self.best}
        )
        self.optimizer = Adam(self.newest)

    @property
    def _acts(self) -> Any:
        """The network that acts when it is evaluated."""
        return self.best if self.best_costs else self.average

    def choose(self, batch: DecisionBatch) -> IntArray:
        """Drawn actions for a ``batch``, in training and where the validation prefers them; else the likeliest."""
        network = self.newest if self.training else self._acts
        mask = np.array(batch.mask)
        logs = network.log_probabilities(self.rows.of(batch.obs), torch.from_numpy(mask)).numpy()
        if self.greedy and not self.training:
            return best_legal(logs, mask)
        return draw_actions(np.exp(logs.astype(np.float64)), batch.draws[:, 0])

    # Rollout.

    def collect(self, env: BatchedRoutingEnv) -> Rollout:
        """Let the network decide in the core and learn from it: several times as fast as ``act`` and ``learn``. In the
        second stage a call lasts to the end of the episode: else packets that are open, the slow ones, would count in
        the returns of other decisions than their neighbours.

        Args:
            env: The environment that the agent was prepared for, in an episode.
        """
        self._env = env
        if self.second_stage:
            rollout = env.rollout(self.policy_in_core(), _ALL)
            samples = self._common_samples(env, rollout)
        else:
            wanted = self.settings.rollout_transitions - self._num_collected()
            rollout = env.rollout(self.policy_in_core(), max(1, wanted))
            samples = Samples.of(rollout.transitions, rollout.log_probs)
        self.decisions += rollout.decisions
        self._take(samples)
        return rollout

    def _common_samples(self, env: BatchedRoutingEnv, rollout: Rollout) -> Samples:
        """The decisions of a whole episode but its end, with common returns."""
        made = rollout.transitions
        pools = made.scenario.astype(np.int64)
        if self.settings.share == "group":
            group_of_agents = np.concatenate([config.topology.group_of_routers() for config in env.configs])
            groups = group_of_agents[env.first_agents[made.scenario] + made.agents]
            pools = np.unique(pools * 2**32 + groups, return_inverse=True)[1]
        returns = made.rewards.astype(np.float32)
        if self.settings.share != "packet":
            returns = common_returns(made, pools, self.settings.horizon_ns)
        early = made.decision_time_ns < env.time_ns - _UNKNOWN_NS
        samples = Samples(
            obs=made.obs[early],
            masks=made.mask[early],
            actions=made.actions[early].astype(np.int64),
            log_probs=rollout.log_probs[early],
            returns=returns[early],
            scenarios=made.scenario[early],
        )
        if self.settings.share == "packet":
            return samples
        return samples._replace(returns=normalised_per_scenario(samples.returns, samples.scenarios))

    @property
    def _wanted(self) -> int:
        """Transitions between two improvements."""
        return self.settings.common_transitions if self.second_stage else self.settings.rollout_transitions

    def learn(self, transitions: Transitions) -> None:
        """See ``Learner.learn``: one improvement per ``rollout_transitions``, with the return of the first stage.
        Actions count as drawn by the present weights, although decisions that were open during the last improvement
        were made by earlier ones.
        """
        self._built("learn()")
        self.decisions += len(transitions)
        self._take(Samples.of(transitions))

    def end_episode(self) -> None:
        """Begin the second stage when it is due; validate."""
        if not self.second_stage and self.decisions >= self.settings.first_stage_decisions:
            self._collected, self.second_stage = [], True
        if (
            self._env is not None
            and self.decisions - self._validated_at >= self.settings.validation_decisions
        ):
            self.validate()

    def _num_collected(self) -> int:
        return sum(len(samples.actions) for samples in self._collected)

    def _take(self, samples: Samples) -> None:
        if len(samples.actions) == 0:
            return
        self._learns_here()
        self._collected.append(samples)
        if self._num_collected() >= self._wanted:
            self.improve()

    # Update.

    def improve(self) -> None:
        """Gradient steps on the samples that were collected, which are forgotten."""
        samples = Samples(*map(np.concatenate, zip(*self._collected, strict=True)))
        self._collected = []
        settings, network, count = self.settings, self.newest, len(samples.actions)
        rate = settings.learning_rate * max(0.05, 1 - self.decisions / max(1, settings.first_stage_decisions))
        batch, epochs, entropy_weight = settings.batch_transitions, settings.epochs, settings.entropy_weight
        if self.second_stage:
            rate, batch, epochs, entropy_weight = (
                settings.common_learning_rate,
                4 * batch,
                max(1, epochs - 1),
                0.0,
            )
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
            for _ in range(epochs):
                for some in np.array_split(rng.permutation(count), max(1, count // batch)):
                    at = torch.from_numpy(some)
                    seen, legal, advantage = rows[at], masks[at], advantages[at]
                    # The clipped objective, with the entropy of the legal actions and the baseline's error.
                    logs = network.log_probabilities(seen, legal)
                    ratio = torch.exp(logs.gather(1, actions[at])[:, 0] - old_logs[at])
                    clipped = torch.clamp(ratio, 1 - settings.clip, 1 + settings.clip)
                    gain = torch.min(ratio * advantage, clipped * advantage).mean()
                    entropy = -(logs.exp() * logs.masked_fill(~legal, 0.0)).sum(dim=1).mean()
                    value_loss = torch.nn.functional.smooth_l1_loss(network.values(seen, legal), returns[at])
                    loss = settings.value_weight * value_loss - gain
                    if entropy_weight > 0:
                        loss = loss - entropy_weight * entropy
                    self.optimizer.step(loss, rate, settings.max_gradient_norm)
                    share = (torch.abs(ratio - 1) > settings.clip).float().mean()
                    figures.append((gain.item(), value_loss.item(), entropy.item(), share.item()))
        move_towards(self.average, network, settings.average_share)
        self.improvements += 1
        names = ("policy_gain", "value_loss", "entropy", "clipped")
        self._statistics = dict(zip(names, np.mean(figures, axis=0).tolist(), strict=True))

    # Validation.

    def validate(self) -> None:
        """Measure the averaged weights on validation traffic, with drawn and with the likeliest actions, and keep the
        weights if the better ones are the best so far.
        """
        self._validated_at = self.decisions
        drawn, likeliest = self._measure("softmax"), self._measure("greedy")
        self.costs = min(drawn, likeliest, key=geometric_mean)
        if not self.best_costs or geometric_mean(self.costs) < geometric_mean(self.best_costs):
            self.greedy, self.best_costs = self.costs is likeliest, self.costs
            self.best.load_state_dict(self.average.state_dict())

    def end_training(self) -> None:
        """Validate the last weights; warn if they congest the network, which the best ones do not."""
        if self._env is None:
            return
        if not self.costs or self.decisions > self._validated_at:
            self.validate()
        last, best = geometric_mean(self.costs), geometric_mean(self.best_costs)
        if last > 1.5 * best:
            warnings.warn(
                f"this training ends in congestion: its last weights cost {last / best:.1f} times as much in the "
                f"validation as its best ones; the agent keeps the best ones",
                CongestedTrainingWarning,
                stacklevel=2,
            )

    def _measure(self, output: str) -> list[float]:
        """The cost with drawn or likeliest actions, by scenario of the training: packets in the system; where
        applications run, whose packets are the more the faster they are, the time per packet of theirs.
        """
        assert self._env is not None
        seed = self.settings.validation_seed
        configs = [config.replace(seed=seed + n) for n, config in enumerate(self._env.configs)]
        env = BatchedRoutingEnv(configs, **self.env_options(), duration_ns=_VALIDATION_WARMUP_NS)
        network = self._in_core(self.average.policy, output)
        window_ns = _VALIDATION_NS * (_JOBS_FACTOR if any(config.jobs for config in configs) else 1)
        env.reset()
        while not env.done:
            env.rollout(network, _PIECE)
        env.reset_statistics()
        env.extend(window_ns)
        while not env.done:
            env.rollout(network, _PIECE)
        runs = [env.metrics(n) for n in range(env.num_scenarios)]
        return [
            window_ns / max(1, sum(job.packets_delivered for job in run.jobs))
            if run.jobs
            else run.packets_in_system_mean
            for run in runs
        ]

    # Conversion for other networks, and for the core.

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
        self.rows: Any = (
            DecisionRows(here, trained)
            if self.settings.scoring == "all"
            else ActionRows(layout, self.action, units_of(trained))
        )

    def policy_in_core(self) -> Any:
        """The network that learns as the core's ``MlpNetwork``, which draws its actions."""
        self._built("collect()")
        return self._in_core(self.newest.policy, "softmax")

    def _in_core(self, policy: Any, output: str) -> MlpNetwork:
        trained = self._built("collect()")
        units = units_of(trained)
        if self.settings.scoring == "all":
            units = dict.fromkeys(units, 0.0)
        elif trained.occupancy_unit == "ns":  # times are equal in every network and need no conversion
            units = {name: 0.0 if name in OCCUPANCY_FEATURES else unit for name, unit in units.items()}
        return self.as_mlp(policy, units, scoring=self.settings.scoring, output=output)

    def acting(self, trained: TrainedLayout) -> tuple[Any, dict[str, float], dict[str, Any]]:
        """See ``NetworkAgent``."""
        output = "greedy" if self.greedy else "softmax"
        units = units_of(trained) if self.settings.scoring == "candidate" else trained.features
        return self._acts.policy, units, {"scoring": self.settings.scoring, "output": output}

"""Proximal policy optimisation on exact transitions: what a decision brought is known, packet by packet.

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

import itertools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from dragonfly_env.agents._choice import pick
from dragonfly_env.agents._network_agent import NetworkAgent
from dragonfly_env.agents._sb3 import one_thread, polyak_update, seeded, torch
from dragonfly_env.agents._trained_on import LayoutFacts
from dragonfly_env.agents.settings import PpoSettings
from dragonfly_env.baselines._mlp_arithmetic import best_legal
from dragonfly_env.checks.values import config_error
from dragonfly_env.decisions.batch import IntArray
from dragonfly_env.decisions.layout import OCCUPANCY_FEATURES, PER_ACTION

if TYPE_CHECKING:
    from dragonfly_env.baselines import MlpNetwork
    from dragonfly_env.decisions.batch import DecisionBatch, Rollout, Transitions
    from dragonfly_env.decisions.layout import Layout
    from dragonfly_env.envs.batched import BatchedRoutingEnv

_FIGURES = ("policy_gain", "value_loss", "entropy", "clipped")
_UNITS = {"candidate_kind": 2.0, "hops": 2.0, "candidate_hops": 2.0}
_PACKETS = 16.0  # in which packets are counted, here and in other networks with larger buffers
Floats = npt.NDArray[np.float32]


class Samples(NamedTuple):
    """M decisions with what came of them."""

    obs: Floats  # (M, columns)
    masks: npt.NDArray[np.bool_]  # (M, A) of the rows that decided
    actions: IntArray  # (M,)
    log_probs: Floats  # (M,) of these, when they were chosen; NaN: not known
    returns: Floats  # (M,)
    scenarios: npt.NDArray[np.int32]  # (M,)


class ActionRows:
    """Inputs of a network for each action: the columns of an observation, gathered and in fixed units.

    Args:
        layout: Of the observations.
        action: ``"path"`` or ``"port"``.
        units: See ``units_of``: those of the training, whatever the layout's are.

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

    def of(self, obs: npt.NDArray[np.float32]) -> Any:
        """(N, A, F) tensor of observations (N, columns)."""
        return torch.from_numpy(obs[:, self._columns] * self._factors)


def units_of(facts: LayoutFacts) -> dict[str, float]:
    """The features of a training, each with the unit that the network expects (quantity / value); 0: squashed.

    Packets and hops are counted in units that do not depend on the network's buffers; other units are those of the
    training.
    """

    def unit(name: str, trained: float) -> float:
        if trained == 0:
            return 0.0
        if facts.occupancy_unit == "ns" and name in OCCUPANCY_FEATURES:
            return trained  # the same in every network
        return _UNITS.get(name, _PACKETS if name.endswith("_packets") else trained)

    return {name: unit(name, trained) for name, trained in facts.features.items()}


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
        self.policy = _layers((inputs, *hidden_units, 1))
        self.embedding = _layers((inputs, hidden_units[0]))
        self.value = _layers((*hidden_units, 1))
        with torch.no_grad():  # all actions alike at first
            self.policy[-1].weight.mul_(0.01)
            self.policy[-1].bias.zero_()

    def log_probabilities(self, rows: Any, masks: Any) -> Any:
        """(N, A) of legal actions; minus infinity of others."""
        scores = self.policy(rows)[..., 0].masked_fill(~masks, -torch.inf)
        return torch.log_softmax(scores, dim=1)

    def values(self, rows: Any, masks: Any) -> Any:
        """(N,) what is to be expected of decisions."""
        legal = masks[..., None].float()
        mean = (torch.relu(self.embedding(rows)) * legal).sum(dim=1) / legal.sum(dim=1)
        return self.value(mean)[:, 0]


def _layers(sizes: Sequence[int]) -> Any:
    """Dense layers with rectifiers between them."""
    parts: list[Any] = []
    for inputs, outputs in itertools.pairwise(sizes):
        parts += [torch.nn.Linear(inputs, outputs), torch.nn.ReLU()]
    return torch.nn.Sequential(*parts[:-1])


class PpoAgent(NetworkAgent):
    """A network that scores actions, shared by all routers and trained by PPO on packets' exact returns.

    Everything random in it follows from ``seed`` and from the random numbers of the batches.

    Args:
        settings: What it sees and how it learns.
        seed: Of its initial weights and the order of its samples.

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
    counters: ClassVar[tuple[str, ...]] = ("_improvements",)
    settings: PpoSettings

    def __init__(self, settings: PpoSettings | None = None, *, seed: int = 0) -> None:
        super().__init__(settings, seed=seed)
        self._average: Any = None  # of its weights; acts when it is evaluated
        self._optimizer: Any = None
        self._rows: ActionRows | None = None
        self._collected: list[Samples] = []
        self._improvements = 0
        self._statistics: dict[str, float] = {}

    def __repr__(self) -> str:
        return f"<PpoAgent {self.scope}/{self.action} after {self._improvements} improvements>"

    def set_training(self, on: bool) -> None:
        """See ``Learner.set_training``. A rollout that was begun is forgotten: what follows is another episode."""
        super().set_training(on)
        self._collected = []

    def statistics(self) -> dict[str, float]:
        """Gain, the baseline's loss, entropy and the share of clipped ratios in the last improvement; how many there
        were.
        """
        return {**self._statistics, "improvements": float(self._improvements)}

    def collect(self, env: BatchedRoutingEnv) -> Rollout:
        """Let the network decide in the core until a rollout is complete, or to the end of the episode, and learn from
        it: several times as fast as ``act`` and ``learn``.

        Args:
            env: The environment that the agent was prepared for, in an episode.
        """
        facts = self._built("collect()")
        wanted = self.settings.rollout_transitions - self._num_collected()
        rollout = env.rollout(self._drawing(facts), max(1, wanted))
        self._take(rollout.transitions, rollout.log_probs)
        return rollout

    def learn(self, transitions: Transitions) -> None:
        """See ``Learner.learn``: one improvement per ``rollout_transitions``. Actions count as drawn by the present
        weights, although decisions that were open during the last improvement were made by earlier ones.
        """
        self._built("learn()")
        self._take(transitions, np.full(len(transitions), np.nan, np.float32))

    def end_episode(self) -> None:
        """Improve on what is left of the last rollout, if it fills a gradient step, and forget the episode."""
        if self._num_collected() >= self.settings.batch_transitions:
            self._improve()
        self._collected = []

    def _num_collected(self) -> int:
        return sum(len(samples.actions) for samples in self._collected)

    def _take(self, transitions: Transitions, log_probs: Floats) -> None:
        log_probs, transitions = log_probs[~transitions.truncated], transitions.completed()
        if len(transitions) == 0:
            return
        self._learns_here()
        self._collected.append(
            Samples(
                obs=transitions.obs,
                masks=transitions.mask,
                actions=transitions.actions.astype(np.int64),
                log_probs=log_probs,
                returns=transitions.rewards.astype(np.float32),
                scenarios=transitions.scenario,
            )
        )
        if self._num_collected() >= self.settings.rollout_transitions:
            self._improve()

    def _choose(self, batch: DecisionBatch) -> IntArray:
        """Drawn actions, in training and where the settings say so; else the likeliest."""
        assert self._rows is not None
        network = self._network if self.training else self._average
        mask = np.array(batch.mask)
        logs = network.log_probabilities(self._rows.of(batch.obs), torch.from_numpy(mask)).numpy()
        if not (self.training or self.settings.sample):
            return best_legal(logs, mask)
        return pick(np.exp(logs.astype(np.float64)), batch.draws[:, 0])

    def _improve(self) -> None:
        samples = Samples(*map(np.concatenate, zip(*self._collected, strict=True)))
        self._collected = []
        assert self._rows is not None
        settings = self.settings
        rng = np.random.default_rng([self.seed, 1, self._improvements])
        figures: list[tuple[float, ...]] = []
        with one_thread():
            rows, masks = self._rows.of(samples.obs), torch.from_numpy(samples.masks)
            returns = torch.from_numpy(samples.returns)
            before, actions = (torch.from_numpy(column) for column in (samples.log_probs, samples.actions))
            with torch.no_grad():
                left = returns - self._network.values(rows, masks)
                if np.isnan(samples.log_probs).any():
                    logs = self._network.log_probabilities(rows, masks).gather(1, actions[:, None])[:, 0]
                    before = torch.where(torch.isnan(before), logs, before)
            advantages = torch.from_numpy(_per_scenario(left.numpy(), samples.scenarios))
            count = max(1, round(len(samples.actions) * settings.epoch_share))
            parts = max(1, count // settings.batch_transitions)
            for _ in range(settings.epochs):
                for some in np.array_split(rng.permutation(len(samples.actions))[:count], parts):
                    at = torch.from_numpy(some)
                    batch = (rows[at], masks[at], actions[at], before[at], advantages[at], returns[at])
                    figures.append(self._step(*batch))
        polyak_update(self._network.parameters(), self._average.parameters(), settings.average_share)
        self._improvements += 1
        self._statistics = dict(zip(_FIGURES, np.mean(figures, axis=0).tolist(), strict=True))

    def _step(
        self, rows: Any, masks: Any, actions: Any, before: Any, advantages: Any, returns: Any
    ) -> tuple[float, ...]:
        """A gradient step; its figures."""
        network, settings = self._network, self.settings
        logs = network.log_probabilities(rows, masks)
        ratio = torch.exp(logs.gather(1, actions[:, None])[:, 0] - before)
        kept = torch.clamp(ratio, 1 - settings.clip, 1 + settings.clip)
        gain = torch.min(ratio * advantages, kept * advantages).mean()
        entropy = -(logs.exp() * logs.masked_fill(~masks, 0.0)).sum(dim=1).mean()
        error = torch.nn.functional.smooth_l1_loss(network.values(rows, masks), returns)
        loss = settings.value_weight * error - gain - settings.entropy_weight * entropy
        self._optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(network.parameters(), settings.max_gradient_norm)
        self._optimizer.step()
        clipped = (torch.abs(ratio - 1) > settings.clip).float().mean()
        return tuple(float(figure.detach()) for figure in (gain, error, entropy, clipped))

    def _drawing(self, facts: LayoutFacts) -> MlpNetwork:
        """The network that learns, for the core."""
        units = units_of(facts)
        if facts.occupancy_unit == "ns":  # the same in every network: nothing need be converted
            units = {name: 0.0 if name in OCCUPANCY_FEATURES else unit for name, unit in units.items()}
        return self._as_mlp(self._network.policy, units, scoring="candidate", output="softmax")

    # For NetworkAgent.

    def _acting(self, facts: LayoutFacts) -> tuple[Any, dict[str, float], dict[str, Any]]:
        output = "softmax" if self.settings.sample else "greedy"
        return self._average.policy, units_of(facts), {"scoring": "candidate", "output": output}

    def _fit_layout(self, layout: Any, num_actions: int) -> None:
        if self._network is not None and layout is self._layout:
            return
        facts = LayoutFacts.of(layout, num_actions)
        if self._facts is not None:
            self._factors_to(self._facts, facts)
        self._rows = ActionRows(layout, self.action, units_of(self._facts or facts))
        super()._fit_layout(layout, num_actions)

    def _factors_to(self, trained: LayoutFacts, other: LayoutFacts) -> None:
        """Features and kinds of candidates must be those of the training; sizes need not, and its rows convert
        packets.
        """
        trained.require_unit(other, f"this {self.kind} agent")
        who = f"this {self.kind} agent was trained with"
        for field, known, found in (
            ("features", tuple(trained.features), tuple(other.features)),
            ("nonminimal_kinds", trained.candidates, other.candidates),
        ):
            if known != found:
                raise config_error(field, list(found), f"{who} {', '.join(known)}")
        squashed = {name for name, unit in trained.features.items() if unit == 0}
        for name, unit in other.features.items():
            if (unit == 0) != (name in squashed):
                raise config_error("features", name, f"is scaled otherwise than {who}")

    def _build(self, facts: LayoutFacts) -> None:
        inputs = len(facts.features)
        with seeded(self.seed):
            self._network = ActionScores(inputs, self.settings.hidden_units)
            self._average = ActionScores(inputs, self.settings.hidden_units)
        self._average.load_state_dict(self._network.state_dict())
        self._optimizer = torch.optim.Adam(self._network.parameters(), lr=self.settings.learning_rate)

    def _networks(self) -> dict[str, Any]:
        return {"network": self._network, "average": self._average}


def _per_scenario(advantages: Any, scenarios: Any) -> Any:
    """Advantages with mean 0 and deviation 1 in each scenario: else the most congested one would decide alone."""
    count = np.maximum(np.bincount(scenarios), 1)
    mean = np.bincount(scenarios, advantages) / count
    rest = advantages - mean[scenarios]
    deviation = np.sqrt(np.bincount(scenarios, rest**2) / count)
    return (rest / (deviation[scenarios] + 1e-8)).astype(np.float32)

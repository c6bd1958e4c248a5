"""Proximal policy optimisation on exact transitions: what a decision brought is known, packet by packet.

MaskablePPO on the vector environment (``masked_ppo``) is paid per step, for whatever completes in it. The core's
transitions say for each decision how long its packet still took: that is its return, without discount, bootstrapping or
other packets' times in it, so nothing is left for generalised advantage estimation to estimate. A baseline foretells
the return from what the router saw, and what is left is the advantage. Probabilities are over the legal actions of the
row that decided. One small network scores each action with the same weights, so an agent fits every size of system.

Sources: Schulman et al., arXiv:1707.06347 (PPO); Huang, Ontanon, arXiv:2006.14171 (invalid action masking).
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from dragonfly_env.agents._action_scores import ActionRows, ActionScores, units_of
from dragonfly_env.agents._choice import best_legal, pick
from dragonfly_env.agents._export import export_scores
from dragonfly_env.agents._exportable_agent import ExportableAgent
from dragonfly_env.agents._layouts import LayoutFacts
from dragonfly_env.agents._rollout import Rollout
from dragonfly_env.agents._sb3 import one_thread, polyak_update, seeded, torch
from dragonfly_env.agents.ppo_settings import PpoSettings
from dragonfly_env.agents.protocol import IntArray
from dragonfly_env.checks.values import config_error
from dragonfly_env.errors import StateError

if TYPE_CHECKING:
    from dragonfly_env.decisions.batch import DecisionBatch, Transitions
    from dragonfly_env.envs.batched import BatchedRoutingEnv

_FIGURES = ("policy_gain", "value_loss", "entropy", "clipped")


class PpoAgent(ExportableAgent):
    """A network that scores actions, shared by all routers and trained by PPO on packets' exact returns.

    Everything random in it follows from ``seed`` and from the draws of the batches. Rollouts end with their episode, so
    an agent that is saved between episodes and loaded goes on as if it had not been interrupted, bit for bit.

    Args:
        settings: What it sees and how it learns.
        seed: Of its initial weights and the order of its samples.

    Raises:
        ConfigError: For a seed out of range.
    """

    kind: ClassVar[str] = "ppo"
    settings_class: ClassVar[type[PpoSettings]] = PpoSettings
    settings: PpoSettings

    def __init__(self, settings: PpoSettings | None = None, *, seed: int = 0) -> None:
        super().__init__(settings, seed=seed)
        self.training = False
        self._average: Any = None  # of its weights; acts when it is evaluated
        self._optimizer: Any = None
        self._rows: ActionRows | None = None
        self._rollout = Rollout()
        self._improvements = 0
        self._statistics: dict[str, float] = {}

    def __repr__(self) -> str:
        return f"<PpoAgent {self.scope}/{self.action} after {self._improvements} improvements>"

    def set_training(self, on: bool) -> None:
        """See ``Learner.set_training``. A rollout that was begun is forgotten: what follows is another episode."""
        self.training = bool(on)
        self._rollout.clear()

    def statistics(self) -> dict[str, float]:
        """Gain, the baseline's loss, entropy and the share of clipped ratios in the last improvement; how many there
        were.
        """
        return {**self._statistics, "improvements": float(self._improvements)}

    def act(self, batch: DecisionBatch) -> IntArray:
        """See ``Policy.act``; in training actions are drawn.

        Raises:
            ConfigError: If the batch shows other features than those of the training.
        """
        self._fit_layout(batch.layout, batch.mask.shape[1])
        if len(batch) == 0:
            return np.zeros(0, dtype=np.int64)
        assert self._rows is not None
        network = self._network if self.training else self._average
        mask = np.array(batch.mask)
        with torch.no_grad(), one_thread():
            logs = network.log_probabilities(self._rows.of(batch.obs), torch.from_numpy(mask)).numpy()
        if not (self.training or self.settings.sample):
            return best_legal(logs, mask)
        actions = pick(np.exp(logs.astype(np.float64)), batch.draws[:, 0])
        if self.training:
            self._rollout.chosen(batch, logs[np.arange(len(actions)), actions])
        return actions

    def learn(self, transitions: Transitions) -> None:
        """See ``Learner.learn``: one improvement per ``rollout_transitions``."""
        if self._network is None:
            raise StateError("learn(): call prepare(env) or act(batch) first")
        if len(transitions) == 0:
            return
        self._learns_here()
        self._rollout.ended(transitions)
        if len(self._rollout) >= self.settings.rollout_transitions:
            self._improve()

    def end_episode(self) -> None:
        """Improve on what is left of the last rollout, if it fills a gradient step, and forget the episode."""
        if len(self._rollout) >= self.settings.batch_transitions:
            self._improve()
        self._rollout.clear()

    def _improve(self) -> None:
        samples = self._rollout.take()
        if samples is None:
            return
        assert self._rows is not None
        settings = self.settings
        rng = np.random.default_rng([self.seed, 1, self._improvements])
        figures: list[tuple[float, ...]] = []
        with one_thread():
            rows, masks = self._rows.of(samples.obs), torch.from_numpy(samples.masks)
            returns = torch.from_numpy(samples.returns)
            with torch.no_grad():
                left = returns - self._network.values(rows, masks)
            advantages = torch.from_numpy(_per_scenario(left.numpy(), samples.scenarios))
            before, actions = (
                torch.from_numpy(column) for column in (samples.log_probabilities, samples.actions)
            )
            parts = max(1, len(samples.actions) // settings.batch_transitions)
            for _ in range(settings.epochs):
                for some in np.array_split(rng.permutation(len(samples.actions)), parts):
                    at = torch.from_numpy(some)
                    batch = (rows[at], masks[at], actions[at], before[at], advantages[at], returns[at])
                    figures.append(self._step(*batch))
        polyak_update(self._network.parameters(), self._average.parameters(), settings.average_share)
        self._improvements += 1
        self._statistics = dict(zip(_FIGURES, np.mean(figures, axis=0).tolist(), strict=True))

    def _step(
        self, rows: Any, masks: Any, actions: Any, before: Any, advantages: Any, returns: Any
    ) -> tuple[float, ...]:
        """One gradient step; its figures."""
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

    # For ExportableAgent and NetworkAgent.

    def _write_mlp(self, path: str | Path, facts: LayoutFacts, **fields: Any) -> Path:
        output = "softmax" if self.settings.sample else "greedy"
        return export_scores(
            path, facts, self._average.layers(), units=units_of(facts), output=output, **fields
        )

    def _fit_layout(self, layout: Any, num_actions: int) -> None:
        if self._network is not None and layout is self._layout:
            return
        facts = LayoutFacts.of(layout, num_actions)
        if self._facts is not None:
            self._factors_to(self._facts, facts)
        self._rows = ActionRows(layout, self.action, units_of(self._facts or facts))
        super()._fit_layout(layout, num_actions)

    def _require_ports(self, env: BatchedRoutingEnv) -> None:
        """Ports are scored one by one: their number does not matter."""

    def _factors_to(self, trained: LayoutFacts, other: LayoutFacts) -> None:
        """Features and kinds of candidates must be those of the training; sizes need not, and its rows convert
        packets.
        """
        trained.require_unit(other, f"this {self.kind} agent")
        who = f"this {self.kind} agent was trained with"
        for field, known, found in (
            ("features", tuple(trained.features), tuple(other.features)),
            ("detours", trained.candidates, other.candidates),
        ):
            if known != found:
                raise config_error(field, list(found), f"{who} {', '.join(known)}")
        squashed = {name for name, unit in trained.features.items() if unit == 0}
        for name, unit in other.features.items():
            if (unit == 0) != (name in squashed):
                raise config_error("features", name, f"is scaled otherwise than {who}")

    def _sizes(self, facts: LayoutFacts) -> tuple[int, ...]:
        return (len(facts.features), *self.settings.hidden_units, 1)

    def _build(self, facts: LayoutFacts) -> None:
        inputs = len(facts.features)
        with seeded(self.seed):
            self._network = ActionScores(inputs, self.settings.hidden_units)
            self._average = ActionScores(inputs, self.settings.hidden_units)
        self._average.load_state_dict(self._network.state_dict())
        self._optimizer = torch.optim.Adam(self._network.parameters(), lr=self.settings.learning_rate)

    def _parts(self) -> dict[str, Any]:
        return {"network": self._network, "average": self._average, "optimizer": self._optimizer}

    def _counts(self) -> dict[str, int]:
        return {"improvements": self._improvements}

    def _recount(self, counts: dict[str, int]) -> None:
        self._improvements = counts["improvements"]


def _per_scenario(advantages: Any, scenarios: Any) -> Any:
    """Advantages with mean 0 and deviation 1 in each scenario: else the most congested one would decide alone."""
    count = np.maximum(np.bincount(scenarios), 1)
    mean = np.bincount(scenarios, advantages) / count
    rest = advantages - mean[scenarios]
    deviation = np.sqrt(np.bincount(scenarios, rest**2) / count)
    return (rest / (deviation[scenarios] + 1e-8)).astype(np.float32)

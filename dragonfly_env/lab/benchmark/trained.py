"""What the training of a policy took, as its row of a leaderboard says."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dragonfly_env.baselines import Neural
from dragonfly_env.sweeps.choices import PolicyChoice
from dragonfly_env.sweeps.progress import spell_seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingCost:
    """What a training took; NaN for what nobody knows.

    Attributes:
        decisions: That it learned from, of all episodes.
        wall_s: Real time, as ``dragonfly-env train`` measures it.
        cpu_s: CPU time.
    """

    decisions: float = math.nan
    wall_s: float = math.nan
    cpu_s: float = math.nan

    def describe(self) -> str:
        """For a table: ``"2,113,402 decisions, 31 s"``; ``"-"`` if nothing is known."""
        parts = []
        if not math.isnan(self.decisions):
            parts.append(f"{self.decisions:,.0f} decisions")
        if not math.isnan(self.wall_s):
            parts.append(spell_seconds(self.wall_s))
        if not math.isnan(self.cpu_s):
            parts.append(f"{self.cpu_s:,.0f} CPU-s")
        return ", ".join(parts) or "-"


def training_cost(choice: PolicyChoice) -> TrainingCost:
    """What is known of a policy's training: of saved agents what ``dragonfly-env train`` wrote into them, of
    ``neural-v1`` what stands beside its weights. Heuristics have none, and on-line learners learn while they are
    measured.
    """
    if choice.agent is not None:
        return _told(choice.agent.metadata().get("training") if choice.agent.is_file else None)
    if isinstance(choice.policy, Neural):
        return TrainingCost(cpu_s=choice.policy.training_cpu_s)
    return TrainingCost()


def _told(training: object) -> TrainingCost:
    if not isinstance(training, Mapping):
        return TrainingCost()
    return TrainingCost(decisions=_number(training.get("decisions")), wall_s=_number(training.get("wall_s")))


def _number(value: Any) -> float:
    """A number that somebody's file holds, or NaN."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return math.nan
    return float(value) if 0 <= value < math.inf else math.nan

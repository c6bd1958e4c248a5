"""One measured figure with all its samples."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """A figure of one family.

    Attributes:
        family: The benchmark that made it: ``core``, ``scale``, ``threads``, ``environment``, ``overhead``,
            ``peers``.
        name: Unique within the family, the same on every machine.
        unit: Of the samples.
        samples: One value per repetition, in the order in which they were taken.
        higher_is_better: Which way is good.
        goal: What the project has set itself for the median, if anything.
        parameters: What was run.
        details: What the samples were computed from, one entry per sample, and further observations.
    """

    family: str
    name: str
    unit: str
    samples: Sequence[float]
    higher_is_better: bool
    goal: float | None = None
    parameters: dict[str, Any] = field(default_factory=dict)
    details: dict[str, Any] = field(default_factory=dict)

    @property
    def median(self) -> float:
        """The middle sample: one disturbed sample does not move it far."""
        return statistics.median(self.samples)

    @property
    def spread(self) -> float:
        """Highest minus lowest sample, as a fraction of the median."""
        return (max(self.samples) - min(self.samples)) / self.median if self.median else 0.0

    @property
    def meets_goal(self) -> bool | None:
        """Whether the median reaches the goal; None without a goal."""
        if self.goal is None:
            return None
        return self.median >= self.goal if self.higher_is_better else self.median <= self.goal

    def to_dict(self) -> dict[str, Any]:
        """As it stands in the result file."""
        return {
            "family": self.family,
            "name": self.name,
            "unit": self.unit,
            "median": self.median,
            "min": min(self.samples),
            "max": max(self.samples),
            "higher_is_better": self.higher_is_better,
            "goal": self.goal,
            "meets_goal": self.meets_goal,
            "samples": list(self.samples),
            "parameters": self.parameters,
            "details": self.details,
        }

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Result:
        """The inverse of ``to_dict``."""
        return cls(**{key: values[key] for key in cls.__slots__})

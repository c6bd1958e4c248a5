"""One measured figure with all its samples."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

SPEEDS = {"M packet-hops / CPU-s": 1e6, "M decisions / CPU-s": 1e6, "k agent-steps / CPU-s": 1e3}
"""Units of speeds, in 1/s."""

DURATIONS = {"CPU-ms": 1e-3, "CPU-ns / decision": 1e-9}
"""Units of CPU time, in s."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """A figure of one family.

    Attributes:
        family: The benchmark that made it: ``core``, ``scale``, ``threads``, ``environment``,
            ``scenarios``, ``networks``, ``overhead``, ``peers``.
        name: Unique within the family, the same on every machine.
        unit: Of the samples.
        samples: One value per repetition, in the order in which they were taken.
        higher_is_better: Which way is good.
        goal: What the project has set itself for the median, if anything.
        parameters: What was run.
        details: What the samples were computed from, one entry per sample, and further observations.
        yardstick_hops_per_s: The yardstick's packet-hops per CPU-second next to each sample; empty where it was not
            run, or says nothing (ratios, memory, wall-clock time).
    """

    family: str
    name: str
    unit: str
    samples: Sequence[float]
    higher_is_better: bool
    goal: float | None = None
    parameters: dict[str, Any] = field(default_factory=dict)
    details: dict[str, Any] = field(default_factory=dict)
    yardstick_hops_per_s: Sequence[float] = ()

    @property
    def yardsticks(self) -> list[float]:
        """Each sample without the machine: a speed as a multiple of the yardstick's, CPU time in its packet-hops.

        Empty where there was no yardstick, or the unit is neither.
        """
        pairs = zip(self.samples, self.yardstick_hops_per_s, strict=bool(self.yardstick_hops_per_s))
        if self.unit in SPEEDS:
            return [sample * SPEEDS[self.unit] / yardstick for sample, yardstick in pairs]
        if self.unit in DURATIONS:
            return [sample * DURATIONS[self.unit] * yardstick for sample, yardstick in pairs]
        return []

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
        """As it is in the result file."""
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
            "yardstick_hops_per_s": list(self.yardstick_hops_per_s),
            "yardsticks": _summary(self.yardsticks),
        }

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Result:
        """The inverse of ``to_dict``; of files from before the yardstick, too."""
        return cls(**{key: values[key] for key in cls.__slots__ if key in values})


def _summary(samples: list[float]) -> dict[str, Any] | None:
    if not samples:
        return None
    return {
        "median": statistics.median(samples),
        "min": min(samples),
        "max": max(samples),
        "samples": samples,
    }

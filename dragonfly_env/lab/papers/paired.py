"""Comparisons of two policies run by run: the k-th run of one with the k-th of the other, where all else is equal.

How sure a comparison is follows from the runs themselves: intervals hold 95 %, of means by Student's t over the pairs,
of spreads and percentiles by resampling the pairs (always the same resamples).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dragonfly_env.lab.papers.findings import FloatArray
from dragonfly_env.sweeps.results import mean_and_ci95

_RESAMPLES = 2000
_LEAST_RUNS = 3  # below, resampling says nothing


@dataclass(frozen=True, slots=True)
class Comparison:
    """The outcome of a comparison."""

    mean: float
    low: float  # the lower end of its 95 % interval; NaN if there are too few runs
    high: float  # the upper end
    pairs: int  # runs of each

    @property
    def half(self) -> float:
        """Half of the interval's width."""
        return (self.high - self.low) / 2.0

    @property
    def bars(self) -> list[list[float]] | None:
        """The arms of an error bar; None without an interval."""
        return None if math.isnan(self.low) else [[self.mean - self.low], [self.high - self.mean]]

    def sure(self, bound_low: float, bound_high: float) -> bool:
        """Whether the interval is on one side of both bounds, as the mean is."""
        if math.isnan(self.low):
            return False
        inside = bound_low <= self.low and self.high <= bound_high
        return inside or self.high < bound_low or self.low > bound_high

    def __str__(self) -> str:
        interval = "" if math.isnan(self.low) else f" [{self.low:+.3g}, {self.high:+.3g}]"
        return f"{self.mean:+.3g}{interval}"


def _by_student(values: FloatArray) -> Comparison:
    # A comparison with nothing, such as stalls where there were none, has no ratio.
    mean, half = mean_and_ci95(np.where(np.isfinite(values), values, math.nan).tolist())
    return Comparison(mean, mean - half, mean + half, int(np.isfinite(values).sum()))


def _by_resampling(
    values: FloatArray, other: FloatArray, statistic: Callable[[FloatArray], FloatArray]
) -> Comparison:
    if len(values) < 2:
        return Comparison(math.nan, math.nan, math.nan, len(values))
    drawn = np.random.default_rng(1).integers(0, len(values), (_RESAMPLES, len(values)))
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = statistic(np.vstack([values, values[drawn]])) / statistic(np.vstack([other, other[drawn]]))
    mean = float(ratios[0])
    known = ratios[np.isfinite(ratios)]
    if len(values) < _LEAST_RUNS or math.isnan(mean) or not known.size:
        return Comparison(mean, math.nan, math.nan, len(values))
    low, high = np.percentile(known, [2.5, 97.5])
    return Comparison(mean, float(low), float(high), len(values))


def reduction_of(values: FloatArray, other: FloatArray) -> Comparison:
    """Return by how much own is below the other, relative to it: the mean over pairs."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return _by_student(1.0 - values / other)


def spread_ratio_of(values: FloatArray, other: FloatArray) -> Comparison:
    """The standard deviation of own runs over that of the others."""
    return _by_resampling(values, other, lambda runs: runs.std(axis=1, ddof=1))


def tail_ratio_of(values: FloatArray, other: FloatArray) -> Comparison:
    """The 95th percentile of own runs over that of the others."""
    return _by_resampling(values, other, lambda runs: np.percentile(runs, 95, axis=1))


def paired_ratio(values: FloatArray, other: FloatArray) -> Comparison:
    """Own over the other: the mean over pairs."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return _by_student(values / other)

"""Intervals by the bootstrap over cases and seeds, the probability of improvement, and the interquartile mean.

Source: Agarwal et al., Deep Reinforcement Learning at the Edge of the Statistical Precipice, NeurIPS 2021 (the library
rliable): tasks are cases here, runs are seeds. Indices are made of the raw numbers of a generator whose stream NumPy
guarantees, so that everybody gets the same intervals.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Floats: TypeAlias = npt.NDArray[np.float64]
Interval: TypeAlias = tuple[float, float, float]
"""An estimate, and the ends of its 95 % interval."""

_SAMPLES = 2000
_OF_CASE = 200  # samples of the seeds of a case
_SEED = 20211206
NOTHING: Interval = (math.nan, math.nan, math.nan)


def geometric_mean(cases: Sequence[Floats], scale: Sequence[float], *, inverse: bool = False) -> Interval:
    """The geometric mean over cases of the mean over seeds, in units of a scale.

    Args:
        cases: Of each case the values of its seeds.
        scale: Of each case the unit.
        inverse: Whether the unit is divided by the value, where more is better.
    """
    sign = -1.0 if inverse else 1.0

    def of_case(case: int, seeds: npt.NDArray[np.int64]) -> Floats:
        logs: Floats = sign * np.log(cases[case][seeds].mean(axis=-1) / scale[case])
        return logs

    found = _bootstrap([len(case) for case in cases], of_case)
    return math.exp(found[0]), math.exp(found[1]), math.exp(found[2])


def improvement(mine: Sequence[Floats], other: Sequence[Floats], *, more_is_better: bool = False) -> Interval:
    """The probability that a run of one policy is better than a run of another one in the same case.

    Args:
        mine: Of each case the values of the seeds.
        other: The same of the other policy, in the same cases.
        more_is_better: Which value is better.
    """
    sign = -1.0 if more_is_better else 1.0
    wins = [
        (sign * a[:, None] < sign * b[None, :]) + 0.5 * (a[:, None] == b[None, :])
        for a, b in zip(mine, other, strict=True)
    ]
    lengths = [win.size for win in wins]  # a draw is a pair of seeds, so that both are resampled

    def of_case(case: int, pairs: npt.NDArray[np.int64]) -> Floats:
        won: Floats = wins[case].ravel()[pairs].mean(axis=-1)
        return won

    return _bootstrap(lengths, of_case)


def interquartile_mean(values: Floats) -> Interval:
    """The mean of the middle half of independent values, here of trainings."""

    def middle(some: Floats) -> Floats:
        cut = some.shape[-1] // 4
        kept: Floats = np.sort(some, axis=-1)[..., cut : some.shape[-1] - cut].mean(axis=-1)
        return kept

    draws = _indices(_SAMPLES * len(values), len(values), 0).reshape(_SAMPLES, len(values))
    low, high = np.percentile(middle(values[draws]), (2.5, 97.5))
    return float(middle(values)), float(low), float(high)


def _bootstrap(seeds: Sequence[int], of_case: Callable[[int, npt.NDArray[np.int64]], Floats]) -> Interval:
    """The mean over cases of what a case gives with its seeds, with the interval of resampled cases and seeds."""
    if not seeds:
        return NOTHING
    count = len(seeds)
    resampled = np.empty((count, _OF_CASE))
    estimate = 0.0
    for case, length in enumerate(seeds):
        estimate += float(of_case(case, np.arange(length))) / count
        draws = _indices(_OF_CASE * length, length, 1 + case).reshape(_OF_CASE, length)
        resampled[case] = of_case(case, draws)
    chosen = _indices(_SAMPLES * count, count, 0).reshape(_SAMPLES, count)
    of_seeds = _indices(_SAMPLES * count, _OF_CASE, 10_000).reshape(_SAMPLES, count)
    low, high = np.percentile(resampled[chosen, of_seeds].mean(axis=1), (2.5, 97.5))
    return estimate, float(low), float(high)


def _indices(number: int, below: int, stream: int) -> npt.NDArray[np.int64]:
    raw = np.random.PCG64([_SEED, stream]).random_raw(number)
    found: npt.NDArray[np.int64] = (raw % np.uint64(below)).astype(np.int64)
    return found

"""The interquartile mean of independent trainings, with its bootstrap interval.

Source: Agarwal et al., Deep Reinforcement Learning at the Edge of the Statistical Precipice, NeurIPS 2021 (the library
rliable). Indices are made of the raw numbers of a generator whose stream NumPy guarantees, so that everybody gets the
same intervals.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Floats: TypeAlias = npt.NDArray[np.float64]
Interval: TypeAlias = tuple[float, float, float]
"""An estimate, and the ends of its 95 % interval."""

SAMPLES = 2000
_SEED = 20211206


def interquartile_mean(values: Floats) -> Interval:
    """The mean of the middle half of independent values, here of trainings."""

    def middle(some: Floats) -> Floats:
        cut = some.shape[-1] // 4
        kept: Floats = np.sort(some, axis=-1)[..., cut : some.shape[-1] - cut].mean(axis=-1)
        return kept

    draws = bootstrap_indices(SAMPLES * len(values), len(values), 0).reshape(SAMPLES, len(values))
    low, high = np.percentile(middle(values[draws]), (2.5, 97.5))
    return float(middle(values)), float(low), float(high)


def bootstrap_indices(number: int, below: int, stream: int) -> npt.NDArray[np.int64]:
    """Random numbers from 0 to ``below`` - 1; each stream has others."""
    raw = np.random.PCG64([_SEED, stream]).random_raw(number)
    found: npt.NDArray[np.int64] = (raw % np.uint64(below)).astype(np.int64)
    return found

"""How evenly the network serves its routers or groups."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import numpy.typing as npt


@dataclasses.dataclass(frozen=True, slots=True)
class Fairness:
    """Spread of accepted loads over their senders (routers, or groups).

    ``jain`` is (sum x)^2 / (n * sum x^2): 1 if all are equal, 1/n if one gets everything; NaN if nobody gets
    anything. Source: Jain, Chiu, Hawe, DEC-TR-301, 1984.
    """

    min: float
    max: float
    mean: float
    jain: float

    @classmethod
    def of(cls, loads: npt.NDArray[np.float64]) -> Fairness:
        """The spread of ``loads``, shape (n,) with n >= 1."""
        if np.isnan(loads).any():
            return cls(math.nan, math.nan, math.nan, math.nan)
        square_sum = float(np.square(loads).sum())
        jain = float(loads.sum()) ** 2 / (loads.size * square_sum) if square_sum > 0 else math.nan
        # Rounding must not make an even distribution look more than even.
        return cls(float(loads.min()), float(loads.max()), float(loads.mean()), min(jain, 1.0))

"""The little statistics that comparing runs needs, without SciPy."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist, fmean, stdev

# Two-sided 95 % points of Student's t for 1 to 30 degrees of freedom (any statistics textbook's table).
_T95 = (
    12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646, 2.3060, 2.2622, 2.2281,
    2.2010, 2.1788, 2.1604, 2.1448, 2.1314, 2.1199, 2.1098, 2.1009, 2.0930, 2.0860,
    2.0796, 2.0739, 2.0687, 2.0639, 2.0595, 2.0555, 2.0518, 2.0484, 2.0452, 2.0423,
)  # fmt: skip


def student_t95(degrees: int) -> float:
    """The factor t with P(|T| <= t) = 0.95.

    A table up to 30 degrees of freedom; beyond it the Cornish-Fisher expansion around the normal
    distribution, there exact to four digits.

    Args:
        degrees: Degrees of freedom, at least 1.

    Raises:
        ValueError: If ``degrees`` is below 1.
    """
    if degrees < 1:
        raise ValueError(f"degrees = {degrees}: must be at least 1")
    if degrees <= len(_T95):
        return _T95[degrees - 1]
    z = NormalDist().inv_cdf(0.975)
    first = (z**3 + z) / 4
    second = (5 * z**5 + 16 * z**3 + 3 * z) / 96
    return z + first / degrees + second / degrees**2


def mean_and_ci95(values: Sequence[float]) -> tuple[float, float]:
    """Mean, and half the width of its 95 % confidence interval, of independent values.

    Returns:
        (mean, half width). NaNs are left out; with fewer than two values the half width is NaN, for it is
        unknown.
    """
    known = [value for value in values if not math.isnan(value)]
    if not known:
        return math.nan, math.nan
    if len(known) == 1:
        return known[0], math.nan
    return fmean(known), student_t95(len(known) - 1) * stdev(known) / math.sqrt(len(known))

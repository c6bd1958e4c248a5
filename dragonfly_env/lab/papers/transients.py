"""How long a curve takes to settle: what figures of convergence claim."""

from __future__ import annotations

import numpy as np

from dragonfly_env.lab.papers.findings import Findings, FloatArray, steps_of
from dragonfly_env.sweeps.run import Point

LATENCY_BAND = 0.25
THROUGHPUT_BAND = 0.05
CARRIED_BAND = 0.1
SMOOTHING_BINS = 5
_LEVEL_FROM = 0.75  # of the time after the start: the rest gives the level that the curve settles at


def smooth(values: FloatArray, bins: int = SMOOTHING_BINS) -> FloatArray:
    """The centred running mean over an odd number of bins, of fewer at the ends; NaNs do not count."""
    known = np.where(np.isnan(values), 0.0, values)
    kernel, middle = np.ones(bins), slice(bins // 2, bins // 2 + len(values))
    total = np.convolve(known, kernel)[middle]
    count = np.convolve(~np.isnan(values), kernel)[middle]
    result: FloatArray = np.divide(total, count, out=np.full(len(values), np.nan), where=count > 0)
    return result


def settled_level(ends_us: FloatArray, values: FloatArray, begin_us: float) -> float:
    """The mean over the last quarter of the time after ``begin_us``."""
    from_us = begin_us + _LEVEL_FROM * (float(ends_us[-1]) - begin_us)
    late = values[ends_us > from_us]
    return float(np.nanmean(late)) if np.isfinite(late).any() else float("nan")


def settling_time_us(
    ends_us: FloatArray, values: FloatArray, begin_us: float, band: float, level: float | None = None
) -> float:
    """The time from ``begin_us`` until the smoothed curve stays within ``band`` (relative) of a level.

    Args:
        ends_us: (B,) ends of equal bins, ascending.
        values: (B,) the curve; NaN where nothing was measured.
        begin_us: When the change happened.
        band: Relative half width of what counts as settled.
        level: Where it should settle; None for where it does, `settled_level`.

    Returns:
        0 if the curve never leaves the band, the whole time if it is outside at the end; NaN without values.
    """
    if level is None:
        level = settled_level(ends_us, values, begin_us)
    if not (np.isfinite(level) and np.isfinite(values).any()):
        return float("nan")
    outside = (ends_us > begin_us) & ~(np.abs(smooth(values) - level) <= band * abs(level))
    return float(ends_us[np.flatnonzero(outside)[-1]] - begin_us) if outside.any() else 0.0


def settling_throughput(findings: Findings, point: Point, band: float = THROUGHPUT_BAND) -> FloatArray:
    """How long after the last change of the load the throughput takes to stay near the offered load."""
    begin_ns, _, offered = (steps_of(point) or ((0.0, "", point.load),))[-1]
    ends_us, curves = findings.series(point, "accepted_load")
    return np.array([settling_time_us(ends_us, curve, begin_ns / 1000.0, band, offered) for curve in curves])


def settling_latency(findings: Findings, point: Point) -> FloatArray:
    """How long the latency takes to settle, in a network that carries what is offered: else it has only filled up."""
    ends_us, curves = findings.series(point, "latency_mean_ns")
    settled = [settling_time_us(ends_us, curve, 0.0, LATENCY_BAND) for curve in curves]
    both: FloatArray = np.maximum(np.array(settled), settling_throughput(findings, point, CARRIED_BAND))
    return both

"""What Q-adaptive, HPDC 2021, says of its figures without a number, or of the best of several loads.

Claims name these functions; orderings are 1 if they hold. All come with what was measured, and raise
`NotFoundYetError` if something that they look at was not simulated.

What they look at is measured first: how long a curve takes to settle, and the memory that tables of Q-values take, as
the core holds them (sections 2.3.1 and 4, tables 2 and 3).
"""

from __future__ import annotations

import functools
from typing import NamedTuple

import numpy as np

import dragonfly_env as dfe
from dragonfly_env.lab.papers.findings import (
    Evidence,
    Findings,
    FloatArray,
    Measured,
    listed,
    ordering,
    statement,
    steps_of,
)
from dragonfly_env.sweeps.run import Point

LATENCY_BAND = 0.25
THROUGHPUT_BAND = 0.05
CARRIED_BAND = 0.1
SMOOTHING_BINS = 5
_LEVEL_FROM = 0.75  # of the time after the start: the rest gives the level that the curve settles at


def smooth(values: FloatArray) -> FloatArray:
    """The centred running mean over `SMOOTHING_BINS` bins, of fewer at the ends; NaNs do not count."""
    known = np.where(np.isnan(values), 0.0, values)
    kernel, middle = np.ones(SMOOTHING_BINS), slice(SMOOTHING_BINS // 2, SMOOTHING_BINS // 2 + len(values))
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
    """The time from ``begin_us`` until the smoothed curve (B,) stays within ``band`` (relative) of a level, by default
    `settled_level`; 0 if it never leaves the band, NaN without values.
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


SYSTEMS = (1056, 2550)
WHOLE, TWO_LEVEL = "q-routing", "q-adaptive"


class TableSize(NamedTuple):
    """The table of one router."""

    rows: int  # destinations that it tells apart
    ports: int  # local and global ports
    bytes: int


@functools.cache
def table_size(hosts: int, policy: str) -> TableSize:
    """What a learner keeps per router, measured on a network that has just been built."""
    config = dfe.SimulationConfig(
        topology=dfe.Dragonfly.preset(str(hosts), arrangement="absolute"),
        network=dfe.NetworkConfig.preset("q-adaptive"),
        policy=policy,
    )
    tables = dfe.Simulation(config).q_table()
    routers, rows, ports = tables.shape
    return TableSize(rows, ports, tables.nbytes // routers)


_SIMILAR = 0.25
"""Relative: what "similar" and "slightly less" are taken to mean."""
_SAME = 0.005  # accepted loads that differ by less are equal: then latency decides
_TRAFFIC = ("uniform", "adv+1", "adv+4")


def _by_load(seen: Evidence, policy: str) -> dict[float, float]:
    """Mean latency in us by load, ascending."""
    points = seen.points(policy, load=seen.claim.load)
    return {point.load: seen.mean(point, "latency_mean_ns") / 1000.0 for point in points}


def _of_rivals(seen: Evidence, column: str) -> dict[str, float]:
    """In us, of the policy and its rivals."""
    names = (seen.claim.policy, *seen.claim.rivals)
    return {name: seen.mean(seen.point(name), column) / 1000.0 for name in names}


@statement
def largest_saving(seen: Evidence) -> Measured:
    """The largest saving of mean latency over the reference, of all loads ("up to 75 %"), and those at the others."""
    own, other = (_by_load(seen, policy) for policy in (seen.claim.policy, seen.claim.reference))
    savings = {load: 1.0 - own[load] / other[load] for load in own if load in other}
    details = ", ".join(f"load {load:g}: {saving:.1%}" for load, saving in savings.items())
    return Measured(max(savings.values()), details=details)


@statement
def lowest_mean(seen: Evidence) -> Measured:
    """1 if the policy has the lowest mean latency of all rivals at every load, or at the claim's."""
    own = _by_load(seen, seen.claim.policy)
    rivals = [_by_load(seen, rival) for rival in seen.claim.rivals]
    lowest = {load: min(curve[load] for curve in rivals) for load in own}
    described = ", ".join(f"load {load:g}: {own[load]:.3f} and {lowest[load]:.3f} us" for load in own)
    return ordering(all(own[load] < lowest[load] for load in own), f"own and lowest rival: {described}")


@statement
def lowest_tail(seen: Evidence) -> Measured:
    """1 if the policy has the lowest 99th percentile of all rivals."""
    tails = _of_rivals(seen, "latency_p99_ns")
    return ordering(min(tails, key=tails.__getitem__) == seen.claim.policy, listed(tails, ".2f", "us"))


@statement
def alike_and_below(seen: Evidence) -> Measured:
    """1 if the first rival's mean latency is similar to the policy's and both are below those of the other rivals."""
    means = _of_rivals(seen, "latency_mean_ns")
    own, similar, *others = means.values()
    holds = abs(similar / own - 1.0) <= _SIMILAR and max(own, similar) < min(others)
    return ordering(holds, listed(means, ".2f", "us"))


@statement
def tails_slightly_below(seen: Evidence) -> Measured:
    """1 if the 95th and 99th percentiles of the policy are slightly less than those of the first rival."""
    own, other = (seen.point(policy) for policy in (seen.claim.policy, seen.claim.rivals[0]))
    columns = {"95th": "latency_p95_ns", "99th": "latency_p99_ns"}
    ratios = {name: seen.mean(own, column) / seen.mean(other, column) for name, column in columns.items()}
    holds = all(1.0 - _SIMILAR <= ratio < 1.0 for ratio in ratios.values())
    return ordering(holds, ", ".join(f"{name} x {ratio:.3f}" for name, ratio in ratios.items()))


@statement
def convergence_order(seen: Evidence) -> Measured:
    """1 if Q-adaptive settles sooner under uniform traffic than under ADV+1, and there sooner than under ADV+4."""
    points = {
        traffic: seen.point(seen.claim.policy, traffic=traffic, load=load)
        for traffic, load in zip(_TRAFFIC, (0.8, 0.45, 0.45), strict=True)
    }
    times = {name: float(np.mean(settling_latency(seen.findings, point))) for name, point in points.items()}
    uniform, adv1, adv4 = times.values()
    return ordering(uniform < adv1 < adv4, listed(times, ".0f", "us"))


@statement
def table_memory(seen: Evidence) -> Measured:
    """The larger of the ratios of the tables' sizes on the paper's two systems."""
    ratios, sizes = [], []
    for hosts in SYSTEMS:
        whole, two_level = (table_size(hosts, policy) for policy in (WHOLE, TWO_LEVEL))
        ratios.append(two_level.bytes / whole.bytes)
        sizes.append(f"{hosts:,} hosts: {two_level.bytes:,} of {whole.bytes:,} bytes per router")
    return Measured(max(ratios), details="; ".join(sizes))


# Q-routing with a limit of hops (``maxQ``, section 2.3.2): is there a value that serves every traffic?


def hop_limit(point: Point) -> int | None:
    """The limit of Q-routing; None for another policy."""
    value = point.config.policy_object.parameters.get("max_hops")
    return None if value is None else int(value)


def by_limit(findings: Findings, figure: str, traffic: str) -> dict[int, Point]:
    """The simulated points of a traffic, by limit, ascending."""
    pairs = [(hop_limit(point), point) for point in findings.of(figure) if point.traffic_label == traffic]
    return dict(
        sorted(((limit, point) for limit, point in pairs if limit is not None), key=lambda pair: pair[0])
    )


def best_limit(findings: Findings, points: dict[int, Point]) -> int:
    """The limit with the highest accepted load; among equal ones the one with the lowest mean latency."""
    accepted = {limit: findings.mean(point, "accepted_load") for limit, point in points.items()}
    equal = [limit for limit in points if accepted[limit] >= max(accepted.values()) - _SAME]
    return min(equal, key=lambda limit: findings.mean(points[limit], "latency_mean_ns"))


def _limits(seen: Evidence) -> dict[str, dict[int, Point]]:
    """By traffic; all of the figure must have been simulated."""
    seen.findings.select(seen.claim.figure)
    return {traffic: by_limit(seen.findings, seen.claim.figure, traffic) for traffic in _TRAFFIC}


@statement
def hop_limit_ordering(seen: Evidence) -> Measured:
    """1 if uniform traffic wants a smaller limit than both adversarial ones, and ADV+4 fares worse than ADV+1.

    Worse: it accepts less, or as much at a higher latency; at every limit that leaves a choice.
    """
    points = _limits(seen)
    best = {traffic: best_limit(seen.findings, found) for traffic, found in points.items()}
    adv1, adv4 = points["adv+1"], points["adv+4"]
    worse = [limit for limit in adv4 if _is_worse(seen, adv4[limit], adv1[limit])]
    limits = {limit for limit in adv4 if limit > 1}
    holds = best["uniform"] < min(best["adv+1"], best["adv+4"]) and limits <= set(worse)
    named = ", ".join(f"{traffic} {limit}" for traffic, limit in best.items())
    return ordering(
        holds, f"best maxQ: {named}; adv+4 worse than adv+1 at maxQ {', '.join(map(str, worse)) or 'none'}"
    )


def _is_worse(seen: Evidence, point: Point, other: Point) -> bool:
    gap = seen.mean(other, "accepted_load") - seen.mean(point, "accepted_load")
    if abs(gap) >= _SAME:
        return gap > 0
    return seen.mean(point, "latency_mean_ns") > seen.mean(other, "latency_mean_ns")


@statement
def large_limit_is_worse(seen: Evidence) -> Measured:
    """1 if the largest limit of hops has a larger latency and accepts less than the best, under every traffic."""
    described, holds = [], True
    for traffic, points in _limits(seen).items():
        best, largest = best_limit(seen.findings, points), max(points)
        (latency, most), (accepted, least) = (
            [seen.mean(points[limit], column) for limit in (best, largest)]
            for column in ("latency_mean_ns", "accepted_load")
        )
        holds &= most > latency and least < accepted
        described.append(
            f"{traffic}: maxQ {best} and {largest}: {latency / 1000:.2f} and {most / 1000:.2f} us, "
            f"accepted {accepted:.3f} and {least:.3f}"
        )
    return ordering(holds, "; ".join(described))

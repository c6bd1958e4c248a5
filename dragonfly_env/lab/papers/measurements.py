"""From simulations to the quantity that a claim is about."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from dragonfly_env.lab.papers import hpdc21_orderings, job_orderings, lia_orderings  # noqa: F401  # statements
from dragonfly_env.lab.papers.claims import Claim
from dragonfly_env.lab.papers.findings import (
    STATEMENTS,
    Evidence,
    Findings,
    FloatArray,
    Measured,
    NotFoundYetError,
)
from dragonfly_env.lab.papers.hpdc21_orderings import settling_latency, settling_throughput
from dragonfly_env.lab.papers.job_metrics import JOB_METRICS
from dragonfly_env.lab.papers.paired import COMPARISONS, compare_claim
from dragonfly_env.sweeps.results import mean_and_ci95
from dragonfly_env.sweeps.run import Point

_BELOW_US = 2.0


def _column(name: str, scale: float = 1.0) -> Callable[[Findings, Point], FloatArray]:
    return lambda findings, point: findings.values(point, name) * scale


def _fraction_below(findings: Findings, point: Point) -> FloatArray:
    fractions = []
    for row in findings.rows[point]:
        packets = np.asarray(row["histogram_packets"], np.float64)
        below = np.asarray(row["histogram_latency_ns"], np.float64) < _BELOW_US * 1000.0
        fractions.append(packets[below].sum() / packets.sum() if packets.sum() else math.nan)
    return np.array(fractions, np.float64)


METRICS: dict[str, Callable[[Findings, Point], FloatArray]] = {
    "throughput": _column("accepted_load"),
    "hops_mean": _column("hops_mean"),
    "latency_mean": _column("latency_mean_ns", 1e-3),
    "latency_p99": _column("latency_p99_ns", 1e-3),
    "makespan": _column("makespan_ns"),
    "fraction_below_2us": _fraction_below,
    "settling_latency": settling_latency,
    "settling_throughput": settling_throughput,
    **JOB_METRICS,
}
"""Quantities of one point: name and the values of every seed, in the units of claims (us, fractions, hops)."""

_MORE_IS_BETTER = ("throughput", "fraction_below_2us")


def measure_claim(claim: Claim, findings: Findings) -> Measured:
    """The quantity of a claim, over seeds."""
    if claim.relation in COMPARISONS:
        paired, ordering, details = compare_claim(claim, findings)
        return Measured(paired.mean, paired.half, ordering, details, "uncertain" in details)
    if claim.metric in STATEMENTS:
        return STATEMENTS[claim.metric](Evidence(findings, claim))
    own = _values(claim, findings, claim.policy)
    if not claim.reference:
        return Measured(*mean_and_ci95(own.tolist()))
    other = _values(claim, findings, claim.reference)
    with np.errstate(divide="ignore", invalid="ignore"):
        compared = {
            "gap": other - own,
            "relative-gap": other / own - 1.0,
            "saving": 1.0 - own / other,
        }.get(claim.relation, own / other)
    mean, half = mean_and_ci95(compared.tolist())
    return Measured(mean, half, _ordering(claim, findings, mean))


def _values(claim: Claim, findings: Findings, policy: str) -> FloatArray:
    """Of every seed; over several cases the largest: the worst latency or time, or the maximum throughput."""
    points = findings.select(
        claim.figure, hosts=claim.hosts, traffic=claim.traffic, load=claim.load, policy=policy
    )
    worst: FloatArray = np.max(np.stack([METRICS[claim.metric](findings, point) for point in points]), axis=0)
    return worst


def _ordering(claim: Claim, findings: Findings, mean: float) -> str:
    """Whether policy and reference are in the published order, and no rival between them."""
    neutral = 1.0 if claim.relation.startswith("ratio") else 0.0
    if math.isnan(mean) or claim.published == neutral:
        return ""
    if (mean - neutral) * (claim.published - neutral) <= 0:
        return "reversed"
    sign = -1.0 if claim.metric in _MORE_IS_BETTER else 1.0
    own = sign * float(np.nanmean(_values(claim, findings, claim.policy)))
    for rival in claim.rivals:
        try:
            if sign * float(np.nanmean(_values(claim, findings, rival))) < own:
                return "reversed"
        except NotFoundYetError:
            continue
    return "holds"

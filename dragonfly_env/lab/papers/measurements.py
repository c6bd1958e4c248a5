"""From simulations to the quantity that a claim is about."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dragonfly_env.lab.papers.cells import Cell
from dragonfly_env.lab.papers.claims import Claim
from dragonfly_env.lab.papers.findings import Findings, FloatArray, NotFoundYetError
from dragonfly_env.lab.papers.hop_limit import hop_limit_ordering
from dragonfly_env.lab.papers.hpdc21_orderings import (
    alike_and_below,
    convergence_order,
    large_limit_is_worse,
    largest_saving,
    lowest_mean,
    lowest_tail,
    tails_slightly_below,
)
from dragonfly_env.lab.papers.job_metrics import JOB_METRICS
from dragonfly_env.lab.papers.job_orderings import JOB_STATEMENTS
from dragonfly_env.lab.papers.lia_orderings import (
    LIA_STATEMENTS,
    fairness_ranking,
    falls_past_saturation,
    halo_ranking,
    lowest_after_change,
    only_one_improves,
)
from dragonfly_env.lab.papers.offsets import OFFSET_STATEMENTS, knee, minima_at_multiples
from dragonfly_env.lab.papers.paired import COMPARISONS, compare_claim
from dragonfly_env.lab.papers.tables import table_memory_ratio
from dragonfly_env.lab.papers.transients import settling_time_us
from dragonfly_env.sweeps.statistics import mean_and_ci95

_BELOW_US = 2.0
LATENCY_BAND = 0.25
THROUGHPUT_BAND = 0.05
CARRIED_BAND = 0.1


@dataclass(frozen=True, slots=True)
class Measured:
    """What was measured for a claim.

    Attributes:
        mean: Over seeds.
        ci95: Half the width of its 95 % confidence interval; NaN with one seed.
        ordering: ``holds`` or ``reversed``, if the claim says who is better; else empty.
        details: More, for the report.
        uncertain: Whether the interval reaches over a bound, so that more runs might turn the verdict.
    """

    mean: float
    ci95: float
    ordering: str = ""
    details: str = ""
    uncertain: bool = False


def _column(name: str, scale: float = 1.0) -> Callable[[Findings, Cell], FloatArray]:
    return lambda findings, cell: findings.values(cell, name) * scale


def _fraction_below(findings: Findings, cell: Cell) -> FloatArray:
    fractions = []
    for row in findings.rows[cell]:
        packets = np.asarray(row["histogram_packets"], np.float64)
        below = np.asarray(row["histogram_latency_ns"], np.float64) < _BELOW_US * 1000.0
        fractions.append(packets[below].sum() / packets.sum() if packets.sum() else math.nan)
    return np.array(fractions, np.float64)


def _settling_throughput(findings: Findings, cell: Cell, band: float = THROUGHPUT_BAND) -> FloatArray:
    """How long after the last change of the load the throughput takes to stay near the offered load."""
    begin_us = cell.schedule[-1][0] / 1000.0 if cell.schedule else 0.0
    offered = cell.schedule[-1][2] if cell.schedule else cell.load
    ends_us, curves = findings.series(cell, "accepted_load")
    return np.array([settling_time_us(ends_us, curve, begin_us, band, offered) for curve in curves])


def _settling_latency(findings: Findings, cell: Cell) -> FloatArray:
    """How long the latency takes to settle, in a network that carries what is offered: else it has only filled up."""
    ends_us, curves = findings.series(cell, "latency_mean_ns")
    settled = [settling_time_us(ends_us, curve, 0.0, LATENCY_BAND) for curve in curves]
    both: FloatArray = np.maximum(np.array(settled), _settling_throughput(findings, cell, CARRIED_BAND))
    return both


METRICS: dict[str, Callable[[Findings, Cell], FloatArray]] = {
    "throughput": _column("accepted_load"),
    "hops_mean": _column("hops_mean"),
    "latency_mean": _column("latency_mean_ns", 1e-3),
    "latency_p99": _column("latency_p99_ns", 1e-3),
    "makespan": _column("makespan_ns"),
    "fraction_below_2us": _fraction_below,
    "settling_latency": _settling_latency,
    "settling_throughput": _settling_throughput,
    **JOB_METRICS,
}
"""Quantities of one cell: name and the values of every seed, in the units of claims (us, fractions, hops)."""

STATEMENTS: dict[str, Callable[[Findings, Claim], tuple[float, str]]] = {
    "alike_and_below": alike_and_below,
    "convergence_order": convergence_order(_settling_latency),
    "fairness_ranking": fairness_ranking,
    "falls_past_saturation": falls_past_saturation,
    "halo_ranking": halo_ranking,
    "hop_limit_ordering": hop_limit_ordering,
    "knee": knee,
    "large_limit_is_worse": large_limit_is_worse,
    "largest_saving": largest_saving,
    "lowest_after_change": lowest_after_change,
    "lowest_mean": lowest_mean,
    "lowest_tail": lowest_tail,
    "minima_at_multiples": minima_at_multiples,
    "only_one_improves": only_one_improves,
    "tails_slightly_below": tails_slightly_below,
    "table_memory": table_memory_ratio,
    **LIA_STATEMENTS,
    **OFFSET_STATEMENTS,
}
"""Quantities of a whole figure: name and (value, details)."""

_MORE_IS_BETTER = ("throughput", "fraction_below_2us")


def measure_claim(claim: Claim, findings: Findings) -> Measured:
    """The quantity of a claim, over seeds.

    Raises:
        NotFoundYetError: If a simulation that it needs is missing; the message says why.
    """
    if claim.relation in COMPARISONS:
        paired, ordering, details = compare_claim(claim, findings)
        return Measured(paired.mean, paired.half, ordering, details, "uncertain" in details)
    if claim.metric in JOB_STATEMENTS:
        statement = JOB_STATEMENTS[claim.metric](findings, claim)
        ordering = "holds" if statement.holds else "reversed"
        return Measured(float(statement.holds), math.nan, ordering, statement.details, not statement.sure)
    if claim.metric in STATEMENTS:
        value, details = STATEMENTS[claim.metric](findings, claim)
        ordering = ("holds" if value == 1.0 else "reversed") if claim.relation == "ordering" else ""
        return Measured(value, math.nan, ordering, details)
    own = _values(claim, findings, claim.policy)
    if not claim.reference:
        return Measured(*mean_and_ci95(own.tolist()))
    other = _values(claim, findings, claim.reference)
    with np.errstate(divide="ignore", invalid="ignore"):
        compared = {
            "ratio": lambda: own / other,
            "ratio-at-most": lambda: own / other,
            "gap": lambda: other - own,
            "relative-gap": lambda: other / own - 1.0,
            "saving": lambda: 1.0 - own / other,
        }[claim.relation]()
    mean, half = mean_and_ci95(compared.tolist())
    return Measured(mean, half, _ordering(claim, findings, mean))


def _values(claim: Claim, findings: Findings, policy: str) -> FloatArray:
    """Of every seed; over several cells the largest: the worst latency or time, or the maximum throughput."""
    cells = findings.select(
        claim.figure, hosts=claim.hosts, traffic=claim.traffic, load=claim.load, policy=policy
    )
    worst: FloatArray = np.max(np.stack([METRICS[claim.metric](findings, cell) for cell in cells]), axis=0)
    return worst


def _ordering(claim: Claim, findings: Findings, mean: float) -> str:
    """Whether policy and reference stand as published, and no rival between them."""
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

"""Orderings that the third paper states over several points, each with how sure it is.

Source: Chunduri et al., IPDPS 2021; sections with each.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from dragonfly_env.lab.papers.findings import (
    Evidence,
    Findings,
    FloatArray,
    Measured,
    NotFoundYetError,
    ordering,
    statement,
)
from dragonfly_env.lab.papers.job_metrics import (
    JOB_METRICS,
    PERCENTILES,
    run_times_us,
    spanned_groups,
)
from dragonfly_env.lab.papers.paired import Comparison, of_pair, reduction, tail_ratio
from dragonfly_env.sweeps.run import Point

MODES = ("ad0", "ad1", "ad2", "ad3")
COMPACT_GROUPS = 2
"""Jobs that span so many groups or fewer are compact (section V-A1)."""

_TAIL = (0.1, 0.4)  # AR10's tolerance, as a reduction


def applications(findings: Findings, figure: str) -> dict[str, str]:
    """The figure's kinds of runs (``traffic``) by application: their first word."""
    labels = dict.fromkeys(point.traffic_label for point in findings.simulated(figure))
    return {label.split()[0]: label for label in labels}


def _pair(seen: Evidence, traffic: str, metric: str = "run_time") -> tuple[FloatArray, FloatArray]:
    """A metric of the claim's policy and of its reference, seed by seed."""
    return of_pair(
        seen.findings, seen.claim.figure, traffic, metric, (seen.claim.policy, seen.claim.reference)
    )


def _all(
    found: dict[str, Comparison], low: float = 0.0, high: float = math.inf, holds: bool = True
) -> Measured:
    """1 if all means are between two numbers, and ``holds``; sure if all intervals are on one side of them."""
    return ordering(
        holds and all(low < one.mean < high for one in found.values()),
        _listed(found),
        all(one.sure(low, high) for one in found.values()),
    )


def _listed(found: dict[str, Comparison]) -> str:
    return ", ".join(f"{name} {one}" for name, one in found.items())


@statement
def rank_of_reductions(seen: Evidence) -> Measured:
    """AR23: reorder >= milc > qbox > nek5000 > rayleigh ~ 0 > hacc (table II)."""
    order = ("milc-reorder", "milc", "qbox", "nek5000", "rayleigh", "hacc")
    found = {name: reduction(*_pair(seen, f"{name} in the mix")) for name in order}
    pairs = list(itertools.pairwise(found.values()))
    holds = all(left.mean > right.mean for left, right in pairs) and found["hacc"].mean < 0
    return ordering(holds, _listed(found), all(left.low > right.high for left, right in pairs))


@statement
def tails_lower(seen: Evidence) -> Measured:
    """AR30: the 95th percentile of run times is lower, of milc and milc-reorder (figure 2)."""
    found = {name: tail_ratio(*_pair(seen, f"{name} in the mix")) for name in ("milc", "milc-reorder")}
    stated = _all(found, -math.inf, 1.0)
    return replace(stated, details=stated.details.replace("+", ""))


@statement
def better_anywhere(seen: Evidence) -> Measured:
    """AR28: milc on 128 and on 256 nodes is faster, compact as well as dispersed (figure 3)."""
    found: dict[str, Comparison] = {}
    for label in ("milc in the mix", "milc of 16 in the mix"):
        found |= {f"{label.removesuffix(' in the mix')} {where}": one
                  for where, one in _by_spread(seen, label).items()}  # fmt: skip
    return _all(found)


@statement
def same_preference_anywhere(seen: Evidence) -> Measured:
    """AR29: which mode is better does not depend on how many groups a job spans (section II-F).

    It is sure where both intervals have no zero.
    """
    holds = sure = True
    found: dict[str, Comparison] = {}
    for name, label in applications(seen.findings, seen.claim.figure).items():
        compact, spread = _by_spread(seen, label).values()
        found |= {f"{name} compact": compact, f"{name} dispersed": spread}
        both = all(one.sure(0.0, math.inf) for one in (compact, spread))
        holds &= compact.mean * spread.mean >= 0 or not both  # zero is neither
        sure &= both
    return ordering(holds, _listed(found), sure)


def _by_spread(seen: Evidence, label: str) -> dict[str, Comparison]:
    own, other = _pair(seen, label)
    (point,) = seen.points(seen.claim.policy, traffic=label, hosts=0)
    groups = np.array([spanned_groups(row) for row in seen.findings.rows[point]])[: len(own)]
    parts = {"compact": groups <= COMPACT_GROUPS, "dispersed": groups > COMPACT_GROUPS}
    if not all(part.any() for part in parts.values()):
        raise NotFoundYetError("its runs are not both compact and dispersed")
    return {name: reduction(own[part], other[part]) for name, part in parts.items()}


@statement
def rises_with_bias(seen: Evidence) -> Measured:
    """AR08: the time rises with the bias towards minimal paths, AD0 to AD3 (section V-B)."""
    times = {mode: _metric(seen, "run_time", seen.claim.traffic, mode) for mode in ("ad0", "ad2", "ad3")}
    steps = {
        f"{left} to {right}": reduction(times[left], times[right])
        for left, right in itertools.pairwise(times)
    }
    measured = ", ".join(f"{mode} {values.mean():.1f} us" for mode, values in times.items())
    stated = _all(steps)
    return replace(stated, details=f"{measured}; {stated.details}")


def _metric(seen: Evidence, metric: str, traffic: str, policy: str) -> FloatArray:
    point = seen.points(policy, traffic=traffic, hosts=0)[0]
    return JOB_METRICS[metric](seen.findings, point)


def normalised(findings: Findings, figure: str) -> dict[str, FloatArray]:
    """Run times of all jobs by mode, less the mean of their application and in its standard deviations (figure 9)."""
    by_mode: dict[str, list[FloatArray]] = {mode: [] for mode in MODES}
    every = findings.select(figure)  # all of them
    for name in dict.fromkeys(point.traffic_label.split(",")[0] for point in every):
        points = [point for point in every if point.traffic_label.split(",")[0] == name]
        times = {
            mode: _pooled(findings, (point for point in points if point.policy_label == mode))
            for mode in MODES
        }
        whole = np.concatenate(list(times.values()))
        for mode in MODES:
            by_mode[mode].append((times[mode] - whole.mean()) / (whole.std() or 1.0))
    return {mode: np.concatenate(parts) for mode, parts in by_mode.items()}


def _pooled(findings: Findings, points: Iterable[Point]) -> FloatArray:
    times = [time for point in points for row in findings.rows[point] for time in run_times_us(row)]
    if not times:
        raise NotFoundYetError("not all modes were run")
    return np.array(times, np.float64)


@statement
def best_of_modes(seen: Evidence) -> Measured:
    """AR09: AD3 has the lowest mean z-score and the smallest range, AD2 the next mean, AD1 is before AD0 (figure 9)."""
    scores = normalised(seen.findings, seen.claim.figure)
    means = {mode: float(np.mean(values)) for mode, values in scores.items()}
    errors = {mode: 1.96 * float(np.std(values)) / math.sqrt(len(values)) for mode, values in scores.items()}
    ranges = {mode: float(np.ptp(values)) for mode, values in scores.items()}
    order = sorted(means, key=means.__getitem__)
    wanted = list(reversed(MODES))
    sure = all(
        means[right] - means[left] > math.hypot(errors[left], errors[right])
        for left, right in itertools.pairwise(order)
    )
    details = ", ".join(f"{mode} {means[mode]:+.2f} (range {ranges[mode]:.1f})" for mode in MODES)
    return ordering(order == wanted and min(ranges, key=ranges.__getitem__) == "ad3", details, sure)


def _ratios(seen: Evidence, labels: Iterable[str], policy: str) -> dict[str, FloatArray]:
    return {label: _metric(seen, "job_network_ratio", label, policy) for label in labels}


COMPACT, DISPERSED = "16 milc, consecutive", "16 milc, random-routers"


def _means(found: dict[str, FloatArray]) -> str:
    return ", ".join(f"{label}: {values.mean():.3f}" for label, values in found.items())


@statement
def between_controlled(seen: Evidence) -> Measured:
    """AR40: stalls per flit of isolated and of production runs lie between controlled compact and dispersed ones."""
    found = _ratios(seen, (COMPACT, DISPERSED, "milc alone", "milc in the mix"), "ad0")
    low, high = sorted((found[COMPACT].mean(), found[DISPERSED].mean()))
    inner = [found[label] for label in ("milc alone", "milc in the mix")]
    holds = all(low <= values.mean() <= high for values in inner)
    sure = all(((low <= values) & (values <= high)).all() == holds for values in inner)
    return ordering(holds, _means(found), sure)


@statement
def above_controlled(seen: Evidence) -> Measured:
    """AR41: under AD3 among AD0 jobs they lie above controlled runs where all have AD3."""
    found = _ratios(seen, (COMPACT, DISPERSED, "milc in the mix"), "ad3")
    top = max(found[COMPACT].mean(), found[DISPERSED].mean())
    production = found["milc in the mix"]
    holds = bool(production.mean() > top)
    return ordering(holds, _means(found), ((production > top) == holds).all())


@statement
def reordering_helps(seen: Evidence) -> Measured:
    """AR53: milc-reorder is faster than milc under both modes (table II)."""
    found = {}
    for mode in ("ad0", "ad3"):
        own, other = (
            of_pair(seen.findings, seen.claim.figure, f"{name} in the mix", "run_time", (mode, mode))[0]
            for name in ("milc-reorder", "milc")
        )
        found[mode] = reduction(own, other)
    return _all(found)


@statement
def all_percentiles_lower(seen: Evidence) -> Measured:
    """AR44: every percentile of the latencies of hosts is lower, the tail (from 99 on) by 20 to 30 % (figure 14)."""
    traffic = seen.claim.traffic
    found = {f"p{q:g}": reduction(*_pair(seen, traffic, f"nic_latency_p{q:g}")) for q in PERCENTILES}
    tail = [one.mean for name, one in found.items() if float(name[1:]) >= 99]
    return _all(found, holds=bool(_TAIL[0] <= np.mean(tail) <= _TAIL[1]))

"""Orderings that the third paper states over several cells, each with how sure it is.

Source: Chunduri et al., IPDPS 2021; sections with each.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from dragonfly_env.lab.papers.cells import Cell
from dragonfly_env.lab.papers.claims import Claim
from dragonfly_env.lab.papers.findings import Findings, FloatArray, NotFoundYetError
from dragonfly_env.lab.papers.job_metrics import (
    JOB_METRICS,
    PERCENTILES,
    run_times_us,
    spanned_groups,
)
from dragonfly_env.lab.papers.paired import Comparison, of_pair, reduction, tail_ratio

MODES = ("ad0", "ad1", "ad2", "ad3")
COMPACT_GROUPS = 2
"""Jobs that span so many groups or fewer are compact (section V-A1)."""

_TAIL = (0.1, 0.4)  # AR10's tolerance, as a reduction


@dataclass(frozen=True, slots=True)
class Statement:
    """What became of a statement."""

    holds: bool
    sure: bool
    details: str


def applications(findings: Findings, figure: str) -> dict[str, str]:
    """The figure's kinds of runs (``traffic``) by application: their first word."""
    labels = dict.fromkeys(cell.traffic for cell in findings.simulated(figure))
    return {label.split()[0]: label for label in labels}


def _reduction(findings: Findings, claim: Claim, traffic: str) -> Comparison:
    pair = (claim.policy, claim.reference)
    return reduction(*of_pair(findings, claim.figure, traffic, "run_time", pair))


def _listed(found: dict[str, Comparison]) -> str:
    return ", ".join(f"{name} {one}" for name, one in found.items())


def rank_of_reductions(findings: Findings, claim: Claim) -> Statement:
    """AR23: reorder >= milc > qbox > nek5000 > rayleigh ~ 0 > hacc (table II)."""
    order = ("milc-reorder", "milc", "qbox", "nek5000", "rayleigh", "hacc")
    found = {name: _reduction(findings, claim, f"{name} in the mix") for name in order}
    pairs = list(itertools.pairwise(found.values()))
    holds = all(left.mean > right.mean for left, right in pairs)
    sure = all(left.low > right.high for left, right in pairs)
    return Statement(holds and found["hacc"].mean < 0, sure, _listed(found))


def tails_lower(findings: Findings, claim: Claim) -> Statement:
    """AR30: the 95th percentile of run times is lower, of milc and milc-reorder (figure 2)."""
    pair = (claim.policy, claim.reference)
    found = {
        name: tail_ratio(*of_pair(findings, claim.figure, f"{name} in the mix", "run_time", pair))
        for name in ("milc", "milc-reorder")
    }
    return Statement(
        all(one.mean < 1 for one in found.values()),
        all(one.sure(-math.inf, 1.0) for one in found.values()),
        _listed(found).replace("+", ""),
    )


def better_anywhere(findings: Findings, claim: Claim) -> Statement:
    """AR28: milc on 128 and on 256 nodes is faster, compact as well as dispersed (figure 3)."""
    found: dict[str, Comparison] = {}
    for label in ("milc in the mix", "milc of 16 in the mix"):
        found |= {f"{label.removesuffix(' in the mix')} {where}": one
                  for where, one in _by_spread(findings, claim, label).items()}  # fmt: skip
    return Statement(
        all(one.mean > 0 for one in found.values()),
        all(one.sure(0.0, math.inf) for one in found.values()),
        _listed(found),
    )


def same_preference_anywhere(findings: Findings, claim: Claim) -> Statement:
    """AR29: which mode is better does not depend on how many groups a job spans (section II-F).

    It is sure where both intervals have no zero.
    """
    holds = sure = True
    found: dict[str, Comparison] = {}
    for name, label in applications(findings, claim.figure).items():
        compact, spread = _by_spread(findings, claim, label).values()
        found |= {f"{name} compact": compact, f"{name} dispersed": spread}
        both = all(one.sure(0.0, math.inf) for one in (compact, spread))
        holds &= compact.mean * spread.mean >= 0 or not both  # zero is neither
        sure &= both
    return Statement(holds, sure, _listed(found))


def _by_spread(findings: Findings, claim: Claim, label: str) -> dict[str, Comparison]:
    pair = (claim.policy, claim.reference)
    own, other = of_pair(findings, claim.figure, label, "run_time", pair)
    (cell,) = findings.select(claim.figure, traffic=label, policy=claim.policy)
    groups = np.array([spanned_groups(row) for row in findings.rows[cell]])[: len(own)]
    parts = {"compact": groups <= COMPACT_GROUPS, "dispersed": groups > COMPACT_GROUPS}
    if not all(part.any() for part in parts.values()):
        raise NotFoundYetError("its runs are not both compact and dispersed")
    return {name: reduction(own[part], other[part]) for name, part in parts.items()}


def rises_with_bias(findings: Findings, claim: Claim) -> Statement:
    """AR08: the time rises with the bias towards minimal paths, AD0 to AD3 (section V-B)."""
    times = {
        mode: JOB_METRICS["run_time"](
            findings, findings.select(claim.figure, traffic=claim.traffic, policy=mode)[0]
        )
        for mode in ("ad0", "ad2", "ad3")
    }
    steps = {
        f"{left} to {right}": reduction(times[left], times[right])
        for left, right in itertools.pairwise(times)
    }
    return Statement(
        all(step.mean > 0 for step in steps.values()),
        all(step.sure(0.0, math.inf) for step in steps.values()),
        ", ".join(f"{mode} {values.mean():.1f} us" for mode, values in times.items()) + f"; {_listed(steps)}",
    )


def normalised(findings: Findings, figure: str) -> dict[str, FloatArray]:
    """Run times of all jobs by mode, less the mean of their application and in its standard deviations (figure 9)."""
    by_mode: dict[str, list[FloatArray]] = {mode: [] for mode in MODES}
    every = findings.select(figure)  # all of them
    for name in dict.fromkeys(cell.traffic.split(",")[0] for cell in every):
        cells = [cell for cell in every if cell.traffic.split(",")[0] == name]
        times = {mode: _pooled(findings, (c for c in cells if c.policy == mode)) for mode in MODES}
        whole = np.concatenate(list(times.values()))
        for mode in MODES:
            by_mode[mode].append((times[mode] - whole.mean()) / (whole.std() or 1.0))
    return {mode: np.concatenate(parts) for mode, parts in by_mode.items()}


def _pooled(findings: Findings, cells: Iterable[Cell]) -> FloatArray:
    times = [time for cell in cells for row in findings.rows[cell] for time in run_times_us(row)]
    if not times:
        raise NotFoundYetError("not all modes were run")
    return np.array(times, np.float64)


def best_of_modes(findings: Findings, claim: Claim) -> Statement:
    """AR09: AD3 has the lowest mean z-score and the smallest range, AD2 the next mean, AD1 is before AD0 (figure 9)."""
    scores = normalised(findings, claim.figure)
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
    return Statement(order == wanted and min(ranges, key=ranges.__getitem__) == "ad3", sure, details)


def _ratios(findings: Findings, claim: Claim, labels: Iterable[str], policy: str) -> dict[str, FloatArray]:
    return {
        label: JOB_METRICS["job_network_ratio"](
            findings, findings.select(claim.figure, traffic=label, policy=policy)[0]
        )
        for label in labels
    }


COMPACT, DISPERSED = "16 milc, consecutive", "16 milc, random-routers"


def _means(found: dict[str, FloatArray]) -> str:
    return ", ".join(f"{label}: {values.mean():.3f}" for label, values in found.items())


def between_controlled(findings: Findings, claim: Claim) -> Statement:
    """AR40: stalls per flit of isolated and of production runs lie between controlled compact and dispersed ones."""
    found = _ratios(findings, claim, (COMPACT, DISPERSED, "milc alone", "milc in the mix"), "ad0")
    low, high = sorted((found[COMPACT].mean(), found[DISPERSED].mean()))
    inner = [found[label] for label in ("milc alone", "milc in the mix")]
    holds = all(low <= values.mean() <= high for values in inner)
    sure = all(((low <= values) & (values <= high)).all() == holds for values in inner)
    return Statement(holds, bool(sure), _means(found))


def above_controlled(findings: Findings, claim: Claim) -> Statement:
    """AR41: under AD3 among AD0 jobs they lie above controlled runs where all have AD3."""
    found = _ratios(findings, claim, (COMPACT, DISPERSED, "milc in the mix"), "ad3")
    top = max(found[COMPACT].mean(), found[DISPERSED].mean())
    production = found["milc in the mix"]
    holds = bool(production.mean() > top)
    return Statement(holds, bool(((production > top) == holds).all()), _means(found))


def reordering_helps(findings: Findings, claim: Claim) -> Statement:
    """AR53: milc-reorder is faster than milc under both modes (table II)."""
    found = {}
    for mode in ("ad0", "ad3"):
        own, other = (
            of_pair(findings, claim.figure, f"{name} in the mix", "run_time", (mode, mode))[0]
            for name in ("milc-reorder", "milc")
        )
        found[mode] = reduction(own, other)
    return Statement(
        all(one.mean > 0 for one in found.values()),
        all(one.sure(0.0, math.inf) for one in found.values()),
        _listed(found),
    )


def all_percentiles_lower(findings: Findings, claim: Claim) -> Statement:
    """AR44: every percentile of the latencies of hosts is lower, the tail (from 99 on) by 20 to 30 % (figure 14)."""
    pair = (claim.policy, claim.reference)
    found = {
        f"p{q:g}": reduction(*of_pair(findings, claim.figure, claim.traffic, f"nic_latency_p{q:g}", pair))
        for q in PERCENTILES
    }
    tail = [one.mean for name, one in found.items() if float(name[1:]) >= 99]
    holds = all(one.mean > 0 for one in found.values()) and _TAIL[0] <= np.mean(tail) <= _TAIL[1]
    return Statement(bool(holds), all(one.sure(0.0, math.inf) for one in found.values()), _listed(found))


JOB_STATEMENTS: dict[str, Callable[[Findings, Claim], Statement]] = {
    "above_controlled": above_controlled,
    "all_percentiles_lower": all_percentiles_lower,
    "best_of_modes": best_of_modes,
    "better_anywhere": better_anywhere,
    "between_controlled": between_controlled,
    "rank_of_reductions": rank_of_reductions,
    "reordering_helps": reordering_helps,
    "rises_with_bias": rises_with_bias,
    "same_preference_anywhere": same_preference_anywhere,
    "tails_lower": tails_lower,
}
"""Claims about several cells, by name."""

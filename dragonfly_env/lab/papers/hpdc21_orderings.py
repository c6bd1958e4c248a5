"""What Q-adaptive, HPDC 2021, says of its figures without a number, or of the best of several loads.

Orderings are 1 if they hold. All come with what was measured.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dragonfly_env.lab.papers.cells import Cell
from dragonfly_env.lab.papers.claims import Claim
from dragonfly_env.lab.papers.findings import Findings, FloatArray, NotFoundYetError
from dragonfly_env.lab.papers.hop_limit import best_limit, by_limit

_SIMILAR = 0.25
"""Relative: what "similar" and "slightly less" are taken to mean."""
_TAILS = {"95th": "latency_p95_ns", "99th": "latency_p99_ns"}

Settling = Callable[[Findings, Cell], FloatArray]


def largest_saving(findings: Findings, claim: Claim) -> tuple[float, str]:
    """The largest saving of mean latency over the reference, of all loads ("up to 75 %"), and those at the others.

    Raises:
        NotFoundYetError: If something of it was not simulated.
    """
    own, other = (_by_load(findings, claim, policy) for policy in (claim.policy, claim.reference))
    savings = {load: 1.0 - own[load] / other[load] for load in own if load in other}
    details = ", ".join(f"load {load:g}: {saving:.1%}" for load, saving in savings.items())
    return max(savings.values()), details


def lowest_mean(findings: Findings, claim: Claim) -> tuple[float, str]:
    """1 if the policy has the lowest mean latency of all rivals at every load, or at the claim's.

    Raises:
        NotFoundYetError: If one of them was not simulated.
    """
    own = _by_load(findings, claim, claim.policy)
    rivals = {rival: _by_load(findings, claim, rival) for rival in claim.rivals}
    lowest = {load: min(curve[load] for curve in rivals.values()) for load in own}
    described = ", ".join(f"load {load:g}: {own[load]:.3f} and {lowest[load]:.3f} us" for load in own)
    return float(all(own[load] < lowest[load] for load in own)), f"own and lowest rival: {described}"


def lowest_tail(findings: Findings, claim: Claim) -> tuple[float, str]:
    """1 if the policy has the lowest 99th percentile of all rivals.

    Raises:
        NotFoundYetError: If one of them was not simulated.
    """
    tails = {
        policy: _mean(findings, _cell(findings, claim, policy), _TAILS["99th"]) / 1000.0
        for policy in (claim.policy, *claim.rivals)
    }
    described = ", ".join(f"{policy} {tail:.2f}" for policy, tail in tails.items())
    return float(min(tails, key=lambda policy: tails[policy]) == claim.policy), f"{described} us"


def alike_and_below(findings: Findings, claim: Claim) -> tuple[float, str]:
    """1 if the first rival's mean latency is similar to the policy's and both are below those of the other rivals.

    Raises:
        NotFoundYetError: If one of them was not simulated.
    """
    means = {
        policy: _mean(findings, _cell(findings, claim, policy), "latency_mean_ns") / 1000.0
        for policy in (claim.policy, *claim.rivals)
    }
    own, similar, *others = means.values()
    holds = abs(similar / own - 1.0) <= _SIMILAR and max(own, similar) < min(others)
    return float(holds), ", ".join(f"{policy} {mean:.2f}" for policy, mean in means.items()) + " us"


def tails_slightly_below(findings: Findings, claim: Claim) -> tuple[float, str]:
    """1 if the 95th and 99th percentiles of the policy are slightly less than those of the first rival.

    Raises:
        NotFoundYetError: If one of them was not simulated.
    """
    own, other = (_cell(findings, claim, policy) for policy in (claim.policy, claim.rivals[0]))
    ratios = {
        name: _mean(findings, own, column) / _mean(findings, other, column) for name, column in _TAILS.items()
    }
    holds = all(1.0 - _SIMILAR <= ratio < 1.0 for ratio in ratios.values())
    return float(holds), ", ".join(f"{name} x {ratio:.3f}" for name, ratio in ratios.items())


def convergence_order(settling_latency: Settling) -> Callable[[Findings, Claim], tuple[float, str]]:
    """1 if Q-adaptive settles sooner under uniform traffic than under ADV+1, and there sooner than under ADV+4."""

    def ordering(findings: Findings, claim: Claim) -> tuple[float, str]:
        loads = {"uniform": 0.8, "adv+1": 0.45, "adv+4": 0.45}
        times = {
            traffic: float(
                np.mean(settling_latency(findings, _cell(findings, claim, claim.policy, traffic, load)))
            )
            for traffic, load in loads.items()
        }
        uniform, adv1, adv4 = times.values()
        described = ", ".join(f"{traffic} {time:.0f}" for traffic, time in times.items())
        return float(uniform < adv1 < adv4), f"{described} us"

    return ordering


def large_limit_is_worse(findings: Findings, claim: Claim) -> tuple[float, str]:
    """1 if the largest limit of hops has a larger latency and accepts less than the best, under every traffic.

    Raises:
        NotFoundYetError: If something of it was not simulated.
    """
    findings.select(claim.figure)
    described, holds = [], True
    for traffic in ("uniform", "adv+1", "adv+4"):
        cells = by_limit(findings, claim.figure, traffic)
        best, largest = best_limit(findings, cells), max(cells)
        pairs = [
            tuple(_mean(findings, cells[limit], column) for limit in (best, largest))
            for column in ("latency_mean_ns", "accepted_load")
        ]
        (latency, latency_of_largest), (accepted, accepted_of_largest) = pairs
        holds &= latency_of_largest > latency and accepted_of_largest < accepted
        described.append(
            f"{traffic}: maxQ {best} and {largest}: {latency / 1000:.2f} and {latency_of_largest / 1000:.2f} us, "
            f"accepted {accepted:.3f} and {accepted_of_largest:.3f}"
        )
    return float(holds), "; ".join(described)


def _by_load(findings: Findings, claim: Claim, policy: str) -> dict[float, float]:
    """Mean latency in us by load, ascending."""
    cells = findings.select(
        claim.figure, hosts=claim.hosts, traffic=claim.traffic, load=claim.load, policy=policy
    )
    return {cell.load: _mean(findings, cell, "latency_mean_ns") / 1000.0 for cell in cells}


def _cell(
    findings: Findings, claim: Claim, policy: str, traffic: str = "", load: float | None = None
) -> Cell:
    cells = findings.select(
        claim.figure,
        hosts=claim.hosts,
        traffic=traffic or claim.traffic,
        load=claim.load if load is None else load,
        policy=policy,
    )
    if len(cells) != 1:
        raise NotFoundYetError(f"{claim.figure} has several simulations of {policy} that fit")
    return cells[0]


def _mean(findings: Findings, cell: Cell, column: str) -> float:
    return float(np.nanmean(findings.values(cell, column)))

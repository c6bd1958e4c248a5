"""What LIA, TACO 2025, section 6, says of its figures without a number: each 1 if it holds, with what was measured."""

from __future__ import annotations

import numpy as np

from dragonfly_env.reproduce.cells import Cell
from dragonfly_env.reproduce.claims import Claim
from dragonfly_env.reproduce.findings import Findings
from dragonfly_env.reproduce.switches import spread_of_routers

_FALLS = 0.98  # of the highest throughput: less is a fall, more is noise
_FAIR = 1.05
_EQUAL = 1.03  # makespans
_AFTER_NS = (181.0, 210.0)


def _mean(findings: Findings, cell: Cell, column: str) -> float:
    return float(np.nanmean(findings.values(cell, column)))


def _after_peak(findings: Findings, claim: Claim, policy: str) -> dict[str, tuple[float, float]]:
    """By traffic: the highest throughput, and that at the highest load."""
    cells = findings.select(claim.figure, hosts=claim.hosts, traffic=claim.traffic, policy=policy)
    curves: dict[str, dict[float, float]] = {}
    for cell in cells:
        curves.setdefault(cell.traffic, {})[cell.load] = _mean(findings, cell, "accepted_load")
    return {traffic: (max(curve.values()), curve[max(curve)]) for traffic, curve in curves.items()}


def falls_past_saturation(findings: Findings, claim: Claim) -> tuple[float, str]:
    """1 if the policy's throughput falls past saturation under every adversarial pattern, and the reference's does not.

    Raises:
        NotFoundYetError: If something of it was not simulated.
    """
    described, holds = [], True
    for policy, falls in ((claim.policy, True), (claim.reference, False)):
        for traffic, (peak, last) in _after_peak(findings, claim, policy).items():
            if traffic == "uniform":
                continue
            holds &= (last < _FALLS * peak) == falls
            described.append(f"{policy} {traffic} {peak:.3f} to {last:.3f}")
    return float(holds), ", ".join(described)


def fairness_ranking(findings: Findings, claim: Claim) -> tuple[float, str]:
    """1 if the policy serves routers the least evenly, the rivals less so, and the reference all alike.

    Raises:
        NotFoundYetError: If one of them was not simulated.
    """
    spreads = {
        policy: float(np.mean(spread_of_routers(findings, cell)))
        for policy in (claim.policy, *claim.rivals, claim.reference)
        for cell in findings.select(claim.figure, hosts=claim.hosts, policy=policy)
    }
    between = [spreads[rival] for rival in claim.rivals]
    holds = spreads[claim.policy] > max(between) and min(between) > spreads[claim.reference]
    holds &= spreads[claim.reference] < _FAIR
    return float(holds), "max / min of a router: " + _listed(spreads, ".3f")


def only_one_improves(findings: Findings, claim: Claim) -> tuple[float, str]:
    """1 if the policy completes before the reference, and nobody else does.

    Raises:
        NotFoundYetError: If one of them was not simulated.
    """
    makespans = _makespans(findings, claim)
    faster = {policy for policy, time in makespans.items() if time < makespans[claim.reference]}
    return float(faster == {claim.policy}), _listed(makespans, ",.0f") + " ns"


def halo_ranking(findings: Findings, claim: Claim) -> tuple[float, str]:
    """1 if the policy is as fast as the reference, faster than its rivals, and adaptive ones are faster than oblivious.

    Raises:
        NotFoundYetError: If one of them was not simulated.
    """
    makespans = _makespans(findings, claim)
    own = makespans[claim.policy]
    oblivious = min(time for policy, time in makespans.items() if policy.startswith(("vlb", "min")))
    holds = own <= _EQUAL * makespans[claim.reference] and all(own < makespans[name] for name in claim.rivals)
    holds &= own < oblivious
    return float(holds), _listed(makespans, ",.0f") + " ns"


def _makespans(findings: Findings, claim: Claim) -> dict[str, float]:
    cells = findings.select(claim.figure, hosts=claim.hosts, traffic=claim.traffic)
    return {cell.policy: _mean(findings, cell, "makespan_ns") for cell in cells}


def lowest_after_change(findings: Findings, claim: Claim) -> tuple[float, str]:
    """1 if policy and reference have the lowest latencies of the packets generated 181 to 210 ns after the change.

    Raises:
        NotFoundYetError: If one of them was not simulated.
    """
    cells = findings.select(claim.figure, hosts=claim.hosts, traffic=claim.traffic)
    latencies = {cell.policy: latency_after_change(findings, cell) for cell in cells}
    lowest = sorted(latencies, key=lambda policy: latencies[policy])[:2]
    return float(set(lowest) == {claim.policy, claim.reference}), _listed(latencies, ",.0f") + " ns"


def latency_after_change(findings: Findings, cell: Cell) -> float:
    """Mean latency of the packets generated in the bins within 181 to 210 ns after the change, over seeds."""
    ends_us, curves = findings.series(cell, "generated_latency_mean_ns")
    since_ns = ends_us * 1000.0 - cell.schedule[-1][0]
    chosen = (since_ns > _AFTER_NS[0]) & (since_ns <= _AFTER_NS[1])
    return float(np.nanmean(curves[:, chosen]))


def _listed(values: dict[str, float], form: str) -> str:
    return ", ".join(f"{name} {value:{form}}" for name, value in values.items())

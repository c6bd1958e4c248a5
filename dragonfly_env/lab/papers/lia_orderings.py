"""What LIA, TACO 2025, section 6, says of its figures without a number: each 1 if it holds, with what was measured."""

from __future__ import annotations

import numpy as np

from dragonfly_env.lab.papers.cells import Cell
from dragonfly_env.lab.papers.claims import Claim
from dragonfly_env.lab.papers.findings import Findings
from dragonfly_env.lab.papers.switches import loads_of_routers, path_loads_of_routers, spread_of_routers
from dragonfly_env.simulation.path_kinds import PATH_KINDS

_FALLS = 0.98  # of the highest throughput: less is a fall, more is noise
_FAIR = 1.05
_EQUAL = 1.03  # makespans, latencies, throughputs
_NOISE = 1.01
_VERY_CLOSE = 1.05
_CLOSE = 1.10
_CLEARLY = 0.8
_MOST = 0.5
_CARRIED = 0.98  # of the offered load
_BEFORE_NS = 600.0
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
    """1 if the policy is as fast as the reference, faster than its rivals, adaptive policies are faster than oblivious
    ones, and every Valiant one is slower than MIN.

    Raises:
        NotFoundYetError: If one of them was not simulated.
    """
    makespans = _makespans(findings, claim)
    own = makespans[claim.policy]
    oblivious = min(time for policy, time in makespans.items() if policy.startswith(("vlb", "min")))
    holds = own <= _EQUAL * makespans[claim.reference] and all(own < makespans[name] for name in claim.rivals)
    holds &= own < oblivious
    holds &= all(time > makespans["min"] for policy, time in makespans.items() if _is_valiant(policy))
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


def _is_valiant(policy: str) -> bool:
    return policy.startswith("vlb")


def _is_adaptive(policy: str) -> bool:
    return not _is_valiant(policy) and policy != "min"


def valiant_faster(findings: Findings, claim: Claim) -> tuple[float, str]:
    """1 if all four Valiant policies complete before MIN.

    Raises:
        NotFoundYetError: If one of them was not simulated.
    """
    makespans = _makespans(findings, claim)
    holds = all(time < makespans["min"] for policy, time in makespans.items() if _is_valiant(policy))
    return float(holds), _speedups(makespans)


def valiant_slower(findings: Findings, claim: Claim) -> tuple[float, str]:
    """1 if all four Valiant policies complete after MIN.

    Raises:
        NotFoundYetError: If one of them was not simulated.
    """
    makespans = _makespans(findings, claim)
    holds = all(time > makespans["min"] for policy, time in makespans.items() if _is_valiant(policy))
    return float(holds), _speedups(makespans)


def adaptive_fastest(findings: Findings, claim: Claim) -> tuple[float, str]:
    """1 if some Valiant policy completes before MIN, and every adaptive one before the fastest Valiant one.

    Raises:
        NotFoundYetError: If one of them was not simulated.
    """
    makespans = _makespans(findings, claim)
    valiant = min(time for policy, time in makespans.items() if _is_valiant(policy))
    slowest = max(time for policy, time in makespans.items() if _is_adaptive(policy))
    return float(valiant < makespans["min"] and slowest < valiant), _speedups(makespans)


def completes_first(findings: Findings, claim: Claim) -> tuple[float, str]:
    """1 if the policy completes before all others.

    Raises:
        NotFoundYetError: If one of them was not simulated.
    """
    makespans = _makespans(findings, claim)
    others = [time for policy, time in makespans.items() if policy != claim.policy]
    return float(makespans[claim.policy] < min(others)), _speedups(makespans)


def competitive_completion(findings: Findings, claim: Claim) -> tuple[float, str]:
    """1 if the rivals complete alike, the policy not later than the faster of them, and before the reference.

    Alike, and not later: to 3 percent.

    Raises:
        NotFoundYetError: If one of them was not simulated.
    """
    makespans = _makespans(findings, claim)
    rivals = [makespans[rival] for rival in claim.rivals]
    holds = max(rivals) <= _EQUAL * min(rivals)
    holds &= makespans[claim.policy] <= _EQUAL * min(rivals)
    holds &= makespans[claim.policy] < makespans[claim.reference]
    return float(holds), _speedups(makespans)


def _speedups(makespans: dict[str, float]) -> str:
    return "speed-up over min: " + _listed(
        {policy: makespans["min"] / time for policy, time in makespans.items()}, ".3f"
    )


def all_fall_past_saturation(findings: Findings, claim: Claim) -> tuple[float, str]:
    """1 if the throughput of the policy and of every rival falls past saturation, and that of the reference,
    if there is one, does not.

    Raises:
        NotFoundYetError: If something of it was not simulated.
    """
    described, holds = [], True
    for policy in (claim.policy, *claim.rivals, *filter(None, (claim.reference,))):
        for traffic, (peak, last) in _after_peak(findings, claim, policy).items():
            holds &= (last < _FALLS * peak) == (policy != claim.reference)
            described.append(f"{policy} {traffic} {peak:.3f} to {last:.3f}")
    return float(holds), ", ".join(described)


def only_one_falls(findings: Findings, claim: Claim) -> tuple[float, str]:
    """1 if past saturation the throughput of the policy falls and that of no rival does.

    Raises:
        NotFoundYetError: If something of it was not simulated.
    """
    described, holds = [], True
    for policy in (claim.policy, *claim.rivals):
        for peak, last in _after_peak(findings, claim, policy).values():
            holds &= (last < _FALLS * peak) == (policy == claim.policy)
            described.append(f"{policy} {peak:.3f} to {last:.3f}")
    return float(holds), ", ".join(described)


def peak_throughput(findings: Findings, claim: Claim) -> tuple[float, str]:
    """The highest throughput over loads.

    Raises:
        NotFoundYetError: If one of the loads was not simulated.
    """
    ((peak, last),) = _after_peak(findings, claim, claim.policy).values()
    return peak, f"{last:.3f} at the highest load"


def lowest_throughput(findings: Findings, claim: Claim) -> tuple[float, str]:
    """1 if at the claim's load the policy's throughput is the lowest under every adversarial pattern.

    Raises:
        NotFoundYetError: If one of them was not simulated.
    """
    described, holds = [], True
    for traffic, loads in _throughputs(findings, claim).items():
        holds &= min(loads, key=lambda policy: loads[policy]) == claim.policy
        described.append(f"{traffic}: {_listed(loads, '.3f')}")
    return float(holds), "; ".join(described)


def falls_to_reference(findings: Findings, claim: Claim) -> tuple[float, str]:
    """1 if at the claim's load the policy's throughput is that of the reference under every adversarial pattern.

    To 3 percent, either way.

    Raises:
        NotFoundYetError: If one of them was not simulated.
    """
    described, holds = [], True
    for traffic, loads in _throughputs(findings, claim).items():
        ratio = loads[claim.policy] / loads[claim.reference]
        holds &= 1.0 / _EQUAL <= ratio <= _EQUAL
        described.append(
            f"{traffic}: {claim.policy} {loads[claim.policy]:.3f}, {claim.reference} {loads[claim.reference]:.3f}"
        )
    return float(holds), "; ".join(described)


def _throughputs(findings: Findings, claim: Claim) -> dict[str, dict[str, float]]:
    """By adversarial traffic and policy, at the claim's load."""
    found: dict[str, dict[str, float]] = {}
    for cell in findings.select(claim.figure, hosts=claim.hosts, traffic=claim.traffic, load=claim.load):
        if cell.traffic != "uniform":
            found.setdefault(cell.traffic, {})[cell.policy] = _mean(findings, cell, "accepted_load")
    return found


def _latencies(findings: Findings, claim: Claim, load: float | None) -> dict[str, float]:
    """By policy, in us, at one load."""
    cells = findings.select(claim.figure, hosts=claim.hosts, traffic=claim.traffic, load=load)
    return {cell.policy: _mean(findings, cell, "latency_mean_ns") / 1000.0 for cell in cells}


def lowest_latency(findings: Findings, claim: Claim) -> tuple[float, str]:
    """1 if at the claim's load no policy of the figure has a latency below the policy's, to 1 percent.

    Raises:
        NotFoundYetError: If one of them was not simulated.
    """
    latencies = _latencies(findings, claim, claim.load)
    holds = latencies[claim.policy] <= _NOISE * min(latencies.values())
    return float(holds), _listed(latencies, ".3f") + " us"


def lower_latency(findings: Findings, claim: Claim) -> tuple[float, str]:
    """1 if at the claim's load the policy's latency is below the reference's by more than 1 percent.

    Raises:
        NotFoundYetError: If one of them was not simulated.
    """
    latencies = _latencies(findings, claim, claim.load)
    own, other = latencies[claim.policy], latencies[claim.reference]
    return float(_NOISE * own < other), f"{claim.policy} {own:.3f}, {claim.reference} {other:.3f} us"


def lowest_over_loads(findings: Findings, claim: Claim) -> tuple[float, str]:
    """1 if at every load that the policy carries no policy of the figure has a latency below its, to 3 percent.

    Raises:
        NotFoundYetError: If one of them was not simulated.
    """
    own = findings.select(claim.figure, hosts=claim.hosts, traffic=claim.traffic, policy=claim.policy)
    described, holds = [], True
    for load in sorted(
        cell.load for cell in own if _mean(findings, cell, "accepted_load") >= _CARRIED * cell.load
    ):
        latencies = _latencies(findings, claim, load)
        best = min(latencies, key=lambda policy: latencies[policy])
        holds &= latencies[claim.policy] <= _EQUAL * latencies[best]
        described.append(f"{load:g}: {latencies[claim.policy]:.3f}, {best} {latencies[best]:.3f} us")
    return float(holds and bool(described)), "; ".join(described)


def base_latency_order(findings: Findings, claim: Claim) -> tuple[float, str]:
    """1 if at the claim's load the four Valiant policies have latencies in the order of their hops.

    Raises:
        NotFoundYetError: If one of them was not simulated.
    """
    latencies = {
        policy: time
        for policy, time in _latencies(findings, claim, claim.load).items()
        if _is_valiant(policy)
    }
    middle = [latencies["vlb-lg"], latencies["vlb-gl"]]
    holds = latencies["vlb-g"] < min(middle) and max(middle) < latencies["vlb-lgl"]
    return float(holds), _listed(latencies, ".3f") + " us"


def competitive(findings: Findings, claim: Claim) -> tuple[float, str]:
    """1 if at the claim's load every policy is within 10 percent of the best: in latency, or in throughput at load 1.

    Raises:
        NotFoundYetError: If one of them was not simulated.
    """
    if claim.load == 1.0:
        loads = _throughputs_of(findings, claim)
        return float(min(loads.values()) >= max(loads.values()) / _CLOSE), _listed(loads, ".3f")
    latencies = _latencies(findings, claim, claim.load)
    return float(max(latencies.values()) <= _CLOSE * min(latencies.values())), _listed(
        latencies, ".3f"
    ) + " us"


def _throughputs_of(findings: Findings, claim: Claim) -> dict[str, float]:
    cells = findings.select(claim.figure, hosts=claim.hosts, traffic=claim.traffic, load=claim.load)
    return {cell.policy: _mean(findings, cell, "accepted_load") for cell in cells}


def best_or_close(findings: Findings, claim: Claim) -> tuple[float, str]:
    """1 if the policy is within 5 percent of the best: in latency at every load that it carries, and in throughput at
    the highest load.

    Raises:
        NotFoundYetError: If one of them was not simulated.
    """
    own = findings.select(claim.figure, hosts=claim.hosts, traffic=claim.traffic, policy=claim.policy)
    described, holds = [], True
    for cell in own:
        if _mean(findings, cell, "accepted_load") < _CARRIED * cell.load:
            continue
        latencies = _latencies(findings, claim, cell.load)
        holds &= latencies[claim.policy] <= _VERY_CLOSE * min(latencies.values())
        described.append(
            f"{cell.load:g}: {latencies[claim.policy] / min(latencies.values()):.3f} of the lowest latency"
        )
    last = max(cell.load for cell in own)
    cells = findings.select(claim.figure, hosts=claim.hosts, traffic=claim.traffic, load=last)
    loads = {cell.policy: _mean(findings, cell, "accepted_load") for cell in cells}
    share = loads[claim.policy] / max(loads.values())
    described.append(f"{share:.3f} of the highest throughput at {last:g}")
    return float(holds and share >= 1.0 / _VERY_CLOSE), "; ".join(described)


def negligible(findings: Findings, claim: Claim) -> tuple[float, str]:
    """1 if the latencies of the policy and its rivals differ by at most 3 percent at every load.

    Raises:
        NotFoundYetError: If one of them was not simulated.
    """
    described, holds = [], True
    names = (claim.policy, *claim.rivals)
    own = findings.select(claim.figure, hosts=claim.hosts, traffic=claim.traffic, policy=claim.policy)
    for load in sorted(cell.load for cell in own):
        latencies = _latencies(findings, claim, load)
        ratio = max(latencies[name] for name in names) / min(latencies[name] for name in names)
        holds &= ratio <= _EQUAL
        described.append(f"{load:g}: highest / lowest {ratio:.3f}")
    return float(holds), "; ".join(described)


def spreads_of_oblivious(findings: Findings, claim: Claim) -> tuple[float, str]:
    """1 if the policy and the rivals serve routers unevenly, and all other policies of the figure evenly.

    Evenly: the highest load of a router is less than 5 percent above the lowest.

    Raises:
        NotFoundYetError: If one of them was not simulated.
    """
    spreads = _spreads(findings, claim)
    uneven = (claim.policy, *claim.rivals)
    holds = all((spread >= _FAIR) == (policy in uneven) for policy, spread in spreads.items())
    return float(holds), "max / min of a router: " + _listed(spreads, ".3f")


def uneven_as_reference(findings: Findings, claim: Claim) -> tuple[float, str]:
    """1 if the policy serves routers unevenly, as the reference does.

    Raises:
        NotFoundYetError: If one of them was not simulated.
    """
    spreads = _spreads(findings, claim)
    holds = spreads[claim.policy] >= _FAIR and spreads[claim.reference] >= _FAIR
    return float(holds), "max / min of a router: " + _listed(spreads, ".3f")


def _spreads(findings: Findings, claim: Claim) -> dict[str, float]:
    return {
        cell.policy: float(np.mean(spread_of_routers(findings, cell)))
        for cell in findings.select(claim.figure, hosts=claim.hosts)
    }


def all_accepted(findings: Findings, claim: Claim) -> tuple[float, str]:
    """The lowest load of a router that the policy accepts, as a fraction of what is offered.

    Raises:
        NotFoundYetError: If it was not simulated.
    """
    (cell,) = findings.select(claim.figure, hosts=claim.hosts, traffic=claim.traffic, policy=claim.policy)
    loads = loads_of_routers(findings, cell).mean(axis=0)
    return float(loads.min() / cell.load), f"routers {loads.min():.4f} to {loads.max():.4f} of {cell.load:g}"


def first_hop_at_gateway(findings: Findings, claim: Claim) -> tuple[float, str]:
    """1 if of the non-minimal paths of the router that owns the minimal links most have the first local hop, and of
    those of every other router most have not.

    Raises:
        NotFoundYetError: If it was not simulated, or by a version that did not log the kinds of paths.
    """
    (cell,) = findings.select(claim.figure, hosts=claim.hosts, traffic=claim.traffic, policy=claim.policy)
    loads = path_loads_of_routers(findings, cell).mean(axis=0)
    kinds = {name: loads[:, index] for index, name in enumerate(PATH_KINDS)}
    with_hop = kinds["lg"] + kinds["lgl"]
    non_minimal = with_hop + kinds["g"] + kinds["gl"]
    share = np.divide(with_hop, non_minimal, out=np.zeros_like(with_hop), where=non_minimal > 0)
    holds = share[-1] > _MOST and bool((share[:-1] < _MOST).all()) and bool((non_minimal > 0).all())
    split = _listed({name: float(of[-1]) for name, of in kinds.items() if of.any()}, ".3f")
    others = _listed({name: float(of[:-1].mean()) for name, of in kinds.items() if of.any()}, ".3f")
    return (
        float(holds),
        f"with the first hop {share[-1]:.2f}, others at most {share[:-1].max():.2f}; last router: {split}; "
        f"others: {others}",
    )


def lowest_alone_after_change(findings: Findings, claim: Claim) -> tuple[float, str]:
    """1 if the policy has the lowest latency of the packets generated 181 to 210 ns after the change.

    Raises:
        NotFoundYetError: If one of them was not simulated.
    """
    latencies = _after_change(findings, claim)
    lowest = min(latencies, key=lambda policy: latencies[policy])
    return float(lowest == claim.policy), _listed(latencies, ",.0f") + " ns"


def highest_after_change(findings: Findings, claim: Claim) -> tuple[float, str]:
    """1 if policy and reference have the highest latencies of the packets generated 181 to 210 ns after the change.

    Raises:
        NotFoundYetError: If one of them was not simulated.
    """
    latencies = _after_change(findings, claim)
    highest = sorted(latencies, key=lambda policy: -latencies[policy])[:2]
    return float(set(highest) == {claim.policy, claim.reference}), _listed(latencies, ",.0f") + " ns"


def lower_before_change(findings: Findings, claim: Claim) -> tuple[float, str]:
    """1 if before the change the latencies of the policy and the rivals are below the reference's.

    Raises:
        NotFoundYetError: If one of them was not simulated.
    """
    latencies = {}
    for cell in findings.select(claim.figure, hosts=claim.hosts, traffic=claim.traffic):
        ends_us, curves = findings.series(cell, "generated_latency_mean_ns")
        since_ns = ends_us * 1000.0 - cell.schedule[-1][0]
        chosen = (since_ns > -_BEFORE_NS) & (since_ns <= 0.0)
        latencies[cell.policy] = float(np.nanmean(curves[:, chosen]))
    holds = all(latencies[name] < latencies[claim.reference] for name in (claim.policy, *claim.rivals))
    return float(holds), _listed(latencies, ",.0f") + " ns"


def quartile_range_below(findings: Findings, claim: Claim) -> tuple[float, str]:
    """1 if of the packets generated 181 to 210 ns after the change the latencies of the policy and of every rival lie
    closer together than the reference's, from the first to the third quartile: by more than 20 percent.

    Raises:
        NotFoundYetError: If one of them was not simulated.
    """
    ranges = {
        cell.policy: _quartile_range(findings, cell)
        for cell in findings.select(claim.figure, hosts=claim.hosts, traffic=claim.traffic)
    }
    holds = all(ranges[name] < _CLEARLY * ranges[claim.reference] for name in (claim.policy, *claim.rivals))
    return float(holds), "third less first quartile: " + _listed(ranges, ",.0f") + " ns"


def _quartile_range(findings: Findings, cell: Cell) -> float:
    ends_us, first = findings.series(cell, "generated_latency_q1_ns")
    _, third = findings.series(cell, "generated_latency_q3_ns")
    since_ns = ends_us * 1000.0 - cell.schedule[-1][0]
    chosen = (since_ns > _AFTER_NS[0]) & (since_ns <= _AFTER_NS[1])
    return float(np.nanmean((third - first)[:, chosen]))


def _after_change(findings: Findings, claim: Claim) -> dict[str, float]:
    cells = findings.select(claim.figure, hosts=claim.hosts, traffic=claim.traffic)
    return {cell.policy: latency_after_change(findings, cell) for cell in cells}


def latency_after_change(findings: Findings, cell: Cell) -> float:
    """Mean latency of the packets generated in the bins within 181 to 210 ns after the change, over seeds."""
    ends_us, curves = findings.series(cell, "generated_latency_mean_ns")
    since_ns = ends_us * 1000.0 - cell.schedule[-1][0]
    chosen = (since_ns > _AFTER_NS[0]) & (since_ns <= _AFTER_NS[1])
    return float(np.nanmean(curves[:, chosen]))


def _listed(values: dict[str, float], form: str) -> str:
    return ", ".join(f"{name} {value:{form}}" for name, value in values.items())


LIA_STATEMENTS = {
    statement.__name__: statement
    for statement in (
        adaptive_fastest,
        all_accepted,
        all_fall_past_saturation,
        base_latency_order,
        best_or_close,
        competitive,
        competitive_completion,
        completes_first,
        falls_to_reference,
        first_hop_at_gateway,
        highest_after_change,
        lower_before_change,
        lower_latency,
        lowest_alone_after_change,
        lowest_latency,
        lowest_over_loads,
        lowest_throughput,
        negligible,
        only_one_falls,
        peak_throughput,
        quartile_range_below,
        spreads_of_oblivious,
        uneven_as_reference,
        valiant_faster,
        valiant_slower,
    )
}
"""By the name of the metric: (1 if it holds, or a number; what was measured)."""

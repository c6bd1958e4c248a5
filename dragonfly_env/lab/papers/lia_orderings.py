"""What LIA, TACO 2025, section 6, says of its figures without a number: each 1 if it holds, with what was measured.

Claims name these functions. Each raises `NotFoundYetError` if something that it looks at was not simulated.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping

import numpy as np

from dragonfly_env.lab.papers.claims import Claim
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
from dragonfly_env.simulation.path_kinds import PATH_KINDS
from dragonfly_env.sweeps.run import Point

_FALLS = 0.98  # of the highest throughput: less is a fall, more is noise
_FAIR = 1.05
_EQUAL = 1.03  # makespans, latencies, throughputs
_NOISE = 1.01
_VERY_CLOSE = 1.05
_CLOSE = 1.10
_CLEARLY = 0.8
_MOST = 0.5
_CARRIED = 0.98  # of the offered load
_BEFORE_NS = (-600.0, 0.0)
AFTER_NS = (181.0, 210.0)
"""Packets that are generated so long after a change of the traffic are compared (section 6.3)."""


# How the load is shared among the routers of a group.


def loads_of_routers(findings: Findings, point: Point) -> FloatArray:
    """(seeds, routers of a group) what was delivered of the hosts of each router, the mean over all groups.

    All groups are alike under the patterns that are shown so; the paper shows group 0 alone.
    """
    rows = [np.asarray(row["source_router_load"], np.float64) for row in findings.rows[point]]
    means: FloatArray = np.stack([row.reshape(-1, point.config.topology.a).mean(axis=0) for row in rows])
    return means


def path_loads_of_routers(findings: Findings, point: Point) -> FloatArray:
    """(seeds, routers of a group, len(PATH_KINDS)) the same by the kind of path that packets took."""
    rows = [np.asarray(row["source_router_path_loads"], np.float64) for row in findings.rows[point]]
    shape = (-1, point.config.topology.a, len(PATH_KINDS))
    means: FloatArray = np.stack([row.reshape(shape).mean(axis=0) for row in rows])
    return means


def _spreads(seen: Evidence, *policies: str) -> dict[str, float]:
    """Of these policies, or of all: the highest load of a router over the lowest."""
    points = [point for policy in policies or ("",) for point in seen.points(policy, traffic="any")]
    loads = {point.policy_label: loads_of_routers(seen.findings, point) for point in points}
    return {policy: float(np.mean(of.max(axis=1) / of.min(axis=1))) for policy, of in loads.items()}


def _of_spreads(holds: bool, spreads: dict[str, float]) -> Measured:
    return ordering(holds, "max / min of a router: " + listed(spreads, ".3f"))


@statement
def fairness_ranking(seen: Evidence) -> Measured:
    """1 if the policy serves routers the least evenly, the rivals less so, and the reference all alike."""
    claim = seen.claim
    spreads = _spreads(seen, claim.policy, *claim.rivals, claim.reference)
    between = [spreads[rival] for rival in claim.rivals]
    holds = spreads[claim.policy] > max(between) and min(between) > spreads[claim.reference]
    return _of_spreads(holds and spreads[claim.reference] < _FAIR, spreads)


@statement
def spreads_of_oblivious(seen: Evidence) -> Measured:
    """1 if the policy and the rivals serve routers unevenly, and all other policies of the figure evenly.

    Evenly: the highest load of a router is less than 5 percent above the lowest.
    """
    spreads, uneven = _spreads(seen), (seen.claim.policy, *seen.claim.rivals)
    return _of_spreads(
        all((spread >= _FAIR) == (policy in uneven) for policy, spread in spreads.items()), spreads
    )


@statement
def uneven_as_reference(seen: Evidence) -> Measured:
    """1 if the policy serves routers unevenly, as the reference does."""
    spreads = _spreads(seen)
    return _of_spreads(min(spreads[seen.claim.policy], spreads[seen.claim.reference]) >= _FAIR, spreads)


@statement
def all_accepted(seen: Evidence) -> Measured:
    """The lowest load of a router that the policy accepts, as a fraction of what is offered."""
    (point,) = seen.points(seen.claim.policy)
    loads = loads_of_routers(seen.findings, point).mean(axis=0)
    details = f"routers {loads.min():.4f} to {loads.max():.4f} of {point.load:g}"
    return Measured(float(loads.min() / point.load), details=details)


@statement
def first_hop_at_gateway(seen: Evidence) -> Measured:
    """1 if of the non-minimal paths of the router that owns the minimal links most have the first local hop, and of
    those of every other router most have not.
    """
    (point,) = seen.points(seen.claim.policy)
    loads = path_loads_of_routers(seen.findings, point).mean(axis=0)
    kinds = {name: loads[:, index] for index, name in enumerate(PATH_KINDS)}
    with_hop = kinds["lg"] + kinds["lgl"]
    non_minimal = with_hop + kinds["g"] + kinds["gl"]
    share = np.divide(with_hop, non_minimal, out=np.zeros_like(with_hop), where=non_minimal > 0)
    holds = share[-1] > _MOST and bool((share[:-1] < _MOST).all()) and bool((non_minimal > 0).all())
    split = listed({name: float(of[-1]) for name, of in kinds.items() if of.any()}, ".3f")
    others = listed({name: float(of[:-1].mean()) for name, of in kinds.items() if of.any()}, ".3f")
    return ordering(
        bool(holds),
        f"with the first hop {share[-1]:.2f}, others at most {share[:-1].max():.2f}; last router: {split}; "
        f"others: {others}",
    )


# Throughput past saturation.


def _falls(
    seen: Evidence, wanted: Mapping[str, bool], adversarial: bool = False, named: bool = True
) -> Measured:
    """Whether the throughput of each policy falls, or does not (``wanted``), from its highest value to that at the
    highest load; ``adversarial``: without uniform traffic; ``named``: the report names the traffic.
    """
    described, holds = [], True
    for policy, falls in wanted.items():
        for traffic, (peak, last) in _after_peak(seen, policy).items():
            if adversarial and traffic == "uniform":
                continue
            holds &= (last < _FALLS * peak) == falls
            described.append(f"{policy} {f'{traffic} ' if named else ''}{peak:.3f} to {last:.3f}")
    return ordering(holds, ", ".join(described))


def _after_peak(seen: Evidence, policy: str) -> dict[str, tuple[float, float]]:
    """By traffic: the highest throughput, and that at the highest load."""
    curves: dict[str, dict[float, float]] = {}
    for point in seen.points(policy):
        curves.setdefault(point.traffic_label, {})[point.load] = seen.mean(point, "accepted_load")
    return {traffic: (max(curve.values()), curve[max(curve)]) for traffic, curve in curves.items()}


@statement
def falls_past_saturation(seen: Evidence) -> Measured:
    """1 if under every adversarial pattern the policy's throughput falls past saturation, the reference's not."""
    return _falls(seen, {seen.claim.policy: True, seen.claim.reference: False}, adversarial=True)


@statement
def all_fall_past_saturation(seen: Evidence) -> Measured:
    """1 if past saturation the throughput of policy and rivals falls, and that of a reference does not."""
    claim = seen.claim
    falling = dict.fromkeys((claim.policy, *claim.rivals), True)
    return _falls(seen, {**falling, claim.reference: False} if claim.reference else falling)


@statement
def only_one_falls(seen: Evidence) -> Measured:
    """1 if past saturation the throughput of the policy falls and that of no rival does."""
    claim = seen.claim
    return _falls(seen, {claim.policy: True, **dict.fromkeys(claim.rivals, False)}, named=False)


@statement
def peak_throughput(seen: Evidence) -> Measured:
    """The highest throughput over loads."""
    ((peak, last),) = _after_peak(seen, seen.claim.policy).values()
    return Measured(peak, details=f"{last:.3f} at the highest load")


def _throughputs(seen: Evidence) -> dict[str, dict[str, float]]:
    """By adversarial traffic and policy, at the claim's load."""
    found: dict[str, dict[str, float]] = {}
    for point in seen.points(load=seen.claim.load):
        if point.traffic_label != "uniform":
            found.setdefault(point.traffic_label, {})[point.policy_label] = seen.mean(point, "accepted_load")
    return found


@statement
def lowest_throughput(seen: Evidence) -> Measured:
    """1 if at the claim's load the policy's throughput is the lowest under every adversarial pattern."""
    found = _throughputs(seen)
    holds = all(min(loads, key=loads.__getitem__) == seen.claim.policy for loads in found.values())
    return ordering(
        holds, "; ".join(f"{traffic}: {listed(loads, '.3f')}" for traffic, loads in found.items())
    )


@statement
def falls_to_reference(seen: Evidence) -> Measured:
    """1 if at the claim's load the policy's throughput is that of the reference under every adversarial pattern.

    To 3 percent, either way.
    """
    names = (seen.claim.policy, seen.claim.reference)
    found = {traffic: {name: loads[name] for name in names} for traffic, loads in _throughputs(seen).items()}
    ratios = [loads[names[0]] / loads[names[1]] for loads in found.values()]
    return ordering(
        all(1.0 / _EQUAL <= ratio <= _EQUAL for ratio in ratios),
        "; ".join(f"{traffic}: {listed(loads, '.3f')}" for traffic, loads in found.items()),
    )


# Latencies.


def _latencies(seen: Evidence, load: float | None) -> dict[str, float]:
    """By policy, in us, at one load."""
    return seen.by_policy("latency_mean_ns", load=load, per=1000.0)


def _carried(seen: Evidence) -> list[Point]:
    """The points of the claim's policy that carry what is offered."""
    points = seen.points(seen.claim.policy)
    return [point for point in points if seen.mean(point, "accepted_load") >= _CARRIED * point.load]


@statement
def lowest_latency(seen: Evidence) -> Measured:
    """1 if at the claim's load no policy of the figure has a latency below the policy's, to 1 percent."""
    latencies = _latencies(seen, seen.claim.load)
    holds = latencies[seen.claim.policy] <= _NOISE * min(latencies.values())
    return ordering(holds, listed(latencies, ".3f", "us"))


@statement
def lower_latency(seen: Evidence) -> Measured:
    """1 if at the claim's load the policy's latency is below the reference's by more than 1 percent."""
    latencies = _latencies(seen, seen.claim.load)
    pair = {name: latencies[name] for name in (seen.claim.policy, seen.claim.reference)}
    own, other = pair.values()
    return ordering(_NOISE * own < other, listed(pair, ".3f", "us"))


@statement
def lowest_over_loads(seen: Evidence) -> Measured:
    """1 if at every load that the policy carries no policy of the figure has a latency below its, to 3 percent."""
    described, holds = [], True
    for load in sorted(point.load for point in _carried(seen)):
        latencies = _latencies(seen, load)
        own, best = latencies[seen.claim.policy], min(latencies, key=latencies.__getitem__)
        holds &= own <= _EQUAL * latencies[best]
        described.append(f"{load:g}: {own:.3f}, {best} {latencies[best]:.3f} us")
    return ordering(holds and bool(described), "; ".join(described))


@statement
def base_latency_order(seen: Evidence) -> Measured:
    """1 if at the claim's load the four Valiant policies have latencies in the order of their hops."""
    latencies = _only(_latencies(seen, seen.claim.load), _is_valiant)
    middle = [latencies["vlb-lg"], latencies["vlb-gl"]]
    holds = latencies["vlb-g"] < min(middle) and max(middle) < latencies["vlb-lgl"]
    return ordering(holds, listed(latencies, ".3f", "us"))


@statement
def competitive(seen: Evidence) -> Measured:
    """1 if every policy is within 10 percent of the best: in latency, or at a load of 1 in throughput."""
    if seen.claim.load == 1.0:
        loads = seen.by_policy("accepted_load", load=1.0)
        return ordering(min(loads.values()) >= max(loads.values()) / _CLOSE, listed(loads, ".3f"))
    latencies = _latencies(seen, seen.claim.load)
    holds = max(latencies.values()) <= _CLOSE * min(latencies.values())
    return ordering(holds, listed(latencies, ".3f", "us"))


@statement
def best_or_close(seen: Evidence) -> Measured:
    """1 if the policy is within 5 percent of the best: latency where it carries the load, last throughput."""
    policy = seen.claim.policy
    described, holds = [], True
    for point in _carried(seen):
        latencies = _latencies(seen, point.load)
        lowest = min(latencies.values())
        holds &= latencies[policy] <= _VERY_CLOSE * lowest
        described.append(f"{point.load:g}: {latencies[policy] / lowest:.3f} of the lowest latency")
    last = max(point.load for point in seen.points(policy))
    loads = seen.by_policy("accepted_load", load=last)
    share = loads[policy] / max(loads.values())
    described.append(f"{share:.3f} of the highest throughput at {last:g}")
    return ordering(holds and share >= 1.0 / _VERY_CLOSE, "; ".join(described))


@statement
def negligible(seen: Evidence) -> Measured:
    """1 if the latencies of the policy and its rivals differ by at most 3 percent at every load."""
    names, ratios = (seen.claim.policy, *seen.claim.rivals), {}
    for load in sorted(point.load for point in seen.points(seen.claim.policy)):
        latencies = _latencies(seen, load)
        ratios[load] = max(latencies[name] for name in names) / min(latencies[name] for name in names)
    details = "; ".join(f"{load:g}: highest / lowest {ratio:.3f}" for load, ratio in ratios.items())
    return ordering(all(ratio <= _EQUAL for ratio in ratios.values()), details)


# Makespans.


def _is_valiant(policy: str) -> bool:
    return policy.startswith("vlb")


def _is_adaptive(policy: str) -> bool:
    return not _is_valiant(policy) and policy != "min"


def _only(values: dict[str, float], which: Callable[[str], bool]) -> dict[str, float]:
    return {policy: value for policy, value in values.items() if which(policy)}


def _of_makespans(
    holds: Callable[[Claim, dict[str, float], list[float], list[float]], bool],
) -> Callable[[Evidence], Measured]:
    """A statement about a claim's makespans: by policy, those of Valiant policies, those of adaptive ones."""

    @functools.wraps(holds)
    def measure(seen: Evidence) -> Measured:
        times = seen.by_policy("makespan_ns")
        groups = (list(_only(times, which).values()) for which in (_is_valiant, _is_adaptive))
        speedups = {policy: times["min"] / time for policy, time in times.items()}
        return ordering(holds(seen.claim, times, *groups), "speed-up over min: " + listed(speedups, ".3f"))

    return statement(measure)


@_of_makespans
def valiant_faster(_: Claim, times: dict[str, float], valiant: list[float], adaptive: list[float]) -> bool:
    """1 if all four Valiant policies complete before MIN."""
    return max(valiant) < times["min"]


@_of_makespans
def valiant_slower(_: Claim, times: dict[str, float], valiant: list[float], adaptive: list[float]) -> bool:
    """1 if all four Valiant policies complete after MIN."""
    return min(valiant) > times["min"]


@_of_makespans
def adaptive_fastest(_: Claim, times: dict[str, float], valiant: list[float], adaptive: list[float]) -> bool:
    """1 if some Valiant policy completes before MIN, and every adaptive one before the fastest Valiant one."""
    return min(valiant) < times["min"] and max(adaptive) < min(valiant)


@_of_makespans
def completes_first(claim: Claim, times: dict[str, float], *_: list[float]) -> bool:
    """1 if the policy completes before all others."""
    return times[claim.policy] < min(_only(times, lambda policy: policy != claim.policy).values())


@_of_makespans
def competitive_completion(claim: Claim, times: dict[str, float], *_: list[float]) -> bool:
    """1 if the rivals complete alike, the policy not later than the faster of them, and before the reference.

    Alike, and not later: to 3 percent.
    """
    rivals = [times[rival] for rival in claim.rivals]
    latest = max(*rivals, times[claim.policy])
    return latest <= _EQUAL * min(rivals) and times[claim.policy] < times[claim.reference]


@statement
def only_one_improves(seen: Evidence) -> Measured:
    """1 if the policy completes before the reference, and no other policy does."""
    times = seen.by_policy("makespan_ns")
    faster = {policy for policy, time in times.items() if time < times[seen.claim.reference]}
    return ordering(faster == {seen.claim.policy}, listed(times, ",.0f", "ns"))


@statement
def halo_ranking(seen: Evidence) -> Measured:
    """1 if the policy is as fast as the reference, faster than its rivals, adaptive policies are faster than oblivious
    ones, and every Valiant one is slower than MIN.
    """
    claim, times = seen.claim, seen.by_policy("makespan_ns")
    own, valiant = times[claim.policy], min(_only(times, _is_valiant).values())
    holds = own <= _EQUAL * times[claim.reference] and all(own < times[name] for name in claim.rivals)
    holds &= own < min(valiant, times["min"]) and valiant > times["min"]
    return ordering(holds, listed(times, ",.0f", "ns"))


# Around a change of the traffic.


def around_change(
    findings: Findings, point: Point, columns: tuple[str, ...], since_ns: tuple[float, float]
) -> list[float]:
    """Means, over seeds and bins, of latencies (``mean``, ``q1``, ``q3``) of the packets generated between two times
    after the last change of the traffic, or before it.
    """
    found = []
    for name in columns:
        ends_us, curves = findings.series(point, f"generated_latency_{name}_ns")
        since = ends_us * 1000.0 - steps_of(point)[-1][0]
        found.append(float(np.nanmean(curves[:, (since > since_ns[0]) & (since <= since_ns[1])])))
    return found


def _means_around(seen: Evidence, since_ns: tuple[float, float]) -> dict[str, float]:
    return {
        point.policy_label: around_change(seen.findings, point, ("mean",), since_ns)[0]
        for point in seen.points()
    }


def _ranked_after_change(seen: Evidence, first: tuple[str, ...], lowest: bool) -> Measured:
    """1 if these policies have the lowest (or the highest) latencies 181 to 210 ns after the change."""
    latencies = _means_around(seen, AFTER_NS)
    ranked = sorted(latencies, key=lambda policy: latencies[policy] * (1 if lowest else -1))
    return ordering(set(ranked[: len(first)]) == set(first), listed(latencies, ",.0f", "ns"))


@statement
def lowest_after_change(seen: Evidence) -> Measured:
    """1 if policy and reference have the lowest latencies of the packets generated 181 to 210 ns after the change."""
    return _ranked_after_change(seen, (seen.claim.policy, seen.claim.reference), lowest=True)


@statement
def lowest_alone_after_change(seen: Evidence) -> Measured:
    """1 if the policy has the lowest latency of the packets generated 181 to 210 ns after the change."""
    return _ranked_after_change(seen, (seen.claim.policy,), lowest=True)


@statement
def highest_after_change(seen: Evidence) -> Measured:
    """1 if policy and reference have the highest latencies of the packets generated 181 to 210 ns after the change."""
    return _ranked_after_change(seen, (seen.claim.policy, seen.claim.reference), lowest=False)


@statement
def lower_before_change(seen: Evidence) -> Measured:
    """1 if before the change the latencies of the policy and the rivals are below the reference's."""
    latencies, claim = _means_around(seen, _BEFORE_NS), seen.claim
    holds = all(latencies[name] < latencies[claim.reference] for name in (claim.policy, *claim.rivals))
    return ordering(holds, listed(latencies, ",.0f", "ns"))


@statement
def quartile_range_below(seen: Evidence) -> Measured:
    """1 if of the packets generated 181 to 210 ns after the change the latencies of the policy and of every rival lie
    closer together than the reference's, from the first to the third quartile: by more than 20 percent.
    """
    ranges, claim = {}, seen.claim
    for point in seen.points():
        first, third = around_change(seen.findings, point, ("q1", "q3"), AFTER_NS)
        ranges[point.policy_label] = third - first
    holds = all(ranges[name] < _CLEARLY * ranges[claim.reference] for name in (claim.policy, *claim.rivals))
    return ordering(holds, "third less first quartile: " + listed(ranges, ",.0f", "ns"))


# Non-minimal paths without the second local hop under ADV+i: sections 3.2.2 and 6.1.2.

_WINDOW_NS = 200.0
_PACKET_NS = 10.0


def offset_of(point: Point) -> int:
    """The i of ADV+i."""
    found = re.fullmatch(r"adv\+(\d+)", point.traffic_label)
    assert found is not None
    return int(found.group(1))


def shares_of(traffic: str) -> dict[int, float]:
    """By offset: the share of the packets of a pattern ADV+i, or of a weighted mixture of such patterns."""
    found = re.findall(r"adv\+(\d+)(?:=([0-9.]+))?", traffic)
    shares = {int(offset): float(weight or 1.0) for offset, weight in found}
    total = sum(shares.values())
    return {offset: share / total for offset, share in shares.items()}


def remote_counters(findings: Findings, point: Point) -> dict[int, FloatArray]:
    """By type k of local links: (seeds,) packets of a router in a window that would use them without the second local
    hop, as equation 3 of the paper computes it. Type 0 is no link.
    """
    topology = point.config.topology
    packets = findings.values(point, "accepted_load") * topology.p * _WINDOW_NS / _PACKET_NS
    counters: dict[int, FloatArray] = {}
    for offset, share in shares_of(point.traffic_label).items():
        k, m = divmod(offset, topology.h)
        for link, part in ((k, 1.0 - m / topology.h), (k + 1, m / topology.h)):
            if link > 0 and part > 0.0:
                counters[link] = counters.get(link, np.zeros_like(packets)) + packets * share * part
    return counters


def remote_counter(findings: Findings, point: Point) -> FloatArray:
    """(seeds,) packets of a router in a window that share the most loaded type of local link: the larger of the two of
    ADV+(k h + m), k and k + 1 (section 4.3.2).
    """
    counters = remote_counters(findings, point)
    return max(counters.values(), key=lambda counter: float(counter.mean()))


@statement
def knee(seen: Evidence) -> Measured:
    """The remote counter at which -G- saturates: the mean over the offsets up to h at which it does."""
    points = _all_offsets(seen, seen.claim.policy)
    counters = {point.traffic_label: float(remote_counter(seen.findings, point).mean()) for point in points}
    details = ", ".join(f"{traffic} {counter:.1f}" for traffic, counter in counters.items())
    return Measured(float(np.mean(list(counters.values()))), details=details)


@statement
def mixture_knee(seen: Evidence) -> Measured:
    """The most loaded remote counter at which -G- saturates under the claim's mixture of two destination groups."""
    (point,) = seen.points(seen.claim.policy)
    found = remote_counters(seen.findings, point)
    counters = {link: float(counter.mean()) for link, counter in sorted(found.items())}
    accepted = seen.mean(point, "accepted_load")
    details = ", ".join(f"R_{link} {counter:.1f}" for link, counter in counters.items())
    return Measured(max(counters.values()), details=f"{details}; accepted load {accepted:.3f}")


def _all_offsets(seen: Evidence, policy: str) -> tuple[Point, ...]:
    """All offsets of a policy."""
    return seen.findings.select(seen.claim.figure, hosts=seen.claim.hosts, policy=policy)


def _by_offset(seen: Evidence, policy: str) -> tuple[dict[int, float], int]:
    """(accepted load by offset, ascending; h)."""
    points = _all_offsets(seen, policy)
    found = {offset_of(point): seen.mean(point, "accepted_load") for point in points}
    return dict(sorted(found.items())), points[0].config.topology.h


@statement
def minima_at_multiples(seen: Evidence) -> Measured:
    """1 if the throughput of -G- has its minima at multiples of h, and only there; at large offsets one next to it, as
    the paper's footnote 1 explains.
    """
    points, h = _by_offset(seen, seen.claim.policy)
    values, offsets = np.array(list(points.values())), np.array(list(points))
    inner = np.flatnonzero((values[1:-1] <= values[:-2]) & (values[1:-1] < values[2:])) + 1
    minima = offsets[inner]
    beside = np.minimum(minima % h, h - minima % h)
    found = np.unique(np.rint(minima / h).astype(int) * h)
    holds = bool((beside <= 1).all()) and set(np.arange(h, offsets[-1], h)) <= set(found)
    bounds = f"{values.min():.3f} to {values.max():.3f}"
    return ordering(holds, f"minima at i = {', '.join(map(str, minima))}; throughput {bounds}")


@statement
def maxima_between_multiples(seen: Evidence) -> Measured:
    """1 if between two multiples of h the throughput of -G- is highest at the offset in the middle, or, at large
    offsets, next to it, as the paper's footnote 1 explains.
    """
    points, h = _by_offset(seen, seen.claim.policy)
    found, holds = [], True
    for low in range(h, max(points) - h + 1, h):
        between = {offset: points[offset] for offset in range(low, low + h + 1)}
        highest = max(between, key=lambda offset: between[offset])
        holds &= abs(highest - (low + h / 2)) <= 1
        found.append(f"{highest} ({between[highest]:.3f})")
    return ordering(holds and bool(found), f"maxima at i = {', '.join(found)}")


@statement
def first_offsets_are_higher(seen: Evidence) -> Measured:
    """1 if below h, where part of the packets need no local hop, -G- accepts more than at the same place above h."""
    points, h = _by_offset(seen, seen.claim.policy)
    places = range(1, h // 2 + 1)
    described = ", ".join(f"i = {m}: {points[m]:.3f}, {h + m}: {points[h + m]:.3f}" for m in places)
    return ordering(all(points[m] > points[h + m] for m in places), described)


@statement
def progressively_lower(seen: Evidence) -> Measured:
    """1 if from i = 1 to h the throughput never rises by more than 1 percent, and from h / 2 on falls with every
    step, while the reference's is always within 5 percent of one half.

    Below h / 2 the busiest type of link carries less than half of a global link's packets, so that -G- reaches
    the limit of one half as well.
    """
    claim = seen.claim
    (own, h), (other, _) = _by_offset(seen, claim.policy), _by_offset(seen, claim.reference)
    steps = [(offset, own[offset] / own[offset - 1]) for offset in range(2, h + 1)]
    holds = all(ratio < (1.0 if offset > h // 2 else 1.01) for offset, ratio in steps)
    holds &= all(0.475 <= other[offset] <= 0.525 for offset in range(1, h + 1))
    fell, steady = (", ".join(f"{of[offset]:.3f}" for offset in range(1, h + 1)) for of in (own, other))
    return ordering(holds, f"i = 1 to {h}: {claim.policy} {fell}; {claim.reference} {steady}")

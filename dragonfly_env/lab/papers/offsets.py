"""Non-minimal paths without the second local hop under ADV+i: what LIA, TACO 2025, sections 3.2.2 and 6.1.2, claims of
them.
"""

from __future__ import annotations

import re

import numpy as np

from dragonfly_env.lab.papers.findings import Evidence, Findings, FloatArray, Statement, ordering, statement
from dragonfly_env.sweeps.run import Point

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
def knee(seen: Evidence) -> Statement:
    """The remote counter at which -G- saturates: the mean over the offsets up to h at which it does."""
    points = _of(seen, seen.claim.policy)
    counters = {point.traffic_label: float(remote_counter(seen.findings, point).mean()) for point in points}
    details = ", ".join(f"{traffic} {counter:.1f}" for traffic, counter in counters.items())
    return Statement(float(np.mean(list(counters.values()))), details)


@statement
def mixture_knee(seen: Evidence) -> Statement:
    """The most loaded remote counter at which -G- saturates under the claim's mixture of two destination groups."""
    (point,) = seen.points(seen.claim.policy)
    found = remote_counters(seen.findings, point)
    counters = {link: float(counter.mean()) for link, counter in sorted(found.items())}
    accepted = float(np.mean(seen.findings.values(point, "accepted_load")))
    details = ", ".join(f"R_{link} {counter:.1f}" for link, counter in counters.items())
    return Statement(max(counters.values()), f"{details}; accepted load {accepted:.3f}")


def _of(seen: Evidence, policy: str) -> tuple[Point, ...]:
    """All offsets of a policy."""
    return seen.findings.select(seen.claim.figure, hosts=seen.claim.hosts, policy=policy)


def _by_offset(seen: Evidence, policy: str) -> tuple[dict[int, float], int]:
    """(accepted load by offset, ascending; h)."""
    points = _of(seen, policy)
    found = {
        offset_of(point): float(np.mean(seen.findings.values(point, "accepted_load"))) for point in points
    }
    return dict(sorted(found.items())), points[0].config.topology.h


@statement
def minima_at_multiples(seen: Evidence) -> Statement:
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
def maxima_between_multiples(seen: Evidence) -> Statement:
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
def first_offsets_are_higher(seen: Evidence) -> Statement:
    """1 if below h, where part of the packets need no local hop, -G- accepts more than at the same place above h."""
    points, h = _by_offset(seen, seen.claim.policy)
    places = range(1, h // 2 + 1)
    described = ", ".join(f"i = {m}: {points[m]:.3f}, {h + m}: {points[h + m]:.3f}" for m in places)
    return ordering(all(points[m] > points[h + m] for m in places), described)


@statement
def progressively_lower(seen: Evidence) -> Statement:
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

"""Detours without the second local hop under ADV+i: what LIA, TACO 2025, sections 3.2.2 and 6.1.2, claims of them."""

from __future__ import annotations

import re

import numpy as np

from dragonfly_env.lab.papers.cells import Cell
from dragonfly_env.lab.papers.claims import Claim
from dragonfly_env.lab.papers.findings import Findings, FloatArray, NotFoundYetError

_WINDOW_NS = 200.0
_PACKET_NS = 10.0


def offset_of(cell: Cell) -> int:
    """The i of ADV+i."""
    found = re.fullmatch(r"adv\+(\d+)", cell.traffic)
    assert found is not None
    return int(found.group(1))


def throughput_by_offset(findings: Findings, figure: str, policy: str) -> dict[int, float]:
    """Accepted load by offset, ascending."""
    cells = [cell for cell in findings.of(figure) if cell.policy == policy]
    points = {offset_of(cell): float(np.mean(findings.values(cell, "accepted_load"))) for cell in cells}
    return dict(sorted(points.items()))


def shares_of(traffic: str) -> dict[int, float]:
    """By offset: the share of the packets of a pattern ADV+i, or of a weighted mixture of such patterns."""
    found = re.findall(r"adv\+(\d+)(?:=([0-9.]+))?", traffic)
    shares = {int(offset): float(weight or 1.0) for offset, weight in found}
    total = sum(shares.values())
    return {offset: share / total for offset, share in shares.items()}


def remote_counters(findings: Findings, cell: Cell) -> dict[int, FloatArray]:
    """By type k of local links: (seeds,) packets of a router in a window that would use them without the second local
    hop, as equation 3 of the paper computes it. Type 0 is no link.
    """
    topology = findings.setup.topology(cell.hosts)
    packets = findings.values(cell, "accepted_load") * topology.p * _WINDOW_NS / _PACKET_NS
    counters: dict[int, FloatArray] = {}
    for offset, share in shares_of(cell.traffic).items():
        k, m = divmod(offset, topology.h)
        for link, part in ((k, 1.0 - m / topology.h), (k + 1, m / topology.h)):
            if link > 0 and part > 0.0:
                counters[link] = counters.get(link, np.zeros_like(packets)) + packets * share * part
    return counters


def remote_counter(findings: Findings, cell: Cell) -> FloatArray:
    """(seeds,) packets of a router in a window that share the most loaded type of local link.

    Under ADV+(k h + m) the share m / h of a router's packets would leave the groups between by local links of type
    k + 1 and the rest by those of type k (section 4.3.2), which for k = 0 is no link at all.
    """
    topology = findings.setup.topology(cell.hosts)
    offset = offset_of(cell)
    part = offset % topology.h / topology.h
    share = part if offset < topology.h else max(part, 1.0 - part)
    packets = findings.values(cell, "accepted_load") * topology.p * _WINDOW_NS / _PACKET_NS
    counter: FloatArray = packets * share
    return counter


def knee(findings: Findings, claim: Claim) -> tuple[float, str]:
    """The remote counter at which -G- saturates: the mean over the offsets up to h at which it does.

    Raises:
        NotFoundYetError: If one of them was not simulated.
    """
    cells = findings.select(claim.figure, hosts=claim.hosts, policy=claim.policy)
    counters = {cell.traffic: float(remote_counter(findings, cell).mean()) for cell in cells}
    details = ", ".join(f"{traffic} {counter:.1f}" for traffic, counter in counters.items())
    return float(np.mean(list(counters.values()))), details


def minima_at_multiples(findings: Findings, claim: Claim) -> tuple[float, str]:
    """1 if the throughput of -G- has its minima at multiples of h, and only there; at large offsets one beside, as the
    paper's footnote 1 explains.

    Raises:
        NotFoundYetError: If one of the offsets was not simulated.
    """
    cells = findings.select(claim.figure, hosts=claim.hosts, policy=claim.policy)
    points = throughput_by_offset(findings, claim.figure, claim.policy)
    if not points:
        raise NotFoundYetError(f"{claim.figure} was not run")
    h = findings.setup.topology(cells[0].hosts).h
    values = np.array(list(points.values()))
    offsets = np.array(list(points))
    inner = np.flatnonzero((values[1:-1] <= values[:-2]) & (values[1:-1] < values[2:])) + 1
    minima = offsets[inner]
    beside = np.minimum(minima % h, h - minima % h)
    found = np.unique(np.rint(minima / h).astype(int) * h)
    wanted = np.arange(h, offsets[-1], h)
    holds = bool((beside <= 1).all()) and set(wanted) <= set(found)
    bounds = f"{values.min():.3f} to {values.max():.3f}"
    return float(holds), f"minima at i = {', '.join(map(str, minima))}; throughput {bounds}"


def mixture_knee(findings: Findings, claim: Claim) -> tuple[float, str]:
    """The most loaded remote counter at which -G- saturates under the claim's mixture of two destination groups.

    Raises:
        NotFoundYetError: If it was not simulated.
    """
    (cell,) = findings.select(claim.figure, hosts=claim.hosts, traffic=claim.traffic, policy=claim.policy)
    counters = {link: float(counter.mean()) for link, counter in remote_counters(findings, cell).items()}
    accepted = float(np.mean(findings.values(cell, "accepted_load")))
    details = ", ".join(f"R_{link} {counter:.1f}" for link, counter in sorted(counters.items()))
    return max(counters.values()), f"{details}; accepted load {accepted:.3f}"


def maxima_between_multiples(findings: Findings, claim: Claim) -> tuple[float, str]:
    """1 if between two multiples of h the throughput of -G- is highest at the offset in the middle, or, at large
    offsets, beside it, as the paper's footnote 1 explains.

    Raises:
        NotFoundYetError: If one of the offsets was not simulated.
    """
    cells = findings.select(claim.figure, hosts=claim.hosts, policy=claim.policy)
    points = throughput_by_offset(findings, claim.figure, claim.policy)
    h = findings.setup.topology(cells[0].hosts).h
    found, holds = [], True
    for low in range(h, max(points) - h + 1, h):
        between = {offset: points[offset] for offset in range(low, low + h + 1)}
        highest = max(between, key=lambda offset: between[offset])
        holds &= abs(highest - (low + h / 2)) <= 1
        found.append(f"{highest} ({between[highest]:.3f})")
    return float(holds and bool(found)), f"maxima at i = {', '.join(found)}"


def first_offsets_are_higher(findings: Findings, claim: Claim) -> tuple[float, str]:
    """1 if below h, where part of the packets need no local hop, -G- accepts more than at the same place above h.

    Raises:
        NotFoundYetError: If one of the offsets was not simulated.
    """
    cells = findings.select(claim.figure, hosts=claim.hosts, policy=claim.policy)
    points = throughput_by_offset(findings, claim.figure, claim.policy)
    h = findings.setup.topology(cells[0].hosts).h
    pairs = [(points[m], points[h + m]) for m in range(1, h // 2 + 1)]
    described = ", ".join(
        f"i = {m}: {low:.3f}, {h + m}: {high:.3f}" for m, (low, high) in enumerate(pairs, start=1)
    )
    return float(all(low > high for low, high in pairs)), described


def progressively_lower(findings: Findings, claim: Claim) -> tuple[float, str]:
    """1 if from i = 1 to h the throughput of the policy never rises by more than 1 percent, and from h / 2 on falls
    with every step, while the reference's is always within 5 percent of one half.

    Below h / 2 the busiest type of link carries less than half of a global link's packets, so that -G- reaches
    the limit of one half as well.

    Raises:
        NotFoundYetError: If one of the offsets was not simulated.
    """
    cells = findings.select(claim.figure, hosts=claim.hosts, policy=claim.policy)
    h = findings.setup.topology(cells[0].hosts).h
    findings.select(claim.figure, hosts=claim.hosts, policy=claim.reference)
    own = throughput_by_offset(findings, claim.figure, claim.policy)
    other = throughput_by_offset(findings, claim.figure, claim.reference)
    steps = [(offset, own[offset] / own[offset - 1]) for offset in range(2, h + 1)]
    holds = all(ratio < (1.0 if offset > h // 2 else 1.01) for offset, ratio in steps)
    holds &= all(0.475 <= other[offset] <= 0.525 for offset in range(1, h + 1))
    listed = ", ".join(f"{own[offset]:.3f}" for offset in range(1, h + 1))
    steady = ", ".join(f"{other[offset]:.3f}" for offset in range(1, h + 1))
    return float(holds), f"i = 1 to {h}: {claim.policy} {listed}; {claim.reference} {steady}"


OFFSET_STATEMENTS = {
    statement.__name__: statement
    for statement in (first_offsets_are_higher, maxima_between_multiples, mixture_knee, progressively_lower)
}
"""By the name of the metric: (1 if it holds, or a number; what was measured)."""

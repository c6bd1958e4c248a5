"""Detours without the second local hop under ADV+i: what LIA, TACO 2025, sections 3.2.2 and 6.1.2, claims of them."""

from __future__ import annotations

import re

import numpy as np

from dragonfly_env.reproduce.cells import Cell
from dragonfly_env.reproduce.claims import Claim
from dragonfly_env.reproduce.findings import Findings, FloatArray, NotFoundYetError

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

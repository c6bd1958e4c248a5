"""Q-routing with a limit of hops (``maxQ``): is there a value that serves every traffic?

Source: Kang, Wang, Lan, HPDC 2021, section 2.3.2.
"""

from __future__ import annotations

import numpy as np

from dragonfly_env.lab.papers.cells import Cell
from dragonfly_env.lab.papers.claims import Claim
from dragonfly_env.lab.papers.findings import Findings, NotFoundYetError

LIMIT_SETTING = "max_hops"
_SAME = 0.005  # accepted loads that differ by less are equal: then latency decides


def hop_limit(cell: Cell) -> int | None:
    """The limit of a cell of Q-routing; None for another policy."""
    value = dict(cell.routing.settings).get(LIMIT_SETTING)
    return None if value is None else int(value)


def by_limit(findings: Findings, figure: str, traffic: str) -> dict[int, Cell]:
    """The simulated cells of a traffic, by limit, ascending."""
    pairs = [(hop_limit(cell), cell) for cell in findings.of(figure) if cell.traffic == traffic]
    return dict(sorted((limit, cell) for limit, cell in pairs if limit is not None))


def best_limit(findings: Findings, cells: dict[int, Cell]) -> int:
    """The limit with the highest accepted load; among equal ones the one with the lowest mean latency."""
    accepted = {limit: _mean(findings, cell, "accepted_load") for limit, cell in cells.items()}
    highest = max(accepted.values())
    equal = [limit for limit in cells if accepted[limit] >= highest - _SAME]
    return min(equal, key=lambda limit: _mean(findings, cells[limit], "latency_mean_ns"))


def hop_limit_ordering(findings: Findings, claim: Claim) -> tuple[float, str]:
    """1 if uniform traffic wants a smaller limit than both adversarial ones, and ADV+4 fares worse than ADV+1.

    Worse: it accepts less, or as much at a higher latency; at every limit that leaves a choice.

    Raises:
        NotFoundYetError: If one of the three was not simulated.
    """
    findings.select(claim.figure)  # all of it, or the reason why not
    cells = {traffic: by_limit(findings, claim.figure, traffic) for traffic in ("uniform", "adv+1", "adv+4")}
    if not all(cells.values()):
        raise NotFoundYetError(f"{claim.figure} was not run")
    best = {traffic: best_limit(findings, found) for traffic, found in cells.items()}
    worse = [
        limit for limit in cells["adv+4"] if _worse(findings, cells["adv+4"][limit], cells["adv+1"][limit])
    ]
    limits = [limit for limit in cells["adv+4"] if limit > 1]
    holds = best["uniform"] < min(best["adv+1"], best["adv+4"]) and set(limits) <= set(worse)
    named = ", ".join(f"{traffic} {limit}" for traffic, limit in best.items())
    details = f"best maxQ: {named}; adv+4 worse than adv+1 at maxQ {', '.join(map(str, worse)) or 'none'}"
    return float(holds), details


def _worse(findings: Findings, cell: Cell, other: Cell) -> bool:
    gap = _mean(findings, other, "accepted_load") - _mean(findings, cell, "accepted_load")
    if abs(gap) >= _SAME:
        return gap > 0
    return _mean(findings, cell, "latency_mean_ns") > _mean(findings, other, "latency_mean_ns")


def _mean(findings: Findings, cell: Cell, column: str) -> float:
    return float(np.nanmean(findings.values(cell, column)))

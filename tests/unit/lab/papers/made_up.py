"""Results of simulations that never ran, to measure a paper's claims with. Not a test itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from dragonfly_env.lab.papers import Paper
from dragonfly_env.lab.papers.claims import Claim, Measured, PaperFindings, measure_claim
from dragonfly_env.lab.papers.paper import Effort
from dragonfly_env.sweeps.point import Point

Row: TypeAlias = Callable[[Point], Mapping[str, Any]]


def findings_of(paper: Paper, figure: str, effort: Effort, row: Row) -> PaperFindings:
    """Made-up results: every point of a figure was simulated once, with this outcome."""
    points: tuple[Point, ...] = paper.choose((figure,))[0].points(effort)
    rows = {point: (row(point),) for point in points}
    return PaperFindings(points={figure: points}, rows=rows, name="made up", claims=paper.claims)


def measured(paper: Paper, claim: Claim, effort: Effort, row: Row) -> Measured:
    """The verdict of a claim with these outcomes."""
    return measure_claim(claim, findings_of(paper, claim.figure, effort, row))

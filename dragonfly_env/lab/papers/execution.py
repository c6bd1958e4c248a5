"""Doing what a reproduction needs: the runs of its points, as one resumable sweep over all cores."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from dragonfly_env.lab.papers.claims import Claim
from dragonfly_env.lab.papers.findings import Findings, read_rows_of
from dragonfly_env.lab.papers.paper import USUAL, Effort, Paper, PaperFigure, Variant
from dragonfly_env.lab.work import Work
from dragonfly_env.sweeps.run import Point, Run


@dataclass(frozen=True, slots=True, kw_only=True)
class Reproduction(Work):
    """A paper, the part of it that is wanted, and how.

    Attributes:
        paper: What to reproduce.
        figures: Which of its figures.
        effort: How long.
        injection: ``periodic`` or ``bernoulli``; empty: as published.
        learner_settings: Parameters for every policy that learns, to see what they change.
        only_claims: Simulate only what the claims need; figures that show more are not drawn.
        variant: The model variant: how the paper's open points are modelled.
    """

    paper: Paper
    figures: tuple[PaperFigure, ...]
    effort: Effort
    injection: str = ""
    learner_settings: Mapping[str, Any] = field(default_factory=dict)
    only_claims: bool = False
    variant: Variant = USUAL

    def __post_init__(self) -> None:
        """A paper may name its usual variant; points follow from the effort alone."""
        variant = self.paper.usual if self.variant is USUAL else self.variant
        effort = replace(
            self.effort,
            injection=self.injection or self.paper.setup.injection,
            learner_settings=tuple(sorted(self.learner_settings.items())),
            variant=variant.name,
        )
        object.__setattr__(self, "variant", variant)
        object.__setattr__(self, "effort", effort)

    @property
    def title(self) -> str:
        """The paper."""
        return self.paper.reference

    def wanted(self, figure: PaperFigure) -> tuple[Point, ...]:
        """The points of a figure that are simulated: all, or what the claims need."""
        points = figure.points(self.effort)
        if not self.only_claims:
            return points
        claims = [claim for claim in self.paper.claims() if claim.quick or self.effort.decides]
        return tuple(point for point in points if any(claim.needs(figure.name, point) for claim in claims))

    def claims(self) -> tuple[Claim, ...]:
        """What the paper claims of the wanted figures, and of those that the folder holds already."""
        shown = {figure.name for figure in self.figures}
        for figure in self.paper.figures:
            names = (figure.name, *(f"{figure.name}-{variant.name}" for variant in self.paper.variants))
            if any((self.folder / f"{name}.png").exists() for name in names):
                shown.add(figure.name)
        return tuple(claim for claim in self.paper.claims() if claim.figure in shown)

    def runs(self) -> tuple[Run, ...]:
        """Every run of the wanted figures, once."""
        points = dict.fromkeys(point for figure in self.figures for point in self.wanted(figure))
        runs = (run for point in points for run in self.paper.runs(point, self.effort))
        return tuple({run.id: run for run in runs}.values())

    def findings(self) -> Findings:
        """What the folder holds, of all figures of the paper."""
        points = {figure.name: figure.points(self.effort) for figure in self.paper.figures}
        every = dict.fromkeys(point for some in points.values() for point in some)
        ids = {point: [run.id for run in self.paper.runs(point, self.effort)] for point in every}
        rows = read_rows_of(self.folder, ids)
        return Findings(points=points, rows=rows, name=self.paper.reference, claims=self.paper.claims())

"""Doing what a reproduction needs: the runs of its cells, as one resumable sweep over all cores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import dragonfly_env as dfe
from dragonfly_env.lab.papers.cells import Cell
from dragonfly_env.lab.papers.claims import Claim
from dragonfly_env.lab.papers.findings import Findings, read_findings
from dragonfly_env.lab.papers.paper import USUAL, Effort, Paper, PaperFigure, Reading
from dragonfly_env.sweeps.engines import Engine
from dragonfly_env.sweeps.progress import Reporter
from dragonfly_env.sweeps.run import Run
from dragonfly_env.sweeps.runner import SweepReport, run_all
from dragonfly_env.sweeps.storage import ResultsFolder


@dataclass(frozen=True, slots=True, kw_only=True)
class Reproduction:
    """A paper, the part of it that is wanted, and how.

    Attributes:
        paper: What to reproduce.
        figures: Which of its figures.
        effort: How long.
        injection: ``periodic`` or ``bernoulli``.
        learner_settings: Parameters for every policy that learns, to see what they change.
        folder: Where results go.
        only_claims: Simulate only what the claims need; figures that show more are not drawn.
        reading: How what the paper leaves open is read.
    """

    paper: Paper
    figures: tuple[PaperFigure, ...]
    effort: Effort
    injection: str
    learner_settings: Mapping[str, Any]
    folder: Path
    only_claims: bool = False
    reading: Reading = USUAL

    def __post_init__(self) -> None:
        """The usual reading of a paper may have a name of its own."""
        if self.reading is USUAL:
            object.__setattr__(self, "reading", self.paper.usual)

    def cells(self, figure: PaperFigure) -> tuple[Cell, ...]:
        """The cells of a figure, by this reading and with the learners' settings."""
        return tuple(self._adjusted(cell) for cell in figure.cells(self.effort))

    def wanted(self, figure: PaperFigure) -> tuple[Cell, ...]:
        """Those of its cells that are simulated: all, or what the claims need."""
        cells = self.cells(figure)
        if not self.only_claims:
            return cells
        claims = [claim for claim in self.paper.claims() if claim.quick or self.effort.decides]
        return tuple(
            cell
            for cell in cells
            if any(
                claim.needs(figure.name, cell.hosts, cell.traffic, cell.load, cell.policy) for claim in claims
            )
        )

    def claims(self) -> tuple[Claim, ...]:
        """What the paper claims of the wanted figures, and of those that the folder holds already."""
        shown = {figure.name for figure in self.figures}
        for figure in self.paper.figures:
            names = (figure.name, *(f"{figure.name}-{reading.name}" for reading in self.paper.variants))
            if any((self.folder / f"{name}.png").exists() for name in names):
                shown.add(figure.name)
        return tuple(claim for claim in self.paper.claims() if claim.figure in shown)

    def runs(self, figures: Sequence[PaperFigure] | None = None) -> tuple[Run, ...]:
        """Every run of the figures (those wanted, if None) that this version can do, once."""
        chosen = self.figures if figures is None else figures
        cells = dict.fromkeys(cell for figure in chosen for cell in self.wanted(figure))
        runs = [run for cell in cells if not cell.missing() for run in self._seeds_of(cell)]
        return tuple({run.id: run for run in runs}.values())

    def todo(self) -> tuple[Run, ...]:
        """Those of the wanted runs that the folder does not hold."""
        files = ResultsFolder(self.folder)
        return tuple(run for run in self.runs() if files.version_of(run.id) != dfe.__version__)

    def execute(
        self,
        *,
        workers: int | None = None,
        reporter: Reporter | None = None,
        redo: bool = False,
        engine: Engine | None = None,
    ) -> SweepReport | None:
        """Do what the folder lacks, here or on the cluster of an engine; None if nothing needs to be simulated.

        Raises:
            ConfigError: For whatever `run_all` refuses.
            SweepInterrupted: On Ctrl-C; the same call goes on.
        """
        runs = self.runs()
        if not runs:
            return None
        name = self.paper.reference
        return run_all(
            runs, self.folder, name=name, workers=workers, progress=reporter, redo=redo, engine=engine
        )

    def findings(self) -> Findings:
        """What the folder holds, of all figures of the paper."""
        cells = {figure.name: self.cells(figure) for figure in self.paper.figures}
        every = tuple(dict.fromkeys(cell for some in cells.values() for cell in some))
        missing = {cell: reason for cell in every if (reason := cell.missing())}
        ids = {cell: [run.id for run in self._seeds_of(cell)] for cell in every if cell not in missing}
        found = read_findings(self.paper.reference, self.paper.setup, cells, missing, ids, self.folder)
        return replace(found, claims=self.paper.claims())

    def _adjusted(self, cell: Cell) -> Cell:
        cell = self.reading.adjust(cell)
        if not (self.learner_settings and cell.routing.learns):
            return cell
        return replace(cell, routing=cell.routing.with_settings(self.learner_settings))

    def _seeds_of(self, cell: Cell) -> list[Run]:
        seeds = min(self.effort.seeds, cell.most_seeds or self.effort.seeds)
        return [cell.run(self.paper.setup, self.injection, seed) for seed in range(1, seeds + 1)]

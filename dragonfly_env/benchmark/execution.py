"""Doing what a benchmark needs: its cells times policies times seeds, as one resumable sweep."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import dragonfly_env as dfe
from dragonfly_env.benchmark.scores import Outcome, Scores, outcome_of, score
from dragonfly_env.benchmark.suite import BenchmarkCell, Board, Effort, Suite
from dragonfly_env.benchmark.unseen import trained_on_unseen
from dragonfly_env.errors import ConfigError
from dragonfly_env.experiments.agent_simulation import simulation_of
from dragonfly_env.experiments.choices import PolicyChoice
from dragonfly_env.experiments.listed import Batch
from dragonfly_env.experiments.progress import Reporter
from dragonfly_env.experiments.run import Run
from dragonfly_env.experiments.runner import SweepReport, run_sweep
from dragonfly_env.experiments.storage import ResultsFolder, read_rows


@dataclass(frozen=True, slots=True, kw_only=True)
class Benchmark:
    """Policies on a suite.

    Attributes:
        suite: What is measured.
        effort: ``quick`` or ``full``.
        policies: What to measure beside the references: built-in policies, saved agents, ``module:Class``.
        folder: Where results go.
        boards: Of the suite; nothing for all.
        seeds: Runs of each cell; None for the suite's.
    """

    suite: Suite
    effort: Effort
    policies: tuple[str, ...]
    folder: Path
    boards: tuple[str, ...] = ()
    seeds: int | None = None
    _choices: dict[str, PolicyChoice] = field(default_factory=dict, init=False, repr=False, compare=False)
    _made: dict[tuple[str, ...], dict[str, Run]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )
    _refused: dict[tuple[str, ...], str] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        for spec in dict.fromkeys((*self.suite.reference_specs, *self.policies)):
            choice = PolicyChoice.parse(spec)
            self._choices[choice.label] = choice

    @property
    def chosen(self) -> tuple[Board, ...]:
        """The boards that are wanted."""
        return self.suite.choose(self.boards)

    @property
    def labels(self) -> tuple[str, ...]:
        """Every policy, references first."""
        return tuple(self._choices)

    def seeds_of(self) -> range:
        """The seeds of every cell."""
        return range(1, (self.seeds or self.suite.seeds[self.effort]) + 1)

    def unfit(self) -> dict[str, str]:
        """Agents that cannot act on some cell, each with the first reason: they are measured on the others only."""
        reasons: dict[str, str] = {}
        for cell in self._cells():
            for label in self._choices:
                if reason := self._refusal(cell, label):
                    reasons.setdefault(label, reason)
        return reasons

    def trained_on_unseen(self) -> dict[str, str]:
        """Saved agents that say of themselves that they were trained on what the suite keeps unseen, each with the
        first reason.
        """
        found = {
            label: trained_on_unseen(self.suite, choice.agent.metadata())
            for label, choice in self._choices.items()
            if choice.agent is not None and choice.agent.is_file
        }
        return {label: reason for label, reason in found.items() if reason}

    def runs(self) -> tuple[Run, ...]:
        """Every run, once."""
        return tuple(self._by_id().values())

    def todo(self) -> tuple[Run, ...]:
        """Those that the folder does not hold."""
        files = ResultsFolder(self.folder)
        return tuple(run for name, run in self._by_id().items() if files.version_of(name) != dfe.__version__)

    def execute(
        self, *, workers: int | None = None, reporter: Reporter | None = None, redo: bool = False
    ) -> SweepReport:
        """Do what the folder lacks.

        Raises:
            ConfigError: For whatever `run_sweep` refuses.
            SweepInterrupted: On Ctrl-C; the same call goes on.
        """
        batch = Batch.of(f"{self.suite.name}, {self.effort}", self.runs())
        return run_sweep(batch, self.folder, jobs=workers, reporter=reporter, redo=redo)

    def scores(self) -> Scores:
        """What the folder holds of the boards that are wanted, each cell against its best reference."""
        outcomes: list[Outcome] = []
        kinds = {
            label: self.suite.kind_of(spec)
            for spec in self.suite.reference_specs
            for label in (PolicyChoice.parse(spec).label,)
        }
        folder = ResultsFolder(self.folder)
        for board in self.chosen:
            for cell in board.cells[self.effort]:
                for label in self._choices:
                    files = [folder.run_file(name) for name in self._runs_of(cell, label)]
                    tables = read_rows([file for file in files if file.exists()])
                    rows = [row for table in tables for row in table.to_pylist()]
                    if rows:
                        outcomes.append(outcome_of(board, cell, label, rows))
        return score(outcomes, self.chosen, self.effort, kinds, self.labels)

    def _by_id(self) -> dict[str, Run]:
        every = ((cell, label) for cell in self._cells() for label in self._choices)
        return {
            name: run
            for cell, label in every
            if not self._refusal(cell, label)
            for name, run in self._runs_of(cell, label).items()
        }

    def _runs_of(self, cell: BenchmarkCell, label: str) -> dict[str, Run]:
        """A policy in a cell, once per seed, by id: a hash of all that makes a run, so both are worked out once."""
        key = (cell.board, cell.part, cell.name, label)
        if key not in self._made:
            runs = [cell.run(self._choices[label], seed) for seed in self.seeds_of()]
            self._made[key] = {run.id: run for run in runs}
        return self._made[key]

    def _refusal(self, cell: BenchmarkCell, label: str) -> str:
        """Why an agent cannot act in a cell, or an empty string: what it depends on is tried once."""
        if self._choices[label].agent is None:
            return ""
        where = (label, cell.hosts, cell.network)
        if where not in self._refused:
            self._refused[where] = _why_not(next(iter(self._runs_of(cell, label).values())))
        return self._refused[where]

    def _cells(self) -> Sequence[BenchmarkCell]:
        return [cell for board in self.chosen for cell in board.cells[self.effort]]


def _why_not(run: Run) -> str:
    """Why an agent cannot act in a run, or an empty string."""
    try:
        simulation_of(run)
    except ConfigError as reason:
        return str(reason)
    return ""

"""The work of reproductions and benchmarks: wanted runs, some of which the results folder holds."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dragonfly_env.sweeps.point import Run
from dragonfly_env.sweeps.results import is_done
from dragonfly_env.sweeps.runner import SweepReport, run_all


@dataclass(frozen=True, slots=True, kw_only=True)
class Work(ABC):
    """Runs, and the folder that holds what was done of them."""

    folder: Path  # folder of the results

    @abstractmethod
    def runs(self) -> tuple[Run, ...]:
        """Every run that is wanted, once."""

    def runs_here(self) -> tuple[Run, ...]:
        """Runs of the folder, done or to be done."""
        return self.runs()

    def held(self, run_id: str) -> bool:
        """Whether the folder has the result of a run, made by this version."""
        return is_done(self.folder, run_id)

    def todo(self, *, force: bool = False) -> tuple[Run, ...]:
        """Runs that the folder does not hold; with ``force`` the others, too."""
        return tuple(run for run in self.runs_here() if force or not self.held(run.id))

    def execute(self, **how: Any) -> SweepReport | None:
        """Do what the folder lacks; None if nothing needs to be simulated. ``how``: see `run_all`."""
        runs = self.runs_here()
        return run_all(runs, self.folder, shared=True, **how) if runs else None

"""Progress of a training: a bar with the time left on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Column

from dragonfly_env.sweeps.progress import Estimate, LiveBar, TimeLeft, spell_seconds

if TYPE_CHECKING:
    from dragonfly_env.agents.training import Progress as EpisodeProgress
    from dragonfly_env.training.run import Sofar, TrainingPlan


class TrainingBar(LiveBar):
    """The bar of a training.

    Args:
        console: As for `LiveBar`.
        plan: What is trained; the bar is full when its episodes are done, or its time is up.
    """

    def __init__(self, console: Console, plan: TrainingPlan) -> None:
        super().__init__(console)
        self._plan = plan
        self._done = self._told_s = 0.0

    def start(self, sofar: Sofar) -> None:
        """The training begins, or goes on after ``sofar``."""
        self._done = self._fraction(sofar.episode, sofar.wall_s)
        self._estimate = Estimate({"": 1.0 - self._done})
        self._told_s = 0.0
        if self._console.is_terminal:
            self._bar = Progress(
                TextColumn("{task.fields[episodes]}", table_column=_narrow()),
                BarColumn(bar_width=None),
                TextColumn("{task.percentage:>3.0f} %", table_column=_narrow()),
                TimeElapsedColumn(table_column=_narrow()),
                TimeLeft(self._estimate, table_column=_narrow()),
                TextColumn("{task.description}", style="dim", markup=False, table_column=_narrow()),
                console=self._console,
                transient=True,
            )
            task = self._bar.add_task("", total=1.0, episodes=self._episodes(sofar.episode))
            self._bar.update(task, completed=self._done)
            self._bar.start()

    def advance(self, progress: EpisodeProgress) -> None:
        """An episode is over."""
        fraction = self._fraction(progress.episode, progress.wall_s)
        passed_s = self._estimate.elapsed_s
        self._estimate.add("", fraction - self._done, passed_s - self._told_s)
        self._done, self._told_s = fraction, passed_s
        if self._bar is not None:
            self._bar.update(
                self._bar.task_ids[0],
                completed=fraction,
                description=_latency(progress),
                episodes=self._episodes(progress.episode),
            )
        elif self._line_is_due():
            left = spell_seconds(self._estimate.left_s)
            self._console.print(
                f"{self._episodes(progress.episode)}, {_describe(progress)}, about {left} left",
                soft_wrap=True,
            )

    def _fraction(self, episode: int, wall_s: float) -> float:
        done = episode / self._plan.episodes
        limit = self._plan.stop_after_s
        return min(1.0, done if limit is None else max(done, wall_s / max(limit, 1e-9)))

    def _episodes(self, episode: int) -> str:
        return f"episode {episode}/{self._plan.episodes}"


def _narrow() -> Column:
    """A column that keeps its words on one line."""
    return Column(no_wrap=True)


def _latency(progress: EpisodeProgress) -> str:
    latency = progress.latency_mean_ns
    return "nothing delivered" if math.isnan(latency) else f"latency {latency:,.0f} ns"


def _describe(progress: EpisodeProgress) -> str:
    """What an episode was like: latency, load, and figures of the learner."""
    text = f"mean {_latency(progress)}, accepted load {progress.accepted_load:.3f}"
    for name in ("epsilon", "loss"):
        if name in progress.statistics:
            text += f", {name} {progress.statistics[name]:.3g}"
    return text

"""Progress of a sweep: a bar with the time left on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Protocol, TypeVar

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn, TimeElapsedColumn
from rich.table import Column
from rich.text import Text

if TYPE_CHECKING:
    from dragonfly_env.sweeps.run import Run

_PLAIN_INTERVAL_S = 10.0
_WORTH_TELLING_S = 10.0
_Live = TypeVar("_Live", bound="LiveBar")


class Reporter(Protocol):
    """Told of the course of a sweep."""

    def start(self, runs: Sequence[Run], workers: int) -> None:
        """These are about to be done, so many at a time."""

    def advance(self, run: Run, seconds: float | None) -> None:
        """One of them is done. It took so long; None: it failed."""

    def stop(self) -> None:
        """The sweep is over, well or not."""


class Silent:
    """Says nothing."""

    def start(self, runs: Sequence[Run], workers: int) -> None:
        """See `Reporter`."""

    def advance(self, run: Run, seconds: float | None) -> None:
        """See `Reporter`."""

    def stop(self) -> None:
        """See `Reporter`."""


class Estimate:
    """Time left, from what is done so far: work of every kind at the speed of its own.

    Args:
        work: That is to be done, by kind.
        workers: So many shares of it are done at a time.
        clock: Seconds, ever rising; another one for tests.
    """

    def __init__(
        self, work: Mapping[str, float], workers: int = 1, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._clock = clock
        self._begin = clock()
        self._workers = max(1, workers)
        self._left = dict(work)
        self._done: dict[str, tuple[float, float]] = {}  # work and seconds

    @classmethod
    def of(cls, runs: Sequence[Run], workers: int) -> Estimate:
        """Of runs, so many at a time: those of the core, and those of every policy in Python."""
        work: dict[str, float] = {}
        for run in runs:
            work[_kind(run)] = work.get(_kind(run), 0.0) + run.work
        return cls(work, min(workers, len(runs)))

    @property
    def elapsed_s(self) -> float:
        """Seconds since the start."""
        return self._clock() - self._begin

    def add(self, kind: str, work: float, seconds: float | None) -> None:
        """Some work is done. It took so long; None: it failed, and says nothing about speed."""
        self._left[kind] = max(0.0, self._left[kind] - work)
        if seconds is not None:
            before, took = self._done.get(kind, (0.0, 0.0))
            self._done[kind] = (before + work, took + seconds)

    def left_of(self, kind: str) -> float | None:
        """Seconds left of one kind, if nothing else ran; None before the first of it is done."""
        if self._left[kind] <= 1e-9:
            return 0.0
        work, seconds = self._done.get(kind, (0.0, 0.0))
        return seconds * self._left[kind] / work / self._workers if work > 0.0 else None

    @property
    def left_s(self) -> float | None:
        """Seconds left; None before something of each kind is done."""
        each = [self.left_of(kind) for kind in self._left]
        return None if None in each else sum(one for one in each if one is not None)


def _kind(run: Run) -> str:
    """The policy in Python that decides in a run; empty: the core's."""
    return "" if run.agent is None else run.policy_label


def spell_seconds(seconds: float | None) -> str:
    """``"1 min 05 s"``, or a dash if unknown."""
    if seconds is None:
        return "-"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"


class TimeLeft(ProgressColumn):
    """The time left by an estimate, in a bar.

    Args:
        estimate: Kept up to date by its owner.
        table_column: How the column is laid out.
    """

    max_refresh = 0.5

    def __init__(self, estimate: Estimate, table_column: Column | None = None) -> None:
        super().__init__(table_column)
        self._estimate = estimate

    def render(self, task: Task) -> Text:
        """See `ProgressColumn`."""
        return Text(f"{spell_seconds(self._estimate.left_s)} left", style="progress.remaining")


class LiveBar:
    """A live bar for terminals, a line every ten seconds for everything else.

    Args:
        console: Where to draw; the error stream, so that results on standard output stay clean.
    """

    def __init__(self, console: Console) -> None:
        self._console = console
        self._estimate = Estimate({})
        self._last_line_s = 0.0
        self._bar: Progress | None = None

    def __enter__(self: _Live) -> _Live:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _open(self, total: float, counted: str, done: float = 0.0) -> None:
        """Draw the bar on a terminal; ``counted``: how much is done, in words."""
        if not self._console.is_terminal:
            return
        whole = Column(no_wrap=True)
        self._bar = Progress(  # where it is narrow, bar and description give way
            TextColumn("{task.fields[counted]}"),
            BarColumn(bar_width=None, table_column=Column(ratio=1)),
            TextColumn("{task.percentage:>3.0f} %"),
            TimeElapsedColumn(table_column=whole),
            TimeLeft(self._estimate, table_column=whole),
            TextColumn(
                "{task.description}", style="dim", markup=False, table_column=Column(ratio=2, no_wrap=True)
            ),
            console=self._console,
            transient=True,
            expand=True,
        )
        task = self._bar.add_task("", total=total, counted=counted)
        self._bar.update(task, completed=done)
        self._bar.start()

    def stop(self) -> None:
        """The work is over, well or not."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None

    def _line_is_due(self) -> bool:
        """Whether the last line is long enough ago; if so, the next one counts as written."""
        now_s = self._estimate.elapsed_s
        if now_s - self._last_line_s < _PLAIN_INTERVAL_S:
            return False
        self._last_line_s = now_s
        return True


class Bar(LiveBar):
    """The bar of a sweep, see `Reporter`.

    Args:
        console: As for `LiveBar`.
    """

    def __init__(self, console: Console) -> None:
        super().__init__(console)
        self._runs = 0
        self._ended = 0
        self._told: set[str] = set()

    def start(self, runs: Sequence[Run], workers: int) -> None:
        """See `Reporter`."""
        self._runs = len(runs)
        self._estimate = Estimate.of(runs, workers)
        if runs:
            self._open(sum(run.work for run in runs), f"0/{len(runs)} runs")

    def advance(self, run: Run, seconds: float | None) -> None:
        """See `Reporter`."""
        self._ended += 1
        self._estimate.add(_kind(run), run.work, seconds)
        self._tell_of_python(run, seconds)
        if self._bar is not None:
            self._bar.update(
                self._bar.task_ids[0],
                advance=run.work,
                description=run.describe(),
                counted=f"{self._ended}/{self._runs} runs",
            )
        elif self._ended < self._runs and self._line_is_due():
            self._console.print(
                f"{self._ended}/{self._runs} runs done, {spell_seconds(self._estimate.elapsed_s)} elapsed, "
                f"about {spell_seconds(self._estimate.left_s)} left",
                soft_wrap=True,
            )

    def _tell_of_python(self, run: Run, seconds: float | None) -> None:
        """Say how long the runs of a policy in Python take, as soon as its first is done."""
        kind = _kind(run)
        if not kind or seconds is None or kind in self._told:
            return
        self._told.add(kind)
        left_s = self._estimate.left_of(kind)
        if left_s is not None and left_s > _WORTH_TELLING_S:
            text = f"{kind} in Python: its first run took {spell_seconds(seconds)}, the others take about "
            self._console.print(Text(f"{text}{spell_seconds(left_s)} together"), soft_wrap=True)

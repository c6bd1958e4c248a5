"""Progress of a sweep: a bar with the time left on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import time
from collections.abc import Callable
from types import TracebackType
from typing import Protocol, TypeVar

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn, TimeElapsedColumn
from rich.table import Column
from rich.text import Text

_PLAIN_INTERVAL_S = 10.0
_Live = TypeVar("_Live", bound="LiveBar")


class Reporter(Protocol):
    """Told of the course of a sweep."""

    def start(self, runs: int, work: float) -> None:
        """``runs`` are about to be done, ``work`` together (any unit)."""

    def advance(self, work: float, note: str) -> None:
        """One run of this ``work`` has ended; ``note`` says which."""

    def stop(self) -> None:
        """The sweep has ended, well or not."""


class Silent:
    """Says nothing."""

    def start(self, runs: int, work: float) -> None:
        """See `Reporter`."""

    def advance(self, work: float, note: str) -> None:
        """See `Reporter`."""

    def stop(self) -> None:
        """See `Reporter`."""


class Estimate:
    """Time left, from the work done so far.

    Args:
        clock: Seconds, ever rising; another one for tests.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._begin = clock()
        self.total = 0.0
        self.done = 0.0

    @property
    def elapsed_s(self) -> float:
        """Seconds since the start."""
        return self._clock() - self._begin

    @property
    def left_s(self) -> float | None:
        """Seconds left if the rest goes at the mean speed so far; None before anything is done."""
        if self.done <= 0.0:
            return None
        return self.elapsed_s * max(self.total - self.done, 0.0) / self.done


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
        estimate: Kept up to date by somebody else.
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
        self._estimate = Estimate()
        self._last_line_s = 0.0
        self._bar: Progress | None = None

    def __enter__(self: _Live) -> _Live:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def stop(self) -> None:
        """The work has ended, well or not."""
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

    def start(self, runs: int, work: float) -> None:
        """See `Reporter`."""
        self._runs = runs
        self._estimate = Estimate()
        self._estimate.total = work
        if self._console.is_terminal and runs:
            self._bar = Progress(
                TextColumn("{task.fields[runs]}"),
                BarColumn(bar_width=None),
                TextColumn("{task.percentage:>3.0f} %"),
                TimeElapsedColumn(),
                TimeLeft(self._estimate),
                TextColumn("{task.description}", style="dim", markup=False),
                console=self._console,
                transient=True,
            )
            self._bar.add_task("", total=work, runs=f"0/{runs} runs")
            self._bar.start()

    def advance(self, work: float, note: str) -> None:
        """See `Reporter`."""
        self._ended += 1
        self._estimate.done += work
        if self._bar is not None:
            self._bar.update(
                self._bar.task_ids[0],
                advance=work,
                description=note,
                runs=f"{self._ended}/{self._runs} runs",
            )
        elif self._ended < self._runs and self._line_is_due():
            self._console.print(
                f"{self._ended}/{self._runs} runs done, {spell_seconds(self._estimate.elapsed_s)} elapsed, "
                f"about {spell_seconds(self._estimate.left_s)} left",
                soft_wrap=True,
            )

"""Progress of a sweep: on a terminal a table that fills and a bar with the time left; elsewhere a line now and then."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from types import TracebackType

from rich.console import Console, RenderableType
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Column

_PLAIN_INTERVAL_S = 10.0
_TABLE_SHARE = 0.05
"""The most of the time that is spent on drawing the table."""


def spell_seconds(seconds: float) -> str:
    """``"1 min 05 s"``."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"


class _BelowTable(Progress):
    """A bar below a table."""

    table: RenderableType = ""

    def get_renderables(self) -> Iterable[RenderableType]:
        """The table and the bar."""
        yield self.table
        yield from super().get_renderables()


class Bar:
    """A live bar for terminals, a line every ten seconds for everything else.

    Args:
        console: Where to draw; the error stream, so that results on standard output stay clean.
        clock: Seconds, ever rising; another one for tests.
        table: Makes the table of the runs that have ended, which a terminal shows above the bar.
    """

    def __init__(
        self,
        console: Console,
        clock: Callable[[], float] = time.monotonic,
        table: Callable[[], RenderableType] | None = None,
    ) -> None:
        self._console = console
        self._clock = clock
        self._table = table if console.is_terminal else None
        self._next_table_s = 0.0
        whole = Column(no_wrap=True)
        self._bar = _BelowTable(  # on a narrow terminal, bar and description give way
            TextColumn("{task.fields[ended]}/{task.fields[runs]} runs"),
            BarColumn(bar_width=None, table_column=Column(ratio=1)),
            TextColumn("{task.percentage:>3.0f} %"),
            TimeElapsedColumn(table_column=whole),
            TextColumn("{task.fields[left]} left", style="progress.remaining", table_column=whole),
            TextColumn(
                "{task.description}", style="dim", markup=False, table_column=Column(ratio=2, no_wrap=True)
            ),
            console=console,
            transient=True,
            expand=True,
            disable=not console.is_terminal,
        )

    def __enter__(self) -> Bar:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()

    def start(self, work: float, runs: int) -> None:
        """Begin so many runs, which are so much work together."""
        self._work, self._runs, self._ended, self._done = work, runs, 0, 0.0
        self._begin_s = self._last_line_s = self._clock()
        self._bar.add_task("", total=work, ended=0, runs=runs, left="-")
        self._bar.start()

    def advance(self, work: float, description: str) -> None:
        """Show that a run has ended that was so much work."""
        self._done, self._ended = self._done + work, self._ended + 1
        begin_s = self._clock()
        elapsed_s = begin_s - self._begin_s
        if self._table is not None and begin_s >= self._next_table_s:
            self._bar.table = self._table()
            self._next_table_s = self._clock() + (self._clock() - begin_s) / _TABLE_SHARE
        left = spell_seconds(elapsed_s * (self._work - self._done) / self._done) if self._done else "-"
        self._bar.update(
            self._bar.task_ids[-1],
            completed=self._done,
            ended=self._ended,
            left=left,
            description=description,
        )
        if (
            not self._console.is_terminal
            and self._ended < self._runs
            and self._clock() - self._last_line_s >= _PLAIN_INTERVAL_S
        ):
            self._last_line_s = self._clock()
            counted = f"{self._ended}/{self._runs} runs, {description}"
            text = f"{counted}: {spell_seconds(elapsed_s)} elapsed, about {left} left"
            self._console.print(text, markup=False, soft_wrap=True)

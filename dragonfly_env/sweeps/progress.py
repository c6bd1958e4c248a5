"""Progress of a sweep: a bar with the time left on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import time
from collections.abc import Callable
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Column

_PLAIN_INTERVAL_S = 10.0


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


class Bar:
    """A live bar for terminals, a line every ten seconds for everything else.

    Args:
        console: Where to draw; the error stream, so that results on standard output stay clean.
        clock: Seconds, ever rising; another one for tests.
    """

    def __init__(self, console: Console, clock: Callable[[], float] = time.monotonic) -> None:
        self._console = console
        self._clock = clock
        self._total = 0.0
        self._begin_s = self._last_line_s = clock()
        self._bar: Progress | None = None

    def __enter__(self) -> Bar:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def start(self, total: float, counted: str) -> None:
        """Begin ``total`` units of work; ``counted`` says in words how much is done."""
        self._total = total
        self._begin_s = self._last_line_s = self._clock()
        if not self._console.is_terminal or total <= 0.0:
            return
        whole = Column(no_wrap=True)
        self._bar = Progress(  # where it is narrow, bar and description give way
            TextColumn("{task.fields[counted]}"),
            BarColumn(bar_width=None, table_column=Column(ratio=1)),
            TextColumn("{task.percentage:>3.0f} %"),
            TimeElapsedColumn(table_column=whole),
            TextColumn("{task.fields[left]} left", style="progress.remaining", table_column=whole),
            TextColumn(
                "{task.description}", style="dim", markup=False, table_column=Column(ratio=2, no_wrap=True)
            ),
            console=self._console,
            transient=True,
            expand=True,
        )
        self._bar.add_task("", total=total, counted=counted, left="-")
        self._bar.start()

    def advance(self, done: float, counted: str, description: str) -> None:
        """Show that ``done`` units of work are done; ``description`` names the last part."""
        elapsed_s = self._clock() - self._begin_s
        speed = done / elapsed_s if elapsed_s > 0.0 else 0.0
        left = spell_seconds((self._total - done) / speed if speed > 0.0 else None)
        if self._bar is not None:
            self._bar.update(
                self._bar.task_ids[0], completed=done, counted=counted, left=left, description=description
            )
        elif done < self._total and self._clock() - self._last_line_s >= _PLAIN_INTERVAL_S:
            self._last_line_s = self._clock()
            text = f"{counted}, {description}: {spell_seconds(elapsed_s)} elapsed, about {left} left"
            self._console.print(text, markup=False, soft_wrap=True)

    def stop(self) -> None:
        """End the bar, whether the work is done or not."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None

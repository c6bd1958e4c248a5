"""Running the yardstick next to what is measured."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from benchmarks.yardstick.program import Program

Measured = TypeVar("Measured")


class Beside:
    """A series of measurements that follow each other directly, with the yardstick before and after each.

    What runs after one measurement runs before the next; so make a new object for each series.

    Args:
        yardstick: The program.
        laps: How long it runs each time.
    """

    def __init__(self, yardstick: Program, laps: int) -> None:
        self._yardstick = yardstick
        self._laps = laps
        self._last: float | None = None

    def measure(self, work: Callable[[], Measured]) -> tuple[Measured, float]:
        """Do the work between two runs of the yardstick.

        Returns:
            What it returns, and the yardstick's packet-hops per CPU-second of both runs together.
        """
        before = self._last if self._last is not None else self._yardstick.hops_per_s(self._laps)
        result = work()
        self._last = after = self._yardstick.hops_per_s(self._laps)
        return result, 2 / (1 / before + 1 / after)  # both did the same number of laps

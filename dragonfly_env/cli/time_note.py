"""How long one run takes, said on the error stream; the run does not depend on it."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from rich.text import Text

from dragonfly_env.cli.console import note

if TYPE_CHECKING:
    from dragonfly_env.sweeps.run import Run

_LONG_S, _FIRST_PART_S = 10.0, 1.0
_SLOWEST = 1e6  # packet-hops per second: runs that this makes short are not estimated


def expected_seconds(run: Run) -> float | None:
    """A rough wall-clock time of a run in the core, from a short simulation; None if it is short, or nobody knows."""
    from dragonfly_env.sweeps.requirements import estimate_seconds, packet_hops

    if run.agent is not None or packet_hops(run) < _LONG_S * _SLOWEST:
        return None
    return estimate_seconds([run], 1)


class TimeNote:
    """Says once on the error stream how long a run takes, if that is more than `_LONG_S`: what was expected before it
    began, or what its first part shows.
    """

    def __init__(self, expected_s: float | None, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._begin = clock()
        self._told = False
        if expected_s is not None and expected_s > _LONG_S:
            self._tell(expected_s)

    def advance(self, fraction: float) -> None:
        """So much of the run is done."""
        passed = self._clock() - self._begin
        if not self._told and fraction > 0.0 and passed > _FIRST_PART_S and passed / fraction > _LONG_S:
            self._tell(passed / fraction)

    def _tell(self, seconds: float) -> None:
        from dragonfly_env.sweeps.progress import spell_seconds

        self._told = True
        note(Text(f"this run takes about {spell_seconds(seconds)}"))

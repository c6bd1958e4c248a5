"""The search: all targets take turns, until time or inputs are used up."""

from __future__ import annotations

import dataclasses
import time
from collections import deque
from collections.abc import Callable, Sequence

from tests.fuzz.finding import Finding
from tests.fuzz.registry import Target
from tests.fuzz.slices import Slice

_TURN_S = 60.0
_POLL_S = 0.1


@dataclasses.dataclass(slots=True)
class Tally:
    """What became of the inputs of one target."""

    tried: int = 0
    refused: int = 0
    run: int = 0
    wrong: int = 0
    seconds: float = 0.0

    def plus(self, other: Tally) -> Tally:
        """The sum."""
        return Tally(*(getattr(self, f.name) + getattr(other, f.name) for f in dataclasses.fields(Tally)))


@dataclasses.dataclass(slots=True)
class Fault:
    """Inputs that went wrong in the same way; the first of them stands for all."""

    finding: Finding
    inputs: int = 1


class Search:
    """Inputs of several targets, in as many worker processes at a time as wanted.

    Args:
        targets: They take turns.
        seed: Every input follows from it, the target and the input's number.
        first: Number of the first input of every target.
        seconds: Time after which the search ends; None: no limit.
        inputs: Inputs of all targets together after which it ends (some more with several jobs); None: no limit.
        jobs: Worker processes at a time.
        memory_bytes: Address space of a worker; None: no limit.
    """

    def __init__(
        self,
        targets: Sequence[Target],
        *,
        seed: int,
        first: int = 0,
        seconds: float | None = None,
        inputs: int | None = None,
        jobs: int = 1,
        memory_bytes: int | None = None,
    ) -> None:
        self.tallies: dict[str, Tally] = {target.name: Tally() for target in targets}
        self.faults: dict[tuple[str, str], Fault] = {}
        self._seed = seed
        self._seconds = seconds
        self._inputs = inputs
        self._jobs = jobs
        self._memory_bytes = memory_bytes
        self._next = dict.fromkeys(self.tallies, first)
        self._waiting = deque(self.tallies)
        self._active: list[tuple[Slice, float]] = []

    @property
    def total(self) -> Tally:
        """All targets together, the slices at work included."""
        total = Tally()
        for name in self.tallies:
            total = total.plus(self.tally(name))
        return total

    def tally(self, name: str) -> Tally:
        """What became of the inputs of one target so far, the slices at work included."""
        tally = self.tallies[name]
        for part, began in self._active:
            if part.target == name:
                tally = tally.plus(_tally_of(part, began))
        return tally

    def go(self, show: Callable[[], None], ended: Callable[[str], None]) -> None:
        """Search until it is over.

        Args:
            show: Called ten times a second.
            ended: Called with the name of a target whose turn is over.
        """
        ends = None if self._seconds is None else time.monotonic() + self._seconds
        try:
            while not self._is_over(ends):
                while len(self._active) < self._jobs and self._waiting:
                    self._begin(self._waiting.popleft())
                for part, began in list(self._active):
                    if part.poll():
                        self._end(part, began)
                        ended(part.target)
                show()
                time.sleep(_POLL_S)
        finally:
            for part, began in list(self._active):
                part.stop()
                self._end(part, began, judged=False)

    def _is_over(self, ends: float | None) -> bool:
        if ends is not None and time.monotonic() > ends:
            return True
        return self._inputs is not None and self.total.tried >= self._inputs

    def _begin(self, name: str) -> None:
        left = 2**62 if self._inputs is None else self._inputs - self.total.tried
        seconds = _TURN_S if len(self.tallies) > self._jobs else None
        if seconds is not None and self._seconds is not None:
            seconds = min(seconds, self._seconds * self._jobs / len(self.tallies))
        part = Slice(
            name,
            seed=self._seed,
            first=self._next[name],
            count=max(1, left),
            seconds=seconds,
            memory_bytes=self._memory_bytes,
        )
        self._active.append((part, time.monotonic()))

    def _end(self, part: Slice, began: float, *, judged: bool = True) -> None:
        self._active = [entry for entry in self._active if entry[0] is not part]
        tally = self.tallies[part.target].plus(_tally_of(part, began))
        self._next[part.target] += part.tried
        finding = part.finding() if judged else None
        if finding is not None:
            tally.tried += 1
            tally.wrong += 1
            self._next[part.target] += 1
            fault = self.faults.setdefault((part.target, finding.key), Fault(finding, 0))
            fault.inputs += 1
        self.tallies[part.target] = tally
        self._waiting.append(part.target)
        part.close()


def _tally_of(part: Slice, began: float) -> Tally:
    return Tally(part.tried, part.refused, part.run, 0, time.monotonic() - began)

"""Whether a window measured a steady network: a simple test on its two halves.

*Saturated*: in the second half less than `SATURATED_BELOW` of what hosts offered was accepted: source queues grow,
and latencies with them, as long as one measures. So they do, however slowly, if the traffic sends a single host more
than its link takes, which is known from the traffic, not measured. *Stationary*: the mean latency of the packets
delivered in the second half differs from that of the first by at most `STATIONARY_WITHIN`. What is not stationary tells
of the way to a steady state, or of none: a longer warm-up helps against the first.

Halves of fewer than `FEWEST_PACKETS` delivered packets say nothing about latencies. Slow changes pass, as do bursts
that both halves have.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

SATURATED_BELOW = 0.95
STATIONARY_WITHIN = 0.1
FEWEST_PACKETS = 200
_NEAR_THE_MIDDLE = 0.2  # so much of the window a mark may be away from its middle
_ROUNDING = 1e-9  # of sums over hosts
_FIRST_PS = 1_000_000
_MARKS_PER_DOUBLING = 4


@dataclass(frozen=True, slots=True)
class Mark:
    """Counts of a window up to some time.

    Attributes:
        time_ps: The time.
        offered: Packets that hosts generated, lost ones included.
        delivered: Packets.
        latency_sum_ps: Of those.
    """

    time_ps: int
    offered: int
    delivered: int
    latency_sum_ps: int

    @classmethod
    def of(cls, statistics: Mapping[str, Any]) -> Mark:
        """From what the core counted: all statistics, or the totals alone."""
        return cls(
            int(statistics["now_ps"]),
            int(statistics["generated"]) + int(statistics["lost"]),
            int(statistics["delivered"]),
            int(statistics["latency_sum_ps"]),
        )


class Marks:
    """Times of a window at which counts are noted, so that one near its middle is known whenever it ends.

    Which these are follows from the beginning of the window alone, so that nothing depends on how a run is cut: four to
    every doubling of the time since then, from 1,000 ns on.
    """

    def __init__(self) -> None:
        self._marks: list[Mark] = []

    def to_list(self) -> list[list[int]]:
        """Plain values; ``set`` is the inverse."""
        return [list(dataclasses.astuple(mark)) for mark in self._marks]

    def set(self, marks: Iterable[Sequence[int]]) -> None:
        """Note what ``to_list`` gave, and nothing else."""
        self._marks = [Mark(*mark) for mark in marks]

    def clear(self) -> None:
        """A new window begins."""
        self._marks.clear()

    def pieces(self, start_ps: int, now_ps: int, duration_ps: int) -> Iterator[int]:
        """A run in pieces that end where a mark is due, and the rest."""
        begun_ps, end_ps = now_ps - start_ps, now_ps - start_ps + duration_ps
        while begun_ps < end_ps:
            next_ps = min(_next_due(begun_ps), end_ps)
            yield next_ps - begun_ps
            begun_ps = next_ps

    def is_due(self, start_ps: int, now_ps: int) -> bool:
        """Whether this is a time for a mark."""
        return now_ps > start_ps and _next_due(now_ps - start_ps - 1) == now_ps - start_ps

    def note(self, mark: Mark) -> None:
        """Note it."""
        self._marks.append(mark)

    def middle(self, start_ps: int, end_ps: int) -> Mark | None:
        """The mark nearest to the middle of a window; None if there is none near."""
        double_ps = start_ps + end_ps
        near = min(self._marks, key=lambda mark: abs(2 * mark.time_ps - double_ps), default=None)
        if near is None or abs(2 * near.time_ps - double_ps) > 2 * _NEAR_THE_MIDDLE * (end_ps - start_ps):
            return None
        return near


def is_saturated(middle: Mark | None, end: Mark) -> bool | None:
    """Whether the network did not keep up in the second half; None if nothing was offered, or no middle is known (whole
    windows are no measure: without a warm-up, packets in the network make up the difference).
    """
    if middle is None or end.offered == middle.offered:
        return None
    return falls_short(end.delivered - middle.delivered, end.offered - middle.offered)


def falls_short(accepted: float, offered: float) -> bool:
    """Whether too little of what is offered is accepted: the one rule of saturation.

    A single run applies it to the packets of its window's second half. Tables over seeds apply it to the means of whole
    windows and to the load that the traffic demands, as hosts offer less if a full source queue stalls them. The
    benchmark takes the load of the case, which published results state. The three differ near the limit.
    """
    return accepted < SATURATED_BELOW * offered


def is_overloaded(destination_load_max: float) -> bool:
    """Whether the host that is sent most is sent more than its link takes. False for NaN."""
    return destination_load_max > 1.0 + _ROUNDING


def is_stationary(middle: Mark | None, end: Mark) -> bool | None:
    """Whether both halves have the same mean latency, nearly; None if too little is known of them."""
    if middle is None or min(middle.delivered, end.delivered - middle.delivered) < FEWEST_PACKETS:
        return None
    first = middle.latency_sum_ps / middle.delivered
    second = (end.latency_sum_ps - middle.latency_sum_ps) / (end.delivered - middle.delivered)
    return abs(second - first) <= STATIONARY_WITHIN * first


def _next_due(since_ps: int) -> int:
    """The first time for a mark after another one, both counted from the beginning of the window."""
    if since_ps < _FIRST_PS:
        return _FIRST_PS
    octave_ps = _FIRST_PS << (since_ps // _FIRST_PS).bit_length() - 1
    step_ps = octave_ps // _MARKS_PER_DOUBLING
    return octave_ps + ((since_ps - octave_ps) // step_ps + 1) * step_ps

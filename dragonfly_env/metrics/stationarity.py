"""Whether a window measured a network that keeps up, and a steady one: rules on the second half of the window.

*Saturated*: in the second half less than `SATURATED_BELOW` of the offered packets were delivered, and the shortfall is
larger than chance explains. Then source queues grow, and latencies grow with the window. A window of a few large
messages always has a shortfall or a surplus, since a message may arrive at the end of the window: the rule then gives
no verdict. A network is also saturated if the traffic sends a single host more than the link of the host carries.

*Stationary*: the mean latency of the packets delivered in the second half differs from the first half by at most
`STATIONARY_WITHIN`, and the queues do not grow. Queues grow if the packets in the system increase in the second half
by more than `GROWS_BY` and by more than chance explains. A run that is not stationary shows the way to a steady state,
or has no steady state: a longer warm-up helps in the first case.

Several runs of one point, which differ in their seeds, count as one long run: their counts are added up, so a slow
growth that one run hides shows over several seeds. The benchmark applies `falls_short` to whole windows and to the load
of the case, since published results state only the accepted load.

Halves of fewer than `FEWEST_PACKETS` delivered packets give no verdict on latencies. A queue that grows by less than
`GROWS_BY` in half a window passes, and so do bursts that both halves have.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

SATURATED_BELOW = 0.95
STATIONARY_WITHIN = 0.1
GROWS_BY = 0.025
FEWEST_PACKETS = 200
OFFERED_WITHIN = 0.05
"""The share of the demanded load by which the offered load may differ in a window that fits the injection."""

_CHANCE = 3.0  # standard deviations of a count that chance explains
_NEAR_THE_MIDDLE = (
    0.2  # the largest distance of a mark from the middle of the window, as a share of the window
)
_ROUNDING = 1e-9  # relative error of sums over hosts
_FIRST_PS = 1_000_000
_MARKS_PER_DOUBLING = 4


@dataclass(frozen=True, slots=True)
class Arrivals:
    """Sizes of the steps in which hosts generate packets.

    Attributes:
        message_packets: Packets of a message, generated together.
        in_phase: Whether all hosts generate their messages at the same times, as periodic injection does.
        stalls: Whether a full source queue stops its generator, so that hosts offer less than the traffic demands.
        is_steady: Whether the demanded load is the same all the time.
    """

    message_packets: int = 1
    in_phase: bool = False
    stalls: bool = False
    is_steady: bool = True

    def fitting_window_ns(self, message_ns: float, hosts: int, window_ns: float) -> float:
        """The shortest window, at least as long as the given one, in which hosts offer what the traffic demands.

        Args:
            message_ns: Mean time between two messages of a host.
            hosts: Hosts of the system.
            window_ns: The window.

        Returns:
            In phase: a multiple of the time between two messages of a host, at least twice that time. Otherwise the
            time of so many messages that their number is within `OFFERED_WITHIN` in 95 of 100 windows.
        """
        if self.in_phase:
            fitting_ns = max(2, math.ceil(window_ns / message_ns)) * message_ns
        else:
            fitting_ns = max(window_ns, (2.0 / OFFERED_WITHIN) ** 2 * message_ns / hosts)
        return round(fitting_ns, 3)  # whole picoseconds


@dataclass(frozen=True, slots=True)
class Half:
    """Counts of the second half of a window.

    Attributes:
        offered: Packets that hosts generated, lost ones and those that stalled generators held back included.
        delivered: Packets.
        held_before: Packets in the system at the middle of the window, source queues included.
        held_after: Packets in the system at the end of the window.
        message_packets: Packets that are generated together by a host.
        in_phase_packets: Packets that all hosts generate at the same time; 0: hosts generate independently.
    """

    offered: float
    delivered: float
    held_before: float
    held_after: float
    message_packets: int = 1
    in_phase_packets: int = 0


@dataclass(frozen=True, slots=True)
class Mark:
    """Counts of a window up to some time.

    Attributes:
        time_ps: The time.
        generated: Packets that entered a source queue.
        lost: Packets that a full source queue turned away.
        delivered: Packets.
        latency_sum_ps: Latencies of the delivered packets, added up.
    """

    time_ps: int
    generated: int
    lost: int
    delivered: int
    latency_sum_ps: int

    @classmethod
    def of(cls, statistics: Mapping[str, Any]) -> Mark:
        """Make a mark of the core's counts: all statistics, or the totals alone."""
        names = ("now_ps", "generated", "lost", "delivered", "latency_sum_ps")
        return cls(*(int(statistics[name]) for name in names))


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

    def was_due(self, start_ps: int, now_ps: int) -> bool:
        """Whether a time for a mark has passed since the last mark: for runs that stop at times of their own."""
        last_ps = self._marks[-1].time_ps if self._marks else start_ps
        return now_ps >= start_ps + _next_due(last_ps - start_ps)

    def middle(self, start_ps: int, end_ps: int) -> Mark | None:
        """The mark nearest to the middle of a window; None if there is none near."""
        double_ps = start_ps + end_ps
        near = min(self._marks, key=lambda mark: abs(2 * mark.time_ps - double_ps), default=None)
        if near is None or abs(2 * near.time_ps - double_ps) > 2 * _NEAR_THE_MIDDLE * (end_ps - start_ps):
            return None
        return near


def is_saturated(halves: Sequence[Half]) -> bool | None:
    """Whether a network did not keep up in the second half of its window: the one rule of saturation.

    Args:
        halves: The run, or several runs that differ in their seeds.

    Returns:
        None if nothing was offered, or if so few messages were offered that their times explain the shortfall.
    """
    offered, delivered = (sum(getattr(half, name) for half in halves) for name in ("offered", "delivered"))
    if offered <= 0.0:
        return None
    if not falls_short(delivered, offered) or _is_last_round(halves):
        return False
    return True if offered - delivered > _by_chance(halves) else None


def falls_short(accepted: float, offered: float) -> bool:
    """Whether less than `SATURATED_BELOW` of what is offered is accepted."""
    return accepted < SATURATED_BELOW * offered


def is_growing(halves: Sequence[Half]) -> bool:
    """Whether the packets in the system increased in the second half, over all runs, by more than chance explains."""
    before, after = (sum(getattr(half, name) for half in halves) for name in ("held_before", "held_after"))
    return bool(after - before > max(GROWS_BY * before, _by_chance(halves)))


def _is_last_round(halves: Sequence[Half]) -> bool:
    """Whether hosts generate in phase, and all packets in the system are those that they generated last."""
    return all(0 < half.held_after <= half.in_phase_packets for half in halves)


def _by_chance(halves: Sequence[Half]) -> float:
    """The change of the packets in the system that the times of messages explain.

    In phase: the packets of one round, since the half may begin before a round and end after one. Otherwise the
    packets in the system are so many messages, and no more than the half offered, whose numbers scatter like those of
    independent arrivals.
    """
    variance = sum(
        half.message_packets * min(half.offered, half.held_before + half.held_after) for half in halves
    )
    return max(sum(half.in_phase_packets for half in halves), _CHANCE * math.sqrt(variance))


def is_overloaded(destination_load_max: float) -> bool:
    """Whether the host that is sent most is sent more than its link takes. False for NaN."""
    return destination_load_max > 1.0 + _ROUNDING


def has_equal_latencies(middle: Mark, end: Mark) -> bool | None:
    """Whether both halves have the same mean latency, within `STATIONARY_WITHIN`; None if a half has few packets."""
    if min(middle.delivered, end.delivered - middle.delivered) < FEWEST_PACKETS:
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

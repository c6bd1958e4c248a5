"""Slowdowns and reordering of the messages of programs, by size."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from dragonfly_env.metrics.messages import percentile_ps
from dragonfly_env.metrics.tables import Table

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]

_UNIT = 256  # a slowdown of 1 in the core's histograms
_SUB_COUNT = 256  # buckets of an octave


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class SlowdownTable(Table):
    """Messages by size, a row per power of two, those of the window. Arrays are read-only.

    The slowdown of a message is its latency, from the time at which its sender began it, over its time alone in the
    network by a minimal path. Percentiles come from a histogram: a slowdown of 1 is exact, others are up to 0.4 %
    too small. A packet is late if a later packet of its message arrived before it.

    Example:
        >>> jobs = [dfe.Job("rayleigh:scale=0.001,gap_ns=100", hosts=16)]
        >>> config = dfe.SimulationConfig(
        ...     topology="72", jobs=jobs, message_slowdown=True
        ... )
        >>> slowdowns = dfe.Simulation(config).run_to_completion().slowdowns
        >>> int(slowdowns.messages.sum()), float(min(slowdowns.slowdown_p50)) >= 1
        (192, True)
    """

    packets: IntArray
    """(n,) smallest number of packets: a row has messages of ``packets`` to ``2 * packets - 1``."""
    messages: IntArray
    """(n,) complete messages."""
    slowdown_p50: FloatArray
    """(n,) median slowdown; NaN without messages."""
    slowdown_p99: FloatArray
    """(n,) 99th percentile of slowdowns."""
    arrived_packets: IntArray
    """(n,) packets of these messages that have arrived."""
    late_packets: IntArray
    """(n,) packets of these that arrived late."""
    late_distance_packets: IntArray
    """(n,) the largest distance of a late packet to the last packet of its message that came before it, in packets of
    the message.
    """

    @classmethod
    def of(cls, rows: Iterable[Mapping[str, Any]]) -> SlowdownTable | None:
        """Make the table of one or several jobs from rows of ``_core.Simulation.statistics``; None if these have no
        slowdowns.
        """
        found = [row["slowdowns"] for row in rows if "slowdowns" in row]
        if not found:
            return None
        sizes = max(len(job["messages"]) for job in found)

        def total(name: str, combine: Any = np.add) -> IntArray:
            values = np.zeros(sizes, np.int64)
            for row in found:
                part = values[: len(row[name])]
                combine(part, row[name], out=part)
            return values

        arrived = total("arrived")
        used = np.flatnonzero(arrived)
        merged = [_sum([job["histograms"][k] for job in found if k < len(job["histograms"])]) for k in used]
        return cls(
            packets=1 << used,
            messages=total("messages")[used],
            slowdown_p50=np.array([_percentile(50, histogram) for histogram in merged]),
            slowdown_p99=np.array([_percentile(99, histogram) for histogram in merged]),
            arrived_packets=arrived[used],
            late_packets=total("late")[used],
            late_distance_packets=total("farthest", np.maximum)[used],
        ).sealed()

    @property
    def reordered_fraction(self) -> float:
        """Share of the packets that arrived late; NaN without packets."""
        arrived = int(self.arrived_packets.sum())
        return int(self.late_packets.sum()) / arrived if arrived else math.nan

    @property
    def reordering_distance(self) -> int:
        """The largest distance of a late packet, in packets."""
        return int(self.late_distance_packets.max(initial=0))


def _sum(histograms: Sequence[IntArray]) -> IntArray:
    merged = np.zeros(max(map(len, histograms)), np.int64)
    for histogram in histograms:
        merged[: len(histogram)] += histogram
    return merged


def _percentile(q: float, histogram: IntArray) -> float:
    filled = np.flatnonzero(histogram)
    if not len(filled):
        return math.nan
    octave = np.maximum(filled // _SUB_COUNT - 1, 0)
    lowest = (filled - octave * _SUB_COUNT) * 2.0**octave / _UNIT
    return percentile_ps(q, histogram[filled], lowest, lowest[0], lowest[-1])

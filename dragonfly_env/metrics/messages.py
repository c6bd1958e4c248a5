"""Measurements of messages in a window of a closed-loop run; and percentiles from a histogram."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from dragonfly_env.checks.values import PS_PER_NS, check_real
from dragonfly_env.metrics.tables import read_only


def percentile_ps(
    q: float,
    histogram: npt.NDArray[np.int64],
    bucket_ps: npt.NDArray[np.float64],
    low_ps: float,
    high_ps: float,
) -> float:
    """The smallest value that at least ``q`` percent of the counted ones do not exceed; NaN if there are none."""
    percent = check_real("q", q, 0.0, 100.0, unit="percent")
    total = int(histogram.sum())
    if total == 0:
        return math.nan
    if percent == 0.0:
        return low_ps
    if percent == 100.0:
        return high_ps
    # Exact: 99.9 percent of 1,000 packets are 999, not the 1,000 that rounding up a float product gives.
    rank = max(1, math.ceil(Fraction(str(percent)) * total / 100))
    bucket = int(np.searchsorted(np.cumsum(histogram), rank))
    return min(max(float(bucket_ps[bucket]), low_ps), high_ps)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MessageMetrics:
    """Messages of closed-loop traffic. A message's latency is counted when it is complete, from the time at which
    its sender gave it to the source queue.
    """

    makespan_ps: int
    """Time from 0 to the end of the last task, whenever statistics were reset; -1: the workload is not complete."""
    sent: int
    """Given to source queues in the window."""
    delivered: int
    """Completed in the window: the last bit of the last packet reached the destination host."""
    latency_sum_ps: int
    latency_min_ps: int
    latency_max_ps: int
    latency_histogram: npt.NDArray[np.int64]
    """(B,) delivered messages per bucket of latency."""
    latency_bucket_ps: npt.NDArray[np.float64]
    """(B,) the middle of each bucket, ascending; within 0.2 % of every latency in it, below 32 ns within 0.064 ns."""

    @classmethod
    def from_statistics(cls, statistics: Mapping[str, Any]) -> MessageMetrics | None:
        """Make the metrics of ``_core.Simulation.statistics``; None for open-loop traffic."""
        if "makespan_ps" not in statistics:
            return None
        return cls(
            makespan_ps=int(statistics["makespan_ps"]),
            sent=int(statistics["messages_sent"]),
            delivered=int(statistics["messages_delivered"]),
            latency_sum_ps=int(statistics["message_latency_sum_ps"]),
            latency_min_ps=int(statistics["message_latency_min_ps"]),
            latency_max_ps=int(statistics["message_latency_max_ps"]),
            latency_histogram=read_only(statistics["message_latency_histogram"]),
            latency_bucket_ps=read_only(statistics["message_latency_bucket_ps"], np.float64),
        )

    @property
    def makespan_ns(self) -> float:
        """Time from 0 to the end of the last task; NaN while the workload is not complete."""
        return self.makespan_ps / PS_PER_NS if self.makespan_ps >= 0 else math.nan

    @property
    def latency_mean_ns(self) -> float:
        """Mean latency; NaN if no message was completed."""
        return self.latency_sum_ps / (self.delivered * PS_PER_NS) if self.delivered else math.nan

    def latency_percentile_ns(self, q: float) -> float:
        """The smallest latency that at least ``q`` percent of the messages do not exceed, within 0.2 %, below 32 ns
        within 0.064 ns.
        """
        low, high = float(self.latency_min_ps), float(self.latency_max_ps)
        return percentile_ps(q, self.latency_histogram, self.latency_bucket_ps, low, high) / PS_PER_NS

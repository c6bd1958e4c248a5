"""Outcome of a run for scores: three numbers and the fullest link, from a results folder or the published results."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import astuple, dataclass

import numpy as np

from dragonfly_env.lab.benchmark.suite import BenchmarkCase, Track

FULL = 0.95
"""A link that is busy for this share of the time is full."""

_HIGHEST, _MEAN = "_link_utilisation_max", "_link_utilisation_mean"


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """The outcome of a run."""

    # the track's quantity: ns, or a load; NaN for a workload that did not end, and where no packet arrived
    value: float
    p99_ns: float  # 99th percentile of latency; NaN for a workload that measures none
    accepted_load: float  # fraction of the host links
    link_class: str = ""  # class of the link that was used most; empty if unknown
    # The share of the time that this link was busy, and the mean share over all links of its class: to four decimals,
    # since they are only shown.
    link_highest: float = math.nan
    link_mean: float = math.nan

    def same_as(self, other: Measured) -> bool:
        """Whether the numbers of which scores are made are the same to the last bit; NaN equals NaN."""
        pairs = zip(astuple(self)[:3], astuple(other)[:3], strict=True)
        return all(mine == its or (math.isnan(mine) and math.isnan(its)) for mine, its in pairs)

    @property
    def reason(self) -> str:
        """Name the class of links that was full, in a few words; empty if unknown."""
        if not self.link_class:
            return ""
        if self.link_highest < FULL:
            return f"no link full; busiest: {self.link_class}, {self.link_highest:.0%}".replace("%", " %")
        return f"{self.link_class} links full; {self.link_mean:.0%} on average".replace("%", " %")


def measured_of(track: Track, case: BenchmarkCase, row: Mapping[str, object]) -> Measured:
    """Read the outcome of a run from its row."""
    used = [(_number(row, name), name.removesuffix(_HIGHEST)) for name in row if name.endswith(_HIGHEST)]
    highest, link_class = max((kind for kind in used if kind[0] > 0), default=(math.nan, ""))
    return Measured(
        value=_value(track, case, row),
        p99_ns=_number(row, "latency_p99_ns"),
        accepted_load=_number(row, "accepted_load"),
        link_class=link_class,
        link_highest=round(highest, 4),
        link_mean=round(_number(row, link_class + _MEAN), 4),
    )


def _value(track: Track, case: BenchmarkCase, row: Mapping[str, object]) -> float:
    columns = {"latency": "latency_mean_ns", "accepted-load": "accepted_load", "makespan": "makespan_ns"}
    if column := columns.get(track.quantity):
        return _number(row, column)
    steps = getattr(case.traffic.traffic, "steps", ())
    changes = [float(step[0]) for step in steps if float(step[0]) > 0.0]
    starts = np.asarray(row["series_time_ns"], np.float64)
    latencies = np.asarray(row["series_generated_latency_mean_ns"], np.float64)
    after = np.zeros(len(starts), np.bool_)
    for change in changes:
        after |= (starts >= change) & (starts < change + track.after_ns)
    known = latencies[after & ~np.isnan(latencies)]
    # Rounded once: the same bits with every NumPy and its order of addition.
    return math.fsum(known) / len(known) if len(known) else math.nan


def _number(row: Mapping[str, object], column: str) -> float:
    value = row.get(column)
    return math.nan if value is None else float(value)  # type: ignore[arg-type]

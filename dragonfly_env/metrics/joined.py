"""Windows that follow one another as one: what several statistics that were reset in between say together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

# What is no count: the state at the end, or the same in every window.
_LATEST = frozenset(
    {
        "now_ps",
        "in_network",
        "in_source_queues",
        "link_queued_packets",
        "link_occupancy_packets",
        "link_busy_ps_per_packet",
        "latency_bucket_ps",
        "message_latency_bucket_ps",
        "makespan_ps",
        "demanded_load",
        "destination_load_max",
    }
)
_SERIES = frozenset({"series", "series_bin_ps", "series_start_ps"})
_HIGHEST = frozenset({"latency_max_ps", "message_latency_max_ps"})
_LOWEST = {"latency_min_ps": "delivered", "message_latency_min_ps": "messages_delivered"}
_JOB_LATEST = frozenset({"unfinished", "end_ps", "packets_delivered"})  # since time 0


def join_statistics(earlier: Mapping[str, Any] | None, later: Mapping[str, Any]) -> dict[str, Any]:
    """The statistics of two windows as if they had not been reset in between, without time series."""
    given = {name: value for name, value in later.items() if name not in _SERIES}
    if earlier is None:
        return given
    return {name: _joined(name, earlier, given) for name in given}


def _joined(name: str, earlier: Mapping[str, Any], later: Mapping[str, Any]) -> Any:
    before, now = earlier[name], later[name]
    if name in _LATEST:
        return now
    if name == "start_ps":
        return before
    if name in _HIGHEST:
        return max(before, now)
    if name in _LOWEST:
        counted = [window[name] for window in (earlier, later) if window[_LOWEST[name]]]
        return min(counted, default=0)
    if name == "jobs":
        return [_joined_job(*pair) for pair in zip(before, now, strict=True)]
    return _sum(before, now)


def _joined_job(before: Mapping[str, Any], now: Mapping[str, Any]) -> dict[str, Any]:
    job = {name: now[name] for name in _JOB_LATEST}
    job |= {name: before[name] + now[name] for name in ("counts", "total_ps")}
    (count, total, most), (further, more, highest) = before["messages"], now["messages"]
    return job | {
        "max_ps": np.maximum(before["max_ps"], now["max_ps"]),
        "messages": (count + further, total + more, max(most, highest)),
    }


def _sum(before: Any, now: Any) -> Any:
    """The sum of two numbers or arrays; histograms may be of different lengths."""
    if not isinstance(now, np.ndarray) or before.shape == now.shape:
        return before + now
    short, long = sorted((before, now), key=len)
    total = long.copy()
    total[: len(short)] += short
    return total

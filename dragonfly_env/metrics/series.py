"""Time series: how far one may reach (every partition of the core keeps one, with a row for each bin since time 0), its
bins and its columns.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from dragonfly_env.checks.values import PS_PER_NS, config_error
from dragonfly_env.errors import ConfigError

if TYPE_CHECKING:
    from dragonfly_env.metrics.metrics import Metrics

_MOST_BINS = 1_000_000
_MOST_BYTES = 2**31
_BIN_BYTES = 48


def check_series(bin_ns: float, partitions: int, end_ps: int) -> None:
    """Refuse a run whose time series would fill the memory."""
    most = _most_bins(partitions)
    end_ns = end_ps / PS_PER_NS
    if end_ns > bin_ns * most:
        raise config_error(
            "series_bin_ns",
            bin_ns,
            f"must be at least {end_ns / most:g} for a run to {end_ns:g} ns: the series may have {most} bins",
        )


def limit_of_drain(bin_ns: float, partitions: int) -> tuple[int, ConfigError]:
    """The latest end of a drain, in picoseconds, and the error for a network that is not empty by then.

    How long a drain takes is not known beforehand.
    """
    end_ps = series_end_ps(bin_ns, partitions)
    reached = (
        f"the network is not empty when it comes to {end_ps / PS_PER_NS:g} ns, where the series must end"
    )
    return end_ps, config_error("series_bin_ns", bin_ns, f"must be wider for so long a drain: {reached}")


def series_end_ps(bin_ns: float, partitions: int) -> int:
    """The end of the longest series that is kept, in picoseconds."""
    return int(bin_ns * _most_bins(partitions) * PS_PER_NS)


def _most_bins(partitions: int) -> int:
    return min(_MOST_BINS, _MOST_BYTES // (_BIN_BYTES * partitions))


def in_bins(counted: npt.NDArray[np.int64], bins: int) -> npt.NDArray[np.int64]:
    """(``bins``,) sums, from the core's column, which ends with the last bin in which something happened.

    Only what happens at the very end of the window can be in one bin more; it is added to the last.
    """
    column = np.pad(counted, (0, max(0, bins - len(counted))))
    if bins > 0:
        column[bins - 1] = column[bins - 1 :].sum()
    return column[:bins]


def series_columns(metrics: Metrics) -> dict[str, npt.NDArray[Any]] | None:
    """See ``Metrics.time_series``."""
    if metrics.series is None:
        return None
    # An empty window has no bins, although it lies in one.
    last_ps = metrics.end_ps if metrics.end_ps > metrics.start_ps else metrics.series_start_ps
    bins = max(0, -(-(last_ps - metrics.series_start_ps) // metrics.series_bin_ps))
    names = ("generated", "delivered", "latency_sum_ps", "hops_sum", "arrived", "arrived_latency_sum_ps")
    injected, delivered, latency_sum_ps, hops_sum, arrived, arrived_sum_ps = (
        in_bins(metrics.series[name], bins) for name in names
    )
    begin_ps = metrics.series_start_ps + np.arange(bins, dtype=np.int64) * metrics.series_bin_ps
    inside_ps = np.maximum(begin_ps, metrics.start_ps)
    width_ns = (np.minimum(begin_ps + metrics.series_bin_ps, metrics.end_ps) - inside_ps) / PS_PER_NS
    per_packet = 1.0 / np.where(delivered > 0, delivered, math.nan)
    to_load = metrics.network.packet_time_ns / (metrics.topology.num_hosts * width_ns)
    return {
        "time_ns": begin_ps / PS_PER_NS,
        "duration_ns": width_ns,
        "injected": injected,
        "injected_load": injected * to_load,
        "delivered": delivered,
        "accepted_load": delivered * to_load,
        "latency_mean_ns": latency_sum_ps * per_packet / PS_PER_NS,
        "hops_mean": hops_sum * per_packet,
        "generated_latency_mean_ns": arrived_sum_ps / np.where(arrived > 0, arrived, math.nan) / PS_PER_NS,
    }

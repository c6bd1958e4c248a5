"""Time series: how far one may reach, and its bins. Each partition of the core keeps a row per bin since time 0."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from dragonfly_env.checks.values import PS_PER_NS, config_error
from dragonfly_env.errors import ConfigError

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

"""``CounterWindows``: counters read again and again, and what was counted between any two readings."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from dragonfly_env.checks.values import PS_PER_NS, check_integer, check_real, config_error
from dragonfly_env.metrics.counters import Counters
from dragonfly_env.metrics.tables import write_table

FloatArray = npt.NDArray[np.float64]
Columns = dict[str, npt.NDArray[Any]]

_MOST_BYTES = 2**31
_MOST_WINDOWS = 100_000


class CounterWindows:
    """Windows of a run one after the other, each a ``Counters``; made by ``Simulation.run_in_windows``.

    ``windows[3].tiles`` are the tiles of the fourth; the methods give columns over all of them, in which ``time_ns`` is
    the begin of a row's window.

    Args:
        readings: Counters of one run since the same reset, one more than there are windows.
        about: Origin that files state: configuration, version and platform.

    Example:
        >>> sim = dfe.Simulation(dfe.SimulationConfig(topology="72", load=0.2))
        >>> windows = sim.run_in_windows(500, duration_ns=2_000)
        >>> len(windows), windows[3].duration_ns, windows.whole.duration_ns
        (4, 500.0, 2000.0)
    """

    def __init__(self, readings: Sequence[Counters], about: Mapping[str, Any]) -> None:
        self._readings = tuple(readings)
        self._about = dict(about)

    def __len__(self) -> int:
        return len(self._readings) - 1

    def __getitem__(self, window: int) -> Counters:
        """Return the counts of a window; negative numbers count from the end."""
        if not -len(self) <= window < len(self):
            raise IndexError(f"window {window} of {len(self)}")
        window %= len(self)
        return self._readings[window + 1].since(self._readings[window])

    def __iter__(self) -> Iterator[Counters]:
        return (self[window] for window in range(len(self)))

    def __repr__(self) -> str:
        return f"<CounterWindows: {len(self)} from {self._edges_ns()[0]:g} to {self._edges_ns()[-1]:g} ns>"

    @property
    def whole(self) -> Counters:
        """All windows as one."""
        return self._readings[-1].since(self._readings[0])

    @property
    def time_ns(self) -> FloatArray:
        """(windows,) starts of the windows."""
        return self._edges_ns()[:-1]

    @property
    def duration_ns(self) -> FloatArray:
        """(windows,) lengths of the windows; the last one may be shorter."""
        return np.diff(self._edges_ns())

    def tiles(self, *keys: str, job: int | None = None) -> Columns:
        """Flits and stalls over time.

        Args:
            *keys: Sums by these columns (``TileTable.by``); none: a row for every tile.
            job: Only the tiles of the routers that have hosts of this job.

        Returns:
            Columns: ``time_ns``, ``duration_ns``, and those of ``TileTable.by`` or of the table.
        """

        def of(window: Counters) -> Columns:
            table = window.tiles if job is None else window.tiles_of_job(job)
            return table.by(*keys) if keys else table.to_dict()

        return self._stacked([of(window) for window in self])

    def hosts(self) -> Columns:
        """``HostTable`` over time, a row for every host and window: means of latencies per interface and window."""
        return self._stacked([window.hosts.to_dict() for window in self])

    def host_latency_mean_ns(self, *, source_queue: bool = False) -> FloatArray:
        """(windows, num_hosts) mean latency of the packets of each host that were delivered in a window; NaN for none.

        Args:
            source_queue: Count from generation; else from leaving the source queue, as an interface does.
        """
        if self._readings[0].host_delivered is None:
            raise config_error(
                "host_latency", False, "must be true in the configuration for latencies of hosts"
            )
        name = "latency_mean_ns" if source_queue else "network_latency_mean_ns"
        return np.array([getattr(window.hosts, name) for window in self]).reshape(
            len(self), self._readings[0].topology.num_hosts
        )

    def host_latency_percentile_ns(self, q: float, *, source_queue: bool = False) -> float:
        """The smallest of these means that at least ``q`` percent of them do not exceed, over all hosts and windows, as
        Chunduri et al. (figure 14) take percentiles of what interfaces report every second. NaN if there are none.

        Args:
            q: 0 to 100, in percent; 99.99 is a number like any other.
            source_queue: As in ``host_latency_mean_ns``.
        """
        percent = check_real("q", q, 0.0, 100.0, unit="percent")
        return percentile_of(self.host_latency_mean_ns(source_queue=source_queue), percent)

    def operations(self, job: int) -> Columns:
        """Time that ranks of a job spent in its operations, window by window.

        Args:
            job: Index into ``SimulationConfig.placed_jobs()``.

        Returns:
            Columns: ``time_ns``, ``duration_ns``, ``operation`` (``message`` and ``iteration`` too), ``count`` and
            ``mean_ns`` of those that were completed in the window.
        """
        jobs = self._readings[0].jobs
        if not jobs:
            raise config_error("job", job, "there are no jobs in this run")
        index = check_integer("job", job, 0, len(jobs) - 1)

        def of(window: Counters) -> Columns:
            one = window.jobs[index]
            rows = {**one.operations, "message": one.messages, "iteration": one.iterations}
            return {
                "operation": np.array(list(rows), np.str_),
                "count": np.array([row.count for row in rows.values()], np.int64),
                "mean_ns": np.array([row.mean_ns for row in rows.values()], np.float64),
            }

        return self._stacked([of(window) for window in self])

    def to_parquet(self, folder: str | Path) -> tuple[Path, ...]:
        """Write ``tiles.parquet``, ``hosts.parquet`` and, with jobs, ``operations.parquet`` (with a column ``job``).

        The metadata of each file has configuration, version and platform as JSON under ``dragonfly_env``.

        Args:
            folder: It is made if there is none.

        Returns:
            The files.
        """
        tables = {"tiles": self.tiles(), "hosts": self.hosts()}
        if jobs := self._readings[0].jobs:
            each = [self.operations(job) for job in range(len(jobs))]
            number = np.repeat(np.arange(len(jobs)), [len(one["time_ns"]) for one in each])
            tables["operations"] = {
                "job": number,
                **{name: np.concatenate([one[name] for one in each]) for name in each[0]},
            }
        place = Path(folder)
        place.mkdir(parents=True, exist_ok=True)
        about = {"dragonfly_env": json.dumps(self._about, sort_keys=True)}
        files = []
        for name, columns in tables.items():
            files.append(place / f"{name}.parquet")
            write_table(columns, files[-1], about)
        return tuple(files)

    def _edges_ns(self) -> FloatArray:
        return np.array([reading.end_ps for reading in self._readings]) / PS_PER_NS

    def _stacked(self, parts: list[Columns]) -> Columns:
        if not parts:
            return {"time_ns": np.empty(0), "duration_ns": np.empty(0)}
        rows = [len(next(iter(part.values()))) for part in parts]
        times = {"time_ns": np.repeat(self.time_ns, rows), "duration_ns": np.repeat(self.duration_ns, rows)}
        return times | {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def percentile_of(values: FloatArray, q: float) -> float:
    """The smallest of some values that at least ``q`` percent of them do not exceed; NaNs do not count."""
    some = values[~np.isnan(values)]
    return float(np.percentile(some, q, method="inverted_cdf")) if len(some) else math.nan


def most_windows(reading: Counters) -> int:
    """Return the number of readings of this size that fit the memory for readings."""
    arrays = (reading.link_packets, reading.link_stall_ps, reading.input_stall_ps, reading.host_sent)
    bytes_each = sum(array.nbytes for array in arrays) + 3 * reading.host_sent.nbytes
    return max(1, min(_MOST_WINDOWS, _MOST_BYTES // bytes_each))

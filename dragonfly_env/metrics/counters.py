"""``Counters``: what ports, hosts and jobs counted, as an operator reads it, and ``CounterWindows``: counters that are
read again and again while the run goes on.
"""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from dragonfly_env.checks.values import PS_PER_NS, check_integer, check_real, config_error
from dragonfly_env.metrics.operations import JobInfo, JobTotals
from dragonfly_env.metrics.ports import PortTable, rows_of
from dragonfly_env.metrics.tables import Table, read_only, write_table

if TYPE_CHECKING:
    from dragonfly_env.config.network import NetworkConfig
    from dragonfly_env.config.topology import Dragonfly

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]
Columns = dict[str, npt.NDArray[Any]]

_PORTS = ("link_packets", "link_stall_ps", "input_stall_ps")
_HOSTS = ("host_delivered", "host_latency_sum_ps", "host_network_latency_sum_ps")
_MOST_BYTES = 2**31
_MOST_WINDOWS = 100_000


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class HostTable(Table):
    """Counters of hosts' interfaces, one row each. Arrays are read-only.

    Delivered packets and latencies are those of the packets that the host *sent*, whichever host received them. They
    are 0 and NaN unless ``SimulationConfig.host_latency`` is set.

    Example:
        >>> config = dfe.SimulationConfig(topology="72", host_latency=True)
        >>> hosts = dfe.simulate(config, measure_ns=5_000).hosts
        >>> len(hosts), hosts.latency_mean_ns.shape
        (72, (72,))
    """

    host: IntArray
    """(n,) the number of each host."""
    router: IntArray
    """(n,) its router."""
    sent: IntArray
    """(n,) packets that left its source queue."""
    delivered: IntArray
    """(n,) packets of the host that were delivered."""
    latency_mean_ns: FloatArray
    """(n,) their mean latency from generation, so the wait in the source queue counts."""
    network_latency_mean_ns: FloatArray
    """(n,) their mean latency from leaving the source queue: what an interface sees of its requests. Responses would
    add the quiet path back, which does not depend on how requests are routed."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Counters:
    """Counts from ``start_ps`` to ``end_ps``. Arrays are read-only.

    ``Simulation.counters()`` counts from the last ``reset_statistics``; ``later.since(earlier)`` is what happened
    between two readings.

    Example:
        >>> sim = dfe.Simulation(dfe.SimulationConfig(topology="72", load=0.2))
        >>> sim.run(2_000)
        >>> counters = sim.counters()
        >>> counters.duration_ns, counters.link_packets.shape
        (2000.0, (252,))
        >>> counters.ports.of(kind="local").totals().flits > 0
        True
    """

    topology: Dragonfly
    """The simulated system."""
    flits_per_packet: int
    """Flits of a packet."""
    start_ps: int
    """Time at which counting began, in ps."""
    end_ps: int
    """Time at which the counters were read, in ps."""
    link_packets: IntArray
    """(num_routers * radix,) packets sent by each output port."""
    link_stall_ps: IntArray
    """(num_routers * radix,) time that each output port had a packet but no credit."""
    input_stall_ps: IntArray
    """(num_routers * radix,) time that the head of some buffer of each input port found no room to move on to."""
    link_busy_ps_per_packet: IntArray
    """(classes,) time that a packet keeps a link of each class busy."""
    host_sent: IntArray
    """(num_hosts,) packets that left each source queue."""
    host_delivered: IntArray | None = None
    """(num_hosts,) packets *of* each host that were delivered, if ``SimulationConfig.host_latency`` is set."""
    host_latency_sum_ps: IntArray | None = None
    """(num_hosts,) latencies of these packets, added up."""
    host_network_latency_sum_ps: IntArray | None = None
    """(num_hosts,) latencies from the end of the source queue on, added up."""
    jobs: tuple[JobTotals, ...] = ()
    """Totals of each of ``SimulationConfig.placed_jobs()``."""

    @classmethod
    def from_statistics(
        cls,
        statistics: Mapping[str, Any],
        topology: Dragonfly,
        network: NetworkConfig,
        jobs: Sequence[JobInfo] = (),
    ) -> Counters:
        """Counters from what ``_core.Simulation.counters`` (or ``statistics``) returns."""
        busy = statistics["link_busy_ps_per_packet"]
        rows = statistics["jobs"] if jobs else ()
        return cls(
            topology=topology,
            flits_per_packet=network.flits_per_packet,
            start_ps=int(statistics["start_ps"]),
            end_ps=int(statistics["now_ps"]),
            link_busy_ps_per_packet=read_only([busy[kind] for kind in topology.link_classes]),
            jobs=tuple(JobTotals.of(info, row) for info, row in zip(jobs, rows, strict=True)),
            **{name: read_only(statistics[name]) for name in (*_PORTS, "host_sent")},
            **{name: read_only(statistics[name]) for name in _HOSTS if name in statistics},
        )

    def since(self, earlier: Counters) -> Counters:
        """Counts since an earlier reading.

        Args:
            earlier: Counters of the same run, with no ``reset_statistics`` in between.
        """
        if (
            (earlier.start_ps, earlier.topology, len(earlier.jobs))
            != (self.start_ps, self.topology, len(self.jobs))
            or earlier.end_ps > self.end_ps
            or bool((earlier.link_packets > self.link_packets).any())
        ):
            raise config_error(
                "earlier", earlier, "must be an earlier reading of the same run since the same reset"
            )
        changes: dict[str, Any] = {"start_ps": earlier.end_ps}
        for name in (*_PORTS, "host_sent", *_HOSTS):
            mine, before = getattr(self, name), getattr(earlier, name)
            if mine is not None and before is not None:
                changes[name] = read_only(mine - before)
        pairs = zip(self.jobs, earlier.jobs, strict=True)
        changes["jobs"] = tuple(now.since(before) for now, before in pairs)
        return dataclasses.replace(self, **changes)

    @property
    def duration_ns(self) -> float:
        """Length of the window."""
        return (self.end_ps - self.start_ps) / PS_PER_NS

    @property
    def ports(self) -> PortTable:
        """Packets and stalls of every port of the machine: the global view."""
        columns, link_class, rates, sender, stalled = rows_of(self.topology)
        packets = np.concatenate([self.link_packets, self.host_sent])[sender]
        stall_ps = np.concatenate([self.link_stall_ps, self.input_stall_ps])[stalled]
        busy_ps = self.link_busy_ps_per_packet[link_class] / rates
        window_ps = self.end_ps - self.start_ps or math.nan
        return PortTable(
            **columns,
            packets=packets,
            flits=packets * self.flits_per_packet,
            utilisation=packets * busy_ps / window_ps,
            stall_fraction=stall_ps / window_ps,
            stalls=stall_ps * self.flits_per_packet / busy_ps,
        ).sealed()

    def ports_of_job(self, job: int) -> PortTable:
        """The ports of the routers that have hosts of a job: its local view.

        Args:
            job: Index into ``jobs``.
        """
        if not self.jobs:
            raise config_error("job", job, "there are no jobs in this run")
        hosts = self.jobs[check_integer("job", job, 0, len(self.jobs) - 1)].hosts
        routers = self.topology.router_of_hosts()[np.asarray(hosts, np.int64)]
        ports = self.ports
        return ports[np.isin(ports.router, routers)]

    @property
    def hosts(self) -> HostTable:
        """Packets and latencies by sending host."""
        hosts = np.arange(self.topology.num_hosts, dtype=np.int64)
        delivered = np.zeros_like(hosts) if self.host_delivered is None else self.host_delivered

        def mean_ns(sum_ps: IntArray | None) -> FloatArray:
            if sum_ps is None:
                return np.full(len(hosts), math.nan)
            return np.asarray(sum_ps / (np.where(delivered > 0, delivered, math.nan) * PS_PER_NS), np.float64)

        return HostTable(
            host=hosts,
            router=self.topology.router_of_hosts(),
            sent=self.host_sent,
            delivered=delivered,
            latency_mean_ns=mean_ns(self.host_latency_sum_ps),
            network_latency_mean_ns=mean_ns(self.host_network_latency_sum_ps),
        ).sealed()


class CounterWindows:
    """Windows of a run one after the other, each a ``Counters``; made by ``Simulation.run_in_windows``.

    ``windows[3].ports`` are the ports in the fourth; the methods give columns over all of them, in which ``time_ns`` is
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

    def ports(self, *keys: str, job: int | None = None) -> Columns:
        """Packets and stalls of ports over time.

        Args:
            *keys: Totals by these columns (``PortTable.by``); none: every row of the table.
            job: Only the ports of the routers that have hosts of this job.

        Returns:
            Columns: ``time_ns``, ``duration_ns``, and those of ``PortTable.by`` or of the table.
        """
        tables = (window.ports if job is None else window.ports_of_job(job) for window in self)
        return self._stacked([table.by(*keys) if keys else table.to_dict() for table in tables])

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
            totals = window.jobs[index]
            rows = {**totals.operations, "message": totals.messages, "iteration": totals.iterations}
            return {
                "operation": np.array(list(rows), np.str_),
                "count": np.array([row.count for row in rows.values()], np.int64),
                "mean_ns": np.array([row.mean_ns for row in rows.values()], np.float64),
            }

        return self._stacked([of(window) for window in self])

    def to_parquet(self, folder: str | Path) -> tuple[Path, ...]:
        """Write ``ports.parquet``, ``hosts.parquet`` and, with jobs, ``operations.parquet`` (with a column ``job``).

        The metadata of each file has configuration, version and platform as JSON under ``dragonfly_env``.

        Args:
            folder: It is made if there is none.

        Returns:
            The files.
        """
        tables = {"ports": self.ports(), "hosts": self.hosts()}
        if jobs := self._readings[0].jobs:
            each = [self.operations(job) for job in range(len(jobs))]
            number = np.repeat(
                np.arange(len(jobs)), [len(columns_of_job["time_ns"]) for columns_of_job in each]
            )
            tables["operations"] = {
                "job": number,
                **{
                    name: np.concatenate([columns_of_job[name] for columns_of_job in each])
                    for name in each[0]
                },
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

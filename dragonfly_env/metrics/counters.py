"""``Counters``: what ports, hosts and jobs counted, as an operator reads it, again and again while the run goes on."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from dragonfly_env.checks.values import PS_PER_NS, check_integer, config_error
from dragonfly_env.metrics.hosts import HostTable
from dragonfly_env.metrics.operations import JobInfo, JobTotals
from dragonfly_env.metrics.tables import read_only
from dragonfly_env.metrics.tiles import TileTable

if TYPE_CHECKING:
    from dragonfly_env.config.network import NetworkConfig
    from dragonfly_env.config.topology import Dragonfly

IntArray = npt.NDArray[np.int64]

_PORTS = ("link_packets", "link_stall_ps", "input_stall_ps")
_HOSTS = ("host_delivered", "host_latency_sum_ps", "host_network_latency_sum_ps")


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
        >>> counters.tiles.kinds["local"].flits > 0
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
    def tiles(self) -> TileTable:
        """Flits and stalls of every tile of the machine: the global view."""
        return TileTable.build(
            self.topology,
            host_packets=self.host_sent,
            link_packets=self.link_packets,
            input_stall_ps=self.input_stall_ps,
            output_stall_ps=self.link_stall_ps,
            busy_ps_per_packet=self.link_busy_ps_per_packet,
            flits_per_packet=self.flits_per_packet,
        )

    def tiles_of_job(self, job: int) -> TileTable:
        """The tiles of the routers that have hosts of a job: its local view.

        Args:
            job: Index into ``jobs``.
        """
        if not self.jobs:
            raise config_error("job", job, "there are no jobs in this run")
        hosts = self.jobs[check_integer("job", job, 0, len(self.jobs) - 1)].hosts
        return self.tiles.of_routers(self.topology.router_of_hosts()[np.asarray(hosts, np.int64)])

    @property
    def hosts(self) -> HostTable:
        """Packets and latencies by sending host."""
        return HostTable.build(
            self.topology,
            sent=self.host_sent,
            delivered=self.host_delivered,
            latency_sum_ps=self.host_latency_sum_ps,
            network_latency_sum_ps=self.host_network_latency_sum_ps,
        )

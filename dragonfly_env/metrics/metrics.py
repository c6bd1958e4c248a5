"""``Metrics``: what a window of a simulation measured.

A window runs from the last ``reset_statistics`` (or time 0) to the moment of the snapshot. A packet's
latencies and hops are counted when it is delivered, wherever its journey began. What has no value, such as
the mean latency of no packet, is NaN here and None in ``to_dict``.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from dragonfly_env.checks.values import PS_PER_NS, check_real
from dragonfly_env.metrics.counters import Counters, HostTable
from dragonfly_env.metrics.jobs import JobMetrics
from dragonfly_env.metrics.messages import MessageMetrics, percentile_ps
from dragonfly_env.metrics.operations import JobInfo
from dragonfly_env.metrics.ports import PortTable, PortTotals
from dragonfly_env.metrics.series import in_bins
from dragonfly_env.metrics.slowdowns import SlowdownTable
from dragonfly_env.metrics.stationarity import (
    OFFERED_WITHIN,
    Arrivals,
    Half,
    Mark,
    has_equal_latencies,
    is_growing,
    is_overloaded,
    is_saturated,
)
from dragonfly_env.metrics.tables import read_only

if TYPE_CHECKING:
    from dragonfly_env.config.network import NetworkConfig
    from dragonfly_env.config.topology import Dragonfly

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

_PACKETS = ("generated", "lost", "injected", "delivered", "in_network", "in_source_queues")
_SUMS = (
    *("start_ps", "packet_hops", "packet_time_ps", "latency_sum_ps", "network_latency_sum_ps"),
    *("latency_min_ps", "latency_max_ps", "hops_sum", "minimal_delivered"),
)
_QUEUES = ("link_queued_packets", "link_occupancy_packets")
_GROUP_ARRAYS = ("group_latency_sum_ps", "group_delivered")
_EXPECTED = ("demanded_load", "destination_load_max")
HALF = ("second_half_offered", "second_half_delivered", "middle_in_flight")
"""Figures of the second half of the window, by which tables judge the runs of several seeds together."""
_FIGURES = (
    *("duration_ns", "offered_load", "accepted_load", *_EXPECTED, "saturated", "stationary"),
    *("fitting_window_ns", *HALF),
    *("packets_generated", "packets_lost", "packets_injected", "packets_delivered"),
    *("packets_in_network", "packets_in_source_queues", "packets_in_flight", "packet_hops"),
    *("packets_in_system_mean", "score", "latency_mean_ns", "latency_min_ns"),
)
_PERCENTILES = (50.0, 95.0, 99.0, 99.9)
_MORE_FIGURES = (
    *("latency_max_ns", "network_latency_mean_ns", "hops_mean", "minimal_fraction", "makespan_ns"),
)
_LINK_FIGURES = {"links": "ports"} | {
    name: name
    for name in (
        *("packets", "flits", "utilisation_mean", "utilisation_max"),
        *("stall_fraction_mean", "stall_fraction_max", "stalls"),
    )
}
"""Columns of results on each class of link, and the total that each is."""


@dataclasses.dataclass(frozen=True, slots=True)
class Fairness:
    """Spread of accepted loads over their senders (routers, or groups).

    ``jain`` is (sum x)^2 / (n * sum x^2): 1 if all are equal, 1/n if one gets everything; NaN if none gets
    anything. Source: Jain, Chiu, Hawe, DEC-TR-301, 1984.
    """

    min: float
    """The smallest load."""
    max: float
    """The largest load."""
    mean: float
    """The mean load."""
    jain: float
    """Jain's index."""

    @classmethod
    def of(cls, loads: npt.NDArray[np.float64]) -> Fairness:
        """The spread of ``loads``, shape (n,) with n >= 1."""
        if np.isnan(loads).any():
            return cls(math.nan, math.nan, math.nan, math.nan)
        square_sum = float(np.square(loads).sum())
        jain = float(loads.sum()) ** 2 / (loads.size * square_sum) if square_sum > 0 else math.nan
        # Rounding must not make an even distribution look more than even.
        return cls(float(loads.min()), float(loads.max()), float(loads.mean()), min(jain, 1.0))


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Metrics:
    """An immutable snapshot; made by ``Simulation.metrics`` and ``simulate``. Arrays are read-only.

    Two are equal if all of their figures are (``to_dict``).
    Loads are fractions of the bandwidth of all host links (or of those of one router or group).

    Example:
        >>> config = dfe.SimulationConfig(topology="72", traffic="adv+1", load=0.2)
        >>> metrics = dfe.simulate(config, warmup_ns=5_000, measure_ns=20_000)
        >>> round(metrics.offered_load, 2), round(metrics.accepted_load, 2)
        (0.2, 0.1)
        >>> metrics.latency_percentile_ns(99) > metrics.latency_mean_ns
        True
        >>> metrics.link_classes["global"].utilisation_max > 0.5
        True
        >>> metrics.router_accepted_load.shape
        (36,)
    """

    topology: Dragonfly
    """The simulated system."""
    network: NetworkConfig
    """The simulated network."""
    start_ps: int
    """Start of the window, in ps."""
    end_ps: int
    """Time at which the metrics were read, in ps."""

    packets_generated: int
    """Packets that entered a source queue in the window; lost ones are not among them."""
    packets_lost: int
    """Packets that a full source queue turned away (``source_queue_full="lose"``)."""
    packets_injected: int
    """Packets that left a source queue in the window."""
    packets_delivered: int
    """Packets whose last bit reached the destination host in the window."""
    packets_in_network: int
    """Packets between source queue and destination at the moment of the snapshot."""
    packets_in_source_queues: int
    """Packets waiting in source queues at the moment of the snapshot."""
    packet_hops: int
    """Work done: links between routers and links to hosts that packets crossed in the window."""

    packet_time_ps: int
    """The time that all packets spent in the system in the window, source queues included, added up."""
    latency_sum_ps: int
    """Latencies of the delivered packets, added up; ``latency_mean_ns`` is their mean."""
    network_latency_sum_ps: int
    """Latencies from the end of the source queue on, added up."""
    latency_min_ps: int
    """The shortest latency, in ps; see ``latency_min_ns``."""
    latency_max_ps: int
    """The longest latency, in ps; see ``latency_max_ns``."""
    hops_sum: int
    """Links between routers that delivered packets crossed, added up."""
    minimal_delivered: int
    """Delivered packets that took no non-minimal path."""

    latency_histogram: IntArray
    """(B,) delivered packets per bucket of latency."""
    latency_bucket_ps: FloatArray
    """(B,) the middle of each bucket, ascending; within 0.2 % of every latency in it, below 32 ns within 0.064 ns."""
    hop_histogram: IntArray
    """(H,) delivered packets by hops between routers: index 0 stayed on one router."""
    router_injected: IntArray
    """(num_routers,) packets that left the source queues of each router's hosts."""
    router_delivered: IntArray
    """(num_routers,) packets delivered to each router's hosts."""
    link_queued_packets: IntArray
    """(num_routers * radix,) packets in the queues of each output port at the moment of the snapshot."""
    link_occupancy_packets: IntArray
    """(num_routers * radix,) those and the credits in use, then: the occupancy that policies compare."""
    counters: Counters
    """Counters that an operator reads: per port, host and job."""
    series: Mapping[str, IntArray] | None = None
    """Counters per bin; see ``time_series``."""
    series_bin_ps: int = 0
    """Width of the bins of ``series``, in ps; 0: no series."""
    series_start_ps: int = 0
    """Start of the first bin of ``series``, in ps."""
    group_latency_sum_ps: IntArray | None = None
    """(g, g) latencies by source group and destination group, added up; None without ``group_latency``."""
    group_delivered: IntArray | None = None
    """(g, g) packets delivered by source group and destination group, with ``group_latency=True``."""
    demanded_load: float = math.nan
    """Load that the traffic makes hosts send on average in the second half of the window: the configured load times
    the mean share that hosts have of it. NaN for traces, closed loops, jobs and after ``drain``."""
    destination_load_max: float = math.nan
    """Load that the traffic sends to the busiest receiver, in units of its link: above 1 that link is overloaded,
    with every routing. NaN as ``demanded_load``."""
    trace_end_ps: int = -1
    """The last delivery of a trace, in ps; -1: there is no trace, or some of its messages are not delivered yet."""
    middle: Mark | None = None
    """Counts up to about the middle of the window; None if they were not noted."""
    arrivals: Arrivals = Arrivals()
    """Steps in which hosts generate packets."""
    jobs: tuple[JobMetrics, ...] = ()
    """Metrics of each of ``SimulationConfig.jobs``, in their order."""
    messages: MessageMetrics | None = None
    """Messages of closed-loop traffic; None for open-loop traffic, whose messages are not put together again."""
    slowdowns: SlowdownTable | None = None
    """Messages of all jobs by size, with ``SimulationConfig.message_slowdown``."""

    @classmethod
    def from_statistics(
        cls,
        statistics: Mapping[str, Any],
        topology: Dragonfly,
        network: NetworkConfig,
        middle: Mark | None = None,
        jobs: Sequence[JobInfo] = (),
        arrivals: Arrivals = Arrivals(),
    ) -> Metrics:
        """Metrics from what ``_core.Simulation.statistics`` returns.

        Args:
            statistics: Plain numbers and integer arrays under the names of the fields here, with ``now_ps`` for
                ``end_ps`` and the packet counts without ``packets_``.
            topology: The simulated system.
            network: The simulated network.
            middle: Counts up to about the middle of the window, if known.
            jobs: Jobs of the run, in their order.
            arrivals: Process by which hosts generate messages.
        """
        arrays = ("latency_histogram", "hop_histogram", "router_injected", "router_delivered", *_QUEUES)
        series = statistics.get("series")
        fields: dict[str, Any] = {name: int(statistics[name]) for name in _SUMS}
        fields |= {f"packets_{name}": int(statistics[name]) for name in _PACKETS}
        fields["end_ps"] = int(statistics["now_ps"])
        fields |= {name: read_only(statistics[name]) for name in arrays}
        fields |= {name: read_only(statistics[name]) for name in _GROUP_ARRAYS if name in statistics}
        fields |= {name: float(statistics.get(name, math.nan)) for name in _EXPECTED}
        fields["trace_end_ps"] = int(statistics.get("trace_end_ps", -1))
        if series is not None:
            fields["series"] = {name: read_only(values) for name, values in series.items()}
            fields["series_bin_ps"] = int(statistics["series_bin_ps"])
            fields["series_start_ps"] = int(statistics["series_start_ps"])
        fields["counters"] = Counters.from_statistics(statistics, topology, network, jobs)
        fields["jobs"] = JobMetrics.of(jobs, statistics, fields["counters"])
        fields["messages"] = MessageMetrics.from_statistics(statistics)
        fields["slowdowns"] = SlowdownTable.of(statistics.get("jobs", ()))
        buckets = read_only(statistics["latency_bucket_ps"], np.float64)
        fields |= {"middle": middle, "arrivals": arrivals}
        return cls(topology=topology, network=network, latency_bucket_ps=buckets, **fields)

    def __eq__(self, other: object) -> bool:
        return self.to_dict() == other.to_dict() if isinstance(other, Metrics) else NotImplemented

    def __hash__(self) -> int:
        return hash((self.start_ps, self.end_ps, self.packets_generated, self.latency_sum_ps))

    @property
    def saturated(self) -> bool | None:
        """Whether the network did not keep up: less than 95 % of what hosts offered in the second half of the window
        was accepted, and the times of messages do not explain the shortfall (`dragonfly_env.metrics.stationarity`); or
        a host is sent more than its link takes (`destination_load_max` above 1). Packets that a full source queue lost
        or held back count as offered. None for closed-loop traffic, and in a window of too few messages.
        """
        if self.messages is not None:
            return None
        if is_overloaded(self.destination_load_max):
            return True
        return None if (half := self.second_half) is None else is_saturated([half])

    @property
    def stationary(self) -> bool | None:
        """Whether the mean latencies of the window's halves differ by at most 10 %, and the packets in the system do
        not become more in the second half. If not, the warm-up was too short, the traffic changes, or the network is
        near saturation or saturated. None if that is not known: for closed-loop traffic, and for fewer than 200 packets
        in a half.
        """
        if self.messages is not None or self.middle is None or (half := self.second_half) is None:
            return None
        steady = has_equal_latencies(self.middle, self.end_mark)
        return steady and not is_growing([half])

    @property
    def second_half(self) -> Half | None:
        """Counts from about the middle of the window to its end; None if the middle was not noted."""
        if self.middle is None:
            return None
        middle, end = self.middle, self.end_mark
        generated, lost = end.generated - middle.generated, end.lost - middle.lost
        delivered = end.delivered - middle.delivered
        offered = float(generated + lost)
        if self.arrivals.stalls and not math.isnan(self.demanded_load):
            hosts_ns = self.topology.num_hosts * (end.time_ps - middle.time_ps) / PS_PER_NS
            offered = max(offered, self.demanded_load * hosts_ns / self.network.packet_time_ns)
        message = self.arrivals.message_packets
        return Half(
            offered=offered,
            delivered=delivered,
            held_before=self.packets_in_flight - generated + delivered,
            held_after=self.packets_in_flight,
            message_packets=message,
            in_phase_packets=message * self.topology.num_hosts if self.arrivals.in_phase else 0,
        )

    @property
    def second_half_offered(self) -> float:
        """Packets that hosts offered in the second half of the window, with those that a full source queue lost or held
        back; NaN if the middle of the window was not noted.
        """
        return math.nan if (half := self.second_half) is None else half.offered

    @property
    def second_half_delivered(self) -> float:
        """Packets delivered in the second half of the window; NaN if the middle was not noted."""
        return math.nan if (half := self.second_half) is None else half.delivered

    @property
    def middle_in_flight(self) -> float:
        """Packets in the system in the middle of the window, source queues included; NaN if it was not noted."""
        return math.nan if (half := self.second_half) is None else half.held_before

    @property
    def fitting_window_ns(self) -> float:
        """The window in which hosts offer what the traffic demands, within 5 %; NaN if this window does so, and if it
        is not known.
        """
        demanded = self.demanded_load
        if not self.arrivals.is_steady or self.saturated or not demanded > 0.0:
            return math.nan
        if abs(self.offered_load - demanded) <= OFFERED_WITHIN * demanded:
            return math.nan
        message_ns = self.arrivals.message_packets * self.network.packet_time_ns / demanded
        return self.arrivals.fitting_window_ns(message_ns, self.topology.num_hosts, self.duration_ns)

    @property
    def end_mark(self) -> Mark:
        """Counts up to the end of the window; `middle` has the counts up to its middle."""
        counts = (self.packets_generated, self.packets_lost, self.packets_delivered, self.latency_sum_ps)
        return Mark(self.end_ps, *counts)

    @property
    def duration_ns(self) -> float:
        """Length of the window."""
        return (self.end_ps - self.start_ps) / PS_PER_NS

    @property
    def packets_in_flight(self) -> int:
        """Packets generated and not delivered at the moment of the snapshot, source queues included."""
        return self.packets_in_network + self.packets_in_source_queues

    @property
    def packets_in_system_mean(self) -> float:
        """Packets generated and not delivered, source queues included, on average over the window."""
        return (
            self.packet_time_ps / (self.end_ps - self.start_ps) if self.end_ps > self.start_ps else math.nan
        )

    @property
    def score(self) -> float:
        """Minus the time that all packets spent in the system in the window, in packet-microseconds. By Little's law
        the higher score has the lower latency at the same load; a network that delivers less gets the lower one.
        """
        return -self.packet_time_ps / 1e6

    @property
    def offered_load(self) -> float:
        """Generated load, lost packets included. Below the configured load if generators stalled. Closed loop:
        what programs gave to source queues.
        """
        return self._load(self.packets_generated + self.packets_lost, self.topology.num_hosts)

    @property
    def accepted_load(self) -> float:
        """Delivered load."""
        return self._load(self.packets_delivered, self.topology.num_hosts)

    @property
    def latency_mean_ns(self) -> float:
        """Mean time from generation at the host, source queue included, to the arrival of the last bit."""
        return self._per_packet(self.latency_sum_ps) / PS_PER_NS

    @property
    def network_latency_mean_ns(self) -> float:
        """Mean time from leaving the source queue to the arrival of the last bit."""
        return self._per_packet(self.network_latency_sum_ps) / PS_PER_NS

    @property
    def latency_min_ns(self) -> float:
        """The shortest latency, exact."""
        return self.latency_min_ps / PS_PER_NS if self.packets_delivered else math.nan

    @property
    def latency_max_ns(self) -> float:
        """The longest latency, exact."""
        return self.latency_max_ps / PS_PER_NS if self.packets_delivered else math.nan

    def latency_percentile_ns(self, q: float) -> float:
        """The smallest latency that at least ``q`` percent of the delivered packets do not exceed.

        From a histogram: within 0.2 % of the exact value, below 32 ns within 0.064 ns; q = 0 and q = 100 are exact.

        Args:
            q: 0 to 100, in percent.

        Raises:
            ConfigError: If ``q`` is out of range.

        Example:
            >>> config = dfe.SimulationConfig(topology="72", load=0.2)
            >>> metrics = dfe.simulate(config, measure_ns=5_000)
            >>> metrics.latency_percentile_ns(100) == metrics.latency_max_ns
            True
        """
        extremes = (float(self.latency_min_ps), float(self.latency_max_ps))
        return percentile_ps(q, self.latency_histogram, self.latency_bucket_ps, *extremes) / PS_PER_NS

    @property
    def makespan_ns(self) -> float:
        """Closed loop: from time 0 to the end of the last task, which is the completion of the last message unless a
        program computes after it. A trace: from time 0 to its last delivery, from the next whole microsecond on. It
        does not depend on ``reset_statistics``. NaN while the workload or the trace is not complete, and for traffic
        without an end.
        """
        if self.messages is not None:
            return self.messages.makespan_ns
        return self.trace_end_ps / PS_PER_NS if self.trace_end_ps >= 0 else math.nan

    @property
    def message_latency_mean_ns(self) -> float:
        """Closed loop: mean time from a message's entry into the source queue to the arrival of its last bit, of the
        messages completed in the window. NaN if there are none, and for open-loop traffic.
        """
        return self.messages.latency_mean_ns if self.messages is not None else math.nan

    def message_latency_percentile_ns(self, q: float) -> float:
        """Closed loop: the smallest latency that at least ``q`` percent of the completed messages do not exceed, within
        0.2 %, below 32 ns within 0.064 ns. NaN if there are none, and for open-loop traffic.

        Args:
            q: 0 to 100, in percent.

        Raises:
            ConfigError: If ``q`` is out of range.
        """
        percent = check_real("q", q, 0.0, 100.0, unit="percent")
        return self.messages.latency_percentile_ns(percent) if self.messages is not None else math.nan

    @property
    def hops_mean(self) -> float:
        """Mean number of links between routers that delivered packets crossed."""
        return self._per_packet(self.hops_sum)

    @property
    def minimal_fraction(self) -> float:
        """Fraction of delivered packets that took no non-minimal path: every hop was on a shortest path by the direct
        link of the two groups. A third group makes a path non-minimal even where it has no more hops, whether chosen
        port by port or as a path.
        """
        return self._per_packet(self.minimal_delivered)

    @property
    def router_accepted_load(self) -> FloatArray:
        """(num_routers,) load that left the source queues of each router's hosts into the network; NaN for routers
        without hosts.
        """
        return self._loads(self.router_injected, self.topology.hosts_of_routers())

    @property
    def group_accepted_load(self) -> FloatArray:
        """(g,) load that left the source queues of each group's hosts into the network."""
        groups = self.topology.group_of_routers()
        return self._loads(
            *(
                np.bincount(groups, weights=of_routers)
                for of_routers in (self.router_injected, self.topology.hosts_of_routers())
            )
        )

    @property
    def fairness(self) -> Fairness:
        """Spread of ``router_accepted_load`` over the routers with hosts."""
        return Fairness.of(self.router_accepted_load[self.topology.hosts_of_routers() > 0])

    @property
    def group_fairness(self) -> Fairness:
        """Spread of ``group_accepted_load``."""
        return Fairness.of(self.group_accepted_load)

    @property
    def ports(self) -> PortTable:
        """Packets and stalls of every connected port, in both directions; totals ``.by("group", "kind")``."""
        return self.counters.ports

    @property
    def link_classes(self) -> dict[str, PortTotals]:
        """Totals of what ports sent, by class of link (``Dragonfly.link_classes``)."""
        sent = self.ports.of(direction="out")
        return {kind: sent[sent.kind == kind].totals() for kind in self.topology.link_classes}

    @property
    def hosts(self) -> HostTable:
        """Packets and latencies by sending host (``SimulationConfig.host_latency``)."""
        return self.counters.hosts

    @property
    def time_series(self) -> dict[str, npt.NDArray[Any]] | None:
        """Columns with one row per bin of ``series_bin_ns``; None if the configuration did not set it.

        ``time_ns`` (start of the bin), ``duration_ns`` (the window may cut the first and the last bin short; what
        happens at its very end is in the last one), ``injected`` and ``injected_load`` (packets that left their source
        queue), ``delivered`` and ``accepted_load``, ``latency_mean_ns`` and ``hops_mean`` (of the packets delivered in
        the bin; NaN if there are none), ``generated_latency_mean_ns`` (of those generated in it and delivered since).
        """
        if self.series is None:
            return None
        # An empty window has no bins, although it lies in one.
        last_ps = self.end_ps if self.end_ps > self.start_ps else self.series_start_ps
        bins = max(0, -(-(last_ps - self.series_start_ps) // self.series_bin_ps))
        names = ("generated", "delivered", "latency_sum_ps", "hops_sum", "arrived", "arrived_latency_sum_ps")
        injected, delivered, latency_sum_ps, hops_sum, arrived, arrived_sum_ps = (
            in_bins(self.series[name], bins) for name in names
        )
        begin_ps = self.series_start_ps + np.arange(bins, dtype=np.int64) * self.series_bin_ps
        inside_ps = np.maximum(begin_ps, self.start_ps)
        width_ns = (np.minimum(begin_ps + self.series_bin_ps, self.end_ps) - inside_ps) / PS_PER_NS
        per_packet = 1.0 / np.where(delivered > 0, delivered, math.nan)
        to_load = self.network.packet_time_ns / (self.topology.num_hosts * width_ns)
        return {
            "time_ns": begin_ps / PS_PER_NS,
            "duration_ns": width_ns,
            "injected": injected,
            "injected_load": injected * to_load,
            "delivered": delivered,
            "accepted_load": delivered * to_load,
            "latency_mean_ns": latency_sum_ps * per_packet / PS_PER_NS,
            "hops_mean": hops_sum * per_packet,
            "generated_latency_mean_ns": arrived_sum_ps
            / np.where(arrived > 0, arrived, math.nan)
            / PS_PER_NS,
        }

    @property
    def group_latency_mean_ns(self) -> FloatArray | None:
        """(g, g) mean latency by source and destination group, NaN where there is none; None without
        ``group_latency``.
        """
        if self.group_latency_sum_ps is None or self.group_delivered is None:
            return None
        packets = np.where(self.group_delivered > 0, self.group_delivered, math.nan)
        return np.asarray(self.group_latency_sum_ps / (packets * PS_PER_NS), np.float64)

    def to_dict(self) -> dict[str, int | float | None]:
        """Every figure that is one number, or yes or no, for JSON or a table; None where there is no value."""
        row: dict[str, int | float | None] = {name: getattr(self, name) for name in _FIGURES}
        row |= {f"latency_p{q:g}_ns".replace(".", "_"): self.latency_percentile_ns(q) for q in _PERCENTILES}
        row |= {name: getattr(self, name) for name in _MORE_FIGURES}
        row |= {
            "messages_delivered": None if self.messages is None else self.messages.delivered,
            "message_latency_mean_ns": self.message_latency_mean_ns,
            "message_latency_p50_ns": self.message_latency_percentile_ns(50),
            "message_latency_p99_ns": self.message_latency_percentile_ns(99),
            "message_latency_max_ns": self.message_latency_percentile_ns(100),
        }
        for prefix, fairness in (("router", self.fairness), ("group", self.group_fairness)):
            row[f"{prefix}_accepted_load_min"] = fairness.min
            row[f"{prefix}_accepted_load_max"] = fairness.max
            row[f"{prefix}_fairness_jain"] = fairness.jain
        for kind, totals in self.link_classes.items():
            prefix = kind.replace("-", "_")
            row |= {
                f"{prefix}_link_{name}": getattr(totals, of_ports) for name, of_ports in _LINK_FIGURES.items()
            }
        return {
            name: None if isinstance(value, float) and math.isnan(value) else value
            for name, value in row.items()
        }

    def __repr__(self) -> str:
        warning = ", SATURATED" if self.saturated else ", not stationary" if self.stationary is False else ""
        return (
            f"<Metrics of {self.duration_ns:g} ns: offered {self.offered_load:.4f}, "
            f"accepted {self.accepted_load:.4f}, {self.packets_delivered} packets "
            f"in {self.latency_mean_ns:.1f} ns and {self.hops_mean:.3f} hops on average{warning}>"
        )

    def _load(self, packets: int, hosts: int) -> float:
        if self.duration_ns <= 0:
            return math.nan
        return packets * (self.network.packet_time_ns / (hosts * self.duration_ns))

    def _loads(self, packets: IntArray | FloatArray, hosts: IntArray | FloatArray) -> FloatArray:
        if self.duration_ns <= 0:
            return np.full(len(packets), math.nan)
        of_one = self.network.packet_time_ns / (np.where(hosts > 0, hosts, math.nan) * self.duration_ns)
        return np.asarray(packets * of_one, np.float64)

    def _per_packet(self, total: int) -> float:
        return total / self.packets_delivered if self.packets_delivered else math.nan

"""`COLUMNS`: every column of results, once: its name, type and unit, and a sentence.

The file of a run has all columns in this order. So results of different sweeps have one schema, and pandas, Polars,
pyarrow and DuckDB read several of them together.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

_TYPES = {
    "text": pa.string(),
    "truth value": pa.bool_(),
    "integer": pa.int64(),
    "integer, unsigned": pa.uint64(),
    "number": pa.float64(),
    "integers": pa.list_(pa.int64()),
    "numbers": pa.list_(pa.float64()),
    "numbers, 32 bits": pa.list_(pa.float32()),
}


@dataclass(frozen=True, slots=True)
class Column:
    """A column of results.

    Attributes:
        part: The heading of the page of columns above it.
        name: Its name.
        type: Its type, a key of `_TYPES`. A value that is not known is null.
        unit: Its unit; empty: a number without a unit, or no number.
        doc: The meaning of a value, in one sentence.
    """

    part: str
    name: str
    type: str
    unit: str
    doc: str

    def __post_init__(self) -> None:
        assert self.type in _TYPES, self.name


def _columns(part: str, rows: str) -> list[Column]:
    """Columns of a table of text: name, type, unit and sentence, separated by bars."""
    lines = [line.split("|", 3) for line in rows.strip().splitlines()]
    return [Column(part, *(field.strip() for field in line)) for line in lines]


_RUN = _columns(
    "The run",
    """
    run_id | text | | Sixteen hexadecimal digits that follow from all settings of the run.
    policy | text | | Label of the routing policy.
    traffic | text | | Label of the traffic.
    load | number | of the host links | Configured load; 1 for traffic that has no load.
    seed | integer, unsigned | | Seed of all random numbers.
    warmup_ns | number | ns | Simulated time before the measured window.
    measure_ns | number | ns | Configured length of the window.
    injection | text | | Process by which hosts generate messages.
    message_packets | integer | packets | Packets of a message; 1 for a trace, whose messages have sizes of their own.
    num_hosts | integer | hosts | Hosts of the system.
    topology_p | integer | hosts | Hosts of each router.
    topology_a | integer | routers | Routers of each group.
    topology_h | integer | ports | Global ports of each router.
    topology_g | integer | groups | Groups.
    topology_arrangement | text | | Arrangement of the global links.
    topology_trunking | integer | links | Parallel global links between two groups.
    topology_group | text | | Shape of the groups.
    topology_failed | text | | Dead links and routers, and degraded links, if any.
    topology_wiring | text | | List of the links between groups, if any: its file or digest.
    """,
)
_WINDOW = _columns(
    "The measured window",
    """
    duration_ns | number | ns | Length of the window.
    offered_load | number | of the host links | Generated load, lost packets included.
    accepted_load | number | of the host links | Delivered load.
    demanded_load | number | of the host links | Load that the traffic demands in the second half of the window.
    destination_load_max | number | of a host link | Load that the traffic sends to the host that receives most.
    saturated | truth value | | Whether the network did not keep up in the second half of the window.
    stationary | truth value | | Whether the halves have the same mean latency, and queues do not grow.
    fitting_window_ns | number | ns | Window in which hosts offer what the traffic demands; null if this window does.
    second_half_offered | number | packets | Packets offered in the second half of the window.
    second_half_delivered | number | packets | Packets delivered in the second half of the window.
    middle_in_flight | number | packets | Packets in the system in the middle of the window.
    packets_generated | integer | packets | Packets that entered a source queue.
    packets_lost | integer | packets | Packets that a full source queue turned away.
    packets_injected | integer | packets | Packets that left a source queue.
    packets_delivered | integer | packets | Packets whose last bit reached the destination host.
    packets_in_network | integer | packets | Packets between source queue and destination at the end.
    packets_in_source_queues | integer | packets | Packets in source queues at the end.
    packets_in_flight | integer | packets | Packets in the system at the end, source queues included.
    packet_hops | integer | hops | Links between routers, and links to hosts, that packets crossed.
    packets_in_system_mean | number | packets | Mean number of packets in the system, source queues included.
    score | number | packet-µs | Minus the time that all packets spent in the system.
    latency_mean_ns | number | ns | Mean latency, source queue included.
    latency_min_ns | number | ns | Shortest latency.
    latency_p50_ns | number | ns | Median latency.
    latency_p95_ns | number | ns | 95th percentile of latency.
    latency_p99_ns | number | ns | 99th percentile of latency.
    latency_p99_9_ns | number | ns | 99.9th percentile of latency.
    latency_max_ns | number | ns | Longest latency.
    network_latency_mean_ns | number | ns | Mean latency from leaving the source queue on.
    hops_mean | number | hops | Mean number of links between routers per delivered packet.
    minimal_fraction | number | of packets | Delivered packets that took no non-minimal path.
    makespan_ns | number | ns | Time to complete closed-loop traffic, jobs or a trace.
    messages_delivered | integer | messages | Completed messages of closed-loop traffic and jobs.
    message_latency_mean_ns | number | ns | Mean latency of these messages.
    message_latency_p50_ns | number | ns | Median latency of these messages.
    message_latency_p99_ns | number | ns | 99th percentile of latency of these messages.
    message_latency_max_ns | number | ns | Longest latency of these messages.
    router_accepted_load_min | number | of the host links | Smallest load that left the source queues of a router.
    router_accepted_load_max | number | of the host links | Largest load that left the source queues of a router.
    router_fairness_jain | number | | Jain's index of these loads over routers.
    group_accepted_load_min | number | of the host links | Smallest load that left the source queues of a group.
    group_accepted_load_max | number | of the host links | Largest load that left the source queues of a group.
    group_fairness_jain | number | | Jain's index of these loads over groups.
    """,
)
LINK_CLASSES = {
    "host": "from routers to hosts",
    "local": "between routers of a full-mesh group",
    "global": "between full-mesh groups",
    "rank_1": "in the rows of grid groups",
    "rank_2": "in the columns of grid groups",
    "rank_3": "between grid groups",
}
"""Classes of links as columns name them, and where these links are."""
_LINKS = [
    column
    for kind, where in LINK_CLASSES.items()
    for column in _columns(
        "Links by class",
        f"""
        {kind}_link_links | integer | links | Links {where}.
        {kind}_link_packets | integer | packets | Packets sent on links {where}.
        {kind}_link_flits | integer | flits | Flits sent on links {where}.
        {kind}_link_utilisation_mean | number | of the time | Mean share of the time in which links {where} were busy.
        {kind}_link_utilisation_max | number | of the time | Largest such share of links {where}.
        {kind}_link_stall_fraction_mean | number | of the time | Mean share of the time without credits, links {where}.
        {kind}_link_stall_fraction_max | number | of the time | Largest such share, links {where}.
        {kind}_link_stalls | number | flit times | Time without credits in times of a flit, links {where}.
        """,
    )
]
_MORE = _columns(
    "Columns of results alone",
    """
    latency_p1_ns | number | ns | 1st percentile of latency.
    latency_p5_ns | number | ns | 5th percentile of latency.
    latency_p25_ns | number | ns | 25th percentile of latency.
    latency_p75_ns | number | ns | 75th percentile of latency.
    latency_p90_ns | number | ns | 90th percentile of latency.
    router_accepted_load | numbers, 32 bits | of the host links | Load that left the source queues of each router.
    link_router | integers | | Router from which each directed link leaves.
    link_port | integers | | Port of this router.
    link_utilisation | numbers, 32 bits | of the time | Share of the time in which each link was busy.
    link_stall_fraction | numbers, 32 bits | of the time | Share of the time in which each port lacked credits.
    hop_histogram | integers | packets | Delivered packets by hops between routers, from 0 on.
    histogram_latency_ns | numbers, 32 bits | ns | Middle of each bucket of latency that holds packets.
    histogram_packets | integers | packets | Delivered packets of each of these buckets.
    series_time_ns | numbers | ns | Begin of each bin of the time series.
    series_duration_ns | numbers | ns | Length of each bin inside the window.
    series_injected | integers | packets | Packets that left a source queue in each bin.
    series_injected_load | numbers | of the host links | Load that left the source queues in each bin.
    series_delivered | integers | packets | Packets delivered in each bin.
    series_accepted_load | numbers | of the host links | Load delivered in each bin.
    series_latency_mean_ns | numbers | ns | Mean latency of the packets delivered in each bin.
    series_hops_mean | numbers | hops | Mean hops of the packets delivered in each bin.
    series_generated_latency_mean_ns | numbers | ns | Mean latency of the packets generated in each bin.
    series_generated_latency_q1_ns | numbers | ns | Lower quartile of these latencies, with a log of packets.
    series_generated_latency_q3_ns | numbers | ns | Upper quartile of these latencies, with a log of packets.
    group_latency_mean_ns | numbers | ns | Mean latency by source group and destination group, row by row.
    source_router_load | numbers, 32 bits | of the host links | Delivered load of each router's hosts, with a log.
    source_router_path_loads | numbers, 32 bits | of the host links | This load by kind of path, router by router.
    tiles | text | | Counters of the machine's tiles by class, as JSON; with jobs.
    jobs | text | | Jobs with hosts, times and operations, as JSON.
    job_run_time_ns | numbers | ns | Run time of each job.
    job_mpi_share | numbers | of the run time | Share of its run time that each job spent in MPI operations.
    slowdown_packets | integers | packets | Least packets of the messages in each class of sizes, a power of two.
    slowdown_messages | integers | messages | Complete messages of programs in each class.
    slowdown_p50 | numbers | | Median over the class of a message's latency over its time alone in the network.
    slowdown_p99 | numbers | | 99th percentile of this slowdown in each class.
    slowdown_late_packets | integers | packets | Packets that came after a later packet of their message.
    reordered_fraction | number | of packets | Share of the packets of programs that came so.
    reordering_distance | integer | packets | Largest distance of such a packet to the last one before it.
    host_stall_ns | numbers, 32 bits | ns | Time in which each host lacked credits, with jobs and a log.
    nic_latency_ns | numbers, 32 bits | ns | Mean latencies of hosts in each window, with jobs and a log.
    """,
)
_PROVENANCE = _columns(
    "Where the run was made",
    """
    package_version | text | | Version of the package.
    threads | integer | threads | Threads of the core; results do not depend on them.
    trace_hash | text | | Hash over every delivery since time 0: equal hashes mean equal histories.
    platform | text | | Operating system.
    machine | text | | Processor, and the number of processors.
    python_version | text | | Version of Python.
    date | text | | When the run ended.
    wall_seconds | number | s | Time that the run took.
    cpu_seconds | number | CPU-s | Processor time that the run took.
    measured_cpu_seconds | number | CPU-s | Processor time of the measured window.
    packet_hops_per_cpu_s | number | hops per CPU-s | Speed in the measured window.
    agent | text | | Agent or class in Python that decided.
    agent_sha256 | text | | Digest of its file.
    configuration | text | | All settings of the run, as JSON.
    """,
)

COLUMNS = (*_RUN, *_WINDOW, *_LINKS, *_MORE, *_PROVENANCE)
"""Every column of results, in the order of files."""
SCHEMA = pa.schema([(column.name, _TYPES[column.type]) for column in COLUMNS])
"""The schema of every file of results."""
_ROW = pa.struct(list(SCHEMA))


def table_of(row: Mapping[str, Any]) -> pa.Table:
    """Make a table of one row, with the columns that it lacks null."""
    assert row.keys() <= set(SCHEMA.names), row.keys() - set(SCHEMA.names)
    return pa.Table.from_struct_array(pa.array([row], _ROW))

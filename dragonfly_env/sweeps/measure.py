"""Doing one run: simulate, and turn what was measured into one row with its provenance. Of jobs it has their times, the
tiles of their routers, and what their hosts saw.
"""

from __future__ import annotations

import json
import math
import os
import platform
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timezone
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

import dragonfly_env as dfe
from dragonfly_env.agents.evaluation import join
from dragonfly_env.batch_policy import BatchPolicy
from dragonfly_env.checks.values import PS_PER_NS, ns_to_ps
from dragonfly_env.jobs import BackgroundMix, Job
from dragonfly_env.metrics import Metrics
from dragonfly_env.metrics.ports import PortTable
from dragonfly_env.metrics.stationarity import Marks
from dragonfly_env.metrics.tables import known
from dragonfly_env.simulation.config import SimulationConfig
from dragonfly_env.simulation.path_kinds import PATH_KINDS
from dragonfly_env.sweeps.point import Run

PERCENTILES = (1, 5, 25, 75, 90)
"""Percentiles of latency that a row has next to those of `Metrics.to_dict`: enough for a box plot."""

_PARTS = 50  # parts of a run with a progress bar
_ROUNDING = 1e-9  # times in ns are whole ps, in binary
_SHORTEST_PART_PS = 1000 * PS_PER_NS


class AgentSimulation:
    """A network whose packets a policy in Python routes from time 0 on.

    The ``policy`` of the configuration decides nothing.

    Attributes:
        watch: Called with the simulated time in ns after every batch of decisions, if it is not None.
    """

    def __init__(self, config: SimulationConfig, policy: BatchPolicy) -> None:
        self.watch: Callable[[float], None] | None = None
        self._config = config
        self._policy = policy
        self._env, self._acting = join(config, policy, duration_ns=1.0)
        self._started = False
        self._marks = Marks()
        self._window_ps = 0  # start of the window

    @property
    def time_ns(self) -> float:
        """The simulated time."""
        return self._env.time_ns

    def run(self, duration_ns: float) -> None:
        """Advance the simulated time; ``run(a)`` and ``run(b)`` equal ``run(a + b)``. A workload ends the run at its
        completion, and nothing happens after that.
        """
        if duration_ns == 0.0:
            return
        now_ps = ns_to_ps("time_ns", self.time_ns) if self._started else 0
        for piece_ps in self._marks.pieces(self._window_ps, now_ps, ns_to_ps("duration_ns", duration_ns)):
            if self._config.ends and not math.isnan(self._env.metrics().makespan_ns):
                return
            self._run(piece_ps / PS_PER_NS)
            now_ps += piece_ps
            if self._marks.is_due(self._window_ps, now_ps):
                self._marks.note(self._env.metrics().end_mark)

    def _run(self, duration_ns: float) -> None:
        if self._started:
            batch = self._env.extend(duration_ns)
        else:
            self._env, self._acting = join(self._config, self._policy, duration_ns=duration_ns)
            batch = self._env.reset(seed=self._config.seed)
            self._started = True
        while not self._env.done:
            batch = self._env.step(self._acting.act(batch))
            if self.watch is not None:
                self.watch(self._env.time_ns)

    def reset_statistics(self) -> None:
        """Forget what was counted so far."""
        self._env.reset_statistics()
        self._marks.clear()
        self._window_ps = ns_to_ps("time_ns", self.time_ns) if self._started else 0

    def packet_log(self) -> dict[str, npt.NDArray[Any]]:
        """See ``Simulation.packet_log``."""
        return self._env.packet_log()

    def metrics(self) -> Metrics:
        """Counts since the last ``reset_statistics``."""
        metrics = self._env.metrics()
        return replace(metrics, middle=self._marks.middle(self._window_ps, metrics.end_ps))

    def trace_hash(self) -> int:
        """A hash over every delivery since time 0."""
        return self._env.trace_hash()


Runnable: TypeAlias = dfe.Simulation | AgentSimulation


def simulation_of(run: Run) -> Runnable:
    """Make the simulation of a run: the core alone, or the batched environment with an agent."""
    if run.agent is None:
        return dfe.Simulation(run.config)
    return AgentSimulation(run.config, run.agent.load())


def simulate_run(
    run: Run, *, to_completion: bool = False, progress: Callable[[float], None] | None = None
) -> tuple[Runnable, Metrics, dict[str, Any]]:
    """Simulate one run and return the simulation at its end, its metrics and their provenance.

    Args:
        run: The run; closed-loop traffic and jobs run to their completion within the window.
        to_completion: Whether a trace does, too.
        progress: Called now and then with the fraction done; the result is the same with and without.
    """
    begin_wall, begin_cpu = time.perf_counter(), time.process_time()
    simulation = simulation_of(run)
    warmup_ps = ns_to_ps("warmup_ns", run.warmup_ns)
    whole_ps = warmup_ps + ns_to_ps("measure_ns", run.measure_ns)
    if progress is not None and isinstance(simulation, AgentSimulation):
        simulation.watch = lambda time_ns: progress(min(1.0, time_ns * PS_PER_NS / whole_ps))
    _advance(simulation, 0, warmup_ps, whole_ps, progress)
    if warmup_ps > 0:  # without a warm-up, packets of time 0 belong to the window
        simulation.reset_statistics()
    begin_measured_cpu = time.process_time()
    if (run.closed_loop or to_completion) and isinstance(simulation, dfe.Simulation):
        _complete(simulation, whole_ps - warmup_ps, progress)
    else:
        _advance(simulation, warmup_ps, whole_ps, whole_ps, progress)
    end_cpu = time.process_time()
    measured_cpu = end_cpu - begin_measured_cpu
    metrics = simulation.metrics()
    provenance = {
        "run_id": run.id,
        "package_version": dfe.__version__,
        "configuration": run.configuration,
        "seed": run.config.seed,
        "threads": run.config.threads,
        "trace_hash": f"{simulation.trace_hash():016x}",
        "platform": platform.platform(),
        "machine": machine(),
        "python_version": platform.python_version(),
        "date": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "wall_seconds": time.perf_counter() - begin_wall,
        "cpu_seconds": end_cpu - begin_cpu,
        "measured_cpu_seconds": measured_cpu,
        "packet_hops_per_cpu_s": metrics.packet_hops / measured_cpu if measured_cpu > 0 else None,
    }
    if run.agent is not None:
        provenance |= {"agent": run.agent.spec, "agent_sha256": run.agent.sha256}
    return simulation, metrics, provenance


def measure(run: Run, *, progress: Callable[[float], None] | None = None) -> dict[str, Any]:
    """Simulate one run, see `simulate_run`: its row, with columns as in `row_of`."""
    simulation, metrics, provenance = simulate_run(run, progress=progress)
    row = row_of(run, metrics, provenance)
    if run.arrays and run.config.packet_log and isinstance(simulation, dfe.Simulation):
        log = simulation.packet_log()
        row |= _loads_of_sources(run, log, metrics)
        if metrics.time_series is not None:
            row |= _generated_quartiles(log, metrics.time_series, run.config.series_bin_ns or math.inf)
        if metrics.jobs:
            row |= host_columns(run.config, log)
    return row


def _advance(
    simulation: Runnable, begin_ps: int, end_ps: int, whole_ps: int, progress: Callable[[float], None] | None
) -> None:
    """Go on from one time to another: at once, or part by part if progress is to be shown.

    An agent decides about batches, and a batch ends where a run is cut. An agent may draw random numbers batch by
    batch, so its run is not cut for the sake of progress: it reports progress between batches.
    """
    part_ps = max(whole_ps // _PARTS, _SHORTEST_PART_PS)
    if progress is None or isinstance(simulation, AgentSimulation):
        part_ps = end_ps
    while begin_ps < end_ps:  # whole picoseconds: sums of times in ns may never come to the end
        next_ps = min(begin_ps + part_ps, end_ps)
        simulation.run((next_ps - begin_ps) / PS_PER_NS)
        begin_ps = next_ps
        if progress is not None:
            progress(begin_ps / whole_ps)


def _complete(simulation: dfe.Simulation, limit_ps: int, progress: Callable[[float], None] | None) -> None:
    """Run a workload to its completion or to the limit: at once, or part by part if progress is to be shown. The parts
    follow from the simulated run alone: they get longer until one of them delivers a fiftieth of all packets.
    """
    part_ps = limit_ps if progress is None else _SHORTEST_PART_PS
    share, complete = 0.0, False
    while limit_ps > 0 and not complete:
        part_ps = min(part_ps, limit_ps)
        complete = not math.isnan(simulation.run_to_completion(part_ps / PS_PER_NS).makespan_ns)
        limit_ps -= part_ps
        if progress is not None:
            before, share = share, simulation.progress()
            progress(share)
            if share - before < 1 / _PARTS:
                part_ps *= 2


def row_of(run: Run, metrics: Metrics, provenance: Mapping[str, Any]) -> dict[str, Any]:
    """Row of the results table.

    Columns: what varies (policy, traffic, load, seed); the settings; everything of `Metrics.to_dict`; more
    percentiles; arrays (see `arrays_of`), if they are kept; the times of jobs (`jobs_columns`); the provenance, with
    the speed in packet-hops (between routers, plus the delivery to the host) per CPU-second of the measured part.
    """
    topology = run.config.topology
    return {
        "run_id": run.id,
        "policy": run.policy_label,
        "traffic": run.traffic_label,
        "load": run.load,
        "seed": run.config.seed,
        "warmup_ns": run.warmup_ns,
        "measure_ns": run.measure_ns,
        "injection": run.config.injection,
        "message_packets": run.config.arrivals.message_packets,
        "num_hosts": topology.num_hosts,
        **{
            f"topology_{key}": str(getattr(topology, key)) if isinstance(value, dict) else value
            for key, value in topology.to_dict().items()
        },
        **metrics.to_dict(),
        **{f"latency_p{q}_ns": known(metrics.latency_percentile_ns(q)) for q in PERCENTILES},
        **(arrays_of(metrics) if run.arrays else {}),
        **jobs_columns(metrics, run.config.jobs),
        **slowdown_columns(metrics),
        **{key: value for key, value in provenance.items() if key not in ("run_id", "seed", "configuration")},
        "configuration": json.dumps(run.configuration, sort_keys=True, ensure_ascii=False),
    }


def arrays_of(metrics: Metrics) -> dict[str, Any]:
    """Results that are no single number.

    Returns:
        ``router_accepted_load`` (num_routers,); ``link_router``, ``link_port``, ``link_utilisation`` and
        ``link_stall_fraction`` (L,), one entry per directed link that leaves a router; ``hop_histogram``;
        ``histogram_latency_ns`` and ``histogram_packets``, the buckets of latency that hold packets; and, if
        configured, ``series_*``, one entry per bin, and ``group_latency_mean_ns`` (g*g,), source group by
        destination group. With jobs ``tiles``, the counters of the machine, as JSON (`tile_sums`).
    """
    links = metrics.ports.of(direction="out")
    filled = np.flatnonzero(metrics.latency_histogram)
    arrays: dict[str, Any] = {
        "router_accepted_load": metrics.router_accepted_load.astype(np.float32),
        "link_router": links.router.astype(np.int32),
        "link_port": links.port.astype(np.int32),
        "link_utilisation": links.utilisation.astype(np.float32),
        "link_stall_fraction": links.stall_fraction.astype(np.float32),
        "hop_histogram": metrics.hop_histogram,
        "histogram_latency_ns": (metrics.latency_bucket_ps[filled] / 1000.0).astype(np.float32),
        "histogram_packets": metrics.latency_histogram[filled],
    }
    for name, values in (metrics.time_series or {}).items():
        arrays[f"series_{name}"] = values
    if metrics.jobs:
        arrays["tiles"] = json.dumps(tile_sums(metrics.ports))
    if metrics.group_latency_mean_ns is not None:
        arrays["group_latency_mean_ns"] = metrics.group_latency_mean_ns.ravel()
    return arrays


def _loads_of_sources(
    run: Run, log: Mapping[str, npt.NDArray[Any]], metrics: Metrics
) -> dict[str, npt.NDArray[np.float32]]:
    """Delivered load of each router's hosts, as a fraction of their links; NaN for routers without hosts.

    Next to ``router_accepted_load``, which counts what left the source queues: deep injection buffers go on accepting
    for long after the network has stopped to.

    Returns:
        ``source_router_load`` (num_routers,), and ``source_router_path_loads`` (num_routers * len(PATH_KINDS),), the
        same by the kind of path, router by router.
    """
    topology = run.config.topology
    row = topology.router_of_hosts()[log["src"]] * len(PATH_KINDS) + log["path_kind"]
    by_kind = np.bincount(row, minlength=topology.num_routers * len(PATH_KINDS))
    hosts = topology.hosts_of_routers()
    per_packet = run.config.network.packet_time_ns / (
        np.where(hosts > 0, hosts, math.nan) * metrics.duration_ns
    )
    packets = by_kind.reshape(-1, len(PATH_KINDS)).sum(axis=1)
    return {
        "source_router_load": (packets * per_packet).astype(np.float32),
        "source_router_path_loads": (by_kind * per_packet.repeat(len(PATH_KINDS))).astype(np.float32),
    }


def _generated_quartiles(
    log: Mapping[str, npt.NDArray[Any]], series: Mapping[str, npt.NDArray[Any]], bin_ns: float
) -> dict[str, npt.NDArray[np.float64]]:
    """``series_generated_latency_q1_ns`` and ``_q3_ns``: (bins,) quartiles of the latencies of the packets generated in
    each bin and delivered since; NaN if there are none.
    """
    starts = np.asarray(series["time_ns"], np.float64)
    found = {name: np.full(len(starts), math.nan) for name in ("q1", "q3")}
    if len(starts):
        bins = np.floor((log["created_ns"] - starts[0]) / bin_ns + _ROUNDING).astype(np.int64)
        order = np.argsort(bins, kind="stable")
        latency_ns = (log["delivered_ns"] - log["created_ns"])[order]
        edges = np.searchsorted(bins[order], np.arange(len(starts) + 1))
        for number, (low, high) in enumerate(pairwise(edges)):
            if high > low:
                found["q1"][number], found["q3"][number] = np.quantile(latency_ns[low:high], (0.25, 0.75))
    return {f"series_generated_latency_{name}_ns": values for name, values in found.items()}


def machine() -> str:
    """The processor's name where the system tells it, and the number of processors."""
    name = platform.processor() or platform.machine()
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as lines:  # noqa: PTH123 - a kernel interface, not a file
            models = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
            name = next(models, name)
    except OSError:
        pass
    return f"{name}, {os.cpu_count()} processors"


NIC_WINDOW_NS = 10_000.0
"""Time over which a host's latencies are averaged; operators' counters average over a second."""


def tile_sums(ports: PortTable) -> dict[str, dict[str, float]]:
    """Columns of each class of tiles: their number, flits received, stalls, and the stalls of the worst tile."""
    totals = {kind: tiles.totals() for kind, tiles in ports.tiles().items()}
    return {
        kind: {
            "tiles": total.ports,
            "flits": total.flits,
            "stalls": total.stalls,
            "most_stalls": total.stalls_max,
        }
        for kind, total in totals.items()
    }


def jobs_columns(metrics: Metrics, jobs: Sequence[Job | BackgroundMix] = ()) -> dict[str, Any]:
    """``job_run_time_ns`` and ``job_mpi_share``, in the order of jobs, NaN where there is none; and ``jobs``, all of
    them as JSON: ``JobMetrics.to_dict``, with the number of groups that each spans, its local view, the ``tiles`` of
    its routers (`tile_sums`), and the ``placement`` of those that the configuration lists. Jobs of a mix come after
    them. Nothing without jobs.
    """
    if not metrics.jobs:
        return {}
    group_of_hosts = metrics.topology.group_of_routers()[metrics.topology.router_of_hosts()]
    placements = [job.placement for job in jobs if isinstance(job, Job)]
    described = []
    for number, job in enumerate(metrics.jobs):
        groups = np.unique(group_of_hosts[np.asarray(job.hosts, np.int64)])
        described.append({**job.to_dict(), "groups": len(groups), "tiles": tile_sums(job.ports)})
        if number < len(placements):
            placement = placements[number]
            described[-1]["placement"] = placement if isinstance(placement, str) else "listed hosts"
    return {
        "job_run_time_ns": np.array([job.run_time_ns for job in metrics.jobs]),
        "job_mpi_share": np.array([job.mpi_share for job in metrics.jobs]),
        "jobs": json.dumps(described),
    }


def slowdown_columns(metrics: Metrics) -> dict[str, Any]:
    """Columns of `SlowdownTable`, and what it says of reordering; nothing without it."""
    table = metrics.slowdowns
    if table is None:
        return {}
    return {
        "slowdown_packets": table.packets,
        "slowdown_messages": table.messages,
        "slowdown_p50": table.slowdown_p50,
        "slowdown_p99": table.slowdown_p99,
        "slowdown_late_packets": table.late_packets,
        "reordered_fraction": known(table.reordered_fraction),
        "reordering_distance": table.reordering_distance,
    }


def host_columns(
    config: SimulationConfig, log: Mapping[str, npt.NDArray[Any]]
) -> dict[str, npt.NDArray[np.float32]]:
    """Columns of hosts, from a log of all packets.

    Returns:
        ``host_stall_ns`` (num_hosts,): for how long each had a packet and a free link, but no credit for the buffer of
        its router; and ``nic_latency_ns`` (n,): means over the packets of a host that were delivered in one of
        the windows of ``NIC_WINDOW_NS``, from leaving the host to delivery.
    """
    hosts = config.topology.num_hosts
    order = np.lexsort((log["number"], log["src"]))
    source, created, injected = (log[name][order] for name in ("src", "created_ns", "injected_ns"))
    ready = np.maximum(created[1:], injected[:-1] + config.network.injection_packet_time_ns)
    follows = source[1:] == source[:-1]
    waited = np.where(follows, np.maximum(injected[1:] - ready, 0.0), 0.0)
    stalls = np.bincount(source[1:].astype(np.int64), weights=waited, minlength=hosts)
    window = (log["delivered_ns"] // NIC_WINDOW_NS).astype(np.int64)
    window -= window.min(initial=0)
    cell = log["src"].astype(np.int64) + hosts * window
    packets = np.bincount(cell)
    latency = np.bincount(cell, weights=log["delivered_ns"] - log["injected_ns"])
    filled = packets > 0
    return {
        "host_stall_ns": stalls.astype(np.float32),
        "nic_latency_ns": (latency[filled] / packets[filled]).astype(np.float32),
    }

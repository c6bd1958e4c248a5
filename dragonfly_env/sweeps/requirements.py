"""What runs need, known before the first of them: virtual channels, memory and sizes are checked without building a
network; and how long they take: rough numbers of packet-hops, and the speed of this machine, measured in a fraction of
a second. Policies in Python are not estimated: how fast they are is not known before one of their runs is done.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass

from dragonfly_env import _core
from dragonfly_env.checks.values import MAX_RUN_NS, config_error, ns_to_ps
from dragonfly_env.config.groups import ALL_TO_ALL
from dragonfly_env.config.network import NetworkConfig
from dragonfly_env.config.topology import Dragonfly
from dragonfly_env.errors import ConfigError
from dragonfly_env.jobs import BackgroundMix, Job, Motif, Program
from dragonfly_env.jobs.compiled import compile_program
from dragonfly_env.jobs.parse import RegisteredJob
from dragonfly_env.jobs.program import PAPER_SHARES
from dragonfly_env.jobs.workload import expand_jobs
from dragonfly_env.metrics.series import check_series
from dragonfly_env.simulation import Simulation
from dragonfly_env.simulation.config import SimulationConfig
from dragonfly_env.sweeps.measure import simulation_of
from dragonfly_env.sweeps.progress import spell_seconds
from dragonfly_env.sweeps.run import Run
from dragonfly_env.traffic import Silence

PROCESS_BYTES = 200_000_000
"""Of Python and what a run imports, without its network."""
_MOST_NAMED = 3
_PACKETS_OF_HOST = 20  # under way from it, on the average of a network that keeps up
_PACKET_BYTES = 64


@dataclass(frozen=True, slots=True)
class Requirements:
    """What a run takes.

    Attributes:
        partitions: That the core simulates on their own.
        memory_bytes: Of a process that does it.
    """

    partitions: int
    memory_bytes: int


class Checks:
    """Checks runs; what depends on the policy, the network and the system alone is worked out once."""

    def __init__(self) -> None:
        self._known: dict[Hashable, Requirements | ConfigError] = {}

    def check(self, run: Run) -> Requirements:
        """What a run needs.

        Raises:
            ConfigError: If it cannot be done: the policy lacks virtual channels, the network does not fit into the
                memory, an agent was made for another network, or the run or its time series is too long.
        """
        key = _what_counts(run)
        if key not in self._known:
            try:
                self._known[key] = _requirements_of(run)
            except ConfigError as error:
                self._known[key] = error
        found = self._known[key]
        if isinstance(found, ConfigError):
            raise ConfigError(str(found))
        _check_length(run, found)
        return found


def check_runs(runs: Iterable[Run]) -> list[Requirements]:
    """What runs need, in their order.

    Raises:
        ConfigError: If some cannot be done: how many, and for each reason the first one.
    """
    checks = Checks()
    needed: list[Requirements] = []
    reasons: dict[str, tuple[str, int]] = {}
    count = 0
    for run in runs:
        count += 1
        try:
            needed.append(checks.check(run))
        except ConfigError as error:
            first, times = reasons.get(str(error), (run.describe(), 0))
            reasons[str(error)] = (first, times + 1)
    if not reasons:
        return needed
    impossible = sum(times for _, times in reasons.values())
    named = [f"{first}: {reason}" for reason, (first, _) in [*reasons.items()][:_MOST_NAMED]]
    if len(reasons) > _MOST_NAMED:
        named.append(f"and {len(reasons) - _MOST_NAMED} more reasons")
    raise ConfigError(f"{impossible} of {count} runs cannot be done: " + "; ".join(named))


def fitting_workers(needed: Sequence[Requirements], workers: int, *, given: bool) -> int:
    """How many runs at a time fit into the memory of this machine, at most ``workers``.

    Args:
        needed: Of every run.
        workers: How many are wanted.
        given: The user set the number: fewer are an error.

    Raises:
        ConfigError: See ``given``.
    """
    there = machine_bytes()
    largest = sorted((one.memory_bytes for one in needed), reverse=True)
    fitting = 1
    while fitting < min(workers, len(largest)) and sum(largest[: fitting + 1]) <= there:
        fitting += 1
    if fitting < min(workers, len(largest)):
        if given:
            taken = sum(largest[:workers])
            allowed = f"must be at most {fitting}: together they would take {spell_bytes(taken)} of memory, and this "
            raise config_error("workers", workers, f"{allowed}machine has {spell_bytes(there)}")
        return fitting
    return workers


def memory_of(needed: Sequence[Requirements], workers: int) -> int:
    """Bytes that so many runs at a time take, if they are the largest."""
    return sum(sorted((one.memory_bytes for one in needed), reverse=True)[:workers])


def machine_bytes() -> int:
    """The memory of this machine."""
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def spell_processes(count: int) -> str:
    """``"1 process"``."""
    return f"{count} process{'es' if count > 1 else ''}"


def spell_bytes(count: float) -> str:
    """``"0.2 GB"``."""
    return f"{count / 1e9:,.0f} GB" if count >= 9.95e9 else f"{count / 1e9:.1f} GB"


def _what_counts(run: Run) -> Hashable:
    """Two runs that agree in this need the same channels and memory."""
    config = run.config
    own = tuple(
        (job.policy, job.all_to_all_policy, None if isinstance(job, BackgroundMix) else job.hosts)
        for job in config.jobs
    )
    recorded = (config.source_queue_packets, config.group_latency, config.host_latency)
    names = (run.policy_label, run.traffic_label, run.agent, own)
    return (*names, config.topology, config.network, config.policy_object, recorded)


def _requirements_of(run: Run) -> Requirements:
    config = run.config
    if run.agent is not None:
        simulation_of(run)
    try:
        found = _core.requirements(config.to_core())
    except ConfigError as error:
        raise ConfigError(f"{error}{_channels_of(config)}" if "vcs" in str(error) else str(error)) from None
    light = config.topology.num_hosts * _PACKETS_OF_HOST * _PACKET_BYTES
    packets = min(found["most_packet_bytes"], light)
    return Requirements(found["partitions"], PROCESS_BYTES + found["network_bytes"] + packets)


def _channels_of(config: SimulationConfig) -> str:
    """How many virtual channels the policy of a run needs."""
    policy = config.policy_object
    if config.jobs:  # may have others
        return ""
    local, glob = _core.required_vcs(
        config.topology.to_core(), policy.name, policy.core_parameters(), config.network.vc_scheme
    )
    return f"; {policy.name} needs local_vcs={local} and global_vcs={glob} here"


def _check_length(run: Run, needed: Requirements) -> None:
    if run.closed_loop:  # it hardly ever lasts as long as it may
        return
    end_ns = run.warmup_ns + run.measure_ns
    if end_ns > MAX_RUN_NS:
        raise config_error("measure_ns", run.measure_ns, f"the clock ends at {MAX_RUN_NS:g} ns")
    if run.config.series_bin_ns is not None:
        check_series(run.config.series_bin_ns, needed.partitions, ns_to_ps("measure_ns", end_ns))


_NS_PER_US = 1000.0
_HOPS_OF_JOBS = 6.0  # with the last one to the host: in a full machine about half of the packets go around
_MOST_HOSTS = 1056  # of the system on which the speed is measured
_MOST_NETWORKS = 4


def packet_hops(run: Run) -> float:
    """A rough number of the packet-hops (deliveries included) that a run simulates."""
    config = run.config
    if config.jobs and run.closed_loop:
        until_ns, of_jobs = _of_jobs(run)
        return of_jobs + _of_traffic(run, min(run.warmup_ns + until_ns, run.warmup_ns + run.measure_ns))
    if run.closed_loop:  # about one packet from every host to every other; the longest time says nothing
        return config.topology.num_hosts**2 * (_hops(run) + 1.0)
    return _of_traffic(run, run.warmup_ns + run.measure_ns)


def _of_traffic(run: Run, duration_ns: float) -> float:
    """Those of open-loop traffic."""
    config = run.config
    if isinstance(config.traffic_object, Silence):
        return 0.0
    steps = getattr(config.traffic_object, "steps", None)
    load = run.load
    if steps:
        starts = [float(step[0]) for step in steps]
        ends = [*starts[1:], duration_ns]
        load = sum(
            float(step[2]) * max(0.0, end - start)
            for step, start, end in zip(steps, starts, ends, strict=True)
        ) / max(duration_ns, 1.0)
    packets = config.topology.num_hosts * load * duration_ns / config.network.packet_time_ns
    return packets * (_hops(run) + 1.0)


def _of_jobs(run: Run) -> tuple[float, float]:
    """How long jobs take, and their packet-hops: for as long as the longest that ends would take if it were alone, all
    send as if they were.
    """
    config = run.config
    alone = [(job, *_iteration(run, job)) for job in expand_jobs(config.jobs, config.topology, config.seed)]
    until_ns = max(
        (
            job.start_ns - run.warmup_ns + job.iterations * iteration_ns
            for job, iteration_ns, _ in alone
            if not job.is_endless
        ),
        default=run.measure_ns,
    )
    packets = 0.0
    for job, iteration_ns, of_iteration in alone:
        iterations = (run.warmup_ns + until_ns - job.start_ns) / max(iteration_ns, 1.0)
        packets += of_iteration * min(iterations, math.inf if job.is_endless else job.iterations)
    return until_ns, packets * _HOPS_OF_JOBS


def _iteration(run: Run, job: Job) -> tuple[float, float]:
    """How long an iteration of a job takes, and how many packets it has."""
    network, program, hosts = run.config.network, job.program, job.num_hosts
    if isinstance(program, Motif):
        bytes_of_host = program.bytes_per_host(hosts)
        iteration_ns = program.gap(hosts) / (1.0 - PAPER_SHARES[program.name])
        return iteration_ns, hosts * bytes_of_host / network.message_bytes_of_packet
    each = hosts if isinstance(program, RegisteredJob) else _packets_of_host(program, hosts, network)
    return each * network.packet_time_ns, float(hosts * each)


def _packets_of_host(program: Program, hosts: int, network: NetworkConfig) -> int:
    return compile_program(program, hosts, network.message_bytes_of_packet).script.most_packets


def _hops(run: Run) -> float:
    """Mean hops, as measured on the paper's systems, rounded."""
    name = run.config.policy_object.name
    if name == "min":
        return 2.7 if run.traffic_label == "uniform" or run.closed_loop else 0.5  # the rest waits
    if name in ("val-n", "vlb-lgl"):
        return 5.5
    return 3.2 if run.traffic_label.startswith(("uniform", "random", "many")) else 4.5


def core_speed(run: Run) -> float:
    """Packet-hops per second of one core with the network and the policy of a run, here and now: a simulation that
    takes a fraction of a second.
    """
    config = run.config
    topology = config.topology
    if topology.num_hosts > _MOST_HOSTS and topology.group == ALL_TO_ALL:
        topology = Dragonfly.preset(str(_MOST_HOSTS))
    simulation = Simulation(
        SimulationConfig(
            topology=topology, network=config.network, policy=config.policy, traffic="uniform", load=0.5
        )
    )
    simulation.run(2 * _NS_PER_US)
    hops, begin = simulation.metrics().packet_hops, time.perf_counter()
    simulation.run(10 * _NS_PER_US)
    return max(1.0, (simulation.metrics().packet_hops - hops) / max(time.perf_counter() - begin, 1e-6))


def estimate_seconds(runs: Sequence[Run], workers: int) -> float:
    """A rough wall-clock time for runs in the core, so many at a time."""
    if not runs:
        return 0.0
    speeds: dict[NetworkConfig, float] = {}
    costs = []
    for run in runs:
        network = run.config.network
        if network not in speeds:
            many = len(speeds) >= _MOST_NETWORKS
            speeds[network] = sum(speeds.values()) / len(speeds) if many else core_speed(run)
        threads = min(run.config.threads, os.cpu_count() or 1)
        costs.append(packet_hops(run) / speeds[network] / threads)
    return max(sum(costs) / min(workers, len(runs)), max(costs))


def in_the_core(runs: Sequence[Run]) -> list[Run]:
    """Those without an agent."""
    return [run for run in runs if run.agent is None]


def about(runs: Sequence[Run], workers: int) -> str:
    """How long runs may take, for people: those of the core, and apart from them those that decide in Python."""
    native = in_the_core(runs)
    parts = []
    if native:
        seconds = max(1.0, estimate_seconds(native, workers))
        parts.append(f"about {spell_seconds(seconds)} with {spell_processes(workers)}")
    for label in dict.fromkeys(run.policy_label for run in runs if run.agent is not None):
        count = sum(run.agent is not None and run.policy_label == label for run in runs)
        runs_of = f"{count} run{'s' if count > 1 else ''} of {label} in Python"
        parts.append(f"{runs_of}: known when the first has ended")
    return "; ".join(parts)


EXPORT_HINT = (
    "policies in Python take many times longer than those of the core; a trained network runs in the core when it is "
    "exported: agent.export_mlp(FILE), or MlpNetwork.save(FILE), then mlp:weights=FILE"
)

"""How long runs take: rough numbers of packet-hops, and the speed of this machine, measured in a fraction of a second.

Policies in Python are not estimated: nobody knows how fast they are before one of their runs has ended.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Sequence

from dragonfly_env.config.groups import ALL_TO_ALL
from dragonfly_env.config.network import NetworkConfig
from dragonfly_env.config.topology import Dragonfly
from dragonfly_env.jobs import Job, Motif, Program
from dragonfly_env.jobs.compiled import compile_program
from dragonfly_env.jobs.gaps import PAPER_SHARES
from dragonfly_env.jobs.registered import RegisteredJob
from dragonfly_env.jobs.workload import expand_jobs
from dragonfly_env.simulation import Simulation
from dragonfly_env.simulation.config import SimulationConfig
from dragonfly_env.sweeps.progress import spell_seconds
from dragonfly_env.sweeps.requirements import spell_processes
from dragonfly_env.sweeps.run import Run
from dragonfly_env.traffic import Silence

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

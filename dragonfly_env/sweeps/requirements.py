"""The requirements of runs, known before the first of them: virtual channels, memory and sizes are checked without
building a network.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass

import joblib

from dragonfly_env import _core
from dragonfly_env.checks.values import MAX_RUN_NS, config_error, ns_to_ps
from dragonfly_env.errors import ConfigError
from dragonfly_env.jobs import BackgroundMix
from dragonfly_env.metrics.series import check_series
from dragonfly_env.simulation.config import SimulationConfig
from dragonfly_env.sweeps.measure import simulation_of
from dragonfly_env.sweeps.run import Run

PROCESS_BYTES = 200_000_000
"""Of Python and what a run imports, without its network."""
_MOST_NAMED = 3
_PACKETS_OF_HOST = 20  # under way from it, on the average of a network that keeps up
_PACKET_BYTES = 64


@dataclass(frozen=True, slots=True)
class Requirements:
    """The requirements of a run.

    Attributes:
        partitions: Parts of the network that the core simulates on their own.
        memory_bytes: Memory of a process that does the run.
    """

    partitions: int
    memory_bytes: int


def check_run(run: Run, known: dict[Hashable, Requirements | ConfigError] | None = None) -> Requirements:
    """The requirements of a run; `ConfigError` if it is impossible: the policy lacks virtual channels, the network does
    not fit into the memory, an agent was made for another network, or the run or its time series is too long. ``known``
    keeps what depends on the policy, the network and the system alone.
    """
    known = {} if known is None else known
    key = _what_counts(run)
    if key not in known:
        try:
            known[key] = _requirements_of(run)
        except ConfigError as error:
            known[key] = error
    found = known[key]
    if isinstance(found, ConfigError):
        raise ConfigError(str(found))
    _check_length(run, found)
    return found


def check_runs(runs: Iterable[Run]) -> list[Requirements]:
    """The requirements of runs, in their order; `ConfigError` if some are impossible: how many, and for each reason the
    first one.
    """
    known: dict[Hashable, Requirements | ConfigError] = {}
    needed: list[Requirements] = []
    reasons: dict[str, tuple[str, int]] = {}
    count = 0
    for run in runs:
        count += 1
        try:
            needed.append(check_run(run, known))
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


def fitting_workers(needed: Sequence[Requirements], workers: int | None, threads: int) -> int:
    """The number of runs at a time: one per ``threads`` processors, or fewer if they would not fit into the memory of
    this machine. ``workers``: the number that the user set instead; `ConfigError` if it does not fit.
    """
    wanted = min(workers or max(1, joblib.cpu_count() // threads), max(1, len(needed)))
    there = machine_bytes()
    largest = sorted((one.memory_bytes for one in needed), reverse=True)[:wanted]
    fitting = max(1, sum(together <= there for together in itertools.accumulate(largest)))
    if workers is not None and fitting < wanted:
        taken = f"{spell_bytes(sum(largest))} of memory, and this machine has {spell_bytes(there)}"
        raise config_error("workers", workers, f"must be at most {fitting}: together they would take {taken}")
    return fitting


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
        config.topology.to_core(), policy.name, policy.to_core()["parameters"], config.network.vc_scheme
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

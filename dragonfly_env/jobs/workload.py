"""Several jobs next to each other: placed, compiled and handed to the core."""

from __future__ import annotations

import dataclasses
import functools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from dragonfly_env import _core
from dragonfly_env.checks.values import check_items, config_error, ns_to_ps
from dragonfly_env.config.topology import Dragonfly
from dragonfly_env.errors import ConfigError
from dragonfly_env.jobs.job import Job
from dragonfly_env.jobs.mix import NAME, BackgroundMix, parse_mix
from dragonfly_env.jobs.parse import RegisteredJob
from dragonfly_env.jobs.placement import Machine
from dragonfly_env.jobs.program import Program
from dragonfly_env.metrics.operations import ANY_OPERATION, ITERATION, JobInfo
from dragonfly_env.policy import Policy, parse_policy

MOST_POLICIES = 255
"""Distinct policies that the jobs of a run may have next to the run's."""
_MOST_PACKETS_OF_HOST = 2**32 - 1


@dataclasses.dataclass(frozen=True, slots=True)
class PlacedJob:
    """A job with its hosts: rank i lives on ``hosts[i]``.

    Attributes:
        job: The job.
        hosts: Its hosts, in the order of its ranks.
        operation_names: Names of the measured operations.

    Example:
        >>> config = dfe.SimulationConfig(topology="72", jobs=["milc:hosts=4"])
        >>> placed = config.placed_jobs()[0]
        >>> placed.job.title, placed.hosts
        ('milc on 4 hosts', (0, 1, 2, 3))
    """

    job: Job
    hosts: tuple[int, ...]
    operation_names: tuple[str, ...]

    @property
    def info(self) -> JobInfo:
        """Return the job's description for metrics."""
        job = self.job
        return JobInfo(
            name=job.name,
            program=job.program.spec,
            hosts=self.hosts,
            start_ps=ns_to_ps("start_ns", job.start_ns),
            endless=job.is_endless,
            operation_names=self.operation_names,
        )


@contextmanager
def _named(job: str) -> Iterator[None]:
    """Add the name of the job to errors inside the block."""
    try:
        yield
    except ConfigError as error:
        text = str(error)
        if text.startswith(job):
            raise
        separator = (
            "." if re.match(r"[\w\[\]]+ =", text) else ": "
        )  # a field of the job, or a place in its file
        raise ConfigError(f"{job}{separator}{text}") from None


def parse_jobs(jobs: object) -> tuple[Job | BackgroundMix, ...]:
    """Jobs as objects, given as such, as tables or as strings."""
    if jobs is None:
        return ()
    parsed: list[Job | BackgroundMix] = []
    for index, item in enumerate(check_items("jobs", jobs, "must be a list of jobs")):
        with _named(f"jobs[{index}]"):
            parsed.append(_parse_job(f"jobs[{index}]", item))
            if index and isinstance(parsed[index - 1], BackgroundMix):
                raise config_error(
                    f"jobs[{index - 1}]", NAME, "must be the last, as it fills what others leave"
                )
    return tuple(parsed)


def _parse_job(field: str, item: object) -> Job | BackgroundMix:
    if isinstance(item, (Job, BackgroundMix)):
        return item
    if isinstance(item, str):
        return parse_mix(item) if item.strip().partition(":")[0] == NAME else Job.parse(item)
    if isinstance(item, Mapping):
        return (BackgroundMix if item.get("program") == NAME else Job).from_dict(item)
    allowed = "must be a Job, a table of its fields, or a string such as 'milc:hosts=32'"
    raise config_error(field, item, allowed)


def expand_jobs(jobs: Sequence[Job | BackgroundMix], topology: Dragonfly, seed: int) -> tuple[Job, ...]:
    """The jobs themselves, those of a mix at the end."""
    plain = [job for job in jobs if isinstance(job, Job)]
    taken = sum(job.num_hosts for job in plain)
    for mix in jobs:
        if isinstance(mix, BackgroundMix):
            plain += mix.jobs(topology, taken, seed)
    return tuple(plain)


def resolved_jobs(
    jobs: Sequence[Job | BackgroundMix], topology: Dragonfly, seed: int
) -> list[dict[str, Any]]:
    """Inputs of a result that are not in the jobs themselves: programs with their defaults and calibrated
    computing times, and what a mix has drawn. Another version of these is another run.
    """
    return [
        {
            "program": job.program.resolved(job.num_hosts),
            "hosts": job.num_hosts,
            "placement": list(job.placement) if isinstance(job.placement, tuple) else job.placement,
            "start_ns": job.start_ns,
        }
        for job in expand_jobs(jobs, topology, seed)
    ]


def place_jobs(
    jobs: Sequence[Job], topology: Dragonfly, seed: int, packet_bytes: int
) -> tuple[PlacedJob, ...]:
    """Every job with its hosts, its program compiled."""
    seeds = (seed if job.seed is None else job.seed for job in jobs)
    wanted = tuple(
        (job.program, job.num_hosts, job.placement, job_seed)
        for job, job_seed in zip(jobs, seeds, strict=True)
    )
    placed = []
    for index, (job, hosts) in enumerate(zip(jobs, _hosts(wanted, topology), strict=True)):
        with _named(f"jobs[{index}]"):
            placed.append(PlacedJob(job, hosts, _measured(job, packet_bytes)))
    return tuple(placed)


@functools.lru_cache(maxsize=128)
def _hosts(
    jobs: Sequence[tuple[Program, int, str | tuple[int, ...], int]], topology: Dragonfly
) -> tuple[tuple[int, ...], ...]:
    """The hosts of jobs, each with its program, number of hosts, placement and seed. Runs that differ in their policies
    alone share them.
    """
    machine = Machine(topology)
    taken: dict[int, list[int]] = {}
    for index, (program, count, placement, seed) in sorted(
        enumerate(jobs), key=lambda item: not isinstance(item[1][2], tuple)
    ):
        name = f"jobs[{index}]"
        if isinstance(placement, tuple):
            taken[index] = machine.take_listed(name, placement)
            continue
        places = machine.take(name, index, placement, count, seed)
        hosts = [0] * len(places)
        for rank, host in zip(program.rank_order(len(places), seed), places, strict=True):
            hosts[rank] = host
        taken[index] = hosts
    return tuple(tuple(taken[index]) for index in range(len(jobs)))


def _measured(job: Job, packet_bytes: int) -> tuple[str, ...]:
    """The operations of a job that are measured."""
    if isinstance(job.program, RegisteredJob):
        _core.check_program(job.program.pattern, job.num_hosts, packet_bytes)
        return ()
    graph = job.program.graph(job.num_hosts)
    packets = graph.most_packets(packet_bytes)
    if not job.is_endless and job.iterations * packets > _MOST_PACKETS_OF_HOST:
        most = _MOST_PACKETS_OF_HOST // packets
        raise config_error(
            "iterations", job.iterations, f"must be at most {most}: a host may send 2^32 packets"
        )
    return (ITERATION, *graph.measured, *([ANY_OPERATION] if graph.nests else []))


class JobPolicies:
    """The policies that jobs bring along: each once, numbered from 1; 0 is the run's.

    Args:
        jobs: Jobs of the run.
        policy: The run's.

    Attributes:
        known: All of them; the first is the run's.
        numbers: Numbers of two policies per job: for its usual packets, and for its all-to-all operations.
    """

    def __init__(self, jobs: Sequence[Job], policy: Policy) -> None:
        self.known = [policy]
        self._fields = [""]
        self.numbers: list[tuple[int, int]] = []
        for index, job in enumerate(jobs):
            usual = self._number(f"jobs[{index}].policy", job.policy, 0)
            self.numbers.append(
                (usual, self._number(f"jobs[{index}].all_to_all_policy", job.all_to_all_policy, usual))
            )

    def _number(self, field: str, policy: object, otherwise: int) -> int:
        if policy is None:
            return otherwise
        parsed = parse_policy(policy)
        if parsed not in self.known:
            if len(self.known) > MOST_POLICIES:
                allowed = f"must be one of at most {MOST_POLICIES} distinct policies that the jobs of a run may have"
                raise config_error(field, policy, allowed)
            self.known.append(parsed)
            self._fields.append(field)
        return self.known.index(parsed)

    def to_core(self) -> list[_core.PolicyRecord]:
        """All but the run's, as the core takes them."""
        pairs = zip(self._fields[1:], self.known[1:], strict=True)
        return [{"field": field, **policy.to_core()} for field, policy in pairs]


def job_source(
    placed: Iterable[PlacedJob],
    topology: Dragonfly,
    *,
    background: _core.Source | None,
    policies: Sequence[tuple[int, int]],
    seed: int,
    packet_bytes: int,
    packet_flits: int,
) -> _core.Source:
    """Make the source of jobs; hosts without a job send the background traffic."""
    rows: list[dict[str, Any]] = []
    for index, (placed_job, numbers) in enumerate(zip(placed, policies, strict=True)):
        job = placed_job.job
        row: dict[str, Any] = {
            "hosts": list(placed_job.hosts),
            "start_ps": ns_to_ps("start_ns", job.start_ns),
            "policies": list(numbers),
            "packet_bytes": packet_bytes,
            "packet_flits": packet_flits,
        }
        if isinstance(job.program, RegisteredJob):
            row["program"] = job.program.pattern
        else:
            row["program"] = job.program.graph(job.num_hosts)
            row["jitter"] = job.program.jitter
            row["piece_packets"] = max(1, job.program.piece() // packet_bytes)
            row["iterations"] = 0 if job.is_endless else job.iterations
            row["seed"] = seed if job.seed is None else job.seed
            row["number"] = index
        rows.append(row)
    return _core.job_source(topology.to_core(), background, rows)

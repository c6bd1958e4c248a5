"""`Point`, a simulation up to its seed, and `Run`, a point with its seed: what is simulated, stored and found again."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, TypeAlias

from dragonfly_env import _core
from dragonfly_env.checks.values import MAX_RUN_NS, check_real
from dragonfly_env.jobs import Job
from dragonfly_env.jobs.parse import RegisteredJob
from dragonfly_env.jobs.workload import resolved_jobs
from dragonfly_env.policy import Policy
from dragonfly_env.simulation.config import SimulationConfig
from dragonfly_env.simulation.window import check_window
from dragonfly_env.traffic import Traffic
from dragonfly_env.traffic.base import ClosedLoop
from dragonfly_env.training.agents import AgentSource

# Rules of the model that were changed under the same name. A stored result of the former rule must not be taken for one
# of today's: whoever changes what a name stands for raises its number here, and every run that uses it has another id.
# New parameters need no number: they are in the id already.
REVISIONS = {
    "all-to-all": 2,  # paced by the host's injection rate
    "graph500": 2,  # paced by the host's injection rate
    "acor": 2,  # its level counts failed attempts
    "pb-acor": 2,  # its level counts failed attempts
    "round-robin": 2,  # input and output arbiters, two rounds a cycle
    "transit-first-round-robin": 2,  # input and output arbiters, two rounds a cycle
}
"""Programs, policies and arbitrations by name; 1 where there is none."""


def revisions_of(config: SimulationConfig) -> dict[str, int]:
    """Return the entries of `REVISIONS` that a configuration uses."""
    return {name: REVISIONS[name] for name in sorted({*_names(config)}) if name in REVISIONS}


def _names(config: SimulationConfig) -> Iterator[str]:
    yield config.network.arbitration
    yield config.policy_object.name
    traffic = config.traffic_object
    if isinstance(traffic, ClosedLoop):
        yield traffic.core_spec()[0]
    for job in config.jobs:
        program = getattr(job, "program", None)
        if isinstance(program, RegisteredJob):
            yield _core.parse_pattern(program.pattern)[0]
        for policy in (getattr(job, "policy", None), getattr(job, "all_to_all_policy", None)):
            if policy is not None:
                yield policy if isinstance(policy, str) else policy.name


# Names of fields, and names among their values, when the published results were made: identifiers of runs keep them.
_PUBLISHED_NAMES = {
    "congestion_metric": "weighed",
    "nonminimal_avoid_destination_group": "detours_avoid_destination_group",
}
_PUBLISHED_NAMES_OF_NETWORKS = {**_PUBLISHED_NAMES, "congestion_metric": "paths_weighed_by"}
_PUBLISHED_VALUES = {("decide_at", "retry-same-paths"): "attempt-same-path"}
# Parameters of policies that are younger than the published results, with the value that these results have:
# identifiers of runs leave them out there.
_YOUNGER = {
    **dict.fromkeys(("ugal-g", "ugal-n", "par"), ("congestion_metric", "port")),
    **dict.fromkeys(("pb", "pb-acor"), ("weights", "double")),
}

_YOUNGER_SETTINGS = {"message_slowdown": False}
"""Settings of a run that are younger, in the same way."""


def with_published_names(values: Any, names: Mapping[str, str] = _PUBLISHED_NAMES) -> Any:
    """Settings with fields and values named as in the published results."""
    if isinstance(values, dict):
        younger = _YOUNGER.get(values.get("name", ""))
        published = {}
        for name, value in values.items():
            if (name, value) == younger:
                continue
            if isinstance(value, str) and (name, value) in _PUBLISHED_VALUES:
                known: Any = _PUBLISHED_VALUES[name, value]
            else:
                known = with_published_names(
                    value, _PUBLISHED_NAMES_OF_NETWORKS if name == "network" else names
                )
            published[names.get(name, name)] = known
        return published
    if isinstance(values, (list, tuple)):
        return [with_published_names(value, names) for value in values]
    return values


_MOST_NAMED_JOBS = 3
_PLACES = frozenset({"path", "file", "weights", "agent"})


def without_places(values: Any) -> Any:
    """Settings without the places and names of what is known by its SHA-256: traces, programs of jobs, weights of
    networks, agents and classes of your own.
    """
    if isinstance(values, dict):
        left = values.keys() - (_PLACES if "sha256" in values else ())
        return {name: without_places(value) for name, value in values.items() if name in left}
    if isinstance(values, (list, tuple)):
        return [without_places(value) for value in values]
    return values


def files_of(runs: Iterable[Run]) -> dict[str, str]:
    """The SHA-256 of every file that runs depend on, by its place."""
    files: dict[str, str] = {}

    def collect(values: Any) -> None:
        if isinstance(values, dict):
            if "sha256" in values:
                files.update({str(values[place]): values["sha256"] for place in _PLACES & values.keys()})
            collect(list(values.values()))
        elif isinstance(values, (list, tuple)):
            for value in values:
                collect(value)

    # Loads and seeds name no files.
    for run in {(run.policy_label, run.traffic_label, run.config.jobs): run for run in runs}.values():
        collect(run.configuration)
    return files


@dataclass(frozen=True, kw_only=True)
class Point:
    """Run of one configuration, measured in one window: a simulation up to its seed. Open loops, closed loops and
    jobs are configurations, not kinds of points.

        point = Point(config=config, policy_label="min", traffic_label="uniform", warmup_ns=50_000, measure_ns=100_000)
        run_all([point], Path("results/mine"), seeds=(1, 2, 3))

    Attributes:
        config: The simulation; its seed counts in a `Run` alone.
        policy_label: The policy in tables and figures.
        traffic_label: The traffic in tables and figures.
        warmup_ns: Simulated time before statistics are reset. No job that ends starts earlier.
        measure_ns: Simulated time that is measured; closed-loop traffic: the longest, to its completion.
        arrays: Keep results per router, per link and per time bin.
        agent: Agent that decides instead of the configuration's policy, through the batched environment.
        placements: Placements of the listed jobs, not of a mix: the next one for each seed, in turn. Empty: as in
            the configuration.

    Raises:
        ConfigError: For a time out of range, or if the window would miss a job, or its begin.

    Example:
        >>> from dragonfly_env.sweeps import Point
        >>> point = Point(
        ...     config=dfe.SimulationConfig(topology="72", load=0.2),
        ...     policy_label="min",
        ...     traffic_label="uniform",
        ...     warmup_ns=1_000,
        ...     measure_ns=2_000,
        ... )
        >>> point.load, point.closed_loop, point.run(seed=3).config.seed
        (0.2, False, 3)
    """

    config: SimulationConfig
    policy_label: str
    traffic_label: str
    warmup_ns: float
    measure_ns: float
    arrays: bool = True
    agent: AgentSource | None = None
    placements: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("warmup_ns", "measure_ns"):
            check_real(name, getattr(self, name), 0.0, MAX_RUN_NS, unit="ns")
        check_window(self.config, self.warmup_ns, self.measure_ns)

    def run(self, seed: int) -> Run:
        """The point with a seed; `ConfigError` if a job does not fit with it."""
        config = self.config
        if self.placements:
            placement = self.placements[(seed - 1) % len(self.placements)]
            jobs = tuple(
                job.replace(placement=placement)
                if isinstance(job, Job) and job.placement != placement
                else job
                for job in config.jobs
            )
            if jobs != config.jobs:
                config = config.replace(jobs=jobs, seed=seed)
        if config.seed != seed:
            config = config.replace(seed=seed)
        of_point = {field.name: getattr(self, field.name) for field in fields(Point)}
        return Run(**{**of_point, "config": config, "placements": ()})

    @property
    def load(self) -> float:
        """Offered load as a fraction of the host link's bandwidth; of a schedule: its first; 1 of closed-loop traffic,
        traces and demands in bytes, which have none.
        """
        traffic = self.config.traffic_object
        steps = getattr(traffic, "steps", None)
        if steps:
            return float(steps[0][2])
        return 1.0 if offers_itself(traffic) else self.config.load

    @property
    def closed_loop(self) -> bool:
        """Whether it ends when its workload is complete."""
        return self.config.ends

    @property
    def work(self) -> float:
        """A rough measure of the cost, by which runs are ordered: the offered traffic in host-ns; for closed-loop
        traffic as if every host sent two packets to every other.
        """
        if self.closed_loop:
            return 2.0 * self.config.topology.num_hosts**2 * self.config.network.packet_time_ns
        return self.config.topology.num_hosts * (self.warmup_ns + self.measure_ns) * self.load


AnyPolicy: TypeAlias = Policy | AgentSource
"""A policy of the core, or the source of an agent, a learner or a class in Python."""


def split_policy(policy: AnyPolicy) -> tuple[Policy, AgentSource | None]:
    """The policy of a configuration, and what decides instead: behind an agent the policy decides nothing."""
    return (Policy("min"), policy) if isinstance(policy, AgentSource) else (policy, None)


def offers_itself(traffic: Traffic) -> bool:
    """Whether traffic says itself how much it offers, so that a load means nothing to it."""
    return traffic.is_trace or traffic.is_closed_loop or traffic.is_absolute


@dataclass(frozen=True, kw_only=True)
class Run(Point):
    """A point with the seed of its configuration; safe to send to another process."""

    @property
    def configuration(self) -> dict[str, Any]:
        """Everything that the result depends on, every default included, as JSON types.

        ``threads`` is not part of it: the result is the same for every number of threads. ``resolved_jobs`` is:
        calibrated computing times are data of the package, and after another calibration an old result must not count.
        So are ``revisions``: programs, policies and arbitrations whose rules were changed under the same name.
        """
        values = self.config.to_dict()
        values.pop("threads", None)
        values["traffic"] = self.config.traffic_object.to_dict()  # one form, however it was written
        if self.config.jobs:
            values["resolved_jobs"] = resolved_jobs(self.config.jobs, self.config.topology, self.config.seed)
        if revisions := revisions_of(self.config):
            values["revisions"] = revisions
        if self.agent is not None:
            values["policy"] = {"agent": self.agent.spec, "sha256": self.agent.sha256}
        return {**values, "warmup_ns": self.warmup_ns, "measure_ns": self.measure_ns, "arrays": self.arrays}

    @cached_property
    def id(self) -> str:
        """Sixteen hexadecimal digits from the whole configuration: equal on every machine, different for any
        difference. Files count by their content, not by their place or name.
        """
        values = self.configuration
        values = {name: value for name, value in values.items() if _YOUNGER_SETTINGS.get(name) is not value}
        known = with_published_names(without_places(values))
        text = json.dumps(known, sort_keys=True, separators=(",", ":"), allow_nan=False)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def describe(self) -> str:
        """Describe the settings that vary within a sweep, in one line for people."""
        return f"{self.policy_label} under {self._workload()}, seed {self.config.seed}"

    def _workload(self) -> str:
        jobs = self.config.jobs
        load = "" if offers_itself(self.config.traffic_object) else f" at load {self.load:g}"
        background = [] if jobs and self.traffic_label == "none" else [f"{self.traffic_label}{load}"]
        named = [job.title for job in jobs]
        listed = [job for job in jobs if isinstance(job, Job)]
        if len(listed) > _MOST_NAMED_JOBS:
            together = f"{len(listed)} jobs on {sum(job.num_hosts for job in listed)} hosts"
            named = [together, *(job.title for job in jobs if not isinstance(job, Job))]
        return " and ".join(named + background)

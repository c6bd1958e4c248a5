"""A scenario: policies x traffic x programs x placements x loads x seeds on one network, from a TOML file or from
options, as a deterministic list of runs.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from dragonfly_env.checks.files import read_toml
from dragonfly_env.checks.values import (
    MAX_SEED,
    check_bool,
    check_integer,
    check_load,
    check_mapping,
    check_real,
    check_text,
    check_time_ns,
    config_error,
    parse_assignments,
    parse_value,
    unknown_name,
)
from dragonfly_env.errors import ConfigError
from dragonfly_env.jobs import Job
from dragonfly_env.jobs.mix import BackgroundMix
from dragonfly_env.jobs.workload import parse_jobs
from dragonfly_env.policy import Policy, policies
from dragonfly_env.simulation.config import SimulationConfig
from dragonfly_env.simulation.window import after_warmup
from dragonfly_env.sweeps.point import AnyPolicy, Point, Run, offers_itself, split_policy
from dragonfly_env.traffic import DemandMatrix, Traffic, parse_traffic, traffic_from_dict
from dragonfly_env.training.agents import AgentSource, means_file

LONGEST_NS = 1e12  # a thousand seconds of simulated time: beyond any sensible run
DEFAULT_TOPOLOGY = "1056"
DEFAULT_LOAD = SimulationConfig.load
DEFAULT_WARMUP_NS = 100_000.0
DEFAULT_MEASURE_NS = 100_000.0
_MOST_RUNS = 100_000
# Fields of a simulation that vary within a scenario, or belong to a single run.
_VARIED = {"traffic", "load", "policy", "jobs", "seed", "packet_log"}
_OF_CONFIG = tuple(field.name for field in fields(SimulationConfig) if field.name not in _VARIED)
_TIMES = {"warmup_ns": 0.0, "learner_warmup_ns": 0.0, "measure_ns": 1.0}
"""The times of a scenario and how short they may be."""
_OWN = ("name", "policies", "traffic", "loads", "seeds", *_TIMES, "jobs", "programs", "placements", "arrays")


def _listed(value: Any) -> list[Any]:
    """A list of settings; a single value counts as a list of one, an absent one as an empty list."""
    if value is None:
        return []
    return list(value) if isinstance(value, Sequence) and not isinstance(value, str) else [value]


def parse_loads(values: Sequence[object], field: str) -> tuple[float, ...]:
    """Offered loads from numbers, and from ranges written ``"start:stop:step"`` (both ends included)."""
    loads: set[float] = set()
    for value in values:
        for part in value.split(",") if isinstance(value, str) else [value]:
            loads.update(_loads_of(part, field))
    return tuple(sorted(loads))


def _loads_of(part: object, field: str) -> list[float]:
    pieces = [parse_value(piece) for piece in part.split(":")] if isinstance(part, str) else [part]
    if len(pieces) not in (1, 3):
        raise config_error(field, part, "must be a load, or a range start:stop:step such as 0.1:1.0:0.1")
    start = check_load(field, pieces[0])
    if len(pieces) == 1:
        return [round(start, 6)]
    stop, step = check_load(field, pieces[1]), check_real(f"{field} step", pieces[2], 0.001, 1.0)
    if stop < start:
        raise config_error(field, part, "must not end below its start")
    return [round(start + step * index, 6) for index in range(int((stop - start) / step + 1e-9) + 1)]


def parse_policy_choice(value: object) -> tuple[str, AnyPolicy]:
    """A policy, and its name in tables and figures, from ``"ugal-n"``, ``"ugal-n:bias_packets=2,minimal_candidates=2"``
    or ``{name="ugal-n", bias_packets=2}``; from ``"agent.zip"``, ``"module:Class"`` or ``{agent="agent.zip"}``.

    Any string may begin with a name of your own, ``"mine=agent.zip"``; in a table it is ``label``.
    """
    label, agent, parameters = "", "", {}
    if isinstance(value, str):
        label, spec = _split_label(value)
        name, _, settings = spec.partition(":")
        if _is_built_in(spec):
            parameters = parse_assignments(settings, "policy parameter")
        else:
            agent = spec
    else:
        parameters = check_mapping("policies", value)
        label, agent, name = (
            check_text(f"policies.{key}", parameters.pop(key, "")) for key in ("label", "agent", "name")
        )
    if agent:
        source = AgentSource.find(agent)
        return label or source.label, source
    name = name.strip()
    policy = Policy(name, parameters)
    settings = ",".join(f"{key}={_spell(setting)}" for key, setting in sorted(parameters.items()))
    return label or (f"{name}:{settings}" if settings else name), policy


def _split_label(text: str) -> tuple[str, str]:
    """The name before the first ``=``, if what follows is a policy and not the value of a parameter."""
    label, sign, spec = text.partition("=")
    if sign and ":" not in label and label.strip() and spec.strip():
        return label.strip(), spec.strip()
    return "", text.strip()


def split_policies(text: str) -> list[str]:
    """Split ``"min,ugal-n:bias_packets=2,minimal_candidates=2,mine=file.py:Class"`` at its commas. NAME=VALUE behind a
    policy of the core with parameters is one of them, unless VALUE is a policy itself; then NAME is its label.
    """
    choices: list[str] = []
    for part in filter(None, map(str.strip, text.split(","))):
        named, _, value = part.partition("=")
        has_parameters = bool(choices) and ":" in choices[-1] and _is_built_in(_split_label(choices[-1])[1])
        if value and ":" not in named and has_parameters and value.partition(":")[0] not in policies():
            choices[-1] += f",{part}"
        else:
            choices.append(part)
    return choices


def _is_built_in(spec: str) -> bool:
    name, _, settings = spec.partition(":")
    if name in policies() or ("=" in settings and "@" not in settings):
        return True
    return not (settings or means_file(spec, Path.cwd()) or "/" in spec or spec.endswith(".py"))


def _spell(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, (int, float)) else str(value)


@dataclass(frozen=True, slots=True)
class TrafficChoice:
    """A traffic pattern, or a schedule of patterns, and what of the scenario it overrides.

    Attributes:
        traffic: Who sends to whom.
        label: The name in tables and figures.
        loads: Offered loads of this traffic alone; empty for the scenario's. Of a schedule: its first.
        warmup_ns: Simulated time before measuring, or None for the scenario's.
        measure_ns: Simulated time that is measured, or None for the scenario's.
    """

    traffic: Traffic
    label: str
    loads: tuple[float, ...] = ()
    warmup_ns: float | None = None
    measure_ns: float | None = None

    @classmethod
    def parse(cls, value: object) -> TrafficChoice:
        """From ``"adv+1"``, ``{pattern="adv+1", loads=[0.1, 0.2]}`` or ``{schedule=[[0, "uniform", 0.4], ...]}``.

        A table may also hold the pattern's arguments (``{pattern="hotspot", hosts=4}``), a ``label`` for tables and
        figures, and ``warmup_ns`` and ``measure_ns`` of its own.
        """
        if isinstance(value, str):
            spoken = parse_traffic(value)
            return cls(spoken, value.strip() if isinstance(spoken, DemandMatrix) else spoken.spec)
        table = check_mapping("traffic", value)
        loads = parse_loads(_listed(table.pop("loads", None)), "traffic.loads")
        label = check_text("traffic.label", table.pop("label", "")).strip()
        times = {
            name: check_time_ns(f"traffic.{name}", table.pop(name), _TIMES[name], LONGEST_NS)
            for name in ("warmup_ns", "measure_ns")
            if name in table
        }
        steps = _listed(table.pop("schedule", None))
        if bool(table) == bool(steps):
            raise config_error("traffic", value, "must have either a pattern or a schedule")
        if steps:
            if loads:
                raise config_error(
                    "traffic.loads", list(loads), "must be left out: a schedule states its loads"
                )
            schedule: Any = parse_traffic(steps)
            described = ", then ".join(
                f"{traffic.spec} {load:g} from {time_ns / 1000:g} us"
                for time_ns, traffic, load in schedule.steps
            )
            return cls(schedule, label or described, (schedule.steps[0][2],), **times)
        traffic = parse_traffic(traffic_from_dict(table))
        if traffic.is_absolute and loads:
            allowed = f"must be left out: {traffic.spec} says itself how much is offered"
            raise config_error("traffic.loads", list(loads), allowed)
        if traffic.is_closed_loop and (loads or "warmup_ns" in times):
            field = "loads" if loads else "warmup_ns"
            allowed = "must be left out: closed-loop traffic has no load, and is measured from its start"
            raise config_error(f"traffic.{field}", list(loads) or times["warmup_ns"], allowed)
        return cls(traffic, label or traffic.spec, loads, **times)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """Policies x traffic x programs x placements x loads x seeds on one network: a collection of runs.

    Attributes:
        name: Title of tables and figures.
        common: Arguments of `SimulationConfig` that all runs have: the system, its network, how hosts send, threads.
        policies: Routing policies by their labels, in the order of tables and figures.
        traffic: Traffic patterns, in the same sense.
        loads: Offered loads for every traffic that states none itself; closed-loop traffic has none.
        seeds: One run for each; they give the confidence intervals.
        warmup_ns: Simulated time before measuring; closed-loop traffic has none, unless it is given for endless jobs.
            Jobs that end start after it. None: not given, the default.
        learner_warmup_ns: The same for policies that learn, if theirs is another: they begin with empty tables.
        measure_ns: Simulated time that is measured; a closed loop ends at its completion if that comes first.
        jobs: Of every run; their ``start_ns`` counts from the end of the warm-up, that of endless ones from time 0.
        programs: Jobs of which each run has one entry, before ``jobs``. Empty: ``jobs`` alone.
        placements: Of the jobs of ``programs``, or of ``jobs`` if there are none; each in runs of its own. Empty: those
            that the jobs have.
        arrays: Keep results per router, per link and per time bin (the fairness, link and series figures need
            them).

    Example:
        >>> from dragonfly_env.sweeps import Scenario
        >>> scenario = Scenario.from_dict(
        ...     {"topology": "72", "policies": ["min", "ugal-n"], "traffic": ["adv+1"],
        ...      "loads": [0.1, 0.2], "warmup_ns": 0, "measure_ns": 1_000}
        ... )
        >>> len(scenario.runs()), len(list(scenario.points()))
        (4, 4)
    """

    name: str
    common: Mapping[str, Any]
    policies: Mapping[str, AnyPolicy]
    traffic: tuple[TrafficChoice, ...]
    loads: tuple[float, ...]
    seeds: tuple[int, ...]
    warmup_ns: float | None = None
    learner_warmup_ns: float | None = None
    measure_ns: float = DEFAULT_MEASURE_NS
    jobs: tuple[Job | BackgroundMix, ...] = ()
    programs: tuple[tuple[Job, ...], ...] = ()
    placements: tuple[str, ...] = ()
    arrays: bool = True

    @classmethod
    def from_dict(cls, settings: Mapping[str, Any], *, name: str = "scenario") -> Scenario:
        """From settings as in a TOML file.

        Keys (``policies`` and, without ``jobs``, ``traffic`` must be given): ``name``; ``topology``, ``network`` and
        the other fields of `SimulationConfig`, such as ``injection``, ``source_queue_packets`` and ``threads``, which
        all runs share; ``policies``, ``traffic``: lists for `parse_policy_choice` and `TrafficChoice.parse`; ``loads``:
        numbers, or ranges ``"0.1:1.0:0.1"``; ``seeds``: integers; ``warmup_ns``, ``learner_warmup_ns``,
        ``measure_ns``; ``jobs``: those of every run, for `Job.from_dict` or `Job.parse`; ``programs``: jobs of the same
        form, or lists of jobs, of which each run has one; ``placements``: their placements, as of `Job`; ``arrays``.

        Raises:
            ConfigError: Naming the field, its value and what is allowed.
        """
        given = check_mapping("scenario", settings)
        for key in given:
            if key not in (*_OWN, *_OF_CONFIG):
                raise unknown_name("field", key, (*_OWN, *_OF_CONFIG))
        of_config = {key: given[key] for key in _OF_CONFIG if given.get(key) is not None}
        base = SimulationConfig(**{"topology": DEFAULT_TOPOLOGY, **of_config})
        jobs = parse_jobs(_listed(given.get("jobs")))
        programs = tuple(_parse_program(item) for item in _listed(given.get("programs")))
        traffic = _listed(given.get("traffic")) or (["none"] if jobs or programs else [])
        listed = [parse_policy_choice(item) for item in _listed(given.get("policies"))]
        scenario = cls(
            name=check_text("name", given.get("name", name)),
            common={**of_config, "topology": base.topology, "network": base.network},
            policies=dict(listed),
            traffic=tuple(map(TrafficChoice.parse, traffic)),
            loads=parse_loads(_listed(given.get("loads")), "loads"),
            seeds=tuple(check_integer("seeds", seed, 0, MAX_SEED) for seed in _listed(given.get("seeds")))
            or (1,),
            **{
                key: check_time_ns(key, given[key], low, LONGEST_NS)
                for key, low in _TIMES.items()
                if key in given
            },
            jobs=jobs,
            programs=programs,
            placements=tuple(check_text("placements", item) for item in _listed(given.get("placements"))),
            arrays=check_bool("arrays", given.get("arrays", True)),
        )
        for field, labels, example in (
            ("policies", [label for label, _ in listed], "min"),
            ("traffic", [choice.label for choice in scenario.traffic], "uniform"),
            ("placements", [*scenario.placements], ""),
        ):
            if not labels and example:
                raise config_error(field, [], f"give at least one, e.g. {example}")
            for label in labels:
                if labels.count(label) > 1:
                    raise config_error(field, label, "must be listed only once")
        if scenario.placements and not any(
            isinstance(job, Job) for job in (*jobs, *itertools.chain(*programs))
        ):
            raise config_error("placements", list(scenario.placements), "must be left out: no job is listed")
        for choice in scenario.traffic:
            if not scenario._loads_of(choice):
                allowed = f"must hold at least one load in (0, 1] for traffic {choice.label!r}"
                raise config_error("loads", [], allowed)
        total = len(listed) * len(scenario.seeds) * len([*scenario._jobs_of_runs()])
        total *= sum(len(scenario._loads_of(choice)) for choice in scenario.traffic)
        if total > _MOST_RUNS:
            raise config_error("number of runs", total, f"must be at most {_MOST_RUNS}")
        return scenario

    @classmethod
    def from_toml(cls, path: Path) -> Scenario:
        """From a TOML file; the name defaults to the file's.

        Args:
            path: The file.

        Raises:
            ConfigError: If the file cannot be read, is no TOML, or holds an impossible setting.
        """
        settings = read_toml(path)
        try:
            return cls.from_dict(settings, name=Path(path).stem)
        except ConfigError as error:
            raise ConfigError(f"{path}: {error}") from error

    def __iter__(self) -> Iterator[Run]:
        return iter(self.runs())

    def runs(self) -> list[Run]:
        """Every run, ordered by traffic, policy, load and seed; all checked, none twice.

        Raises:
            ConfigError: If a combination is impossible on this topology, or two names stand for the same.
        """
        runs: dict[str, Run] = {}
        for run in (point.run(seed) for point in self.points() for seed in self.seeds):
            same = runs.setdefault(run.id, run)
            for field, label, other in (
                ("policies", run.policy_label, same.policy_label),
                ("traffic", run.traffic_label, same.traffic_label),
            ):
                if label != other:
                    raise config_error(field, label, f"must be listed only once; it is the same as {other!r}")
        return list(runs.values())

    def points(self) -> Iterator[Point]:
        """Every point, ordered by traffic, program, placement, policy and load.

        Raises:
            ConfigError: If a combination is impossible on this topology.
        """
        combined = itertools.product(self.traffic, self._jobs_of_runs(), self.policies.items())
        for choice, jobs, (label, routing) in combined:
            policy, agent = split_policy(routing)
            warmup_ns = self._warmup_ns_of(choice, policy, jobs)
            for load in self._loads_of(choice):
                config = SimulationConfig(
                    **self.common,
                    policy=policy,
                    traffic=choice.traffic,
                    load=load,
                    jobs=jobs,
                    seed=self.seeds[0],
                )
                yield Point(
                    config=after_warmup(config, warmup_ns),
                    policy_label=label,
                    traffic_label=choice.label,
                    warmup_ns=warmup_ns,
                    measure_ns=self.measure_ns if choice.measure_ns is None else choice.measure_ns,
                    arrays=self.arrays,
                    agent=agent,
                )

    def _loads_of(self, choice: TrafficChoice) -> tuple[float, ...]:
        """Its own loads, or the scenario's; traces and closed loops have none, their rows say 1."""
        return (1.0,) if offers_itself(choice.traffic) else choice.loads or self.loads

    def _jobs_of_runs(self) -> Iterator[tuple[Job | BackgroundMix, ...]]:
        """The jobs of a run, for every program and placement."""
        for program, placement in itertools.product(self.programs or ((),), self.placements or (None,)):
            placed = tuple(
                job.replace(placement=placement) if isinstance(job, Job) and placement else job
                for job in program or self.jobs
            )
            yield placed + self.jobs if program else placed

    def _warmup_ns_of(
        self, choice: TrafficChoice, policy: Policy, jobs: Sequence[Job | BackgroundMix]
    ) -> float:
        """A closed loop has none: what it does first is part of its makespan. Nor have jobs where nothing runs that
        could warm the network up.
        """
        warms_up = self.warmup_ns is not None and any(job.is_endless for job in jobs)
        if choice.traffic.is_closed_loop and not warms_up:
            return 0.0
        if self.learner_warmup_ns is not None and policy.learns:
            return self.learner_warmup_ns
        usual = DEFAULT_WARMUP_NS if self.warmup_ns is None else self.warmup_ns
        return usual if choice.warmup_ns is None else choice.warmup_ns


def _parse_program(item: object) -> tuple[Job, ...]:
    """Read an entry of ``programs``: a job, or several that run together."""
    several = isinstance(item, Sequence) and not isinstance(item, str)
    jobs = parse_jobs(item if several else [item])
    listed = tuple(job for job in jobs if isinstance(job, Job))
    if not listed or len(listed) < len(jobs):
        raise config_error(
            "programs", item, "must be a job or a list of jobs; what fills the rest goes into jobs"
        )
    return listed

"""A scenario: what to compare with what, from a TOML file or from options, as a deterministic list of
runs. Every mistake of who wrote it becomes one `ConfigError` with field, value and what is allowed.

From below: `Table` and `parse_loads` read settings, `PolicyChoice` and `TrafficChoice` are the two things that a sweep
varies by name, `Scenario` combines them.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from dragonfly_env.checks.files import read_toml
from dragonfly_env.checks.values import (
    MAX_SEED,
    check_bool,
    check_integer,
    check_items,
    check_real,
    check_text,
    check_time_ns,
    config_error,
    parse_assignments,
    parse_value,
    unknown_name,
)
from dragonfly_env.config.network import NetworkConfig
from dragonfly_env.config.topology import Dragonfly
from dragonfly_env.errors import ConfigError
from dragonfly_env.jobs import Job
from dragonfly_env.jobs.mix import BackgroundMix
from dragonfly_env.jobs.workload import parse_jobs
from dragonfly_env.policies import Policy, make_policy, policies
from dragonfly_env.simulation.config import SimulationConfig
from dragonfly_env.simulation.window import after_warmup
from dragonfly_env.sweeps.point import Point, Run, offers_itself
from dragonfly_env.traffic import DemandMatrix, Traffic, parse_traffic, traffic_from_dict
from dragonfly_env.training.agents import FORMS, AgentSource, means_file

LONGEST_NS = 1e12  # a thousand seconds of simulated time: beyond any sensible run


class Table:
    """A table of settings (from TOML or options) that is emptied field by field.

    Args:
        values: The settings.
        where: The table's name in messages; empty for the top level.
    """

    def __init__(self, values: object, where: str = "") -> None:
        if not isinstance(values, Mapping):
            raise config_error(where or "scenario", values, "must be a table of settings")
        self._values: dict[str, Any] = {str(key): value for key, value in values.items()}
        self._where = where
        self._known: list[str] = []

    def field(self, name: str) -> str:
        """The full name of a field, as a message shows it."""
        return f"{self._where}.{name}" if self._where else name

    def take(self, name: str, default: Any = None) -> Any:
        """Remove and return a field, whatever it holds."""
        self._known.append(name)
        return self._values.pop(name, default)

    def text(self, name: str, default: str) -> str:
        """A non-empty string."""
        value = self.take(name, default)
        if not isinstance(value, str) or not value.strip():
            raise config_error(self.field(name), value, "must be a non-empty string")
        return value

    def optional_text(self, name: str) -> str:
        """A non-empty string, or an empty one if the field is absent."""
        return self.text(name, "") if name in self._values else str(self.take(name, ""))

    def integer(self, name: str, default: int, low: int, high: int) -> int:
        """An integer in [low, high]."""
        return check_integer(self.field(name), self.take(name, default), low, high)

    def time_ns(self, name: str, default: float, low: float) -> float:
        """A time in ns, at least ``low``."""
        return check_time_ns(self.field(name), self.take(name, default), low, LONGEST_NS)

    def optional_time_ns(self, name: str, low: float) -> float | None:
        """A time in ns, at least ``low``, or None if the field is absent."""
        value = self.take(name)
        return None if value is None else check_time_ns(self.field(name), value, low, LONGEST_NS)

    def items(self, name: str) -> list[Any]:
        """A list; a single value counts as a list of one, an absent field as an empty one."""
        value = self.take(name)
        if value is None:
            return []
        if not isinstance(value, Sequence) or isinstance(value, str):
            return [value]
        return check_items(self.field(name), value, "must be a list")

    def rest(self) -> dict[str, Any]:
        """All fields not taken yet."""
        left, self._values = self._values, {}
        return left

    def finish(self) -> None:
        """Complain about the first field that was not used."""
        for name in self._values:
            raise unknown_name(f"field of {self._where}" if self._where else "field", name, self._known)


_LEAST_PERCENT = 2  # what is less was hardly meant as a percentage


def parse_loads(values: Sequence[object], field: str) -> tuple[float, ...]:
    """Offered loads from numbers, and from ranges written ``"start:stop:step"`` (both ends included)."""
    loads: set[float] = set()
    for value in values:
        for part in value.split(",") if isinstance(value, str) else [value]:
            loads.update(_loads_of(part, field))
    return tuple(sorted(loads))


def _loads_of(part: object, field: str) -> list[float]:
    if not isinstance(part, str):
        return [_one_load(part, field)]
    pieces = [parse_value(piece) for piece in part.split(":")]
    if len(pieces) == 1:
        return [_one_load(pieces[0], field)]
    if len(pieces) != 3:
        raise config_error(field, part, "must be a load, or a range start:stop:step such as 0.1:1.0:0.1")
    start, stop = _one_load(pieces[0], field), _one_load(pieces[1], field)
    step = check_real(f"{field} step", pieces[2], 0.001, 1.0)
    if stop < start:
        raise config_error(field, part, "must not end below its start")
    return [round(start + step * index, 6) for index in range(int((stop - start) / step + 1e-9) + 1)]


def _one_load(value: object, field: str) -> float:
    try:
        return round(check_real(field, value, 0.0, 1.0, open_low=True), 6)
    except ConfigError:
        allowed = "must be a fraction of the host links' bandwidth, in (0, 1]"
        if isinstance(value, (int, float)) and _LEAST_PERCENT <= value <= 100:
            allowed += f"; did you mean {value / 100:g}?"
        raise config_error(field, value, allowed) from None


@dataclass(frozen=True, slots=True)
class PolicyChoice:
    """A routing policy and its name in tables and figures: ``ugal-n``, ``ugal-n:bias_packets=2`` or an agent's.

    Attributes:
        policy: A built-in policy; behind an agent: the one of the configuration, which then decides nothing.
        label: The name.
        agent: What decides instead, if it is not built in.
    """

    policy: Policy
    label: str
    agent: AgentSource | None = None

    @classmethod
    def parse(cls, value: object) -> PolicyChoice:
        """From ``"ugal-n"``, ``"ugal-n:bias_packets=2,minimal_candidates=2"`` or ``{name="ugal-n", bias_packets=2}``;
        from ``"agent.zip"``, ``"module:Class"`` or ``{agent="agent.zip"}``.

        Any string may begin with a name of your own, ``"mine=agent.zip"``; in a table it is ``label``.
        """
        if isinstance(value, str):
            label, spec = _split_label(value)
            if not _is_built_in(spec):
                return cls._of_agent(spec, label)
            name, _, settings = spec.partition(":")
            name, parameters = name.strip(), parse_assignments(settings, "policy parameter")
        else:
            table = Table(value, "policies")
            label, agent = table.optional_text("label"), table.optional_text("agent")
            if agent:
                table.finish()
                return cls._of_agent(agent, label)
            name = table.text("name", "").strip()
            parameters = table.rest()
        return cls(_built_in(name, parameters), label or _spell_policy(name, parameters))

    @classmethod
    def _of_agent(cls, spec: str, label: str) -> PolicyChoice:
        source = AgentSource.find(spec)
        return cls(make_policy("min"), label or source.label, source)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for provenance."""
        if self.agent is None:
            return self.policy.to_dict()
        return {"label": self.label, "agent": self.agent.spec, "sha256": self.agent.sha256}


def _split_label(text: str) -> tuple[str, str]:
    """The name before the first ``=``, if what follows is a policy and not the value of a parameter."""
    label, sign, spec = text.partition("=")
    if sign and ":" not in label and label.strip() and spec.strip():
        return label.strip(), spec.strip()
    return "", text.strip()


def _is_built_in(spec: str) -> bool:
    name, _, settings = spec.partition(":")
    if name in policies() or ("=" in settings and "@" not in settings):
        return True
    return not (settings or means_file(spec, Path.cwd()) or "/" in spec or spec.endswith(".py"))


def _built_in(name: str, parameters: dict[str, Any]) -> Policy:
    try:
        return make_policy(name, **parameters)
    except ConfigError as error:
        if parameters or not str(error).startswith("policy = "):
            raise
        raise ConfigError(f"{error} (or {FORMS})") from None


def _spell_policy(name: str, parameters: dict[str, Any]) -> str:
    settings = ",".join(f"{key}={_spell(setting)}" for key, setting in sorted(parameters.items()))
    return f"{name}:{settings}" if settings else name


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
        table = Table(value, "traffic")
        steps = table.items("schedule")
        loads = parse_loads(table.items("loads"), "traffic.loads")
        label = table.take("label")
        warmup_ns = table.optional_time_ns("warmup_ns", 0.0)
        measure_ns = table.optional_time_ns("measure_ns", 1.0)
        pattern = table.rest()
        if label is not None and (not isinstance(label, str) or not label.strip()):
            raise config_error("traffic.label", label, "must be a non-empty string")
        if bool(pattern) == bool(steps):
            raise config_error("traffic", value, "must have either a pattern or a schedule")
        if steps:
            if loads:
                raise config_error(
                    "traffic.loads", list(loads), "must be left out: a schedule states its loads"
                )
            checked = [_step(step) for step in steps]
            described = ", then ".join(
                f"{traffic.spec} {load:g} from {time / 1000:g} us" for time, traffic, load in checked
            )
            return cls(parse_traffic(checked), label or described, (checked[0][2],), warmup_ns, measure_ns)
        traffic = parse_traffic(traffic_from_dict(pattern))
        if traffic.is_absolute and loads:
            allowed = f"must be left out: {traffic.spec} says itself how much is offered"
            raise config_error("traffic.loads", list(loads), allowed)
        if traffic.is_closed_loop and (loads or warmup_ns is not None):
            field = "loads" if loads else "warmup_ns"
            allowed = "must be left out: closed-loop traffic has no load, and is measured from its start"
            raise config_error(f"traffic.{field}", list(loads) or warmup_ns, allowed)
        return cls(traffic, label or traffic.spec, loads, warmup_ns, measure_ns)


def _spell(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, (int, float)) else str(value)


def _step(step: object) -> tuple[float, Traffic, float]:
    if not isinstance(step, (list, tuple)) or len(step) != 3 or not isinstance(step[1], str):
        raise config_error("traffic.schedule step", step, "must be [time_ns, pattern, load]")
    time_ns = check_real("traffic.schedule time_ns", step[0], 0.0, LONGEST_NS, unit="ns")
    load = check_real("traffic.schedule load", step[2], 0.0, 1.0, open_low=True)
    return time_ns, parse_traffic(step[1]), load


DEFAULT_TOPOLOGY = "1056"
DEFAULT_WARMUP_NS = 100_000.0
DEFAULT_MEASURE_NS = 100_000.0
_MOST_RUNS = 100_000
# Fields that a scenario has under other names, and fields of a single run.
_OWN = {"topology", "network", "traffic", "load", "policy", "jobs", "seed", "threads", "packet_log"}
_OPTIONS = tuple(field.name for field in fields(SimulationConfig) if field.name not in _OWN)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """Policies x traffic x programs x placements x loads x seeds on one network.

    What is not given takes the default of `dragonfly_env.SimulationConfig`.

    Attributes:
        name: Title of tables and figures.
        topology: The system.
        network: Links, routers and buffers.
        policies: Routing policies, in the order of tables and figures.
        traffic: Traffic patterns, in the same sense.
        loads: Offered loads for every traffic that states none itself; closed-loop traffic has none.
        seeds: One run for each; they give the confidence intervals.
        warmup_ns: Simulated time before measuring; closed-loop traffic has none. Jobs that end start after it.
        learner_warmup_ns: The same for policies that learn, if theirs is another: they begin with empty tables.
        measure_ns: Simulated time that is measured; a closed loop ends at its completion if that comes first.
        options: Further arguments of `SimulationConfig`.
        jobs: Of every run; their ``start_ns`` counts from the end of the warm-up, that of endless ones from time 0.
        programs: Jobs of which each run has one entry, before ``jobs``. Empty: ``jobs`` alone.
        placements: Of the jobs of ``programs``, or of ``jobs`` if there are none; each in runs of its own. Empty: those
            that the jobs have.
        warms_up_jobs: Whether endless jobs alone are worth a warm-up: it was given.
        threads: Threads of one simulation.
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
    topology: Dragonfly
    network: NetworkConfig
    policies: tuple[PolicyChoice, ...]
    traffic: tuple[TrafficChoice, ...]
    loads: tuple[float, ...]
    seeds: tuple[int, ...]
    warmup_ns: float
    measure_ns: float
    options: Mapping[str, Any]
    jobs: tuple[Job | BackgroundMix, ...] = ()
    programs: tuple[tuple[Job, ...], ...] = ()
    placements: tuple[str, ...] = ()
    warms_up_jobs: bool = False
    learner_warmup_ns: float | None = None
    threads: int = 1
    arrays: bool = True

    @classmethod
    def from_dict(cls, settings: Mapping[str, Any], *, name: str = "scenario") -> Scenario:
        """From settings as in a TOML file.

        Keys (``policies`` and, without ``jobs``, ``traffic`` must be given): ``name``; ``topology``: a preset's name,
        or a table for `Dragonfly.from_dict` (``preset``, or ``p a h g trunking``; ``arrangement``);
        ``network``: a preset's name, or a table for `NetworkConfig.from_dict` (``preset`` and any field);
        ``policies``, ``traffic``: lists for `PolicyChoice.parse` and `TrafficChoice.parse`; ``loads``:
        numbers, or ranges ``"0.1:1.0:0.1"``; ``seeds``: integers; ``warmup_ns``, ``learner_warmup_ns``,
        ``measure_ns``; ``jobs``: those of every run, for `Job.from_dict` or `Job.parse`; ``programs``: jobs of the same
        form, or lists of jobs, of which each run has one; ``placements``: their placements, as of `Job`; ``threads``;
        ``arrays``; and the other fields of `SimulationConfig`, such as ``injection`` and ``source_queue_packets``.

        Raises:
            ConfigError: Naming the field, its value and what is allowed.
        """
        table = Table(settings)
        topology = table.take("topology", DEFAULT_TOPOLOGY)
        network = table.take("network", "default")
        jobs = parse_jobs(table.items("jobs"))
        programs = tuple(_parse_program(item) for item in table.items("programs"))
        traffic = table.items("traffic") or (["none"] if jobs or programs else [])
        scenario = cls(
            name=table.text("name", name),
            topology=Dragonfly.from_dict(topology)
            if isinstance(topology, Mapping)
            else Dragonfly.preset(topology),
            network=NetworkConfig.from_dict(network)
            if isinstance(network, Mapping)
            else NetworkConfig.preset(network),
            policies=tuple(PolicyChoice.parse(item) for item in table.items("policies")),
            traffic=tuple(TrafficChoice.parse(item) for item in traffic),
            loads=parse_loads(table.items("loads"), "loads"),
            seeds=tuple(check_integer("seeds", item, 0, MAX_SEED) for item in table.items("seeds") or [1]),
            warmup_ns=table.time_ns("warmup_ns", DEFAULT_WARMUP_NS, 0.0),
            measure_ns=table.time_ns("measure_ns", DEFAULT_MEASURE_NS, 1.0),
            learner_warmup_ns=table.time_ns("learner_warmup_ns", 0.0, 0.0)
            if "learner_warmup_ns" in settings
            else None,
            jobs=jobs,
            programs=programs,
            placements=tuple(check_text("placements", item) for item in table.items("placements")),
            warms_up_jobs="warmup_ns" in settings,
            threads=table.integer("threads", 1, 1, 1024),
            arrays=check_bool("arrays", table.take("arrays", True)),
            options={key: value for key in _OPTIONS if (value := table.take(key)) is not None},
        )
        table.finish()
        scenario._check_lists()
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

    def to_dict(self) -> dict[str, Any]:
        """Plain values for provenance: what `from_dict` took, every default filled in."""
        return {
            "name": self.name,
            "topology": self.topology.to_dict(),
            "network": self.network.to_dict(),
            "policies": [choice.to_dict() for choice in self.policies],
            "traffic": [
                {"label": choice.label, "loads": list(self._loads_of(choice))} for choice in self.traffic
            ],
            "seeds": list(self.seeds),
            "warmup_ns": self.warmup_ns,
            **({} if self.learner_warmup_ns is None else {"learner_warmup_ns": self.learner_warmup_ns}),
            "measure_ns": self.measure_ns,
            **({"jobs": [job.to_dict() for job in self.jobs]} if self.jobs else {}),
            **(
                {"programs": [[job.to_dict() for job in one] for one in self.programs]}
                if self.programs
                else {}
            ),
            **({"placements": list(self.placements)} if self.placements else {}),
            **self.options,
        }

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

    def _loads_of(self, traffic: TrafficChoice) -> tuple[float, ...]:
        """Its own loads, or the scenario's; traces and closed loops have none, their rows say 1."""
        return (1.0,) if offers_itself(traffic.traffic) else traffic.loads or self.loads

    def _jobs_of_runs(self) -> Iterator[tuple[Job | BackgroundMix, ...]]:
        """The jobs of a run, for every program and placement."""
        for program in self.programs or ((),):
            for placement in self.placements or (None,):
                placed = tuple(
                    job.replace(placement=placement) if isinstance(job, Job) and placement else job
                    for job in program or self.jobs
                )
                yield placed + self.jobs if program else placed

    def _warmup_ns_of(
        self, traffic: TrafficChoice, policy: PolicyChoice, jobs: Sequence[Job | BackgroundMix]
    ) -> float:
        """A closed loop has none: what it does first is part of its makespan. Nor have jobs where nothing runs that
        could warm the network up.
        """
        warms_up = self.warms_up_jobs and any(job.is_endless for job in jobs)
        if traffic.traffic.is_closed_loop and not warms_up:
            return 0.0
        if self.learner_warmup_ns is not None and policy.policy.learns:
            return self.learner_warmup_ns
        return self.warmup_ns if traffic.warmup_ns is None else traffic.warmup_ns

    def _check_lists(self) -> None:
        for field, choices in (("policies", self.policies), ("traffic", self.traffic)):
            labels = [choice.label for choice in choices]
            if not labels:
                raise config_error(field, [], "must name at least one")
            for label in labels:
                if labels.count(label) > 1:
                    raise config_error(field, label, "must be listed only once")
        if self.placements and not any(
            isinstance(job, Job) for job in (*self.jobs, *itertools.chain(*self.programs))
        ):
            raise config_error("placements", list(self.placements), "must be left out: no job is listed")
        titles = [" and ".join(job.title for job in one) for one in self.programs]
        listed = [json.dumps([job.to_dict() for job in one], sort_keys=True) for one in self.programs]
        for field, names, known in (
            ("programs", titles, listed),
            ("placements", self.placements, self.placements),
        ):
            for name, one in zip(names, known, strict=True):
                if known.count(one) > 1:
                    raise config_error(field, name, "must be listed only once")
        for traffic in self.traffic:
            if not self._loads_of(traffic):
                raise config_error(
                    "loads", [], f"must hold at least one load in (0, 1] for traffic {traffic.label!r}"
                )
        total = (
            len(self.policies)
            * len(self.seeds)
            * max(1, len(self.programs))
            * max(1, len(self.placements))
            * sum(len(self._loads_of(traffic)) for traffic in self.traffic)
        )
        if total > _MOST_RUNS:
            raise config_error("number of runs", total, f"must be at most {_MOST_RUNS}")

    def points(self) -> Iterator[Point]:
        """Every point, ordered by traffic, program, placement, policy and load.

        Raises:
            ConfigError: If a combination is impossible on this topology.
        """
        combined = itertools.product(self.traffic, self._jobs_of_runs(), self.policies)
        for traffic, listed, policy in combined:
            warmup_ns = self._warmup_ns_of(traffic, policy, listed)
            for load in self._loads_of(traffic):
                yield Point(
                    config=after_warmup(
                        SimulationConfig(
                            topology=self.topology,
                            network=self.network,
                            policy=policy.policy,
                            traffic=traffic.traffic,
                            load=load,
                            jobs=tuple(listed),
                            seed=self.seeds[0],
                            threads=self.threads,
                            **self.options,
                        ),
                        warmup_ns,
                    ),
                    policy_label=policy.label,
                    traffic_label=traffic.label,
                    warmup_ns=warmup_ns,
                    measure_ns=self.measure_ns if traffic.measure_ns is None else traffic.measure_ns,
                    arrays=self.arrays,
                    agent=policy.agent,
                )


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

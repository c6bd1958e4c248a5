"""A scenario: policies x traffic x programs x placements x loads x seeds on one network, from a TOML file or from
options, as a deterministic list of runs.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from dragonfly_env.checks.files import read_toml
from dragonfly_env.checks.values import (
    check_load,
    check_mapping,
    check_real,
    check_seeds,
    check_text,
    check_time_ns,
    config_error,
    parse_assignments,
    parse_value,
    split_items,
)
from dragonfly_env.config.rows import (
    SYSTEM,
    TIME,
    TRAFFIC,
    Flag,
    as_typed,
    boolean,
    setting,
    time_flag,
    time_ns,
    usually,
)
from dragonfly_env.config.topology import Dragonfly
from dragonfly_env.errors import ConfigError
from dragonfly_env.jobs import Job
from dragonfly_env.jobs.mix import BackgroundMix
from dragonfly_env.jobs.parse import programs
from dragonfly_env.jobs.workload import parse_jobs
from dragonfly_env.policy import Policy, describe_policy, policies
from dragonfly_env.simulation.config import RunSettings, SimulationConfig
from dragonfly_env.simulation.window import after_warmup
from dragonfly_env.sweeps.point import AnyPolicy, Point, Run, offers_itself, split_policy
from dragonfly_env.traffic import (
    DemandMatrix,
    Schedule,
    Traffic,
    parse_traffic,
    traffic_from_dict,
    traffic_patterns,
)
from dragonfly_env.traffic.workloads import PLACEMENTS
from dragonfly_env.training.agents import AgentSource, means_file

LONGEST_NS = 1e12  # a thousand seconds of simulated time: beyond any sensible run
DEFAULT_LOAD = SimulationConfig.load
DEFAULT_WARMUP_NS = 100_000.0
_MOST_RUNS = 100_000


def _listed(value: Any) -> list[Any]:
    """A list of settings; a single value counts as a list of one, an absent one as an empty list."""
    if value is None:
        return []
    return list(value) if isinstance(value, Sequence) and not isinstance(value, str) else [value]


def _split_loads(text: str) -> list[str]:
    """Split ``"0.1,0.2"`` at its commas."""
    if re.fullmatch(r"\s*0,\d+\s*", text):
        raise config_error("loads", text, f"must have a decimal point: {text.strip().replace(',', '.')}")
    return split_items(text)


def parse_loads(field: str, values: object) -> tuple[float, ...]:
    """Offered loads from numbers, and from ranges written ``"start:stop:step"``; ``stop`` is included if whole steps
    lead to it. The configuration of a run checks that a load is in (0, 1].
    """
    loads: set[float] = set()
    for value in _listed(values):
        for part in value.split(",") if isinstance(value, str) else [value]:
            loads.update(_loads_of(part, field))
    return tuple(sorted(loads))


def _loads_of(part: object, field: str) -> list[float]:
    pieces: list[Any] = [parse_value(piece) for piece in part.split(":")] if isinstance(part, str) else [part]
    numbers = all(isinstance(piece, (int, float)) and not isinstance(piece, bool) for piece in pieces)
    if len(pieces) not in (1, 3) or not numbers:
        allowed = "must be a load such as 0.3, or a range start:stop:step such as 0.1:1.0:0.1"
        if percent := re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*%\s*", str(part)):
            allowed = f"must be a fraction of the host links' bandwidth: {float(percent[1]) / 100:g}"
        elif ends := re.fullmatch(r"\s*([\d.]+)\s*[:-]\s*([\d.]+)\s*", str(part)):
            allowed = f"must be a range with a step: {ends[1]}:{ends[2]}:0.1"
        raise config_error(field, part, allowed)
    if len(pieces) == 1:
        return [round(pieces[0], 6)]
    start, stop, step = (
        pieces[0],
        check_load(field, pieces[1]),
        check_real(f"{field} step", pieces[2], 0.001, 1.0),
    )
    if not 0.0 <= start <= stop:
        raise config_error(field, part, "must begin at 0 or above, and must not end below its start")
    return [round(start + step * index, 6) for index in range(int((stop - start) / step + 1e-9) + 1)]


class PolicyChoice(NamedTuple):
    """A policy, and its name in tables and figures."""

    label: str
    policy: AnyPolicy

    def to_dict(self) -> dict[str, Any]:
        """The table that `parse_policy_choice` reads."""
        if isinstance(self.policy, AgentSource):
            return {"label": self.label, "agent": self.policy.spec}
        return {"label": self.label, **self.policy.to_dict()}


def parse_policy_choice(value: object) -> PolicyChoice:
    """A choice from ``"ugal-n"``, ``"ugal-n:bias_packets=2,minimal_candidates=2"`` or
    ``{name="ugal-n", bias_packets=2}``; from ``"agent.zip"``, ``"module:Class"`` or ``{agent="agent.zip"}``.

    Any string may begin with a name of your own, ``"mine=agent.zip"``; in a table it is ``label``.
    """
    if isinstance(value, PolicyChoice):
        return value
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
        return PolicyChoice(label or source.label, source)
    name = name.strip()
    policy = Policy(name, parameters)
    settings = ",".join(f"{key}={_spell(setting)}" for key, setting in sorted(parameters.items()))
    return PolicyChoice(label or (f"{name}:{settings}" if settings else name), policy)


_OF_TRAINING = ("injection", "source_queue_packets", "source_queue_full", "message_packets")


def trained_with(specs: Sequence[str]) -> dict[str, Any]:
    """The settings of network and traffic that the first saved agent among ``specs`` was trained with, if any."""
    for spec in specs:
        source = parse_policy_choice(spec).policy
        if isinstance(source, Policy) or not source.is_file:
            continue
        known = source.metadata().get("configuration")
        if isinstance(known, dict) and {"topology", "network", "traffic", "load"} <= known.keys():
            kept = {name: known[name] for name in _OF_TRAINING if name in known}
            system = {"topology": known["topology"], "network": known["network"]}
            return {**kept, **system, "traffic": [known["traffic"]], "loads": [known["load"]]}
    return {}


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
        elif choices and named in _parameters_of(choices[-1]) and value not in policies():
            typed = f"{choices[-1]},{part}"
            raise config_error("policies", typed, f"parameters follow a colon: {choices[-1]}:{part}")
        else:
            choices.append(part)
    return choices


def _parameters_of(choice: str) -> set[str]:
    """Names of the parameters of a policy that is typed without any."""
    _, spec = _split_label(choice)
    return {row.name for row in describe_policy(spec)} if spec in policies() else set()


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
        traffic: Traffic patterns.
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

    def to_dict(self) -> dict[str, Any]:
        """The table that `parse` reads."""
        loads = () if isinstance(self.traffic, Schedule) else self.loads
        table = {
            "label": self.label,
            "loads": list(loads),
            "warmup_ns": self.warmup_ns,
            "measure_ns": self.measure_ns,
        }
        return {
            **self.traffic.to_dict(),
            **{name: value for name, value in table.items() if value not in (None, [])},
        }

    @classmethod
    def parse(cls, value: object) -> TrafficChoice:
        """Parse ``"adv+1"``, ``{pattern="adv+1", loads=[0.1, 0.2]}`` or ``{schedule=[[0, "uniform", 0.4], ...]}``.

        A table may also hold the pattern's arguments (``{pattern="hotspot", hosts=4}``), a ``label`` for tables and
        figures, and ``warmup_ns`` and ``measure_ns`` of its own.
        """
        if isinstance(value, cls):
            return value
        if isinstance(value, str):
            spoken = parse_traffic(value)
            return cls(spoken, value.strip() if isinstance(spoken, DemandMatrix) else spoken.spec)
        table = check_mapping("traffic", value)
        loads = parse_loads("traffic.loads", table.pop("loads", None))
        label = check_text("traffic.label", table.pop("label", "")).strip()
        times = {
            name: check_time_ns(f"traffic.{name}", table.pop(name), low, LONGEST_NS)
            for name, low in (("warmup_ns", 0.0), ("measure_ns", 1.0))
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
            schedule = Schedule.from_dict({"schedule": steps})
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


def _items(names: str, help: str, metavar: str, values: Callable[[], Iterable[str]]) -> Flag:
    """The flag of a list of traffic."""
    return Flag(names, help, TRAFFIC, metavar, split=split_items, read=as_typed, names_of_values=values)


def _jobs_by_name() -> list[str]:
    """Beginnings of jobs, whose hosts follow."""
    return [f"{name}:hosts=" for name in programs()]


def _each_once(field: str, labels: Sequence[str]) -> None:
    """Refuse a label that is listed twice."""
    for label in labels:
        if labels.count(label) > 1:
            raise config_error(field, label, "must be listed only once")


def _policies(field: str, value: object) -> tuple[PolicyChoice, ...]:
    choices = tuple(map(parse_policy_choice, _listed(value)))
    if not choices:
        raise config_error(field, [], "give at least one, e.g. min")
    _each_once(field, [choice.label for choice in choices])
    return choices


def _traffic(field: str, value: object) -> tuple[TrafficChoice, ...]:
    choices = tuple(map(TrafficChoice.parse, _listed(value)))
    _each_once(field, [choice.label for choice in choices])
    return choices


def _seeds(field: str, value: object) -> tuple[int, ...]:
    return check_seeds(field, _listed(value))


def _programs(field: str, value: object) -> tuple[tuple[Job, ...], ...]:
    """Read ``programs``: each entry is a job, or several that run together."""
    programs = []
    for item in _listed(value):
        several = isinstance(item, Sequence) and not isinstance(item, str)
        jobs = parse_jobs(item if several else [item])
        listed = tuple(job for job in jobs if isinstance(job, Job))
        if not listed or len(listed) < len(jobs):
            allowed = "must be a job or a list of jobs; what fills the rest goes into jobs"
            raise config_error(field, item, allowed)
        programs.append(listed)
    return tuple(programs)


def _placements(field: str, value: object) -> tuple[str, ...]:
    placements = tuple(check_text(field, item) for item in _listed(value))
    _each_once(field, placements)
    return placements


@dataclass(frozen=True, kw_only=True, repr=False)
class Scenario(RunSettings):
    """Policies x traffic x programs x placements x loads x seeds on one network: a collection of runs.

    Args:
        topology: The wiring, as in `SimulationConfig`.

    Example:
        >>> from dragonfly_env.sweeps import Scenario
        >>> scenario = Scenario.from_dict(
        ...     {"topology": "72", "policies": ["min", "ugal-n"], "traffic": ["adv+1"],
        ...      "loads": [0.1, 0.2], "warmup_ns": 0, "measure_ns": 1_000}
        ... )
        >>> len(scenario.runs()), len(list(scenario.points()))
        (4, 4)
    """

    called: ClassVar[str] = "a scenario"
    topology: Dragonfly = usually(RunSettings, "topology", Dragonfly.preset("1056"))
    name: str = setting(
        "", check_text, "", "Title of tables and figures; empty: traffic and system, in words."
    )
    policies: tuple[PolicyChoice, ...] = setting(
        (),
        _policies,
        "",
        "Routing policies in the order of tables and figures, for `parse_policy_choice`.",
        flags=(
            Flag(
                "--policy -p",
                "Policies or agents, e.g. min,ugal-n:bias_packets=2.",
                SYSTEM,
                "POLICY",
                split=split_policies,
                read=as_typed,
                decides=("policy",),
                names_of_values=policies,
            ),
        ),
    )
    traffic: tuple[TrafficChoice, ...] = setting(
        (),
        _traffic,
        "",
        "Traffic in the order of tables and figures, for `TrafficChoice.parse`; without any: none, next to jobs.",
        flags=(_items("--traffic", "Traffic patterns, e.g. uniform,adv+1.", "PATTERN", traffic_patterns),),
    )
    loads: tuple[float, ...] = setting(
        (),
        parse_loads,
        "of the host link",
        'Offered loads, or ranges "0.1:1.0:0.1", for traffic that states none itself; closed-loop traffic has none.',
        flags=(
            Flag(
                "--load -l",
                "Load of the host links: 0.3 or 0.1:0.9:0.2.",
                TRAFFIC,
                "LOAD",
                split=_split_loads,
                read=as_typed,
                decides=("load",),
            ),
        ),
    )
    seeds: tuple[int, ...] = setting(
        (1,),
        _seeds,
        "",
        'Seeds of the random streams: each is a run, and several give confidence intervals; "1:5" is five.',
        flags=(
            Flag(
                "--seed -s",
                "Seeds of the random streams, e.g. 1,2,3 or 1:5.",
                TIME,
                "N",
                usual="1",
                split=split_items,
                decides=("seed",),
            ),
        ),
    )
    warmup_ns: float | None = time_ns(
        None,
        0.0,
        LONGEST_NS,
        optional=True,
        doc="Simulated time before measuring; unset: 100 us. Closed-loop traffic has none, unless it is given for "
        "endless jobs. Jobs that end start after it.",
        flags=(time_flag("--warmup", "Simulated time before the measurement.", "100us"),),
    )
    learner_warmup_ns: float | None = time_ns(
        None,
        0.0,
        LONGEST_NS,
        optional=True,
        doc="Simulated time before measuring policies that learn, if another: they begin with empty tables.",
    )
    measure_ns: float = time_ns(
        100_000.0,
        1.0,
        LONGEST_NS,
        doc="Simulated time that is measured; a closed loop ends at its completion if that comes first.",
        flags=(time_flag("--measure", "Simulated time that is measured.", "100us"),),
    )
    jobs: tuple[Job | BackgroundMix, ...] = setting(
        (),
        lambda _, value: parse_jobs(_listed(value)),
        "",
        "Jobs of every run, as tables or strings; their ``start_ns`` counts from the end of the warm-up, that of "
        "endless jobs from time 0.",
        flags=(_items("--job", "A job, e.g. milc:hosts=32,scale=0.25.", "JOB", _jobs_by_name),),
    )
    programs: tuple[tuple[Job, ...], ...] = setting(
        (),
        _programs,
        "",
        "Jobs, or lists of jobs, of which each run has one entry, before ``jobs``. Empty: ``jobs`` alone.",
        flags=(
            _items("--program", "A job of some runs: each --program has its own runs.", "JOB", _jobs_by_name),
        ),
    )
    placements: tuple[str, ...] = setting(
        (),
        _placements,
        "",
        "Placements of the jobs of ``programs``, or of ``jobs`` if there are none; each in runs of its own. Empty: the "
        "placements that the jobs have.",
        flags=(
            _items(
                "--placement",
                "Hosts of the jobs, e.g. random,groups=2: each placement has its own runs.",
                "PLACEMENT",
                lambda: PLACEMENTS,
            ),
        ),
    )
    arrays: bool = boolean(
        True,
        doc="Keep results per router, per link and per time bin: the fairness, link and series figures need them.",
        flags=(Flag("--arrays/--no-arrays", "Results per router and link.", TIME, "", "arrays"),),
    )

    def __post_init__(self) -> None:
        RunSettings.__post_init__(self)
        jobs = (*self.jobs, *itertools.chain(*self.programs))
        if not self.traffic and not jobs:
            raise config_error("traffic", [], "give at least one, e.g. uniform")
        if not self.traffic:
            object.__setattr__(self, "traffic", _traffic("traffic", "none"))
        if not self.name:
            titles = [job.title for job in (*itertools.chain(*self.programs), *self.jobs)]
            titles += [choice.label for choice in self.traffic if choice.label != "none"]
            object.__setattr__(self, "name", f"{', '.join(titles)} on {self.topology.num_hosts:,} hosts")
        if self.placements and not any(isinstance(job, Job) for job in jobs):
            raise config_error("placements", list(self.placements), "must be left out: no job is listed")
        for choice in self.traffic:
            if not self._loads_of(choice):
                allowed = f"must hold at least one load in (0, 1] for traffic {choice.label!r}"
                raise config_error("loads", [], allowed)
        total = len(self.policies) * len(self.seeds) * len([*self._jobs_of_runs()])
        total *= sum(len(self._loads_of(choice)) for choice in self.traffic)
        if total > _MOST_RUNS:
            raise config_error("number of runs", total, f"must be at most {_MOST_RUNS}")
        _ = self._points  # computed now: some points may be impossible on this topology

    @classmethod
    def from_dict(cls, settings: Mapping[str, Any], *, name: str = "") -> Scenario:
        """Read settings as in a TOML file: rows by name. ``policies`` and, without jobs, ``traffic`` must be given.

        Args:
            settings: The rows by name, as text, numbers, lists and tables.
            name: The title, if ``settings`` has none.

        Raises:
            ConfigError: Naming the field, its value and what is allowed.
        """
        given = check_mapping("scenario", settings)
        cls._check_names(given)
        return cls(**{"name": name, **{row: value for row, value in given.items() if value is not None}})

    @staticmethod
    def changed(settings: Mapping[str, Any], typed: Mapping[str, Any]) -> dict[str, Any]:
        """Settings in which rows have the values that a person typed: they hold for all traffic and policies."""
        replaced = typed.keys() & {"warmup_ns", "measure_ns", "loads"}
        changed = {**settings, **typed}
        if "traffic" not in typed and isinstance(settings.get("traffic"), list):
            changed["traffic"] = [
                {key: value for key, value in choice.items() if key not in replaced}
                if isinstance(choice, Mapping)
                else choice
                for choice in settings["traffic"]
            ]
        if "warmup_ns" in typed:
            changed.pop("learner_warmup_ns", None)
        return changed

    @classmethod
    def from_toml(cls, path: Path) -> Scenario:
        """Read a TOML file; the name defaults to the file's.

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
            ConfigError: If two names stand for the same.
        """
        return list(self._runs)

    @cached_property
    def _runs(self) -> tuple[Run, ...]:
        runs: dict[str, Run] = {}
        for run in (point.run(seed) for point in self.points() for seed in self.seeds):
            same = runs.setdefault(run.id, run)
            for field, label, other in (
                ("policies", run.policy_label, same.policy_label),
                ("traffic", run.traffic_label, same.traffic_label),
            ):
                if label != other:
                    raise config_error(field, label, f"must be listed only once; it is the same as {other!r}")
        return tuple(runs.values())

    def points(self) -> Iterator[Point]:
        """Every point, ordered by traffic, program, placement, policy and load."""
        return iter(self._points)

    @cached_property
    def _points(self) -> tuple[Point, ...]:
        points: list[Point] = []
        shared = {field.name: getattr(self, field.name) for field in fields(RunSettings)}
        combined = itertools.product(self.traffic, self._jobs_of_runs(), self.policies)
        for choice, jobs, (label, routing) in combined:
            policy, agent = split_policy(routing)
            warmup_ns = self._warmup_ns_of(choice, policy, jobs)
            for load in self._loads_of(choice):
                config = SimulationConfig(
                    **shared,
                    policy=policy,
                    traffic=choice.traffic,
                    load=load,
                    jobs=jobs,
                    seed=self.seeds[0],
                )
                point = Point(
                    config=after_warmup(config, warmup_ns),
                    policy_label=label,
                    traffic_label=choice.label,
                    warmup_ns=warmup_ns,
                    measure_ns=self.measure_ns if choice.measure_ns is None else choice.measure_ns,
                    arrays=self.arrays,
                    agent=agent,
                )
                points.append(point)
        return tuple(points)

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

"""``Job``: a program on some of the hosts."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, ClassVar, Final

from dragonfly_env.checks.values import (
    MAX_SEED,
    MAX_SETTING_NS,
    check_integer,
    check_mapping,
    check_text,
    config_error,
)
from dragonfly_env.config.rows import Record, changed, integer, plain, setting, show_changes, time_ns
from dragonfly_env.jobs.goal import Goal
from dragonfly_env.jobs.operations import MOST_HOSTS
from dragonfly_env.jobs.parse import RegisteredJob, parse_program
from dragonfly_env.jobs.program import Program
from dragonfly_env.jobs.recorded import RecordedProgram
from dragonfly_env.jobs.replay import Replay
from dragonfly_env.policy import Policy, parse_policy
from dragonfly_env.traffic.placement import check_placement, parse_placement

ENDLESS: Final = "endless"
"""Number of iterations of a job that goes on for as long as the run lasts; the run is complete without it."""

_MOST_ITERATIONS = 2**31 - 1


def _check_iterations(name: str, value: object) -> int | str:
    if isinstance(value, str) and value == ENDLESS:
        return ENDLESS
    if isinstance(value, str):
        raise config_error(name, value, f"must be a whole number, or {ENDLESS!r}")
    return check_integer(name, value, 1, _MOST_ITERATIONS)


def as_policy(value: object) -> Policy | str:
    """A policy in its plain form: one whose parameters are all at their defaults becomes its name, so that equal
    settings are equal.
    """
    policy = parse_policy(value)
    return policy.name if policy.is_usual else policy


def policy_row(doc: str) -> Any:
    """Row of a job's policy, in its plain form."""
    return setting(None, lambda _, policy: as_policy(policy), "", doc, optional=True)


def _spelled(name: str, value: str) -> Any:
    """The value of a field of a job in a string."""
    if name in ("policy", "all_to_all_policy", "name"):
        return value
    if name == "placement":
        return parse_placement(value)
    for kind in (int, float):
        try:
            return kind(value)
        except ValueError:
            continue
    return value


@dataclasses.dataclass(frozen=True, slots=True)
class Job(Record):
    """A program on some of the hosts, next to other jobs and background traffic.

    Args:
        program: ``"milc"`` or another name of ``dfe.programs()``, with settings as in
            ``"milc:scale=0.25"``; a schedule, ``"goal:trace.goal"``; a trace, ``"trace:messages.csv"``; an object;
            or a function ``(rank, ranks) -> operations`` of your own (``dragonfly_env.jobs``).
        hosts: Number of hosts. May be left out where the placement lists them or the program is written for a number.
        placement: ``"consecutive"`` (the first free hosts by number), ``"random"``, ``"random-routers"`` (routers in
            random order, all hosts of one before the next), ``"random-groups"``, ``"groups=k"`` (an even share in
            each of k random groups), or a list: rank i lives on the i-th. Jobs take hosts in the order in which they
            are listed, those with lists first.
        policy: Policy of the job's packets; None: the run's policy. Any two policies of a run must share the rules for
            virtual channels, and none may learn.
        all_to_all_policy: Policy of the packets of its all-to-all operations; None: as ``policy``.
        start_ns: Time at which the ranks start.
        iterations: Repetitions of the program; ``"endless"``: as long as the run lasts.
        seed: Seed of the placement and the jitter; None: the run's.
        name: Name of the job in tables; empty: the name of the program.

    Raises:
        ConfigError: For an impossible setting; the message names the field.

    Example:
        >>> job = dfe.Job("milc:scale=0.01", hosts=8, placement="random-routers")
        >>> job.title, job.is_endless
        ('milc:scale=0.01 on 8 hosts', False)
        >>> config = dfe.SimulationConfig(topology="72", jobs=[job])
        >>> dfe.Simulation(config).run_to_completion().jobs[0].run_time_ns > 0
        True
    """

    called: ClassVar[str] = "a job"
    program: Any
    hosts: int | None = integer(None, 1, MOST_HOSTS, optional=True, doc="Number of hosts.")
    placement: Any = setting(
        "consecutive",
        check_placement,
        "",
        "Hosts of the job: consecutive, random, random-routers, random-groups, groups=k, or a list.",
    )
    policy: Any = policy_row("Policy of the job's packets; unset: the policy of the run.")
    all_to_all_policy: Any = policy_row("Policy of the job's all-to-all operations; unset: ``policy``.")
    start_ns: float = time_ns(0.0, 0.0, MAX_SETTING_NS, doc="Time at which the ranks start.")
    iterations: Any = setting(
        1, _check_iterations, "", f"Repetitions of the program; {ENDLESS}: as long as the run lasts."
    )
    seed: int | None = integer(
        None,
        0,
        MAX_SEED,
        optional=True,
        doc="Seed of the placement and the jitter; unset: the seed of the run.",
    )
    name: str = setting("", check_text, "", "Name of the job in tables; empty: the name of the program.")

    def __post_init__(self) -> None:
        Record.__post_init__(self)
        if callable(self.program) and not isinstance(self.program, Program):
            if self.hosts is None:
                raise config_error("hosts", None, "must be given for a program that is a function")
            object.__setattr__(self, "program", RecordedProgram.of(self.program, self.hosts))
        program = parse_program(self.program)
        object.__setattr__(self, "program", program)
        if self.hosts is None:
            listed = len(self.placement) if isinstance(self.placement, tuple) else program.num_hosts()
            if listed is None:
                raise config_error("hosts", None, "must be given: how many hosts the job has")
            object.__setattr__(self, "hosts", listed)
        if isinstance(self.placement, tuple) and len(self.placement) != self.hosts:
            raise config_error("hosts", self.hosts, f"must be {len(self.placement)}, as the placement lists")
        program.check(self.num_hosts)
        if isinstance(program, RegisteredJob) and self.iterations != 1:
            raise config_error("iterations", self.iterations, f"must be 1 for {program.spec}")
        if not self.name:
            object.__setattr__(self, "name", program.spec)

    def __repr__(self) -> str:
        return show_changes(self, name=self.program.spec)

    @property
    def num_hosts(self) -> int:
        """Number of hosts."""
        assert self.hosts is not None
        return self.hosts

    @property
    def is_endless(self) -> bool:
        """Whether it goes on for as long as the run does."""
        return bool(self.iterations == ENDLESS)

    @property
    def title(self) -> str:
        """Describe the program and its place, in a few words for people."""
        return f"{self.name} on {self.num_hosts} hosts"

    @classmethod
    def parse(cls, text: str) -> Job:
        """Parse ``"milc:hosts=32,placement=random-routers,scale=0.25"``: fields of a job, settings of its program.
        A list of hosts is ``placement=3;1;4``, a policy a name.

        Args:
            text: The program, then settings.

        Raises:
            ConfigError: For an unknown name or a value out of range.

        Example:
            >>> dfe.Job.parse("milc:hosts=8,placement=random,scale=0.25").placement
            'random'
        """
        head, _, rest = text.strip().partition(":")
        parts = rest.split(",")
        if head in (Goal.name, Replay.name):
            head = f"{head}:{parts.pop(0)}"
        fields = {field.name for field in dataclasses.fields(cls)} - {"program"}
        typed: dict[str, Any] = {}
        settings = []
        for part in filter(str.strip, parts):
            name, sign, value = (word.strip() for word in part.partition("="))
            if not sign or not value:
                raise config_error("job", part, "must have the form name=value")
            if name in fields:
                typed[name] = _spelled(name, value)
            else:
                settings.append(f"{name}={value}")
        separator = "," if ":" in head else ":"
        return cls(separator.join([head, *filter(None, [",".join(settings)])]), **typed)

    def replace(self, **changes: Any) -> Job:
        """A copy with some fields changed.

        Raises:
            ConfigError: For an unknown field or a value out of range.

        Example:
            >>> dfe.Job("milc", hosts=8).replace(hosts=16).num_hosts
            16
        """
        if "program" in changes and "name" not in changes and self.name == self.program.spec:
            changes["name"] = ""
        return Record.replace(self, **changes)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for TOML and JSON; ``from_dict`` is the inverse.

        Example:
            >>> dfe.Job("milc", hosts=8).to_dict()
            {'program': 'milc', 'hosts': 8}
        """
        return {name: plain(value) for name, value in changed(self, name=self.program.spec).items()}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Job:
        """The job that ``to_dict`` described.

        Args:
            values: Fields by name.

        Raises:
            ConfigError: For an unknown key or a value out of range.

        Example:
            >>> dfe.Job.from_dict({"program": "milc", "hosts": 8}).title
            'milc on 8 hosts'
        """
        given = check_mapping(
            "job", values, "must be a table of fields, such as {'program': 'milc', 'hosts': 8}"
        )
        if "program" not in given:
            raise config_error("program", None, "must be given: the name of a program")
        return super(Job, cls).from_dict(given)

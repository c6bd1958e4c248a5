"""Programs as users name them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any

from dragonfly_env.checks.values import config_error, parse_assignments, unknown_name
from dragonfly_env.jobs import programs as _programs  # noqa: F401 - they register themselves
from dragonfly_env.jobs.goal import Goal
from dragonfly_env.jobs.operations import Operation
from dragonfly_env.jobs.program import Motif, Program
from dragonfly_env.jobs.recorded import RecordedProgram
from dragonfly_env.jobs.replay import Replay
from dragonfly_env.traffic.base import ClosedLoop, closed_loop_names, make_named
from dragonfly_env.traffic.parse import parse_traffic
from dragonfly_env.traffic.trace import Trace


@dataclasses.dataclass(frozen=True, slots=True, repr=False)
class RegisteredJob(Program):
    """A closed-loop pattern, such as ``all-to-all:message_bytes=4096``, on the hosts of a job: one iteration, and no
    operations that are measured.
    """

    pattern: str
    jitter: float = 0.0
    piece_bytes: int = 1

    def __post_init__(self) -> None:
        made = make_named(self.pattern, {})
        if not isinstance(made, ClosedLoop):
            raise config_error(
                "program", self.pattern, "must be closed loop: a program sends because of what comes"
            )
        if "placement" in made.arguments() and made.arguments()["placement"] != "consecutive":
            raise config_error("program", self.pattern, "must leave the placement to the job")

    def __repr__(self) -> str:
        return f"parse_program({self.pattern!r})"

    @property
    def spec(self) -> str:
        return self.pattern

    def operations(self, rank: int, ranks: int) -> Iterable[Operation]:
        return ()

    def to_dict(self) -> str | dict[str, Any]:
        return self.pattern


def programs() -> tuple[str, ...]:
    """The names of all programs that a job may run.

    Example:
        >>> dfe.programs()[:2]
        ('hacc', 'llm')
    """
    return (*Motif.classes, *closed_loop_names())


def parse_program(program: object) -> Program:
    """A program in any of its forms.

    Args:
        program: ``"milc"``, ``"milc:scale=0.25,gap_ns=1000"``, a closed-loop pattern such as
            ``"all-to-all:message_bytes=4096"``, a schedule as ``"goal:trace.goal"``, a trace or its file as
            ``"trace:messages.csv"``, an object, or a table as ``Program.to_dict`` gives.

    Raises:
        ConfigError: If it is none of these; unknown names come with the nearest match.

    Example:
        >>> dfe.jobs.parse_program("milc:scale=0.25").scale
        0.25
        >>> dfe.jobs.parse_program("all-to-all:message_bytes=4096").spec
        'all-to-all:message_bytes=4096'
    """
    if isinstance(program, Program):
        return program
    if isinstance(program, Trace):
        return Replay(program)
    if isinstance(program, Mapping):
        return _from_table(dict(program))
    if not isinstance(program, str):
        raise config_error("program", program, "must be the name of a program, a function, or a program")
    text = program.strip()
    name, _, rest = text.partition(":")
    if name == Goal.name:
        return Goal.parse(rest)
    if name == Replay.name and isinstance(trace := parse_traffic(text), Trace):
        return Replay(trace)
    if name in Motif.classes:
        return Motif.classes[name].from_dict(parse_assignments(rest, "program"))
    if name not in programs():
        raise unknown_name("program", name, programs())
    return RegisteredJob(text)


def _from_table(table: dict[str, Any]) -> Program:
    if Goal.name in table:
        return Goal.from_dict(table)
    if Replay.name in table:
        return Replay(Trace.from_dict(table))
    if "operations" in table:
        return RecordedProgram.from_dict(table)
    name = table.get("name")
    if not isinstance(name, str) or name not in Motif.classes:
        raise unknown_name("program", name, Motif.classes)
    return Motif.classes[name].from_dict(table)

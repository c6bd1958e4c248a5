"""Closed-loop patterns of the core's registry as programs of jobs."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any

from dragonfly_env.checks.values import config_error
from dragonfly_env.jobs.operations import Operation
from dragonfly_env.jobs.program import Program
from dragonfly_env.traffic.base import ClosedLoop, make_named


@dataclasses.dataclass(frozen=True, slots=True)
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

    @property
    def spec(self) -> str:
        return self.pattern

    def operations(self, rank: int, ranks: int) -> Iterable[Operation]:
        return ()

    def to_dict(self) -> str | dict[str, Any]:
        return self.pattern

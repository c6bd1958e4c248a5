"""Programs in Python: labels are names and nothing else, arguments are checked, a right program comes to its end."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

from dragonfly_env import jobs
from dragonfly_env.errors import ConfigError
from dragonfly_env.jobs import Job, Operation
from tests.fuzz.draws import odd
from tests.fuzz.operation_texts import run
from tests.fuzz.outcome import Outcome, WrongError, outcome, require
from tests.fuzz.programs import LABELS, RankProgram, Step, rank_program

_LABELS = ("", "a", "b", "a b", "a_b", "é", "#", "x=1", "\n", "-", "wait", "\udcff", "[/red]", "a" * 300)

# Of an argument: what it never is.
_BAD_RANKS = (-1, 6, 2**31, 2**32, 10**30, "1", "+1", 1.5, None, math.nan)
_BAD_SIZES = (-2, 2**31, 10**30, 1.5, "8", None, math.nan)
_BAD_TIMES = (math.nan, math.inf, -math.inf, -1, -0.001, 1e300, 10**400, None, "5")


def attempts(random: Random, folder: Path) -> Iterator[Callable[[], Outcome]]:
    """A function of a random program: with other labels, with a wrong argument, or with anything in a place."""
    while True:
        play = random.choice((_renamed, _wrong, _odd))
        yield functools.partial(play, random)


def _renamed(random: Random) -> Outcome:
    """With other labels a program is the same run; a label that is refused is refused."""
    program = rank_program(random)
    labels = dict(zip(LABELS, random.sample(_LABELS, len(LABELS)), strict=True))
    one = run(_job(program, random), complete=True)
    renamed: list[Job] = []
    if (
        outcome(lambda: renamed.append(_job(program.relabelled(labels), random)), ConfigError)
        is Outcome.REFUSED
    ):
        return Outcome.REFUSED
    require(run(renamed[0], complete=True) == one, f"labels are names: {labels}, {program.steps}")
    return Outcome.RUN


def _job(program: RankProgram, random: Random) -> Job:
    return Job(program.function, program.ranks, name="x", iterations=2)


def _wrong(random: Random) -> Outcome:
    """One argument wrong."""
    program = rank_program(random, ranks=random.randint(1, 6))
    places = [at for at, step in enumerate(program.steps) if _bad(step, program.ranks)]
    if not places:
        program, places = RankProgram(2, (Step(0, "compute", {"ns": 1}),)), [0]
    at = random.choice(places)
    step = program.steps[at]
    field, value = random.choice(_bad(step, program.ranks))
    wrong = Step(step.rank, step.name, step.values | {field: value})
    try:
        Job(program.with_step(at, wrong).function, program.ranks)
    except ConfigError as error:
        require("=" in str(error) or ":" in str(error), f"{error} has field and value")
        return Outcome.REFUSED
    raise WrongError(f"{wrong} must be refused")


def _bad(step: Step, ranks: int) -> list[tuple[str, Any]]:
    """(field, value) pairs that a step never has."""
    kinds = {"to": _BAD_RANKS, "from": _BAD_RANKS, "bytes": _BAD_SIZES, "ns": _BAD_TIMES}
    pairs = [(field, value) for field in step.values if field in kinds for value in kinds[field]]
    pairs += [("name", "iteration")] * (step.name in ("begin", "end"))
    return pairs


def _odd(random: Random) -> Outcome:
    """A function that yields or returns anything; hosts that do not fit; refused, or it runs."""
    program = rank_program(random)
    kind = random.choices(range(5), (30, 30, 30, 0.1, 30))[0]  # one without an end takes seconds

    @functools.cache
    def function(rank: int, ranks: int) -> Any:
        operations = list(program.function(rank, ranks))
        place = random.randrange(len(operations) + 1)
        match kind:
            case 0:
                return odd(random)
            case 1:
                return [*operations[:place], odd(random), *operations[place:]]
            case 2:
                changed = [
                    odd(random) if random.random() < 0.3 else value for value in Operation(0, 0, 128, "")
                ]
                return [*operations[:place], Operation(*changed), *operations[place:]]
            case 3:
                return itertools.cycle([*operations, jobs.compute(1)])
            case _:
                return [one for one in operations if random.random() < 0.9]

    hosts = program.ranks if random.random() < 0.9 else odd(random)
    made: list[Job] = []
    end = outcome(lambda: made.append(Job(function, hosts)), ConfigError)
    if end is Outcome.RUN:
        return outcome(lambda: run(made[0], complete=False), ConfigError)
    return end

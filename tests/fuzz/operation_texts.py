"""Texts of operations: one that is right runs to its end, in each of its forms alike; a wrong one is refused.

What is refused names line and field.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

from dragonfly_env import SimulationConfig
from dragonfly_env.config.topology import Dragonfly
from dragonfly_env.errors import ConfigError
from dragonfly_env.jobs import Job
from dragonfly_env.simulation import Simulation
from tests.fuzz.outcome import Outcome, WrongError, require
from tests.fuzz.programs import COLLECTIVES, RankProgram, Step, rank_program

TOPOLOGY = Dragonfly(1, 4, 2)
_LIMIT_NS = 50_000.0
_MORE_WORDS = "* 0-1 +1 -1 ns=5 name=iteration"
_NO_NUMBERS = ("abc", "1.5", "9" * 30, "1e3", "-5", "0x10", "nan", "None")


def attempts(random: Random, folder: Path) -> Iterator[Callable[[], Outcome]]:
    """A file of a random program: as it is, with one field wrong, or with words changed anyhow."""
    file = folder / "fuzz.ops"
    while True:
        play = random.choice((_right, _wrong, _shuffled))
        yield functools.partial(play, random, file)


def _right(random: Random, file: Path) -> Outcome:
    program = rank_program(random)
    iterations = random.choice((1, 1, 3))
    text = program.text
    if random.random() < 0.3:
        text = text.replace("\n", random.choice(("\r\n", "   # a comment\n", "\n\n")))
    file.write_text(text, encoding="utf-8")
    jobs = [
        Job(f"file:{file}", name="x", iterations=iterations),
        Job({"name": "text", "text": program.text}, name="x", iterations=iterations),
        Job(program.function, program.ranks, name="x", iterations=iterations),
    ]
    jobs.append(Job.from_dict(jobs[random.randrange(2)].to_dict()))
    one, *others = (run(job, complete=True) for job in jobs)
    for other in others:
        require(other == one, f"the same program is the same run: {other} is not {one}")
    return Outcome.RUN


def run(job: Job, *, complete: bool) -> str:
    """A job alone: its hash and measurements as text; ``complete``: it ends, and has no span within a span."""
    simulation = Simulation(SimulationConfig(topology=TOPOLOGY, jobs=[job]))
    metrics = simulation.run_to_completion(_LIMIT_NS)
    simulation.check_invariants()
    (measured,) = metrics.jobs
    if complete:
        require(measured.complete, "a program that is accepted comes to its end")
        require(not measured.mpi_share > 1, f"mpi_share = {measured.mpi_share} is a share")
    described = {name: value for name, value in measured.to_dict().items() if name != "program"}
    return f"{simulation.trace_hash():x} {described}"


# One field wrong.


def _wrong(random: Random, file: Path) -> Outcome:
    program = rank_program(random)
    while not program.steps:
        program = rank_program(random)
    at = random.randrange(len(program.steps))
    field, line = _wrong_line(random, program.steps[at], program)
    lines = program.text.splitlines()
    lines[at + 1] = line
    file.write_text("\n".join(lines), encoding="utf-8")
    try:
        Job(f"file:{file}")
    except ConfigError as error:
        said = f"{line!r} is refused with line and field, not with: {error}"
        require(f"line {at + 2}" in str(error) and field in str(error), said)
        return Outcome.REFUSED
    raise WrongError(f"{line!r} must be refused")


def _wrong_line(random: Random, step: Step, program: RankProgram) -> tuple[str, str]:
    """The field that is wrong in a line, and the line in the place of a step."""
    rank, last = step.rank, program.ranks - 1
    who = random.choice((f"{last + 1}", "-1", "3-2", "a", "0-99", "**"))
    wrong = [
        ("rank", step.line.replace(f"{rank}", who, 1)),
        ("operation", step.line.replace(step.name, random.choice(("sent", "x", "*")), 1)),
        ("bytez", f"{step.line} bytez=1"),
    ]
    for field, value in step.values.items():
        others = {name: other for name, other in step.values.items() if name != field}
        wrong.append((field, f"{step.line} {field}={value}"))  # twice
        wrong += [
            (field, Step(rank, step.name, others | {field: bad}).line) for bad in _bad_values(field, program)
        ]
        if field in _needed(step.name):
            wrong.append((field, Step(rank, step.name, others).line))
    if step.name not in ("begin", "end"):  # whose partner would be alone as well
        mark = random.choice(("begin", "end"))
        wrong.append(("name", f"{rank} {mark} name={random.choice(('iteration', 'alone'))}"))
    if step.name == "wait":
        wrong.append(("measured", f"{rank} wait measured=nope"))
    if step.name == "send":
        wrong.append(("of", f"{rank} send to={last} bytes=1 of=all-to-al"))
    return random.choice(wrong)


def _needed(name: str) -> tuple[str, ...]:
    if name in COLLECTIVES:
        return () if name == "barrier" else ("bytes",)
    return {"send": ("to", "bytes"), "receive": ("from",), "compute": ("ns",)}.get(name, ("name",))


def _bad_values(field: str, program: RankProgram) -> tuple[Any, ...]:
    """Values that a field never has."""
    match field:
        case "to" | "from" | "root":
            return (program.ranks, 2**32, "x", "1.0", "+", "+1e3", "++1")
        case "bytes":
            return (2**31, *_NO_NUMBERS)
        case "ns":
            return ("abc", "nan", "inf", "-1", "1e300", "1,5")
        case "of":
            return ("all-to-al", "true")
        case "measured":
            return ("nope", "False", "0")
        case _:
            return ()


# Words changed anyhow.


def _shuffled(random: Random, file: Path) -> Outcome:
    """Whatever a text says: refused, or it runs."""
    lines = rank_program(random).text.splitlines()
    words = [word for line in [*lines, _MORE_WORDS] for word in line.split()]
    for _ in range(random.choice((1, 1, 2, 4))):
        at = random.randrange(len(lines))
        of_line = lines[at].split()
        place = random.randrange(len(of_line) + 1)
        match random.randrange(5):
            case 0:
                lines[at : at + 1] = []
            case 1:
                lines.insert(at, random.choice(lines))
            case 2:
                lines[at] = " ".join([*of_line[:place], random.choice(words), *of_line[place + 1 :]])
            case 3:
                lines[at] = " ".join([*of_line[:place], *of_line[place + 1 :]])
            case 4:
                other = random.randrange(len(lines))
                lines[at], lines[other] = lines[other], lines[at]
        lines = lines or ["ranks 2"]
    file.write_text("\n".join(lines), encoding="utf-8")
    try:
        run(Job(f"file:{file}", iterations=2), complete=False)
    except ConfigError:
        return Outcome.REFUSED
    return Outcome.RUN

"""Random programs of jobs that come to their end: as steps of ranks, as a text and as a Python function."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from random import Random
from typing import Any, NamedTuple

from dragonfly_env import jobs
from dragonfly_env.jobs import Operation
from dragonfly_env.jobs.operations import SEND_ALL_TO_ALL

LABELS = ("", "a", "b", "a_b")
COLLECTIVES = ("allreduce", "alltoallv", "broadcast", "reduce", "barrier")
_MOST_RANKS = 6
_MOST_EVENTS = 12


class Step(NamedTuple):
    """What one rank does next, in the words of a text of operations; without a field what has its default."""

    rank: int
    name: str
    values: dict[str, Any]

    @property
    def line(self) -> str:
        """The step in a text."""
        given = [f"{field}={value}" for field, value in self.values.items()]
        return " ".join([f"{self.rank}", self.name, *given])

    def operations(self, ranks: int) -> Iterable[Operation]:
        """The step in a Python program."""
        return _STEPS[self.name](self.rank, ranks, **self.values)


class RankProgram(NamedTuple):
    """A program as steps, in an order in which every wait is for earlier ones."""

    ranks: int
    steps: tuple[Step, ...]

    @property
    def text(self) -> str:
        """The program as a text of operations."""
        return "\n".join([f"ranks {self.ranks}", *(step.line for step in self.steps)]) + "\n"

    @property
    def function(self) -> Callable[[int, int], Iterator[Operation]]:
        """The program as a Python function."""

        def program(rank: int, ranks: int) -> Iterator[Operation]:
            for step in self.steps:
                if step.rank == rank:
                    yield from step.operations(ranks)

        return program

    def with_step(self, at: int, step: Step) -> RankProgram:
        """The program with another step at a place."""
        return RankProgram(self.ranks, (*self.steps[:at], step, *self.steps[at + 1 :]))

    def relabelled(self, names: Mapping[str, str]) -> RankProgram:
        """The program with other labels."""
        steps = []
        for step in self.steps:
            unlabelled = {"send": "", "receive": ""}.get(step.name)
            label = step.values.get("label", unlabelled)
            new = {} if label is None else {"label": names[label]}
            steps.append(Step(step.rank, step.name, step.values | new))
        return RankProgram(self.ranks, tuple(steps))


def _send(rank: int, ranks: int, **values: Any) -> Iterable[Operation]:
    operation = jobs.send(values["to"], values["bytes"], values.get("label", ""))
    return [operation._replace(kind=SEND_ALL_TO_ALL) if "of" in values else operation]


def _receive(rank: int, ranks: int, **values: Any) -> Iterable[Operation]:
    size = {"num_bytes": values["bytes"]} if "bytes" in values else {}
    return [jobs.receive(values["from"], label=values.get("label", ""), **size)]


def _wait(rank: int, ranks: int, **values: Any) -> Iterable[Operation]:
    label = values.get("label")
    return [jobs.silent_wait(label)] if "measured" in values else jobs.wait(label)


def _collective(make: Callable[..., Iterable[Operation]]) -> Callable[..., Iterable[Operation]]:
    def operations(rank: int, ranks: int, **values: Any) -> Iterable[Operation]:
        sizes = [values.pop(field) for field in ("bytes",) if field in values]
        return make(rank, range(ranks), *sizes, **values)

    return operations


_STEPS: dict[str, Callable[..., Iterable[Operation]]] = {
    "send": _send,
    "receive": _receive,
    "wait": _wait,
    "compute": lambda rank, ranks, ns: [jobs.compute(ns)],
    "begin": lambda rank, ranks, name: [jobs.begin(name)],
    "end": lambda rank, ranks, name: [jobs.end(name)],
    **{name: _collective(getattr(jobs, name)) for name in COLLECTIVES},
}


def rank_program(random: Random, labels: Sequence[str] = LABELS, ranks: int | None = None) -> RankProgram:
    """A program of a few messages, computations and collectives that comes to its end."""
    count = ranks or random.randint(1, _MOST_RANKS)
    steps: list[Step] = []
    for _ in range(random.randint(0, _MOST_EVENTS)):
        rank = random.randrange(count)
        match random.randrange(8):
            case 0 | 1 | 2:
                steps += _message(random, rank, random.randrange(count), random.choice(labels))
            case 3 | 4:
                steps.append(Step(rank, "compute", {"ns": random.choice((0, 0.001, 50, 77.7, 1000))}))
            case 5:
                steps += _of_all(random, count)
            case 6:
                steps.append(_waits(random, rank, random.choice(labels)))
            case 7:
                steps += _timed(random, rank)
    return RankProgram(count, tuple(steps))


def _message(random: Random, source: int, to: int, label: str) -> Iterator[Step]:
    size = random.choice((0, 1, 127, 128, 129, 1_000, 5_000))
    labelled = {"label": label} if label else {}
    kind = {"of": "all-to-all"} if random.random() < 0.2 else {}
    sized = {"bytes": size} if random.random() < 0.3 else {}
    yield Step(source, "send", {"to": to, "bytes": size, **labelled, **kind})
    yield Step(to, "receive", {"from": source, **sized, **labelled})
    if random.random() < 0.6:
        yield _waits(random, to, label)


def _waits(random: Random, rank: int, label: str) -> Step:
    labelled = {"label": label} if label and random.random() < 0.7 else {}
    return Step(rank, "wait", labelled | ({"measured": "false"} if random.random() < 0.3 else {}))


def _of_all(random: Random, ranks: int) -> Iterator[Step]:
    name = random.choice(COLLECTIVES)
    values: dict[str, Any] = {} if name == "barrier" else {"bytes": random.choice((0, 8, 500))}
    if name in ("broadcast", "reduce") and random.random() < 0.5:
        values["root"] = random.randrange(ranks)
    return (Step(rank, name, dict(values)) for rank in range(ranks))


def _timed(random: Random, rank: int) -> Iterator[Step]:
    name = random.choice(("all", "part"))
    yield Step(rank, "begin", {"name": name})
    yield Step(rank, "wait", {"measured": "false"})
    yield Step(rank, "end", {"name": name})

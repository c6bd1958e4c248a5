"""Programs as texts: one operation a line, for people and for traces that come from elsewhere.

The first line says for how many ranks; every other one who does what::

    ranks 4
    # everyone computes, and passes 4 KB on to the next
    *   compute ns=1000
    *   receive from=-1
    *   send to=+1 bytes=4096
    *   wait
    0   send to=3 bytes=100 label=result
    3   receive from=0 label=result
    0-3 allreduce bytes=8

Who: a rank, a range, or ``*`` for all. Partners are ranks, or relative to who it is (``+1``, ``-1``, modulo the ranks).
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, NamedTuple, TypeAlias

from dragonfly_env.checks.outside import check_path, read_bytes
from dragonfly_env.checks.values import (
    MAX_RUN_NS,
    check_text,
    config_error,
    did_you_mean,
    unknown_name,
)
from dragonfly_env.config.rows import integer, normalise, real
from dragonfly_env.errors import ConfigError
from dragonfly_env.jobs import collectives, operations
from dragonfly_env.jobs.operations import Operation
from dragonfly_env.jobs.program import MOST_HOSTS, Program

RankProgram: TypeAlias = Callable[[int, int], Iterable[Operation]]
"""A program of one's own: (rank, ranks) -> the operations of one iteration."""

MOST_OPERATIONS = 2**21
"""Of a written program: a trace that is longer is cut into several jobs or iterations."""

_MOST_FILE_BYTES = 2**28
_MOST_BYTES = 2**31 - 1


class _Line(NamedTuple):
    """What is left to read of a line."""

    where: str
    values: dict[str, str]
    ranks: int

    def refuse(self, field: str, value: object, allowed: str) -> ConfigError:
        return config_error(f"{self.where}, {field}", value, allowed)

    def text(self, field: str, default: str | None = None) -> str:
        value = self.values.pop(field, default)
        if value is None:
            raise self.refuse(field, None, f"must be given, as in {field}=..")
        return value

    def number(self, field: str, low: int, high: int, default: int | None = None) -> int:
        text = self.text(field, None if default is None else str(default))
        try:
            value = int(text)
        except ValueError:
            value = low - 1
        if not low <= value <= high and value != default:
            raise self.refuse(field, text, f"must be a whole number, {low} to {high}")
        return value

    def num_bytes(self, default: int | None = None) -> int:
        return self.number("bytes", 0, _MOST_BYTES, default)

    def partner(self, field: str, rank: int) -> int:
        text = self.values.get(field, "")
        if text[:1] in ("+", "-") and text[1:].isdecimal() and len(text) < 12:
            del self.values[field]
            return (rank + int(text)) % self.ranks
        return self.number(field, 0, self.ranks - 1)

    def time_ns(self, field: str) -> float:
        text = self.text(field)
        try:
            value = float(text)
        except ValueError:
            value = -1.0
        if not 0.0 <= value <= MAX_RUN_NS / 1000:
            raise self.refuse(field, text, f"must be a time in ns, 0 to {MAX_RUN_NS / 1000:g}")
        return value


def _send(line: _Line, rank: int) -> Iterator[Operation]:
    kind = operations.SEND_ALL_TO_ALL if line.text("of", "") == "all-to-all" else operations.SEND
    yield Operation(kind, line.partner("to", rank), line.num_bytes(), line.text("label", ""))


def _receive(line: _Line, rank: int) -> Iterator[Operation]:
    source = line.partner("from", rank)
    yield operations.receive(source, line.num_bytes(operations.ANY_BYTES), line.text("label", ""))


def _wait(line: _Line, rank: int) -> Iterable[Operation]:
    label = line.values.pop("label", None)
    if line.values.pop("measured", "true") == "false":
        return [operations.silent_wait(label)]
    return operations.wait(label)


def _compute(line: _Line, rank: int) -> Iterator[Operation]:
    yield operations.compute(line.time_ns("ns"))


def _mark(kind: int) -> Callable[[_Line, int], Iterator[Operation]]:
    def marks(line: _Line, rank: int) -> Iterator[Operation]:
        yield Operation(kind, label=line.text("name"))

    return marks


def _collective(line: _Line, rank: int, make: Callable[..., Iterable[Operation]]) -> Iterable[Operation]:
    return make(rank, range(line.ranks), line.num_bytes())


def _rooted(line: _Line, rank: int, make: Callable[..., Iterable[Operation]]) -> Iterable[Operation]:
    return make(rank, range(line.ranks), line.num_bytes(), root=line.number("root", 0, line.ranks - 1, 0))


OPERATIONS: Final[dict[str, Callable[[_Line, int], Iterable[Operation]]]] = {
    "send": _send,
    "receive": _receive,
    "wait": _wait,
    "compute": _compute,
    "allreduce": functools.partial(_collective, make=collectives.allreduce),
    "alltoallv": functools.partial(_collective, make=collectives.alltoallv),
    "broadcast": functools.partial(_rooted, make=collectives.broadcast),
    "reduce": functools.partial(_rooted, make=collectives.reduce),
    "barrier": lambda line, rank: collectives.barrier(rank, range(line.ranks)),
    "begin": _mark(operations.BEGIN),
    "end": _mark(operations.END),
}


class _Parsed(NamedTuple):
    operations: tuple[tuple[Operation, ...], ...]
    lines: tuple[tuple[int, ...], ...]


@functools.lru_cache(maxsize=16)
def _parse(name: str, text: str) -> _Parsed:
    ranks, total = 0, 0
    done: list[list[Operation]] = []
    lines: list[list[int]] = []
    for number, raw in enumerate(text.splitlines(), start=1):
        words = raw.partition("#")[0].split()
        if not words:
            continue
        where = f"{name}, line {number}"
        if not ranks:
            ranks = _ranks(where, words)
            done, lines = [[] for _ in range(ranks)], [[] for _ in range(ranks)]
            continue
        who = _who(where, words[0], ranks)
        if len(words) < 2 or words[1] not in OPERATIONS:
            raise unknown_name(f"{where}, operation", words[1] if len(words) > 1 else "", OPERATIONS)
        given = dict(_assignments(where, words[2:]))
        for rank in who:
            line = _Line(where, dict(given), ranks)
            made = tuple(itertools.islice(OPERATIONS[words[1]](line, rank), MOST_OPERATIONS + 1))
            for unread, value in line.values.items():
                raise line.refuse(unread, value, f"is nothing that {words[1]!r} has")
            done[rank] += made
            lines[rank] += [number] * len(made)
            if (total := total + len(made)) > MOST_OPERATIONS:
                allowed = f"makes too many: a written program has at most {MOST_OPERATIONS} operations"
                raise config_error(where, raw.strip()[:100], allowed)
    if not ranks:
        raise config_error(name, text[:50], "must begin with a line 'ranks N'")
    return _Parsed(tuple(map(tuple, done)), tuple(map(tuple, lines)))


def _ranks(where: str, words: list[str]) -> int:
    if len(words) != 2 or words[0] != "ranks" or not words[1].isdecimal() or len(words[1]) > 9:
        raise config_error(where, " ".join(words)[:100], "must be 'ranks N' before anything else")
    if not 1 <= int(words[1]) <= MOST_HOSTS:
        raise config_error(f"{where}, ranks", words[1], f"must be 1 to {MOST_HOSTS}")
    return int(words[1])


def _who(where: str, word: str, ranks: int) -> range:
    if word == "*":
        return range(ranks)
    first, dash, last = word.partition("-")
    ends = [first, last] if dash else [first, first]
    if all(end.isdecimal() and len(end) < 10 for end in ends):
        low, high = map(int, ends)
        if low <= high < ranks:
            return range(low, high + 1)
    raise config_error(
        f"{where}, rank", word, f"must be a rank, 0 to {ranks - 1}, a range such as 0-{ranks - 1}, or *"
    )


def _assignments(where: str, words: list[str]) -> Iterator[tuple[str, str]]:
    for word in words:
        field, sign, value = word.partition("=")
        if not sign or not field or not value:
            known = ("to", "from", "bytes", "label", "ns", "root")
            raise config_error(where, word, f"must have the form name=value{did_you_mean(field, known)}")
        yield field, value


@dataclasses.dataclass(frozen=True, slots=True)
class OperationText(Program):
    """A program that is written down, operation by operation.

    Args:
        name: For tables and messages.
        text: What it says.
        path: The file that it was read from; empty: none.
    """

    name: str
    text: str = dataclasses.field(repr=False)
    path: str = ""
    jitter: float = real(0.0, 0.0, 0.15, doc="Standard deviation of computing times, as a share of them.")
    piece_bytes: int = integer(
        4096,
        1,
        _MOST_BYTES,
        unit="bytes",
        doc="Messages leave in pieces of so many, in turn over all open ones.",
    )

    def __post_init__(self) -> None:
        normalise(self)
        check_text("program name", self.name)
        _parse(self.name, check_text("program text", self.text))

    @classmethod
    def read(cls, path: str, **settings: Any) -> OperationText:
        """From a file.

        Raises:
            ConfigError: If it cannot be read, or a line is wrong; with line and field.
        """
        file = check_path("program file", path)
        content = read_bytes(file, "program file", _MOST_FILE_BYTES)
        return cls(file.name, content.decode("utf-8", "backslashreplace"), str(path), **settings)

    @classmethod
    def of(cls, function: RankProgram, ranks: int, **settings: Any) -> OperationText:
        """From a function (rank, ranks) -> operations.

        Raises:
            ConfigError: If it yields anything else.
        """
        name = getattr(function, "__name__", type(function).__name__)
        return cls(name, "\n".join(_written(name, function, ranks)) + "\n", **settings)

    @property
    def spec(self) -> str:
        return f"file:{self.path}" if self.path else self.name

    def num_hosts(self) -> int:
        return len(_parse(self.name, self.text).operations)

    def check(self, hosts: int) -> None:
        if hosts != self.num_hosts():
            raise config_error("hosts", hosts, f"must be {self.num_hosts()}, the ranks of {self.name}")

    def operations(self, rank: int, ranks: int) -> Iterable[Operation]:
        return _parse(self.name, self.text).operations[rank]

    def lines(self) -> tuple[tuple[int, ...], ...] | None:
        return _parse(self.name, self.text).lines if self.path else None

    def to_dict(self) -> str | dict[str, Any]:
        own = {
            field.name: getattr(self, field.name)
            for field in dataclasses.fields(self)
            if "check" in field.metadata and getattr(self, field.name) != field.default
        }
        if not self.path:
            return {"name": self.name, "text": self.text, **own}
        return {"file": self.path, **own} if own else self.spec


_WORDS = {
    operations.SEND: "send to={0} bytes={1}",
    operations.SEND_ALL_TO_ALL: "send to={0} bytes={1} of=all-to-all",
    operations.RECEIVE: "receive from={0} bytes={1}",
    operations.WAIT: "wait measured=false",
    operations.WAIT_ALL: "wait measured=false",
    operations.BEGIN: "begin name={2}",
    operations.END: "end name={2}",
}


def _written(name: str, function: RankProgram, ranks: int) -> Iterator[str]:
    yield f"ranks {ranks}"
    for rank in range(ranks):
        for number, item in enumerate(function(rank, ranks)):
            where = f"{name}, operation {number} of rank {rank}"
            if number > MOST_OPERATIONS:
                raise config_error(
                    where, item, f"must be among the first {MOST_OPERATIONS}: a program has an end"
                )
            if not isinstance(item, Operation):
                raise config_error(where, item, "must be an Operation, as send(..) and receive(..) make them")
            kind, partner, amount, label = item
            if kind == operations.COMPUTE:
                yield f"{rank} compute ns={amount / 1000!r}"
                continue
            if kind not in _WORDS:
                raise config_error(where, item, "must be an operation of a known kind")
            word = "".join(c if c.isprintable() and not c.isspace() and c != "#" else "_" for c in str(label))
            line = f"{rank} {_WORDS[kind].format(partner, amount, word)}".replace(" bytes=-1", "")
            marked = kind in (operations.BEGIN, operations.END, operations.WAIT_ALL)
            yield line if marked or not word else f"{line} label={word}"

"""Operations as lines of text, for people and for traces that come from elsewhere.

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
Labels and names with spaces are in quotes, as strings of JSON: ``label="a b"``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, TextIO, TypeAlias

from dragonfly_env import _core
from dragonfly_env.checks.values import PS_PER_NS, config_error, did_you_mean, no_such_setting, unknown_name
from dragonfly_env.jobs import collectives
from dragonfly_env.jobs.operations import (
    ANY_BYTES,
    BEGIN,
    COMPUTE,
    END,
    MAX_COMPUTE_NS,
    MOST_BYTES,
    MOST_HOSTS,
    RECEIVE,
    SEND,
    SEND_ALL_TO_ALL,
    WAIT,
    WAIT_ALL,
    Operation,
    compute,
    silent_wait,
    wait,
)
from dragonfly_env.jobs.records import Recorder, Records

MOST_OPERATIONS = 2**21
"""Of a written program: a trace that is longer is cut into several jobs or iterations."""

_MOST_WORDS = 2**16  # that are remembered of a text
_BLOCK = 2**20  # characters
_LONGEST_WORD = 200
_WORD = re.compile(r'[^\s#="]+="(?:[^"\\]|\\.)*"|[^\s#]+|#.*')
_PLAIN = re.compile(r"[0-9]{1,18}")
_RELATIVE = re.compile(r"[+-][0-9]{1,10}")
_TIME = re.compile(r"[0-9.]+(?:[eE][+-]?[0-9]+)?")


class _WrongValueError(Exception):
    """What is wrong in a line: field, value, what is allowed."""


def _number(low: int, high: int) -> Callable[[str, str, int], int]:
    def read(field: str, text: str, ranks: int) -> int:
        if _PLAIN.fullmatch(text) and low <= int(text) <= high:
            return int(text)
        raise _WrongValueError(field, text, f"must be a whole number, {low} to {high}")

    return read


def _root(field: str, text: str, ranks: int) -> int:
    return _number(0, ranks - 1)(field, text, ranks)


def _partner(field: str, text: str, ranks: int) -> int:
    """A rank; or, below 0, one that is relative to who it is: -1 is the rank itself, -2 the next, and so on."""
    if _RELATIVE.fullmatch(text):
        return -1 - int(text) % ranks
    if _PLAIN.fullmatch(text) and int(text) < ranks:
        return int(text)
    raise _WrongValueError(field, text, f"must be a whole number, 0 to {ranks - 1}, or relative as +1")


def _ps(field: str, text: str, ranks: int) -> int:
    try:
        time_ns = float(text) if _TIME.fullmatch(text) else -1.0
    except ValueError:
        time_ns = -1.0
    if not 0.0 <= time_ns <= MAX_COMPUTE_NS:
        raise _WrongValueError(field, text, f"must be a time in ns, 0 to {MAX_COMPUTE_NS:g}")
    return compute(time_ns).amount


def _name(field: str, text: str, ranks: int) -> str:
    if not text.startswith('"'):
        return text
    try:
        name = json.loads(text)
    except ValueError:
        name = None
    if not isinstance(name, str) or not name:
        raise _WrongValueError(field, text, "must be a word, or text in quotes as JSON has it")
    return name


def _one_of(*words: str) -> Callable[[str, str, int], str]:
    def read(field: str, text: str, ranks: int) -> str:
        if text in words:
            return text
        allowed = f"must be {' or '.join(words)}{did_you_mean(text, words)}"
        raise _WrongValueError(field, text, allowed)

    return read


_Values: TypeAlias = Mapping[str, Any]
"""What a line says, by field."""
_Add: TypeAlias = Callable[[Recorder, _Values, int, int], None]
"""(recorder, values, rank, line): records what a line says for one of its ranks."""


def _rank_of(partner: int, rank: int, ranks: int) -> int:
    return partner if partner >= 0 else (rank - 1 - partner) % ranks


def _send(recorder: Recorder, values: _Values, rank: int, line: int) -> None:
    kind = SEND_ALL_TO_ALL if "of" in values else SEND
    to = _rank_of(values["to"], rank, recorder.ranks)
    recorder.add(rank, kind, to, values["bytes"], values.get("label", ""), line)


def _receive(recorder: Recorder, values: _Values, rank: int, line: int) -> None:
    source = _rank_of(values["from"], rank, recorder.ranks)
    recorder.add(rank, RECEIVE, source, values.get("bytes", ANY_BYTES), values.get("label", ""), line)


def _wait(recorder: Recorder, values: _Values, rank: int, line: int) -> None:
    label = values.get("label")
    measured = values.get("measured") != "false"
    for item in wait(label) if measured else (silent_wait(label),):
        recorder.add(rank, *item, line)


def _compute(recorder: Recorder, values: _Values, rank: int, line: int) -> None:
    recorder.add(rank, COMPUTE, 0, values["ns"], "", line)


def _mark(kind: int) -> _Add:
    def add(recorder: Recorder, values: _Values, rank: int, line: int) -> None:
        recorder.add(rank, kind, 0, 0, values["name"], line)

    return add


def _collective(make: Callable[..., Iterable[Operation]]) -> _Add:
    def add(recorder: Recorder, values: _Values, rank: int, line: int) -> None:
        settings = dict(values)
        sizes = [settings.pop("bytes")] if "bytes" in settings else []
        for item in make(rank, range(recorder.ranks), *sizes, **settings):
            recorder.add(rank, *item, line)

    return add


class _Form:
    """How an operation is written: ``fields`` of which the first ``needed`` must be given."""

    def __init__(self, add: _Add, needed: int, **fields: Callable[[str, str, int], Any]) -> None:
        self.add = add
        self.fields = {field.rstrip("_"): read for field, read in fields.items()}
        self.needed = tuple(self.fields)[:needed]


_BYTES = _number(0, MOST_BYTES)
OPERATIONS: Final = {
    "send": _Form(_send, 2, to=_partner, bytes=_BYTES, label=_name, of=_one_of("all-to-all")),
    "receive": _Form(_receive, 1, from_=_partner, bytes=_BYTES, label=_name),
    "wait": _Form(_wait, 0, label=_name, measured=_one_of("true", "false")),
    "compute": _Form(_compute, 1, ns=_ps),
    "allreduce": _Form(_collective(collectives.allreduce), 1, bytes=_BYTES),
    "alltoallv": _Form(_collective(collectives.alltoallv), 1, bytes=_BYTES),
    "broadcast": _Form(_collective(collectives.broadcast), 1, bytes=_BYTES, root=_root),
    "reduce": _Form(_collective(collectives.reduce), 1, bytes=_BYTES, root=_root),
    "barrier": _Form(_collective(collectives.barrier), 0),
    "begin": _Form(_mark(BEGIN), 1, name=_name),
    "end": _Form(_mark(END), 1, name=_name),
}
"""Every operation that can be written."""


class _Words(dict[str, tuple[str, Any]]):
    """The words of one kind of operation as (field, value). Those of a text repeat themselves: each is read once."""

    def __init__(self, operation: str, ranks: int) -> None:
        super().__init__()
        self.form = OPERATIONS[operation]
        self._operation = operation
        self._ranks = ranks

    def __missing__(self, word: str) -> tuple[str, Any]:
        field, sign, text = word.partition("=")
        known = self.form.fields
        if not sign or not field or not text:
            raise _WrongValueError("", word, f"must have the form name=value{did_you_mean(field, known)}")
        if field not in known:
            raise _WrongValueError(field, text, no_such_setting(repr(self._operation), field, known))
        found = field, known[field](field, text, self._ranks)
        if len(self) >= _MOST_WORDS:
            self.clear()
        if len(word) <= _LONGEST_WORD:
            self[word] = found
        return found

    def read(self, words: list[str]) -> _Values:
        """The values in the words of a line.

        Raises:
            _WrongValueError: If one is wrong, missing, or there twice.
        """
        values = dict(map(self.__getitem__, words))
        if len(values) < len(words):
            left = dict.fromkeys(values)
            for word in words:
                field, _, text = word.partition("=")
                if field not in left:
                    raise _WrongValueError(field, text, "must be given only once")
                del left[field]
        for field in self.form.needed:
            if field not in values:
                raise _WrongValueError(field, None, f"must be given, as in {field}=..")
        return values


class _Reader:
    """Reads the lines of a program whose ranks are known."""

    def __init__(self, program: str, ranks: int) -> None:
        self._program = program
        self._ranks = ranks
        self._words = {operation: _Words(operation, ranks) for operation in OPERATIONS}
        self._recorder = Recorder(program, ranks, MOST_OPERATIONS, lines=True)
        self.records = self._recorder.records

    def read(self, text: str, first_line: int) -> None:
        """Whole lines. The core reads those that are plain; the others, and all that is wrong, come back.

        Raises:
            ConfigError: If one is wrong; with line and field.
        """
        columns, names, others = _core.operation_lines(text, self._ranks, first_line, self._recorder.left)
        self._recorder.add_columns(columns, names)
        for number, line in others:
            self._read_line(line, number)

    def _read_line(self, line: str, number: int) -> None:
        words = _words(line)
        if not words:
            return
        where = f"{self._program}, line {number}"
        who = _who(where, words[0], self._ranks)
        operation = words[1] if len(words) > 1 else ""
        if operation not in self._words:
            raise unknown_name(f"{where}, operation", operation, OPERATIONS)
        known = self._words[operation]
        try:
            values = known.read(words[2:])
        except _WrongValueError as wrong:
            field, value, allowed = wrong.args
            raise config_error(f"{where}, {field}" if field else where, value, allowed) from None
        for rank in who:
            known.form.add(self._recorder, values, rank, number)


def read_lines(program: str, file: TextIO) -> Records:
    """The operations that a text says; it is read bit by bit.

    Args:
        program: Its name, for messages.
        file: The text, with newlines as Python has them.

    Raises:
        ConfigError: If a line is wrong; with line and field.
    """
    number = 0
    words: list[str] = []
    while not words:
        line = file.readline()
        if not line:
            raise config_error(program, "", "must begin with a line 'ranks N'")
        number += 1
        words = _words(line)
    reader = _Reader(program, _ranks(f"{program}, line {number}", words))
    while text := file.read(_BLOCK):
        text += file.readline()
        reader.read(text, number + 1)
        number += text.count("\n")
    return reader.records()


def _words(line: str) -> list[str]:
    """What is before a comment."""
    words = _WORD.findall(line) if '="' in line else line.partition("#")[0].split()
    if words and words[-1][0] == "#":
        words.pop()
    return words


def _ranks(where: str, words: list[str]) -> int:
    if len(words) != 2 or words[0] != "ranks" or not _PLAIN.fullmatch(words[1]):
        raise config_error(where, " ".join(words)[:100], "must be 'ranks N' before anything else")
    if not 1 <= int(words[1]) <= MOST_HOSTS:
        raise config_error(f"{where}, ranks", words[1], f"must be 1 to {MOST_HOSTS}")
    return int(words[1])


def _who(where: str, word: str, ranks: int) -> range:
    if word == "*":
        return range(ranks)
    first, dash, last = word.partition("-")
    ends = [first, last] if dash else [first, first]
    if all(map(_PLAIN.fullmatch, ends)):
        low, high = map(int, ends)
        if low <= high < ranks:
            return range(low, high + 1)
    raise config_error(
        f"{where}, rank", word, f"must be a rank, 0 to {ranks - 1}, a range such as 0-{ranks - 1}, or *"
    )


_WRITTEN: Final = {
    SEND: "send to={0} bytes={1}",
    SEND_ALL_TO_ALL: "send to={0} bytes={1} of=all-to-all",
    RECEIVE: "receive from={0} bytes={1}",
    WAIT: "wait measured=false",
    WAIT_ALL: "wait measured=false",
    BEGIN: "begin name={2}",
    END: "end name={2}",
}


def write_lines(records: Records) -> Iterator[str]:
    """The lines that say the same; ``read_lines`` is the inverse."""
    yield f"ranks {records.ranks}"
    words = {text: _word(text) for text in records.texts}
    for rank in range(records.ranks):
        for kind, partner, amount, label in records.operations(rank):
            if kind == COMPUTE:
                yield f"{rank} compute ns={amount / PS_PER_NS!r}"
                continue
            line = f"{rank} {_WRITTEN[kind].format(partner, amount, words[label])}".replace(" bytes=-1", "")
            unlabelled = kind in (BEGIN, END, WAIT_ALL) or not label
            yield line if unlabelled else f"{line} label={words[label]}"


def _word(text: str) -> str:
    """A label or name as a line has it."""
    plain = text.isprintable() and not text.startswith('"') and not any(c.isspace() or c == "#" for c in text)
    return text if plain else json.dumps(text)

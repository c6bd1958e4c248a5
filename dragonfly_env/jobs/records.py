"""Operations in columns: what a program is once it has been read, from a text or from Python.

``Recorder`` takes operations one by one, and checks them; ``Records`` holds the result in arrays
of 21 bytes an operation.
"""

from __future__ import annotations

import array
import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from dragonfly_env.checks.values import PS_PER_NS, check_integer, config_error
from dragonfly_env.jobs.operations import (
    ANY_BYTES,
    BEGIN,
    COMPUTE,
    END,
    MAX_COMPUTE_NS,
    MOST_BYTES,
    RECEIVE,
    SEND,
    SEND_ALL_TO_ALL,
    WAIT,
    Operation,
)
from dragonfly_env.metrics.operations import ITERATION

MAX_COMPUTE_PS = int(MAX_COMPUTE_NS) * PS_PER_NS

Columns: TypeAlias = npt.NDArray[np.int64]
"""(N, 6), an operation a row: rank, kind, partner, amount, name, and line of the file or number in its rank."""
RANK, KIND, PARTNER, AMOUNT, NAME, PLACE = range(6)
WIDTH = 6

_CHUNK = 2**16 * WIDTH  # numbers that wait until they are checked together


class Records:
    """The operations of every rank, in columns: those of rank 0 first. Equal if the operations are.

    Attributes:
        first: (ranks + 1,) uint64, where the operations of a rank begin; the last is their number.
        kinds: (N,) uint8.
        partners: (N,) uint32 ranks.
        amounts: (N,) int64 bytes of a message, picoseconds of a computation.
        names: (N,) uint32 indices into ``texts``: labels, and names of what is measured.
        texts: Every label and name once, in the order in which the ranks use them.
        lines: (N,) uint32 lines of a file, or None.
        digest: SHA-256 of all of it but the lines.
    """

    __slots__ = (
        "__weakref__",
        "amounts",
        "digest",
        "first",
        "kinds",
        "lines",
        "names",
        "partners",
        "texts",
    )

    def __init__(self, columns: Columns, ranks: int, texts: Sequence[str], *, lines: bool) -> None:
        """Store what was recorded."""
        counts = np.bincount(columns[:, RANK], minlength=ranks)
        self.first = np.concatenate([[0], np.cumsum(counts)]).astype(np.uint64)
        self.kinds = columns[:, KIND].astype(np.uint8)
        self.partners = columns[:, PARTNER].astype(np.uint32)
        self.amounts = columns[:, AMOUNT].copy()
        self.lines = columns[:, PLACE].astype(np.uint32) if lines else None
        self.names, used = in_order(columns[:, NAME])
        self.texts = tuple(texts[name] for name in used)
        digest = hashlib.sha256()
        for part in (self.first, self.kinds, self.partners, self.amounts, self.names):
            digest.update(part.data)
        digest.update(json.dumps(self.texts).encode())
        self.digest = digest.hexdigest()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Records) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    @property
    def ranks(self) -> int:
        """How many ranks there are."""
        return len(self.first) - 1

    @property
    def num_bytes(self) -> int:
        """What the columns take."""
        columns = (self.first, self.kinds, self.partners, self.amounts, self.names, self.lines)
        return sum(column.nbytes for column in columns if column is not None)

    def operations(self, rank: int) -> Iterator[Operation]:
        """Those of a rank."""
        part = slice(int(self.first[rank]), int(self.first[rank + 1]))
        columns = (self.kinds, self.partners, self.amounts, self.names)
        for kind, partner, amount, name in zip(*(column[part].tolist() for column in columns), strict=True):
            yield Operation(kind, partner, amount, self.texts[name])


def in_order(numbers: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.uint32], list[int]]:
    """The numbers replaced by 0, 1, 2.. in the order in which they occur first, and what each of these was."""
    used, at, which = np.unique(numbers, return_index=True, return_inverse=True)
    order = np.argsort(at)
    place = np.empty(len(used), np.uint32)
    place[order] = np.arange(len(used), dtype=np.uint32)
    return place[which.reshape(-1)], used[order].tolist()


class Recorder:
    """Collects the operations of a program, in any order of the ranks, and checks them.

    Args:
        program: Its name, for messages.
        ranks: How many it has.
        most: Operations that it may have.
        lines: Whether places are lines of a file; otherwise they are numbers of operations of their rank.
    """

    def __init__(self, program: str, ranks: int, most: int, *, lines: bool = False) -> None:
        self.ranks = ranks
        self._program = program
        self._most = most
        self._lines = lines
        self._recorded = 0
        self._waiting = array.array("q")
        self._chunks: list[Columns] = []
        self._numbers: dict[str, int] = {}

    @property
    def left(self) -> int:
        """Operations that it still has room for."""
        return self._most - self._recorded

    def add(self, rank: int, kind: int, partner: int, amount: int, name: str, place: int) -> None:
        """The next operation of a rank; ranges are checked now or a little later."""
        number = self._numbers.setdefault(name, len(self._numbers))
        if (BEGIN <= kind <= END and name in ("", ITERATION)) or (kind == WAIT and not name):
            self._refuse_name(rank, kind, name, place)
        self._waiting.extend((rank, kind, partner, amount, number, place))
        if len(self._waiting) >= _CHUNK:
            self._flush()

    def add_all(self, rank: int, operations: Iterable[Operation]) -> None:
        """All operations of a rank, in their order."""
        add = self.add
        for number, item in enumerate(operations):
            add(rank, *item, number)

    def add_columns(self, columns: Columns, texts: Sequence[str]) -> None:
        """Many operations that are known to be right."""
        known = [self._numbers.setdefault(text, len(self._numbers)) for text in texts]
        columns[:, NAME] = np.array([*known, 0], np.int64)[columns[:, NAME]]
        self._keep(columns)

    def records(self) -> Records:
        """What was recorded."""
        self._flush()
        columns = np.concatenate([np.empty((0, WIDTH), np.int64), *self._chunks])
        self._chunks.clear()
        columns = columns[np.lexsort((columns[:, PLACE], columns[:, RANK]))]
        texts = tuple(self._numbers)
        self._check_marks(columns, texts)
        return Records(columns, self.ranks, texts, lines=self._lines)

    def _where(self, rank: int, place: int) -> str:
        at = f"line {place}" if self._lines else f"operation {place} of rank {rank}"
        return f"{self._program}, {at}"

    def _refuse_name(self, rank: int, kind: int, name: str, place: int) -> None:
        allowed = "must not be empty"
        if kind == WAIT:
            allowed += "; without one, the wait is for everything"
        elif name:
            allowed = "must be another name: this one stands for a whole iteration"
        raise config_error(
            f"{self._where(rank, place)}, {'label' if kind == WAIT else 'name'}", name, allowed
        )

    def _check_fields(self, rank: int, operation: Operation, place: int) -> None:
        where = self._where(rank, place)
        kind = check_integer(f"{where}, kind", operation.kind, SEND, END)
        field = {RECEIVE: "from", SEND: "to", SEND_ALL_TO_ALL: "to"}.get(kind, "partner")
        check_integer(f"{where}, {field}", operation.partner, 0, self.ranks - 1)
        if kind == COMPUTE:
            check_integer(f"{where}, picoseconds", operation.amount, 0, MAX_COMPUTE_PS)
        else:
            low = ANY_BYTES if kind == RECEIVE else 0
            check_integer(f"{where}, bytes", operation.amount, low, MOST_BYTES)

    def _flush(self) -> None:
        """Check what waits, all at once."""
        columns = np.frombuffer(self._waiting, np.int64).reshape(-1, WIDTH).copy()
        self._waiting = array.array("q")
        kinds, partners, amounts = columns[:, KIND], columns[:, PARTNER], columns[:, AMOUNT]
        message = (kinds == SEND) | (kinds == SEND_ALL_TO_ALL) | (kinds == RECEIVE)
        low = np.where(kinds == RECEIVE, ANY_BYTES, 0)
        high = np.where(kinds == COMPUTE, MAX_COMPUTE_PS, MOST_BYTES)
        wrong = (kinds < SEND) | (kinds > END) | (amounts < low) | (amounts > high)
        wrong |= message & ((partners < 0) | (partners >= self.ranks))
        if wrong.any():
            rank, kind, partner, amount, _, place = columns[int(wrong.argmax())].tolist()
            self._check_fields(rank, Operation(kind, partner, amount), place)
        self._keep(columns)

    def _keep(self, columns: Columns) -> None:
        self._recorded += len(columns)
        if self._recorded > self._most:
            allowed = f"must have at most {self._most} operations on {self.ranks} hosts"
            raise config_error("program", self._program, allowed)
        self._chunks.append(columns)

    def _check_marks(self, columns: Columns, texts: Sequence[str]) -> None:
        """In every rank, ``begin`` and ``end`` of a name take turns."""
        marks = columns[columns[:, KIND] >= BEGIN]
        marks = marks[np.lexsort((marks[:, NAME], marks[:, RANK]))]
        new = np.diff(marks[:, RANK], prepend=-1) != 0
        new |= np.diff(marks[:, NAME], prepend=-1) != 0
        starts = np.flatnonzero(new)
        turn = np.arange(len(marks)) - np.repeat(starts, np.diff(starts, append=len(marks)))
        last = np.append(new[1:], True)[: len(marks)]
        wrong = (marks[:, KIND] != np.where(turn % 2 == 0, BEGIN, END)) | (last & (turn % 2 == 0))
        if not wrong.any():
            return
        rank, kind, _, _, name, place = marks[wrong][np.argmin(marks[wrong][:, PLACE])].tolist()
        allowed = "must have begun: no 'begin' of this name is before this 'end'"
        if kind == BEGIN:
            allowed = "must be ended, and before it begins again: no 'end' of this name follows this 'begin'"
        raise config_error(f"{self._where(rank, place)}, name", texts[name], allowed)

"""The operations of a program in columns, which is the form that the core reads: 21 bytes per operation."""

from __future__ import annotations

import array
import hashlib
import itertools
import json
from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np
import numpy.typing as npt

from dragonfly_env.checks.values import PS_PER_NS, config_error
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


class Records:
    """The operations of every rank, in columns: those of rank 0 first. Equal if the operations are.

    Args:
        program: Its name, for messages.
        ranks: How many ranks the program has.
        operations: Returns the operations of one rank.
        most: Operations that the program may have.

    Attributes:
        first: (ranks + 1,) uint64, the first operation of each rank; the last entry is the number of operations.
        kinds: (N,) uint8.
        partners: (N,) uint32 ranks.
        amounts: (N,) int64 bytes of a message, picoseconds of a computation.
        names: (N,) uint32 indices into ``texts``: labels, and names of what is measured.
        texts: Every label and name once, in the order in which the ranks use them.
        digest: SHA-256 of all columns and texts.

    Raises:
        ConfigError: For too many operations, for an operation out of range, and for a name that is begun and never
            ended, or ended and never begun.
    """

    __slots__ = ("amounts", "digest", "first", "kinds", "names", "partners", "texts")

    def __init__(
        self, program: str, ranks: int, operations: Callable[[int], Iterable[Operation]], most: int
    ) -> None:
        numbers: dict[str, int] = {}
        rows, first = array.array("q"), [0]
        for rank in range(ranks):
            left = most - first[-1]
            for kind, partner, amount, name in itertools.islice(operations(rank), left + 1):
                rows.extend((kind, partner, amount, numbers.setdefault(name, len(numbers))))
            first.append(len(rows) // 4)
            if first[-1] > most:
                raise config_error(
                    "program", program, f"must have at most {most} operations on {ranks} hosts"
                )
        columns = np.frombuffer(rows, np.int64).reshape(-1, 4)
        self._check_ranges(columns, tuple(numbers), program, first)
        self.first = np.array(first, np.uint64)
        self.kinds = columns[:, 0].astype(np.uint8)
        self.partners = columns[:, 1].astype(np.uint32)
        self.amounts = columns[:, 2].copy()
        self.names = columns[:, 3].astype(np.uint32)
        self.texts = tuple(numbers)
        digest = hashlib.sha256()
        for part in (self.first, self.kinds, self.partners, self.amounts, self.names):
            digest.update(part.data)
        digest.update(json.dumps(self.texts).encode())
        self.digest = digest.hexdigest()
        self._check_marks(program)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Records) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    @property
    def ranks(self) -> int:
        """How many ranks there are."""
        return len(self.first) - 1

    def operations(self, rank: int) -> Iterator[Operation]:
        """The operations of a rank."""
        part = slice(int(self.first[rank]), int(self.first[rank + 1]))
        columns = (self.kinds, self.partners, self.amounts, self.names)
        for kind, partner, amount, name in zip(*(column[part].tolist() for column in columns), strict=True):
            yield Operation(kind, partner, amount, self.texts[name])

    @staticmethod
    def _check_ranges(
        columns: npt.NDArray[np.int64], texts: Sequence[str], program: str, first: list[int]
    ) -> None:
        """Refuse the first operation that has a field out of range: the core trusts every operation."""
        kinds, partners, amounts, names = columns.T
        last_rank = len(first) - 2
        message = (kinds == SEND) | (kinds == SEND_ALL_TO_ALL) | (kinds == RECEIVE)
        reserved = np.isin(names, [i for i, text in enumerate(texts) if text in ("", ITERATION)])
        unnamed = np.isin(names, [i for i, text in enumerate(texts) if not text])
        checks = [
            ("kind", kinds, (kinds < SEND) | (kinds > END), f"must be {SEND} to {END}"),
            (
                "partner",
                partners,
                message & ((partners < 0) | (partners > last_rank)),
                f"must be a rank, 0 to {last_rank}",
            ),
            (
                "bytes",
                amounts,
                message & ((amounts < np.where(kinds == RECEIVE, ANY_BYTES, 0)) | (amounts > MOST_BYTES)),
                f"must be 0 to {MOST_BYTES}",
            ),
            (
                "picoseconds",
                amounts,
                (kinds == COMPUTE) & ((amounts < 0) | (amounts > MAX_COMPUTE_PS)),
                f"must be 0 to {MAX_COMPUTE_PS}",
            ),
            (
                "label",
                names,
                (kinds == WAIT) & unnamed,
                "must not be empty; without a label, the wait is for everything",
            ),
            (
                "name",
                names,
                (kinds >= BEGIN) & reserved,
                f"must not be empty or {ITERATION!r}, which stands for a whole iteration",
            ),
        ]
        for field, values, wrong, allowed in checks:
            if wrong.any():
                place = int(wrong.argmax())
                rank = int(np.searchsorted(first, place, "right")) - 1
                value = texts[names[place]] if values is names else int(values[place])
                where = f"{program}, operation {place - first[rank]} of rank {rank}, {field}"
                raise config_error(where, value, allowed)

    def _check_marks(self, program: str) -> None:
        """Refuse a rank in which ``begin`` and ``end`` of a name do not take turns."""
        marks = np.flatnonzero(self.kinds >= BEGIN)
        ranks = self.first.searchsorted(marks, "right") - 1
        order = np.lexsort((marks, self.names[marks], ranks))
        marks, ranks, names = marks[order], ranks[order], self.names[marks[order]]
        new = (np.diff(ranks, prepend=-1) != 0) | (np.diff(names.astype(np.int64), prepend=-1) != 0)
        starts = np.flatnonzero(new)
        turn = (np.arange(len(marks)) - np.repeat(starts, np.diff(starts, append=len(marks)))) % 2
        last = np.append(new[1:], True)[: len(marks)]
        wrong = np.flatnonzero((self.kinds[marks] != np.where(turn, END, BEGIN)) | (last & (turn == 0)))
        if not len(wrong):
            return
        mark, rank, name = marks[wrong[0]], ranks[wrong[0]], names[wrong[0]]
        allowed = "must have begun: no 'begin' of this name is before this 'end'"
        if self.kinds[mark] == BEGIN:
            allowed = "must be ended, and before it begins again: no 'end' of this name follows this 'begin'"
        where = f"{program}, operation {mark - int(self.first[rank])} of rank {rank}, name"
        raise config_error(where, self.texts[name], allowed)


def in_order(numbers: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.uint32], list[int]]:
    """The numbers replaced by 0, 1, 2.. in the order in which they occur first, and what each of these was."""
    used, at, which = np.unique(numbers, return_index=True, return_inverse=True)
    order = np.argsort(at)
    place = np.empty(len(used), np.uint32)
    place[order] = np.arange(len(used), dtype=np.uint32)
    return place[which.reshape(-1)], used[order].tolist()

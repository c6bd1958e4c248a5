"""From the operations of a program to what the core executes."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dragonfly_env import _core
from dragonfly_env.jobs.operations import BEGIN, END
from dragonfly_env.jobs.program import Program
from dragonfly_env.jobs.records import Records, in_order
from dragonfly_env.metrics.operations import ANY_OPERATION, ITERATION


class CompiledProgram:
    """A program for a number of ranks: shared by all jobs that run it.

    Every iteration of a rank is measured as the operation ``ITERATION``; where operations are measured inside others,
    the time in any of them as ``ANY_OPERATION``.
    """

    __slots__ = ("operation_names", "script")

    def __init__(self, program: Program, ranks: int, packet_bytes: int) -> None:
        records = program.recorded(ranks)
        marks = (records.kinds == BEGIN) | (records.kinds == END)
        names = records.names.astype(np.int64)
        operations, used = in_order(names[marks])
        labels, used_labels = in_order(names[~marks])
        numbers = np.empty(len(names), np.uint32)
        numbers[marks] = operations + 1
        numbers[~marks] = labels
        self.operation_names = (ITERATION, *(records.texts[name] for name in used))
        frames = _frames(records)
        if frames.outermost.any():
            self.operation_names += (ANY_OPERATION,)
        outermost = np.where(frames.outermost, len(self.operation_names) - 1, 0)
        added = np.bincount(frames.ranks, minlength=ranks).cumsum()
        self.script = _core.Script(
            program.spec,
            {
                "packet_bytes": packet_bytes,
                "first": records.first + np.insert(added, 0, 0).astype(np.uint64),
                "kinds": frames.around(records.kinds, frames.kinds),
                "partners": frames.around(records.partners, 0),
                "amounts": frames.around(records.amounts, 0),
                "labels": frames.around(numbers, outermost),
                "label_names": [records.texts[name] for name in used_labels],
                "operation_names": list(self.operation_names),
            },
        )


class _Frames(NamedTuple):
    """Marks that are put between the operations of a program, M of them, in order.

    Attributes:
        at: (M,) the operation before which it goes.
        ranks: (M,) whose it is.
        kinds: (M,) BEGIN or END.
        outermost: (M,) around an outermost measured operation; the others are around an iteration.
    """

    at: npt.NDArray[np.int64]
    ranks: npt.NDArray[np.int64]
    kinds: npt.NDArray[np.uint8]
    outermost: npt.NDArray[np.bool_]

    def around(self, column: npt.NDArray[Any], values: npt.ArrayLike) -> npt.NDArray[Any]:
        """A column with those of the marks."""
        return np.insert(column, self.at, np.asarray(values, column.dtype))


def _frames(records: Records) -> _Frames:
    """Around the operations of each rank; where some are measured inside others, around the outermost ones, too."""
    first = records.first.astype(np.int64)
    begins, ends = records.kinds == BEGIN, records.kinds == END
    depth = np.cumsum(begins.astype(np.int64) - ends)
    nested = depth.max(initial=0) > 1
    opened = np.flatnonzero(begins & (depth == 1)) if nested else np.empty(0, np.int64)
    closed = np.flatnonzero(ends & (depth == 0)) if nested else np.empty(0, np.int64)
    ranks = np.arange(records.ranks)
    whose = [ranks, first.searchsorted(closed, "right") - 1, first.searchsorted(opened, "right") - 1, ranks]
    places = [first[:-1], closed + 1, opened, first[1:]]
    which = np.repeat(np.arange(4), [len(place) for place in places])  # what comes first at one place
    rank, at = np.concatenate(whose), np.concatenate(places)
    order = np.lexsort((which, at, rank))
    which = which[order]
    kinds = np.where(which % 2 == 0, BEGIN, END).astype(np.uint8)
    return _Frames(at[order], rank[order], kinds, (which == 1) | (which == 2))


@functools.lru_cache(maxsize=128)
def compile_program(program: Program, ranks: int, packet_bytes: int) -> CompiledProgram:
    """The program for so many ranks, checked; the same object for the same program."""
    program.check(ranks)
    return CompiledProgram(program, ranks, packet_bytes)


def run_settings(program: Program, packet_bytes: int) -> dict[str, Any]:
    """Settings of a program for the core."""
    return {"jitter": program.jitter, "piece_packets": max(1, program.piece() // packet_bytes)}

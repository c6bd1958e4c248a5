"""From the operations of a program to what the core executes."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

import numpy as np
import numpy.typing as npt

from dragonfly_env import _core
from dragonfly_env.checks.values import check_integer
from dragonfly_env.jobs.operations import BEGIN, END
from dragonfly_env.jobs.program import Program
from dragonfly_env.jobs.records import Records, in_order
from dragonfly_env.metrics.operations import ITERATION

_KEPT_BYTES = 2**28
_LEAST_BYTES = 2**12


class CompiledProgram:
    """A program for a number of ranks: shared by all jobs that run it.

    Every iteration of a rank is measured as the operation ``ITERATION``.
    """

    __slots__ = ("num_bytes", "operation_names", "script")

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
        first = records.first + 2 * np.arange(ranks + 1, dtype=np.uint64)
        self.script = _core.Script(
            program.spec,
            {
                "packet_bytes": packet_bytes,
                "first": first,
                "kinds": _framed(records, records.kinds, BEGIN, END),
                "partners": _framed(records, records.partners, 0, 0),
                "amounts": _framed(records, records.amounts, 0, 0),
                "labels": _framed(records, numbers, 0, 0),
                "lines": _lines(records),
                "label_names": [records.texts[name] for name in used_labels],
                "operation_names": list(self.operation_names),
            },
        )
        self.num_bytes = self.script.bytes + records.num_bytes


def _framed(records: Records, column: npt.NDArray[Any], before: int, after: int) -> npt.NDArray[Any]:
    """A column with a value before the operations of each rank and one after them."""
    ends = records.first.astype(np.int64)
    at = np.stack([ends[:-1], ends[1:]], axis=1).ravel()
    return np.insert(column, at, np.tile(np.array([before, after], column.dtype), records.ranks))


def _lines(records: Records) -> npt.NDArray[np.uint32]:
    """Of the marks around an iteration: those of its first and last operation."""
    if records.lines is None:
        return np.empty(0, np.uint32)
    framed = _framed(records, records.lines, 1, 1)
    first = records.first.astype(np.int64) + 2 * np.arange(records.ranks + 1)
    begins, ends = first[:-1], first[1:] - 1
    filled = ends > begins + 1
    framed[begins[filled]] = framed[begins[filled] + 1]
    framed[ends[filled]] = framed[ends[filled] - 1]
    return framed


class _Compiled:
    """Programs that were compiled, the latest last: as many as fit into some bytes, and in any case the last."""

    def __init__(self) -> None:
        self._known: OrderedDict[tuple[Program, int, int], CompiledProgram] = OrderedDict()
        self._bytes = 0

    def find(self, key: tuple[Program, int, int]) -> CompiledProgram:
        """The one of a program, ranks and bytes of a packet; made if need be."""
        found = self._known.pop(key, None)
        if found is None:
            found = CompiledProgram(*key)
            self._bytes += found.num_bytes + _LEAST_BYTES
        self._known[key] = found
        while self._bytes > _KEPT_BYTES and len(self._known) > 1:
            _, oldest = self._known.popitem(last=False)
            self._bytes -= oldest.num_bytes + _LEAST_BYTES
        return found


_COMPILED = _Compiled()


def compile_program(program: Program, ranks: int, packet_bytes: int) -> CompiledProgram:
    """The program for so many ranks, checked; the same object for the same program.

    Raises:
        ConfigError: For ranks that wait for what nobody sends, naming who waits for whom; amounts out of range.
    """
    program.check(ranks)
    return _COMPILED.find((program, ranks, check_integer("packet_bytes", packet_bytes, 1, 2**31 - 1)))


def run_settings(program: Program, packet_bytes: int) -> dict[str, Any]:
    """What the core is told about how a program runs."""
    return {"jitter": program.jitter, "piece_packets": max(1, program.piece() // packet_bytes)}

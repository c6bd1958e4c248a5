"""From the operations of a program to what the core executes."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import Any

import numpy as np

from dragonfly_env import _core
from dragonfly_env.checks.values import check_integer, config_error
from dragonfly_env.jobs.operations import BEGIN, END, Operation, begin, end
from dragonfly_env.jobs.program import Program

ITERATION = "iteration"
"""The operation that every iteration of a rank is measured as."""

_MOST_OPERATIONS = 2**24


class CompiledProgram:
    """A program for a number of ranks: shared by all jobs that run it."""

    __slots__ = ("operation_names", "script")

    def __init__(self, program: Program, ranks: int, packet_bytes: int) -> None:
        labels: dict[str, int] = {}
        names: dict[str, int] = {ITERATION: 0}
        first, parts = [0], []
        for rank in range(ranks):
            rows = []
            for kind, partner, amount, label in _iteration(program, rank, ranks):
                known = names if kind in (BEGIN, END) else labels
                rows.append((kind, partner, amount, known.setdefault(label, len(known))))
            parts.append(np.array(rows, dtype=np.int64))
            first.append(first[-1] + len(rows))
            if first[-1] > _MOST_OPERATIONS:
                allowed = f"must have at most {_MOST_OPERATIONS} operations on {ranks} hosts"
                raise config_error("program", program.spec, allowed)
        columns = np.concatenate(parts).T
        self.operation_names = tuple(names)
        self.script = _core.Script(
            program.spec,
            {
                "packet_bytes": packet_bytes,
                "first": np.array(first, np.uint64),
                "kinds": columns[0].astype(np.uint8),
                "partners": columns[1].astype(np.uint32),
                "amounts": np.ascontiguousarray(columns[2]),
                "labels": columns[3].astype(np.uint32),
                "lines": np.array(list(_lines(program, ranks)), np.uint32),
                "label_names": [f"{label}" for label in labels],
                "operation_names": list(names),
            },
        )


def _iteration(program: Program, rank: int, ranks: int) -> Iterable[Operation]:
    yield begin(ITERATION)
    yield from program.operations(rank, ranks)
    yield end(ITERATION)


def _lines(program: Program, ranks: int) -> Iterable[int]:
    """Of the marks around an iteration: those of its first and last operation."""
    lines = program.lines()
    if lines is None:
        return
    for rank in range(ranks):
        own = lines[rank] or (1,)
        yield from (own[0], *lines[rank], own[-1])


@functools.lru_cache(maxsize=64)
def compile_program(program: Program, ranks: int, packet_bytes: int) -> CompiledProgram:
    """The program for so many ranks, checked; the same object for the same program.

    Raises:
        ConfigError: For ranks that wait for what nobody sends, naming who waits for whom; amounts out of range.
    """
    program.check(ranks)
    return CompiledProgram(program, ranks, check_integer("packet_bytes", packet_bytes, 1, 2**31 - 1))


def run_settings(program: Program, packet_bytes: int) -> dict[str, Any]:
    """What the core is told about how a program runs."""
    return {"jitter": program.jitter, "piece_packets": max(1, program.piece() // packet_bytes)}

"""Operations in columns: what Python, texts and the core make of them, and what is refused."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest

import dragonfly_env as dfe
from dragonfly_env import _core, jobs
from dragonfly_env.jobs import Operation, OperationText, lines, texts
from dragonfly_env.jobs.operations import RECEIVE, SEND, WAIT


@pytest.mark.parametrize(
    ("operation", "says"),
    [
        (Operation(SEND, -1, 8), "operation 1 of rank 0, to = -1: must be an integer from 0 to 1"),
        (Operation(RECEIVE, 2, 8), "from = 2"),
        (Operation(SEND, 1, -1), "bytes = -1"),
        (Operation(8), "kind = 8"),
        (Operation(WAIT, label=""), "label = '': must not be empty"),
        (Operation(6, label="iteration"), "name = 'iteration': must be another name"),
        (jobs.begin("x"), "operation 1 of rank 0, name = 'x': must be ended"),
        (jobs.end("x"), "operation 1 of rank 0, name = 'x': must have begun"),
    ],
)
def test_an_operation_that_is_none_is_named_by_its_place(operation: Operation, says: str) -> None:
    with pytest.raises(dfe.ConfigError, match=says):
        dfe.Job(lambda rank, ranks: [jobs.compute(1), operation], hosts=2, name="own")


@pytest.mark.parametrize("anything", [None, 5, np.array(3)])
def test_what_is_no_list_of_operations_is_refused(anything: Any) -> None:
    with pytest.raises(dfe.ConfigError, match="must give operations"):
        dfe.Job(lambda rank, ranks: anything, hosts=2)


def test_labels_that_differ_stay_apart() -> None:
    """Two messages whose labels differ by a character that a word of a line cannot have."""

    def program(rank: int, ranks: int) -> Iterable[Operation]:
        for number, label in enumerate(("a b", "a_b", "a\tb", "#", '"', "a\\b", "\x1b", "ü", "\u2028", "")):
            yield jobs.send(1 - rank, number + 1, label)
            yield jobs.receive(1 - rank, number + 1, label)

    made = OperationText.of(program, 2)
    assert len(made.records.texts) == 10
    again = jobs.parse_program(made.to_dict())
    assert again == made
    assert [list(again.operations(rank, 2)) for rank in (0, 1)] == [list(program(rank, 2)) for rank in (0, 1)]


def test_what_the_core_does_not_read_it_hands_back() -> None:
    odd = (
        "0 allreduce bytes=8",
        "0 send to=1",
        "0 send to=12 bytes=1",
        "0 send to=1 bytes=1 bytes=2",
        "12 wait",
        "0 wait label=a#b",
        '0 wait label="a b"',
        "0 wait label=ü",
        "0 compute ns=1e3",
        "0 compute ns=0.0001",
        "0 send to=1 bytes=2147483648",
        "0 compute ns=-1",
        "0-12 wait",
        "2-1 wait",
        "0 wait measured=false",
        *("0 compute", "0", "x wait", "0 begin name=x", "0 wait now", "0 compute ns=", "0 wait\x1b"),
        "0 compute ns=.5",
        "0 compute ns=1 ns=1",
        "0 send to=1 bytes=-1",
        "0 receive from=1 bytes=-1",
        "0 compute ns=1.",
        "+0 wait",
    )
    columns, _, others = _core.operation_lines("\n".join(odd), 12, 5, 100)
    assert len(columns) == 0
    assert others == list(enumerate(odd, start=5))
    columns, _, _ = _core.operation_lines("* wait\n* wait\n", 2**20, 1, 50)
    assert 50 < len(columns) < 100


def test_a_program_has_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (lines, texts):
        monkeypatch.setattr(module, "MOST_OPERATIONS", 1_000)  # two million take seconds

    def endless(rank: int, ranks: int) -> Iterable[Operation]:
        while True:
            yield jobs.compute(1)

    for make in (
        lambda: OperationText.of(endless, 2),
        lambda: OperationText.parse("own", f"ranks {2**20}\n* wait\n"),
        lambda: OperationText.parse("own", f"ranks {2**20}\n* barrier\n"),
    ):
        with pytest.raises(dfe.ConfigError, match="must have at most 1000 operations"):
            make()

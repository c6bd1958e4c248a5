"""Programs of any operations: what can end is accepted and ends, what cannot is refused before it runs."""

from __future__ import annotations

import io
import json
import string
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random
from unittest import mock

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import dragonfly_env as dfe
from dragonfly_env import jobs
from dragonfly_env.jobs import Operation
from dragonfly_env.jobs.lines import read_lines
from dragonfly_env.sweeps.run import Run

TOPOLOGY = dfe.Dragonfly(p=2, a=4, h=2)
RANKS = 5
MESSAGE = st.tuples(
    st.integers(0, RANKS - 1), st.integers(0, RANKS - 1), st.integers(0, 900), st.sampled_from(("", "a", "b"))
)


def operations_of(messages: list[tuple[int, int, int, str]]) -> list[list[Operation]]:
    """Per rank, in the order of the messages: who receives waits at once, so that each waits for the past only."""
    ranks: list[list[Operation]] = [[jobs.compute(50)] for _ in range(RANKS)]
    for source, to, num_bytes, label in messages:
        ranks[source].append(jobs.send(to, num_bytes, label))
        ranks[to] += [jobs.receive(source, label=label), jobs.silent_wait(label or None)]
    return ranks


def config_of(ranks: list[list[Operation]], iterations: int = 1) -> dfe.SimulationConfig:
    def program(rank: int, _: int) -> Iterator[Operation]:
        yield from ranks[rank]

    job = dfe.Job(program, RANKS, "random", iterations=iterations)
    return dfe.SimulationConfig(topology=TOPOLOGY, network="q-adaptive", jobs=[job])


@settings(max_examples=60, deadline=None)
@given(st.lists(MESSAGE, max_size=25), st.integers(1, 3))
def test_every_message_of_a_program_is_delivered_once_per_iteration(
    messages: list[tuple[int, int, int, str]], iterations: int
) -> None:
    simulation = dfe.Simulation(config_of(operations_of(messages), iterations).replace(packet_log=True))
    metrics = simulation.run_to_completion()
    sent: Counter[tuple[int, int]] = Counter()
    for source, to, size, _ in messages:
        if source != to:
            sent[source, to] += iterations * max(1, -(-size // 128))
    log = simulation.packet_log()
    # Packets are logged by host, and a random placement chose the host of each rank: only the counts are comparable.
    delivered = Counter(zip(log["src"].tolist(), log["dst"].tolist(), strict=True))
    assert sorted(delivered.values()) == sorted(sent.values())
    numbers = set(zip(log["src"].tolist(), log["number"].tolist(), strict=True))
    assert len(numbers) == metrics.packets_delivered == sum(sent.values())
    assert metrics.jobs[0].iterations.count == RANKS * iterations


@settings(max_examples=100, deadline=None)
@given(st.lists(MESSAGE, min_size=1, max_size=12), st.integers(0, 10**6), st.booleans())
def test_a_program_in_any_order_is_refused_or_ends(
    messages: list[tuple[int, int, int, str]], seed: int, drop: bool
) -> None:
    ranks = operations_of(messages)
    draws = Random(seed)
    draws.shuffle(ranks[draws.randrange(RANKS)])
    if drop:
        operations = draws.choice(ranks)
        del operations[draws.randrange(len(operations)) :]
    try:
        config = config_of(ranks)
    except dfe.ConfigError as error:
        words = ("must be sent", "must be received", "must not wait in a circle")
        assert any(word in str(error) for word in words)  # noqa: PT017 - refused is one of two good ends
        return
    assert dfe.Simulation(config).run_to_completion().jobs[0].complete


LABEL = st.one_of(
    st.sampled_from(("", "a", "b")), st.text(max_size=5).filter(lambda text: text != "iteration")
)


def spelt(label: str) -> str:
    return f" label={json.dumps(label)}" if label else ""


@st.composite
def files(draw: st.DrawFn) -> str:
    """Messages, waits and computations, written in one of the ways in which they can be."""
    lines = [f"ranks {RANKS}"]
    for source, to, size, _ in draw(st.lists(MESSAGE, max_size=8)):
        label = spelt(draw(LABEL))
        sender = draw(st.sampled_from((str(to), f"+{(to - source) % RANKS}", f"-{(source - to) % RANKS}")))
        lines += draw(
            st.permutations(
                [f"{source} send bytes={size} to={sender}{label}", f"{to} receive from={source}{label}"]
            )
        )
        if draw(st.booleans()):
            lines.append(
                f"{to} compute ns={draw(st.integers(0, 10**6)) / 1000!r}  # {draw(st.integers(0, 9))}"
            )
        if draw(st.booleans()):
            lines.append(draw(st.sampled_from(("* barrier", "0-2 wait", "* wait", "1 wait measured=false"))))
    return "\n".join(lines) + "\n"


def identity(file: Path) -> str:
    config = dfe.SimulationConfig(topology=TOPOLOGY, jobs=[f"file:{file}"])
    return Run(
        config=config,
        policy_label="x",
        traffic_label="x",
        warmup_ns=0.0,
        measure_ns=1e3,
        arrays=False,
    ).id


def written(text: str, folder: Path, name: str) -> Path:
    file = folder / name
    file.write_text(text, encoding="utf-8", newline="")
    return file


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, RANKS - 1), st.integers(0, 10**6)), min_size=1, max_size=6), st.data()
)
def test_a_file_is_known_by_its_content_wherever_it_is(
    computations: list[tuple[int, int]], data: st.DataObject
) -> None:
    text = f"ranks {RANKS}\n" + "".join(f"{rank} compute ns={time}\n" for rank, time in computations)
    name = data.draw(st.text(string.ascii_letters, min_size=1, max_size=8))
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as other:
        known = identity(written(text, Path(one), "m.ops"))
        assert identity(written(text, Path(other), name)) == known
        at = data.draw(st.integers(0, len(text)))
        changed = text[:at] + data.draw(st.sampled_from(("#", "\n", " ", "\n0 wait\n"))) + text[at:]
        file = written(changed, Path(one), "m.ops")
        try:
            found = identity(file)
        except dfe.ConfigError:
            return
        assert found != known


@settings(max_examples=100, deadline=None)
@given(files())
def test_lines_mean_the_same_to_the_core_and_to_python(text: str) -> None:
    def nothing(
        text: str, ranks: int, first: int, most: int
    ) -> tuple[object, list[str], list[tuple[int, str]]]:
        return np.empty((0, 6), np.int64), [], list(enumerate(text.split("\n"), start=first))

    fast = read_lines("own", io.StringIO(text))
    with mock.patch("dragonfly_env.jobs.lines._core.operation_lines", nothing):
        slow = read_lines("own", io.StringIO(text))
    assert fast == slow
    assert [list(fast.operations(rank)) for rank in range(RANKS)] == [
        list(slow.operations(rank)) for rank in range(RANKS)
    ]
    assert fast.lines is not None
    assert slow.lines is not None
    assert fast.lines.tolist() == slow.lines.tolist()

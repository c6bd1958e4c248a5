"""Programs of your own: what their graphs are, and what is refused."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pytest

import dragonfly_env as dfe
from dragonfly_env import jobs
from dragonfly_env.jobs import Operation, RecordedProgram, recorded

TOPOLOGY = dfe.Dragonfly(p=2, a=4, h=2)


def ring(rank: int, ranks: int) -> Iterator[Operation]:
    yield jobs.compute(1000)
    yield jobs.receive((rank - 1) % ranks)
    yield jobs.send((rank + 1) % ranks, 4096)
    yield from jobs.wait()
    yield from jobs.allreduce(rank, range(ranks), 8)


def test_a_function_runs_as_often_as_its_job_says() -> None:
    config = dfe.SimulationConfig(topology=TOPOLOGY, jobs=[dfe.Job(ring, hosts=4, iterations=3)])
    metrics = dfe.Simulation(config).run_to_completion()
    assert metrics.packets_delivered == 3 * (4 * 4096 // 128 + 4 * 2)
    assert metrics.jobs[0].operations["wait"].count == 3 * 4
    assert metrics.jobs[0].operations["allreduce"].count == 3 * 4


@pytest.mark.parametrize(
    ("operation", "says"),
    [
        (jobs.send(-1, 8), "operation 1 of rank 0, partner = -1: must be a rank, 0 to 1"),
        (jobs.send(2, 8), "partner = 2"),
        (jobs.receive(2), "partner = 2"),
        (jobs.send(1, -1), "bytes = -1"),
        (jobs.send(1, 2**31), "bytes = 2147483648"),
        (jobs.receive(1, -2), "bytes = -2"),
        (jobs.compute(-1), "picoseconds = -1000"),
        (Operation(8), "kind = 8"),
        (jobs.compute(1, stream=-1), "stream = -1: must be 0 to 65535"),
        (
            jobs.compute(1, after=[2]),
            "operation 1 of rank 0, after = 2: must be an operation of the rank, 0 to 1",
        ),
        (jobs.silent_wait(""), "label = '': must not be empty"),
        (jobs.begin("iteration"), "name = 'iteration': must not be"),
    ],
)
def test_an_operation_out_of_range_is_named_by_its_place(operation: Operation, says: str) -> None:
    with pytest.raises(dfe.ConfigError, match=says):
        dfe.Job(lambda rank, ranks: [jobs.compute(1), operation], hosts=2)


@pytest.mark.parametrize(
    ("operations", "says"),
    [
        ({0: [jobs.begin("x")]}, "operation 0 of rank 0, name = 'x': must be ended"),
        ({1: [jobs.compute(1), jobs.end("x")]}, "operation 1 of rank 1, name = 'x': must have begun"),
        ({0: [jobs.begin("x"), jobs.begin("x"), jobs.end("x")]}, "operation 1 .* must be ended"),
        ({0: [jobs.begin("x")], 1: [jobs.end("x")]}, "name = 'x': must be ended"),
    ],
)
def test_begin_and_end_of_a_name_take_turns(operations: dict[int, list[Operation]], says: str) -> None:
    with pytest.raises(dfe.ConfigError, match=says):
        dfe.Job(lambda rank, ranks: operations.get(rank, []), hosts=2)


@pytest.mark.parametrize(
    ("operations", "says"),
    [
        (
            {0: [jobs.receive(2, label="x"), jobs.silent_wait()]},
            "receive = 'x' from rank 2: must be sent: rank 0 waits for rank 2, which does not send it 'x'",
        ),
        ({0: [jobs.send(1, 8)]}, "send = '' to rank 1: must be received: rank 1 never receives"),
        ({0: [jobs.send(1, 8)], 1: [jobs.receive(0, 9)]}, "bytes = 9: must be 8, as rank 0 sends"),
        (
            {
                rank: [jobs.receive((rank - 1) % 3), jobs.silent_wait(), jobs.send((rank + 1) % 3, 8)]
                for rank in range(3)
            },
            "3 ranks: must not wait in a circle: rank 0 waits for rank 2 .*, which waits for rank 1 .*, which waits "
            "for rank 0",
        ),
        (
            {1: [jobs.compute(1), jobs.compute(1, after=[2]), jobs.compute(1, after_start=[1])]},
            "2 operations: must not wait in a circle: operation 1 of rank 1, which waits for operation 2 of rank 1",
        ),
    ],
)
def test_a_program_that_would_wait_for_ever_names_the_ranks_that_wait(
    operations: dict[int, list[Operation]], says: str
) -> None:
    with pytest.raises(dfe.ConfigError, match=says):
        dfe.Job(lambda rank, ranks: operations.get(rank, []), hosts=3)


def test_labels_that_differ_stay_apart_in_a_file() -> None:
    def program(rank: int, ranks: int) -> Iterable[Operation]:
        for number, label in enumerate(("a b", "a_b", "a\tb", "#", '"', "a\\b", "\x1b", "ü", "\u2028", "")):
            yield jobs.send(1 - rank, number + 1, label)
            yield jobs.receive(1 - rank, number + 1, label)

    made = RecordedProgram.of(program, 2, jitter=0.02)
    again = jobs.parse_program(made.to_dict())
    assert again == made
    assert [list(again.operations(rank, 2)) for rank in (0, 1)] == [list(program(rank, 2)) for rank in (0, 1)]


def test_a_message_that_overtakes_a_longer_one_of_its_channel_is_not_taken_for_it() -> None:
    # Rank 0 sends 64 packets and then one packet, of one label. On adaptive paths, the one packet overtakes.
    def program(rank: int, ranks: int) -> Iterator[Operation]:
        for _ in range(20):
            if rank:
                yield jobs.receive(0)
                yield from jobs.wait(name="long")
                yield jobs.receive(0)
                yield from jobs.wait(name="short")
            else:
                yield jobs.send(1, 64 * 128)
                yield jobs.send(1, 128)
                yield jobs.compute(10_000)

    job = dfe.Job(program, 2, [0, 71])
    config = dfe.SimulationConfig(
        topology=TOPOLOGY,
        network="q-adaptive",
        policy="ugal-n",
        jobs=[job],
        traffic="adv+1",
        load=0.3,
        packet_log=True,
    )
    simulation = dfe.Simulation(config)
    operations = simulation.run_to_completion().jobs[0].operations
    log = simulation.packet_log()
    of_job = log["src"] == 0
    arrivals = log["delivered_ns"][of_job][log["number"][of_job].argsort()].reshape(20, 65)
    last_of_long, short = arrivals[:, :64].max(1), arrivals[:, 64]
    assert (short < last_of_long).any()
    assert operations["short"].total_ns == pytest.approx((short - last_of_long).clip(0).sum())


def test_a_program_has_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recorded, "_MOST_OPERATIONS", 1_000)  # two million take seconds

    def endless(rank: int, ranks: int) -> Iterable[Operation]:
        while True:
            yield jobs.compute(1)

    with pytest.raises(dfe.ConfigError, match="must have at most 1000 operations"):
        dfe.Job(endless, hosts=2)

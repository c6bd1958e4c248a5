"""Programs of any operations: what can end is accepted and ends, what cannot is refused before it runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

import dragonfly_env as dfe
from dragonfly_env import jobs
from dragonfly_env.jobs import Operation

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

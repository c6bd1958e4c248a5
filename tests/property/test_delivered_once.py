"""Messages are delivered exactly once, and counted, with any warm-up: 500 traces, programs and demand matrices."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dragonfly_env as dfe
from dragonfly_env import jobs
from dragonfly_env.simulation.window import after_warmup
from dragonfly_env.traffic import DemandMatrix, Trace

TOPOLOGY = dfe.Dragonfly(p=1, a=2, h=1)
HOSTS = TOPOLOGY.num_hosts
PACKET_BYTES = 128
WINDOW_NS = 40_000.0
WARMUPS = st.sampled_from((0.0, 0.5, 100.0, 7_000.25))
SIZES = st.integers(0, 600)
HOST = st.integers(0, HOSTS - 1)
POLICIES = st.sampled_from(("min", "val-n", "ugal-g"))

Sent = Counter[tuple[int, int]]


def packets_of(num_bytes: int) -> int:
    return max(1, -(-num_bytes // PACKET_BYTES))


def measured(config: dfe.SimulationConfig, warmup_ns: float) -> tuple[dfe.Metrics, Sent]:
    """Metrics of a window that lasts until everything has arrived; packets by (source, destination)."""
    simulation = dfe.Simulation(after_warmup(config.replace(packet_log=True), warmup_ns))
    simulation.run(warmup_ns)
    under_way = simulation.metrics().packets_in_flight
    if warmup_ns > 0.0:
        simulation.reset_statistics()
    simulation.run(WINDOW_NS)
    assert simulation.drain()
    metrics, log = simulation.metrics(), simulation.packet_log()
    source, number = log["src"].tolist(), log["number"].tolist()
    assert len(set(zip(source, number, strict=True))) == len(number) == metrics.packets_delivered
    assert metrics.packets_delivered == metrics.packets_generated + (under_way if warmup_ns > 0.0 else 0)
    assert metrics.packets_in_flight == 0
    return metrics, Counter(zip(source, log["dst"].tolist(), strict=True))


@settings(max_examples=200)
@given(
    st.lists(st.tuples(st.integers(0, 30_000), HOST, HOST, SIZES), min_size=1, max_size=30),
    WARMUPS,
    POLICIES,
    st.sampled_from((None, 8)),
)
def test_every_message_of_a_trace(
    messages: list[tuple[int, int, int, int]], warmup_ns: float, policy: str, queue: int | None
) -> None:
    messages = sorted(messages)
    time_ns, source, to, sizes = zip(*messages, strict=True)
    trace = Trace.from_columns(time_ns=time_ns, src=source, dst=to, bytes=sizes)
    config = dfe.SimulationConfig(topology=TOPOLOGY, traffic=trace, policy=policy, source_queue_packets=queue)
    metrics, delivered = measured(config, warmup_ns)
    sent: Sent = Counter()
    for _, host, other, size in messages:
        sent[host, other] += packets_of(size)
    assert delivered == sent
    assert metrics.packets_generated == metrics.packets_delivered == sent.total()


@settings(max_examples=150)
@given(st.lists(st.tuples(HOST, HOST, SIZES), max_size=20), st.integers(1, 3), WARMUPS, POLICIES)
def test_every_message_of_a_program(
    messages: list[tuple[int, int, int]], iterations: int, warmup_ns: float, policy: str
) -> None:
    ranks: list[list[jobs.Operation]] = [[jobs.compute(50)] for _ in range(HOSTS)]
    for rank, other, size in messages:
        ranks[rank].append(jobs.send(other, size))
        ranks[other] += [jobs.receive(rank), jobs.silent_wait()]

    def program(rank: int, _: int) -> Iterator[jobs.Operation]:
        yield from ranks[rank]

    job = dfe.Job(program, HOSTS, iterations=iterations)
    config = dfe.SimulationConfig(topology=TOPOLOGY, jobs=[job], policy=policy)
    metrics, delivered = measured(config, warmup_ns)
    sent: Sent = Counter()
    for rank, other, size in messages:
        sent[rank, other] += iterations * packets_of(size)
    assert delivered == sent
    assert metrics.packets_generated == metrics.packets_delivered == sent.total()
    assert metrics.jobs[0].complete


@settings(max_examples=150)
@given(
    st.lists(st.tuples(HOST, HOST, st.integers(1, 9)), min_size=1, max_size=8),
    WARMUPS,
    POLICIES,
    st.integers(1, 100),
)
def test_every_packet_of_a_demand_matrix(
    demands: list[tuple[int, int, int]], warmup_ns: float, policy: str, percent: int
) -> None:
    matrix = np.zeros((HOSTS, HOSTS))
    for host, other, demand in demands:
        matrix[host, other] += demand
    config = dfe.SimulationConfig(
        topology=TOPOLOGY, traffic=DemandMatrix(matrix), policy=policy, load=percent / 100
    )
    metrics, delivered = measured(config, warmup_ns)
    assert all(matrix[pair] > 0 for pair in delivered)
    shares = matrix.sum(axis=1) / matrix.sum(axis=1).max()
    offered = shares * config.load * WINDOW_NS / config.network.packet_time_ns
    assert metrics.packets_generated == pytest.approx(offered.sum(), abs=HOSTS + 1)

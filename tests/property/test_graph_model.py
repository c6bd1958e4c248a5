"""Random graphs of operations: a model in Python starts and ends every operation at the same times as the core."""

from __future__ import annotations

import heapq
from collections import defaultdict

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import dragonfly_env as dfe
from dragonfly_env import jobs
from dragonfly_env.jobs import Operation
from dragonfly_env.jobs.operations import COMPUTE, RECEIVE, SEND

RANKS = 8
PACKET_BYTES = 128
Graph = list[list[Operation]]
Log = dict[str, np.ndarray]

RECEIVED, WOKEN, LEFT = range(3)  # the order of what happens to a rank at one time


class Model:
    """Execute a graph with the times at which the network moved its packets.

    Attributes:
        runs: Number of ends of each operation of each rank.
        ends_ns: When the last operation ended.
    """

    def __init__(self, graph: Graph, log: Log) -> None:
        self.graph, self.ends_ns = graph, 0.0
        self.packets = [np.flatnonzero(log["src"] == rank) for rank in range(RANKS)]
        self.packets = [rows[np.argsort(log["number"][rows])] for rows in self.packets]
        self.log, self.next_packet = log, [0] * RANKS
        self.leaves: list[list[float]] = [[] for _ in range(RANKS)]
        self.runs = [[0] * len(rank) for rank in graph]
        self.left = [[len(set(op.after or ())) + len(set(op.after_start)) for op in rank] for rank in graph]
        self.started = [[False] * len(rank) for rank in graph]
        self.arrived: set[tuple[int, int]] = set()
        self.streams: dict[tuple[int, int], list[int]] = defaultdict(list)  # the first one is executed
        self.events: list[tuple[float, int, int, int]] = []
        receives = defaultdict(list)
        for to, rank in enumerate(graph):
            for number, op in enumerate(rank):
                if op.kind == RECEIVE:
                    receives[op.partner, to, op.label].append(number)
        self.receive_of = {}
        for source, rank in enumerate(graph):
            for number, op in enumerate(rank):
                if op.kind == SEND:
                    self.receive_of[source, number] = receives[source, op.partner, op.label].pop(0)
        for rank in range(RANKS):
            self.start_all(0.0, rank, [i for i, left in enumerate(self.left[rank]) if not left])
        while self.events:
            now, rank, kind, number = heapq.heappop(self.events)
            due = [number]
            while self.events and self.events[0][:3] == (now, rank, kind):
                due.append(heapq.heappop(self.events)[3])
            ready: list[int] = []
            for message in due:
                self.happens(now, rank, kind, message, ready)
            self.start_all(now, rank, ready)

    def happens(self, now: float, rank: int, kind: int, number: int, ready: list[int]) -> None:
        """Handle an arrival, the end of a computation, or the last packet that leaves."""
        if kind == RECEIVED:
            self.arrived.add((rank, number))
            if not self.started[rank][number]:
                return
        self.end(now, rank, number, ready)
        if kind == WOKEN:
            stream = self.streams[rank, self.graph[rank][number].stream]
            stream.pop(0)
            if stream:
                heapq.heappush(
                    self.events, (now + self.graph[rank][stream[0]].amount / 1000, rank, WOKEN, stream[0])
                )

    def end(self, now: float, rank: int, number: int, ready: list[int]) -> None:
        """Count the end of an operation, and find the operations that can start after it."""
        self.runs[rank][number] += 1
        self.ends_ns = max(self.ends_ns, now)
        self.follow(rank, number, ready, on_start=False)

    def follow(self, rank: int, number: int, ready: list[int], *, on_start: bool) -> None:
        """Find the operations that can start after the start or the end of another."""
        for other, op in enumerate(self.graph[rank]):
            if number in (op.after_start if on_start else op.after or ()):
                self.left[rank][other] -= 1
                if not self.left[rank][other]:
                    ready.append(other)

    def start_all(self, now: float, rank: int, ready: list[int]) -> None:
        """Start what is ready, the lowest number first."""
        while ready:
            number = min(ready)
            ready.remove(number)
            op = self.graph[rank][number]
            self.started[rank][number] = True
            self.follow(rank, number, ready, on_start=True)
            if op.kind == RECEIVE and (rank, number) in self.arrived:
                self.end(now, rank, number, ready)
            elif op.kind == COMPUTE:
                stream = self.streams[rank, op.stream]
                stream.append(number)
                if len(stream) == 1:
                    heapq.heappush(self.events, (now + op.amount / 1000, rank, WOKEN, number))
            elif op.kind == SEND:
                count = max(1, -(-op.amount // PACKET_BYTES))
                rows = self.packets[rank][self.next_packet[rank] : self.next_packet[rank] + count]
                self.next_packet[rank] += count
                room = self.leaves[rank][-2:][0] if len(self.leaves[rank]) > 1 else 0.0
                assert (
                    self.log["created_ns"][rows] == max(now, room)
                ).all()  # two are in the source queue at most
                self.leaves[rank].append(self.log["injected_ns"][rows].max())
                assert (self.log["dst"][rows] == op.partner).all()
                heapq.heappush(self.events, (self.leaves[rank][-1], rank, LEFT, number))
                arrival = self.log["delivered_ns"][rows].max()
                heapq.heappush(self.events, (arrival, op.partner, RECEIVED, self.receive_of[rank, number]))


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    """Graphs of at most 40 operations: each may come after any that were drawn before it."""
    graph: Graph = [[] for _ in range(RANKS)]

    def place(rank: int) -> dict[str, list[int]]:
        earlier = range(len(graph[rank]))
        numbers = st.lists(st.sampled_from(earlier), max_size=3, unique=True) if earlier else st.just([])
        return {"after": draw(numbers), "after_start": draw(numbers)}

    for _ in range(draw(st.integers(1, 20))):
        rank, to = draw(st.integers(0, RANKS - 1)), draw(st.integers(0, RANKS - 1))
        if draw(st.booleans()):
            time_ns = draw(st.integers(1, 40)) * 16
            graph[rank].append(jobs.compute(time_ns, stream=draw(st.integers(0, 2)), **place(rank)))
            continue
        label = draw(st.sampled_from(("", "a")))
        graph[rank].append(jobs.send(to, draw(st.integers(0, 2000)), label, **place(rank)))
        graph[to].append(jobs.receive(rank, label=label, **place(to)))
    return graph


@settings(max_examples=150, deadline=None)
@given(graphs(), st.sampled_from(["72", "one switch"]), st.sampled_from(["min", "ugal-n"]))
def test_every_operation_of_a_graph_runs_once_and_at_the_times_of_the_model(
    graph: Graph, machine: str, policy: str
) -> None:
    topology = dfe.Dragonfly(p=8, a=1, h=1) if machine == "one switch" else dfe.Dragonfly(p=2, a=4, h=2)
    job = dfe.Job(lambda rank, _: graph[rank], RANKS)
    config = dfe.SimulationConfig(
        topology=topology, network="q-adaptive", policy=policy, jobs=[job], packet_log=True
    )
    simulation = dfe.Simulation(config)
    metrics = simulation.run_to_completion()
    model = Model(graph, simulation.packet_log())
    assert all(count == 1 for rank in model.runs for count in rank)
    assert sum(model.next_packet) == metrics.packets_delivered
    assert model.ends_ns == metrics.makespan_ns


@settings(max_examples=30, deadline=None)
@given(graphs(), st.integers(1, 4), st.sampled_from([1, 2, 8]), st.integers(1, 3000))
def test_repetitions_of_a_graph_do_not_depend_on_threads_cuts_and_snapshots(
    graph: Graph, iterations: int, threads: int, cut_ns: int
) -> None:
    job = dfe.Job(lambda rank, _: graph[rank], RANKS, "random", iterations=iterations)
    config = dfe.SimulationConfig(
        topology=dfe.Dragonfly(p=2, a=4, h=2), network="q-adaptive", policy="ugal-n", jobs=[job]
    )
    whole = dfe.Simulation(config)
    whole.run_to_completion()
    cut = dfe.Simulation(config.replace(threads=threads))
    cut.run(cut_ns)
    for again in (dfe.Simulation.restore(cut.snapshot()), cut.fork(), cut):
        again.run_to_completion()
        assert again.trace_hash() == whole.trace_hash()


def test_a_graph_goes_to_a_file_and_back() -> None:
    def overlapped(rank: int, ranks: int) -> Graph:
        return [
            jobs.receive(1 - rank, after=()),
            jobs.send(1 - rank, 4096, after=()),
            jobs.compute(1000, stream=2, after=()),
            jobs.compute(500, stream=1, after=(0, 2), after_start=(1,)),
            jobs.compute(10, stream=1),
        ]

    job = dfe.Job(overlapped, 2)
    config = dfe.SimulationConfig(topology="72", jobs=[job])
    for again in (
        dfe.SimulationConfig.from_toml(config.to_toml()),
        dfe.SimulationConfig.from_json(config.to_json()),
    ):
        assert again == config
        assert again.jobs[0].program.operations(0, 2)[3].after == [0, 2]
        assert dfe.Simulation(again).run_to_completion().jobs[0].run_time_ns > 1500

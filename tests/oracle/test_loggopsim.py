"""GOAL schedules on one switch against LogGOPSim, in which a byte is a packet.

LogGOPSim (spcl/LogGOPSim) ran with L = 205.6 ns and g = G = 32 ns, which are the latency of a packet through one switch
of the network `default` and the time of a packet on a link, and with the overhead o of the row. Its own rendezvous has
no request and delays no data, so in the rows with a rendezvous it ran the schedule with requests, acknowledgements and
overheads written out as operations.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import dragonfly_env as dfe

pytestmark = pytest.mark.oracle

Line = tuple[str, int, int]
"""send, recv or calc; bytes or time; the other rank."""
Rank = list[tuple[Line, list[int]]]
"""Lines, each with the lines that it comes after."""


def powers(below: int) -> list[int]:
    """1, 2, 4.. below a number."""
    return [1 << i for i in range((below - 1).bit_length())]


def children(rank: int, ranks: int) -> list[int]:
    """The children of a rank in a binomial tree whose rank r has the children r + 2^k > 2 r."""
    return [rank + power for power in powers(ranks) if power > rank and rank + power < ranks]


def parent(rank: int) -> int:
    """The parent in that tree."""
    return rank - (1 << (rank.bit_length() - 1))


def broadcast(rank: int, ranks: int, size: int) -> Rank:
    """Down the tree."""
    lines: Rank = [(("recv", size, parent(rank)), [])] if rank else []
    return lines + [(("send", size, child), [0] if rank else []) for child in children(rank, ranks)]


def reduction(rank: int, ranks: int, size: int) -> Rank:
    """Up the tree."""
    lines: Rank = [(("recv", size, child), []) for child in children(rank, ranks)]
    return lines + ([(("send", size, parent(rank)), list(range(len(lines))))] if rank else [])


def exchange(size: int, steps: list[tuple[int, int]]) -> Rank:
    """Send to one and receive from another; the next step's send waits for the receive."""
    lines: Rank = []
    for to, source in steps:
        lines += [(("send", size, to), [len(lines) - 1] if lines else []), (("recv", size, source), [])]
    return lines


def dissemination(rank: int, ranks: int, size: int) -> Rank:
    """At distances 1, 2, 4.."""
    return exchange(size, [((rank + d) % ranks, (rank - d) % ranks) for d in powers(ranks)])


def ring_allreduce(rank: int, ranks: int, size: int) -> Rank:
    """A reduce-scatter and an all-gather around the ring, of shares of the size."""
    return exchange(size // ranks, [((rank + 1) % ranks, (rank - 1) % ranks)] * (2 * (ranks - 1)))


def pipelined_ring(rank: int, ranks: int, size: int) -> Rank:
    """A pipeline of packets from the first rank to the last."""
    lines: Rank = []
    for _ in range(size):
        if rank:
            lines.append((("recv", 1, rank - 1), []))
        if rank < ranks - 1:
            lines.append((("send", 1, rank + 1), [len(lines) - 1] if rank else []))
    return lines


def double_ring(rank: int, ranks: int, size: int) -> Rank:
    """Two messages around the ring, one in each direction; the first rank sends both at once."""
    right, left = (rank + 1) % ranks, (rank - 1) % ranks
    lines: Rank = []
    for to, source in ((right, left), (left, right)):
        lines += [(("send", size, to), [len(lines) + 1] if rank else []), (("recv", size, source), [])]
    return lines


def gather(rank: int, ranks: int, size: int) -> Rank:
    """From all to the first."""
    if rank:
        return [(("send", size, 0), [])]
    return [(("recv", size, other), []) for other in range(1, ranks)]


def scatter(rank: int, ranks: int, size: int) -> Rank:
    """From the first to all."""
    if rank:
        return [(("recv", size, 0), [])]
    return [(("send", size, other), []) for other in range(1, ranks)]


def all_to_all(rank: int, ranks: int, size: int) -> Rank:
    """All messages at once."""
    lines: Rank = []
    for step in range(1, ranks):
        lines += [(("send", size, (rank + step) % ranks), []), (("recv", size, (rank - step) % ranks), [])]
    return lines


SCHEDULES: dict[str, tuple[Callable[[int, int, int], Rank], int, int]] = {
    "broadcast 32 x 1": (broadcast, 32, 1),
    "broadcast 64 x 1": (broadcast, 64, 1),
    "broadcast 64 x 16": (broadcast, 64, 16),
    "reduction 64 x 8": (reduction, 64, 8),
    "reduction 8 x 1024": (reduction, 8, 1024),
    "dissemination 64 x 4": (dissemination, 64, 4),
    "pipelined ring 16 x 32": (pipelined_ring, 16, 32),
    "gather 16 x 4": (gather, 16, 4),
    "scatter 16 x 4": (scatter, 16, 4),
    "double ring 16 x 32": (double_ring, 16, 32),
    "ring all-reduce 16 x 64": (ring_allreduce, 16, 64),
    "all-to-all 16 x 4": (all_to_all, 16, 4),
}
"""Schedules of collectives by name: the function of a rank, the number of ranks, packets per message."""

with (Path(__file__).parent / "data" / "loggopsim.csv").open(encoding="utf-8") as file:
    ROWS = list(csv.DictReader(file))


def goal_of(name: str) -> str:
    """The schedule as GOAL text."""
    make, ranks, size = SCHEDULES[name]

    def lines() -> Iterator[str]:
        yield f"num_ranks {ranks}"
        for rank in range(ranks):
            yield f"rank {rank} {{"
            made = make(rank, ranks, size)
            for number, ((kind, amount, other), _) in enumerate(made):
                yield f"l{number}: {kind} {amount}b {'to' if kind == 'send' else 'from'} {other} tag 0"
            for number, (_, needs) in enumerate(made):
                yield from (f"l{number} requires l{other}" for other in needs)
            yield "}"

    return "\n".join(lines()) + "\n"


def makespan_ns(path: Path, **settings: str) -> float:
    """The time that a file takes on one switch, a byte as a packet."""
    given = "".join(f",{name}={value}" for name, value in settings.items() if value)
    job = dfe.Job(f"goal:{path},bytes_scale=128{given}")
    topology = dfe.Dragonfly(p=job.num_hosts, a=1, h=1)
    return dfe.Simulation(dfe.SimulationConfig(topology=topology, jobs=[job])).run_to_completion().makespan_ns


@pytest.mark.parametrize("row", ROWS, ids=lambda row: ", ".join(list(row.values())[:3]))
def test_a_schedule_takes_as_long_as_in_loggopsim(row: dict[str, str], tmp_path: Path) -> None:
    path = tmp_path / "schedule.goal"
    path.write_text(goal_of(row["schedule"]))
    takes_ns = makespan_ns(path, overhead_ns=row["overhead_ns"], rendezvous_bytes=row["rendezvous_bytes"])
    assert takes_ns == pytest.approx(float(row["loggopsim_ns"]), rel=0.005)


def test_a_ring_all_reduce_takes_as_long_as_its_law_says(tmp_path: Path) -> None:
    path = tmp_path / "ring.goal"
    path.write_text(goal_of("ring all-reduce 16 x 64"))
    latency_ns, packet_ns, ranks, share = 205.6, 32.0, 16, 4
    law_ns = 2 * (ranks - 1) * (latency_ns + (share - 1) * packet_ns)
    assert makespan_ns(path) == pytest.approx(law_ns, rel=0.005)


def test_the_run_time_that_loggopsim_publishes_for_a_reduction_is_met(tmp_path: Path) -> None:
    # Its README: 8 ranks, 1,024 bytes, L = 2,500 ns, o = 1,500 ns, G = 6 ns.
    path = tmp_path / "reduction.goal"
    path.write_text(goal_of("reduction 8 x 1024"))
    network = dfe.NetworkConfig(
        host_bandwidth_gbytes_per_s=1 / 6, injection_latency_ns=813, ejection_latency_ns=813
    )
    takes_ns = []
    for topology in (dfe.Dragonfly(p=8, a=1, h=1), dfe.Dragonfly(p=4, a=8, h=4)):
        job = dfe.Job(f"goal:{path},overhead_ns=1500")
        config = dfe.SimulationConfig(topology=topology, network=network, jobs=[job])
        takes_ns.append(dfe.Simulation(config).run_to_completion().makespan_ns)
    assert takes_ns[0] == pytest.approx(34_914, rel=0.005)
    assert takes_ns[0] < takes_ns[1] < 1.02 * takes_ns[0]

"""Slowdowns and reordering of messages, next to what a log of packets says."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import dragonfly_env as dfe
from dragonfly_env.jobs import Operation, receive, send
from dragonfly_env.plots import draw
from dragonfly_env.sweeps import Scenario, load_results, run_all
from tests.unit.cli_arguments import run

PACKET = 128


def message(packets: int) -> dfe.jobs.RecordedProgram:
    def program(rank: int, ranks: int) -> Iterator[Operation]:
        yield send(1, packets * PACKET) if rank == 0 else receive(0)

    return dfe.jobs.RecordedProgram.of(program, 2)


@pytest.mark.parametrize("network", ["default", "q-adaptive", "lia"])
@pytest.mark.parametrize("system", ["72", "degraded", "dfp-272", "grid"])
def test_a_message_alone_has_a_slowdown_of_one(system: str, network: str) -> None:
    topology = OTHERS[system] if system in OTHERS else dfe.Dragonfly.preset(system)
    for hosts in ((0, 1), (0, topology.num_hosts - 1), (5, topology.num_hosts // 2), (7, 3)):
        for packets in (1, 2, 13):
            config = dfe.SimulationConfig(
                topology=topology,
                network=network,
                message_slowdown=True,
                jobs=[dfe.Job(message(packets), placement=list(hosts), start_ns=17.0)],
            )
            table = dfe.Simulation(config).run_to_completion().slowdowns
            assert table is not None
            assert table.slowdown_p50.tolist() == table.slowdown_p99.tolist() == [1.0], (hosts, packets)
            if system in ("72", "degraded"):  # others have several shortest paths
                assert table.late_packets.sum() == 0


GRID = dfe.Dragonfly(
    p=2, group=dfe.Grid(rows=2, columns=3, column_links=2), g=4, links_between_groups=6, arrangement="xc"
)
OTHERS = {
    "grid": GRID,
    "degraded": dfe.Dragonfly.preset("72", failed="degraded_global_links=0.7+degraded_rate=0.25"),
}
SIZES = (1, 3, 16, 50)


def everyone(rank: int, ranks: int) -> Iterator[Operation]:
    """Send a message to the rank two groups away."""
    yield send((rank + 16) % ranks, SIZES[rank % 4] * PACKET)
    yield receive((rank - 16) % ranks)


def config(**changes: object) -> dfe.SimulationConfig:
    program = dfe.jobs.RecordedProgram.of(everyone, 72, piece_bytes=64 * PACKET)
    return dfe.SimulationConfig(
        topology="72",
        network="q-adaptive",
        policy="ugal-n",
        jobs=[dfe.Job(program, start_ns=8.0)],
        message_slowdown=True,
    ).replace(**changes)


def test_slowdowns_and_late_packets_are_those_of_the_log() -> None:
    simulation = dfe.Simulation(config(packet_log=True))
    table = simulation.run_to_completion().slowdowns
    assert table is not None
    log = simulation.packet_log()
    order = np.lexsort((log["delivered_ns"], log["src"]))
    topology = dfe.Dragonfly.preset("72")
    network = dfe.NetworkConfig.preset("q-adaptive")
    router = topology.router_of_hosts()
    slowdowns: dict[int, list[float]] = {}
    late: dict[int, int] = {}
    distance: dict[int, int] = {}
    for host in range(72):
        mine = order[log["src"][order] == host]
        numbers = log["number"][mine]
        highest = np.maximum.accumulate(numbers)
        size = 1 << (len(mine).bit_length() - 1)
        late[size] = late.get(size, 0) + int((numbers < highest).sum())
        distance[size] = max(distance.get(size, 0), int((highest - numbers).max()))
        links, at, last = [], int(router[host]), int(router[(host + 16) % 72])
        while at != last:
            port = topology.minimal_port(at, last)
            links.append(topology.link_classes[topology.port_classes()[port]])
            at = topology.neighbor(at, port)[0]
        alone = dfe.bounds.zero_load_latency_ns(network, topology, links, created_ns=8)
        alone += (len(mine) - 1) * network.packet_time_ns
        slowdowns.setdefault(size, []).append((float(log["delivered_ns"][mine].max()) - 8.0) / alone)
    assert table.packets.tolist() == sorted(slowdowns) == [1, 2, 16, 32]
    assert table.messages.tolist() == [len(slowdowns[size]) for size in table.packets]
    assert table.late_packets.tolist() == [late[size] for size in table.packets]
    assert table.late_distance_packets.tolist() == [distance[size] for size in table.packets]
    assert sum(late.values()) > 0
    for row, size in enumerate(table.packets):
        for name, q in (("slowdown_p50", 50), ("slowdown_p99", 99)):
            exact = np.percentile(slowdowns[int(size)], q, method="inverted_cdf")
            assert getattr(table, name)[row] == pytest.approx(exact, rel=0.004)


def test_threads_and_parts_of_the_machine_change_no_slowdown_and_slowdowns_no_hash() -> None:
    tables, hashes = [], set()
    for changes in ({}, {"threads": 2}, {"message_slowdown": False}):
        simulation = dfe.Simulation(config(**changes))
        tables.append(simulation.run_to_completion().slowdowns)
        hashes.add(simulation.trace_hash())
    assert len(hashes) == 1
    assert tables[2] is None
    assert tables[0] is not None
    assert tables[1] is not None
    assert tables[0].to_frame().equals(tables[1].to_frame())


def test_a_fork_goes_on_counting_and_a_reset_begins_anew() -> None:
    whole = dfe.Simulation(config())
    whole.run(700)
    fork = whole.fork()
    whole.reset_statistics()
    rest, all_of_it = whole.run_to_completion().slowdowns, fork.run_to_completion().slowdowns
    assert rest is not None
    assert all_of_it is not None
    assert 0 < rest.messages.sum() < all_of_it.messages.sum() == 72


def test_results_the_table_and_the_figure_show_slowdowns(tmp_path: Path) -> None:
    values = {
        "topology": "72",
        "policies": ["min", "ugal-n"],
        "seeds": [1, 2],
        "jobs": ["rayleigh:hosts=16,scale=0.001,gap_ns=100,placement=random"],
        "message_slowdown": True,
        "measure_ns": 100_000,
    }
    run_all(Scenario.from_dict(values), tmp_path / "results", workers=1)
    results = load_results(tmp_path / "results")
    row = results.table.iloc[0]
    assert len(row["slowdown_packets"]) == len(row["slowdown_p99"]) > 0
    assert (row["slowdown_p50"] >= 1.0).all()
    assert 0.0 <= row["reordered_fraction"] < 1.0
    drawn = draw(results, tmp_path / "figures", kinds=["slowdowns"], formats=["png"], page=False)
    assert [file.name for file in drawn.files] == ["slowdowns.png"]


def test_the_command_prints_them() -> None:
    typed = "simulate -t 72 --job rayleigh:hosts=16,scale=0.001,gap_ns=100 --to-completion --message-slowdown"
    assert "slowdown, p99" in run(*typed.split()).stdout
    assert json.loads(run(*typed.split(), "--json").stdout)["slowdowns"]["messages"]

"""Counters as an operator sees them: per port, host and job, between any two times."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import numpy.testing as npt
import pyarrow.parquet as pq
import pytest

import dragonfly_env as dfe

TOPOLOGY = dfe.Dragonfly.preset("72")
SMALL_GRID = dfe.Dragonfly(
    p=2, group=dfe.Grid(rows=2, columns=3, column_links=2), g=4, links_between_groups=6, arrangement="xc"
)
JOBS = (
    dfe.Job("milc:scale=0.001,gap_ns=3000", hosts=16, placement="random", iterations=3),
    dfe.Job("rayleigh:scale=0.001,gap_ns=2000", hosts=8, placement="random-routers", iterations=2),
)


def config(**changes: Any) -> dfe.SimulationConfig:
    return dfe.SimulationConfig(topology=TOPOLOGY, network="q-adaptive").replace(**changes)


def ran(duration_ns: float = 20_000, **changes: Any) -> dfe.Simulation:
    simulation = dfe.Simulation(config(**changes))
    simulation.run(duration_ns)
    return simulation


@pytest.mark.parametrize("topology", [TOPOLOGY, SMALL_GRID], ids=["mesh", "grid"])
def test_a_tile_receives_what_the_other_end_of_its_link_sends(topology: dfe.Dragonfly) -> None:
    network = "aries" if topology is SMALL_GRID else "lia"
    metrics = ran(topology=topology, network=network, load=0.4, injection="bernoulli").metrics()
    flits = metrics.network.flits_per_packet
    tiles = metrics.ports[(metrics.ports.direction == "in") & (metrics.ports.kind != "host")]
    columns = (tiles.router, tiles.port, tiles.flits, tiles.kind, tiles.links)
    for router, port, received, kind, links in zip(*(column.tolist() for column in columns), strict=True):
        peer, peer_port = topology.neighbor(router, port)
        assert received == metrics.counters.link_packets[peer * topology.radix + peer_port] * flits
        assert kind == topology.port_kind(port)
        assert links == topology.port_links(port)
    assert len(tiles) == len(topology.links())
    assert flits > 1


def test_classes_sum_up_to_what_was_injected_sent_and_delivered() -> None:
    metrics = ran(network="lia", load=0.3, injection="bernoulli").metrics()
    tiles, flits = metrics.ports.tiles(), metrics.network.flits_per_packet
    kinds = {kind: ports.totals() for kind, ports in tiles.items()}
    assert list(kinds) == ["host-in", "local", "global", "host-out"]
    assert kinds["host-in"].flits == metrics.packets_injected * flits
    assert kinds["host-in"].ports == kinds["host-out"].ports == TOPOLOGY.num_hosts
    for kind in ("local", "global"):
        assert kinds[kind].flits == metrics.link_classes[kind].flits
    assert kinds["host-out"] == metrics.link_classes["host"]
    npt.assert_array_equal(metrics.hosts.sent.reshape(-1, TOPOLOGY.p).sum(axis=1), metrics.router_injected)


def test_who_finds_no_room_stalls_and_no_one_else() -> None:
    """All hosts of one router send to one host of another: their packets wait at their processor tiles, or behind."""
    quiet = ran(load=0.05).metrics()
    assert quiet.ports.tiles()["host-in"].totals().stalls_to_flits < 0.01
    demand = np.zeros((72, 72))
    demand[0, 4] = demand[1, 4] = 1.0
    crowded = ran(traffic=demand, load=1.0, policy="min").metrics()
    tiles = crowded.ports.tiles()
    where = {
        (int(router), kind): value
        for kind, ports in tiles.items()
        for router, value in zip(*(ports.by("router")[name] for name in ("router", "stalls")), strict=True)
    }
    # A half of the two senders' packets cannot leave: each waits for at least a quarter of the time, at most all
    # of it.
    span = crowded.duration_ns / crowded.network.packet_time_ns
    assert 0.5 * span < where[0, "host-in"] <= 2 * span
    assert all(value == 0 for (router, kind), value in where.items() if router not in (0, 2))
    assert float(tiles["host-out"].stalls.sum()) == 0.0
    # The link that both share is the one with packets and no credit, or the host's is.
    assert crowded.ports.by("router")["flits"][5] == 0


def test_a_head_that_may_decide_again_stalls_as_well() -> None:
    lia = ran(
        network=dfe.NetworkConfig.preset("lia", decide_at="attempt"),
        policy="ugal-n",
        load=1.0,
        traffic="adv+1",
    )
    assert lia.metrics().ports.tiles()["host-in"].stalls.sum() > 0


def test_stalls_under_way_belong_to_the_window_in_which_they_are() -> None:
    full: dict[str, Any] = {"load": 1.0, "traffic": "adv+1", "policy": "min"}
    whole, cut = ran(40_000, **full), ran(20_000, **full)
    cut.reset_statistics()
    assert cut.counters().input_stall_ps.sum() == 0
    cut.run(20_000)
    npt.assert_array_equal(
        whole.counters().input_stall_ps,
        ran(20_000, **full).counters().input_stall_ps + cut.counters().input_stall_ps,
    )
    span_ps = 20_000 * 1000
    assert int(cut.counters().input_stall_ps.max()) <= span_ps
    assert int(cut.counters().input_stall_ps.max()) > span_ps // 2


@pytest.mark.parametrize("threads", [2, 3])
def test_counters_do_not_depend_on_threads(threads: int) -> None:
    topology = dfe.Dragonfly(p=4, a=8, h=4, g=33)
    single, more = (
        dfe.Simulation(
            config(topology=topology, load=0.9, policy="ugal-n", host_latency=True, threads=count)
        ).run_in_windows(2_000, 6_000)
        for count in (1, threads)
    )
    for mine, other in zip(single, more, strict=True):
        for name in ("input_stall_ps", "link_stall_ps", "host_latency_sum_ps", "host_delivered", "host_sent"):
            npt.assert_array_equal(getattr(mine, name), getattr(other, name))
    assert single.host_latency_percentile_ns(99.99) == more.host_latency_percentile_ns(99.99) > 0


def test_percentiles_are_those_of_the_means_per_host_and_window() -> None:
    windows = dfe.Simulation(config(load=0.6, host_latency=True)).run_in_windows(2_500, 20_000)
    means = windows.host_latency_mean_ns()
    assert means.shape == (8, 72)
    known = np.sort(means[~np.isnan(means)])
    assert windows.host_latency_percentile_ns(100) == known[-1]
    assert windows.host_latency_percentile_ns(99.99) == known[math.ceil(0.9999 * len(known)) - 1]
    assert windows.host_latency_percentile_ns(50) == known[math.ceil(0.5 * len(known)) - 1]
    assert windows.host_latency_percentile_ns(50, source_queue=True) > known[0]
    table = windows.hosts()
    npt.assert_array_equal(table["network_latency_mean_ns"], means.ravel())


def test_the_local_view_of_a_job_is_that_of_its_routers() -> None:
    simulation = dfe.Simulation(config(jobs=JOBS, traffic=None))
    windows = simulation.run_in_windows(5_000)
    metrics = simulation.metrics()
    assert metrics.makespan_ns == simulation.time_ns
    for index, job in enumerate(metrics.jobs):
        routers = {host // TOPOLOGY.p for host in job.hosts}
        assert set(job.ports.router.tolist()) == routers
        every = metrics.ports
        npt.assert_array_equal(job.ports.flits, every.flits[np.isin(every.router, list(routers))])
        spent = windows.operations(index)
        for name, operation in job.operations.items():
            rows = spent["operation"] == name
            assert spent["count"][rows].sum() == operation.count
            assert np.nansum(spent["count"][rows] * spent["mean_ns"][rows]) == pytest.approx(
                operation.total_ns
            )
        assert spent["count"][spent["operation"] == "message"].sum() == job.messages.count
        assert job.messages.max_ns >= job.messages.mean_ns > 0
        assert job.to_dict()["messages"] == job.messages.count
        assert windows.ports("kind", job=index)["flits"].sum() == job.ports.flits.sum()
        assert sum(window.jobs[index].packets_delivered for window in windows) == job.packets_delivered
    assert metrics.messages is not None
    assert sum(job.messages.count for job in metrics.jobs) == metrics.messages.delivered
    mean = sum(job.messages.total_ps for job in metrics.jobs) / metrics.messages.delivered / 1000
    assert metrics.message_latency_mean_ns == pytest.approx(mean)


def test_tables_go_to_parquet_with_what_was_run(tmp_path: Path) -> None:
    simulation = dfe.Simulation(config(jobs=JOBS, traffic=None, host_latency=True))
    windows = simulation.run_in_windows(20_000)
    files = windows.to_parquet(tmp_path / "counters")
    assert [file.name for file in files] == ["ports.parquet", "hosts.parquet", "operations.parquet"]
    ports = pq.read_table(files[0])
    assert ports.num_rows == len(windows) * len(windows[0].ports)
    npt.assert_array_equal(ports["flits"].to_numpy(), windows.ports()["flits"])
    about = json.loads(ports.schema.metadata[b"dragonfly_env"])
    assert dfe.SimulationConfig.from_dict(about["configuration"]) == simulation.config
    assert about["package_version"] == dfe.__version__
    assert set(pq.read_table(files[2])["job"].to_pylist()) == {0, 1}
    windows[0].ports.to_parquet(tmp_path / "one.parquet")
    assert pq.read_table(tmp_path / "one.parquet").column_names[-1] == "stalls_to_flits"


def test_windows_add_up_and_change_nothing() -> None:
    plain, watched = ran(load=0.8, injection="poisson"), dfe.Simulation(config(load=0.8, injection="poisson"))
    windows = watched.run_in_windows(3_000, 20_000)
    assert watched.trace_hash() == plain.trace_hash() != 0
    assert len(windows) == 7
    npt.assert_array_equal(windows.time_ns, np.arange(7) * 3_000.0)
    assert windows.duration_ns[-1] == 2_000.0
    for name in ("link_packets", "link_stall_ps", "input_stall_ps", "host_sent"):
        npt.assert_array_equal(
            sum(getattr(window, name) for window in windows), getattr(plain.metrics().counters, name)
        )
        npt.assert_array_equal(getattr(windows.whole, name), getattr(plain.counters(), name))
    over_time = windows.ports("kind", "direction")
    assert len(over_time["time_ns"]) == 7 * 6
    assert over_time["flits"].sum() == plain.metrics().ports.flits.sum()
    assert windows[-1].start_ps == 18_000_000
    with pytest.raises(IndexError):
        windows[7]

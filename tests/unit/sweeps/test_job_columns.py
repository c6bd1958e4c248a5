"""Columns of results on jobs and hosts."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import dragonfly_env as dfe
from dragonfly_env.sweeps.measure import NIC_WINDOW_NS, host_columns, jobs_columns, tile_sums

TOPOLOGY = dfe.Dragonfly(p=2, a=4, h=2)


def run(*jobs: dfe.Job, **settings: Any) -> tuple[dfe.SimulationConfig, dfe.Simulation]:
    config = dfe.SimulationConfig(
        topology=TOPOLOGY, network="q-adaptive", jobs=list(jobs), packet_log=True, **settings
    )
    simulation = dfe.Simulation(config)
    simulation.run_to_completion()
    return config, simulation


def test_the_tiles_of_jobs_are_those_of_their_routers() -> None:
    whole = dfe.Job("rayleigh:scale=0.002,gap_ns=500", 72)
    _, simulation = run(whole)
    metrics = simulation.metrics()
    (job,) = json.loads(jobs_columns(metrics)["jobs"])
    assert job["groups"] == 9
    assert job["tiles"] == tile_sums(metrics.ports)
    for name, ports in metrics.ports.tiles().items():
        counted = job["tiles"][name]
        assert (counted["tiles"], counted["flits"]) == (len(ports), ports.flits.sum())
        assert counted["stalls"] == pytest.approx(ports.stalls.sum())
        assert counted["most_stalls"] == max(ports.stalls)
    assert job["tiles"]["local"]["most_stalls"] > 0

    _, simulation = run(dfe.Job("rayleigh:scale=0.002,gap_ns=500", 4, policy="min"))
    (job,) = json.loads(jobs_columns(simulation.metrics())["jobs"])
    assert job["groups"] == 1
    # Four hosts on two routers of a group: all that they send between them takes one local link each way.
    sent = simulation.metrics().packets_delivered
    assert job["tiles"]["global"]["flits"] == 0
    assert 0 < job["tiles"]["local"]["flits"] < sent
    assert job["tiles"]["host-in"]["flits"] == sent == job["tiles"]["host-out"]["flits"]


def test_latencies_of_hosts_are_means_over_their_packets() -> None:
    config, simulation = run(dfe.Job("nek5000:scale=0.02,gap_ns=200", 16, placement="random"))
    log = simulation.packet_log()
    assert log["delivered_ns"].max() < NIC_WINDOW_NS
    latency = host_columns(config, log)["nic_latency_ns"]
    senders = np.unique(log["src"])
    assert len(latency) == len(senders)
    for host, mean in zip(senders, latency, strict=True):
        of_host = log["src"] == host
        assert mean == pytest.approx((log["delivered_ns"] - log["injected_ns"])[of_host].mean(), rel=1e-6)


def test_hosts_stall_where_their_router_has_no_room() -> None:
    def stalls(buffer_packets: int) -> np.ndarray[Any, Any]:
        network = dfe.NetworkConfig(host_buffer_packets=buffer_packets)
        incast = dfe.Job(many_to_one, 24, placement="random")
        config = dfe.SimulationConfig(topology=TOPOLOGY, network=network, jobs=[incast], packet_log=True)
        simulation = dfe.Simulation(config)
        simulation.run_to_completion()
        found = host_columns(config, simulation.packet_log())["host_stall_ns"]
        assert found.shape == (72,)
        receiver = simulation.metrics().jobs[0].hosts[0]
        assert found[receiver] == 0
        return found

    # 23 hosts send 40 packets of 32 ns to one: with room for all in their routers none waits before it.
    assert stalls(64).max() == pytest.approx(0.0, abs=1e-6)
    few = stalls(2)
    assert 0 < few.max() < 23 * 40 * 32


def many_to_one(rank: int, ranks: int) -> Any:
    if rank == 0:
        for other in range(1, ranks):
            yield dfe.jobs.receive(other)
    else:
        yield dfe.jobs.send(0, 40 * 128)
    yield from dfe.jobs.wait()

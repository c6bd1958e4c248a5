"""Hosts offer what their row of a demand matrix says: exactly, since periodic messages can be counted."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dragonfly_env as dfe

TOPOLOGY = dfe.Dragonfly.preset("72")
ROWS = {"host": 72, "router": 36, "group": 9}
PACKETS = 400  # packets of a host at full load
PACKET_NS = 32.0


def offered(matrix: np.ndarray, **settings: Any) -> tuple[dfe.Metrics, np.ndarray]:
    """Metrics, and (72,) packets that hosts generated; they are few, so that all of them are on their way at once."""
    config = dfe.SimulationConfig(
        topology=TOPOLOGY, traffic=matrix, policy="ugal-n", packet_log=True, **settings
    )
    simulation = dfe.Simulation(config)
    simulation.run(1.0 + PACKETS * PACKET_NS)
    metrics = simulation.metrics()
    assert simulation.drain()
    return metrics, np.bincount(simulation.packet_log()["src"], minlength=72)


@pytest.mark.parametrize("level", ROWS)
@pytest.mark.parametrize("network", ["default", "lia"])
def test_hosts_offer_in_proportion_to_the_sums_of_their_rows(level: str, network: str) -> None:
    rows = ROWS[level]
    draws = np.random.default_rng(rows)
    wanted = draws.choice([0.0, 0.25, 0.5, 1.0], rows)
    wanted[0] = 1.0
    matrix = draws.exponential(size=(rows, rows))
    matrix *= wanted[:, None] / matrix.sum(axis=1, keepdims=True)
    packet_ns = dfe.NetworkConfig.preset(network).packet_time_ns
    config = {"network": network, "load": 0.2}
    metrics, packets = offered(matrix * 17.0, **config)
    intervals = PACKETS * PACKET_NS / packet_ns * 0.2 * np.repeat(wanted, 72 // rows)
    assert np.abs(packets - intervals).max() <= 1
    assert packets[np.repeat(wanted, 72 // rows) == 0.0].sum() == 0
    assert metrics.demanded_load == pytest.approx(0.2 * wanted.mean())
    assert metrics.offered_load == pytest.approx(0.2 * wanted.mean(), rel=0.03)
    assert metrics.packets_generated == packets.sum()


@pytest.mark.parametrize("level", ROWS)
def test_demands_in_gigabytes_a_second_are_offered_as_they_are(level: str) -> None:
    rows = ROWS[level]
    hosts = 72 // rows
    rates = np.resize([0.1, 0.2, 0.4], rows)  # rate of a host, in GB/s
    matrix = np.ones((rows, rows)) / rows * rates[:, None] * hosts
    for load in (0.1, 1.0):  # is not used
        _, packets = offered(matrix, demand_unit="GB/s", load=load)
        assert np.abs(packets - PACKETS * np.repeat(rates, hosts) / 4.0).max() <= 1


def test_random_arrivals_offer_the_shares_on_average() -> None:
    wanted = np.resize([1.0, 0.1], 9)
    matrix = np.ones((9, 9)) * wanted[:, None]
    for injection in ("bernoulli", "poisson"):
        config = dfe.SimulationConfig(topology=TOPOLOGY, traffic=matrix, load=0.4, injection=injection)
        loads = dfe.simulate(config, warmup_ns=5_000, measure_ns=50_000).group_accepted_load
        assert loads == pytest.approx(0.4 * wanted, rel=0.12)


GOLDEN = {9: 0x539BBD165D57763C, 36: 0x3E9C6CC023B42232, 72: 0xDAC4BD92F3879FEA}


@pytest.mark.parametrize("size", GOLDEN)
def test_rows_of_equal_sums_have_the_history_that_they_always_had(size: int) -> None:
    draws = np.random.default_rng(size)
    matrix = np.stack([draws.permutation(np.arange(size)) for _ in range(size)]).astype(float)
    for given in (matrix, matrix * 3.0):
        config = dfe.SimulationConfig(topology=TOPOLOGY, traffic=given, load=0.37, policy="ugal-n", seed=5)
        simulation = dfe.Simulation(config)
        simulation.run(3000)
        assert simulation.trace_hash() == GOLDEN[size]


def test_the_messages_of_a_host_are_the_same_with_every_share() -> None:
    config = dfe.SimulationConfig(topology=TOPOLOGY, traffic=np.ones((9, 9)), load=0.4, packet_log=True)
    smaller = np.ones((9, 9))
    smaller[2:] *= 0.5

    def sent(traffic: np.ndarray) -> dict[int, list[int]]:
        simulation = dfe.Simulation(config.replace(traffic=traffic))
        simulation.run(8_000)
        simulation.drain()
        log = simulation.packet_log()
        order = np.lexsort((log["number"], log["src"]))
        return {host: log["dst"][order][log["src"][order] == host].tolist() for host in range(72)}

    whole, less = sent(np.ones((9, 9))), sent(smaller)
    for host in range(72):
        assert less[host] == whole[host][: len(less[host])]
    assert len(less[71]) == pytest.approx(len(whole[71]) / 2, abs=1)


def test_an_interval_of_whole_nanoseconds_is_checked_for_every_share() -> None:
    matrix = np.ones((9, 9))
    matrix[4] *= 0.95
    network = dfe.NetworkConfig.preset(
        "q-adaptive",
        packet_bytes=40,
        flit_bytes=40,
    )
    dfe.Simulation(dfe.SimulationConfig(topology=TOPOLOGY, network=network, traffic="uniform", load=1.0))
    with pytest.raises(dfe.ConfigError, match=r"^periodic_intervals = 'whole-ns': would offer"):
        dfe.Simulation(dfe.SimulationConfig(topology=TOPOLOGY, network=network, traffic=matrix, load=1.0))

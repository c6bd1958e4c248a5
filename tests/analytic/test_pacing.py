"""Rate at which a program's host injects: by hand.

Network ``lia``: a packet of ten flits takes 10 ns on a host's link, a flit 1 ns, and a packet enters the router at
once. With ``bernoulli`` a gap between two packets is 1 ns times a geometric number with mean 10 / load, so N gaps take
N x 10 / load ns on average, with a standard deviation of sqrt(N (1 - p)) / p ns for p = load / 10. With ``spaced`` no
gap is below 10 ns, and the mean is the same.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

import dragonfly_env as dfe

LIA = dfe.NetworkConfig.preset("lia")
TOPOLOGY = dfe.Dragonfly(p=2, a=4, h=2, arrangement="palmtree")
PACKET_NS, FLIT_NS = 10.0, 1.0


def injections(traffic: str, network: dfe.NetworkConfig = LIA, seed: int = 1) -> list[np.ndarray]:
    """Return the times at which the packets of each host left their source queue, ascending."""
    config = dfe.SimulationConfig(
        topology=TOPOLOGY, network=network, policy="vlb-lgl", traffic=traffic, seed=seed, packet_log=True
    )
    simulation = dfe.Simulation(config)
    simulation.run_to_completion()
    log = simulation.packet_log()
    order = np.lexsort((log["injected_ns"], log["src"]))
    hosts = log["src"][order]
    return [log["injected_ns"][order][hosts == host] for host in range(TOPOLOGY.num_hosts)]


def gaps_of(times: list[np.ndarray]) -> np.ndarray:
    return np.concatenate([np.diff(of_host) for of_host in times])


@pytest.mark.parametrize("load", [1.0, 0.5, 0.1])
def test_a_spaced_host_never_sends_two_packets_within_a_packet_time(load: float) -> None:
    gaps = gaps_of(injections(f"all-to-all:pacing=spaced,injection_load={load}"))
    assert gaps.min() == PACKET_NS
    assert (load < 1.0) or (gaps == PACKET_NS).all()


@pytest.mark.parametrize("pacing", ["bernoulli", "spaced"])
@pytest.mark.parametrize("load", [1.0, 0.4, 0.1])
def test_a_paced_host_sends_at_its_injection_load_on_average(pacing: str, load: float) -> None:
    gaps = gaps_of(injections(f"all-to-all:pacing={pacing},injection_load={load},message_bytes=1000"))
    mean = PACKET_NS / load
    probability = FLIT_NS / mean
    if pacing == "spaced":
        probability = 1.0 / (1.0 + mean - PACKET_NS)
    deviation = math.sqrt(1.0 - probability) / probability
    assert abs(gaps.mean() - mean) <= 4.0 * deviation / math.sqrt(len(gaps)) + 1e-9


def test_the_gaps_of_bernoulli_pacing_are_whole_flit_times_and_geometric() -> None:
    gaps = gaps_of(injections("all-to-all:message_bytes=1000"))
    assert (gaps >= FLIT_NS).all()
    assert np.array_equal(gaps, np.rint(gaps))
    for most in (1, 5, 10, 30):
        expected = 1.0 - 0.9**most
        seen = (gaps <= most).mean()
        assert seen == pytest.approx(expected, abs=4.0 * math.sqrt(expected * (1 - expected) / len(gaps)))


def test_without_pacing_all_packets_enter_the_buffer_at_once() -> None:
    times = injections("all-to-all:pacing=none")
    assert all((of_host == of_host[0]).all() and len(of_host) == TOPOLOGY.num_hosts - 1 for of_host in times)


def test_where_a_packet_is_one_flit_full_load_is_one_packet_a_packet_time() -> None:
    times = injections("all-to-all", LIA.replace(flit_bytes=250))
    assert (gaps_of(times) == PACKET_NS).all()


def test_graph500_sends_no_two_queries_within_a_packet_time_and_signals_at_once() -> None:
    """Level 0: only the root task sends: its three queries in two messages, as three random tasks are 2.96 different
    ones on average, rounded down; 10 ns apart; then 71 signals 1 ns apart.
    """
    (sent,) = [
        times
        for times in injections("graph500:scale=4,levels=1,signals=true,reduce=star,query_ns=0")
        if len(times) > 3
    ]
    gaps = np.diff(sent)
    assert gaps[0] == 10.0
    assert (gaps[1:72] == 1.0).all()


def longest_gap_of_two(query_ns: float) -> float:
    """The longest time between two messages of one host, of two on one router that send each other one query each."""
    config = dfe.SimulationConfig(
        topology=dfe.Dragonfly(2, 1, 0, 1),
        network=LIA,
        traffic=f"graph500:scale=9,edge_factor=8,coalescing=1,levels=2,query_ns={query_ns}",
        packet_log=True,
    )
    simulation = dfe.Simulation(config)
    simulation.run_to_completion()
    log = simulation.packet_log()
    return float(max(np.diff(np.sort(log["injected_ns"][log["src"] == host])).max() for host in (0, 1)))


def test_a_task_works_on_queries_before_it_sends_the_next_message() -> None:
    """A task works on all that it has, 30 ns a query, and one query more comes every 10 ns: so it sends nothing until
    the other has sent the rest of its level, some hundreds of messages, and works on them after that.
    """
    assert longest_gap_of_two(30.0) > 100 * 30.0


def test_without_work_a_task_waits_for_the_end_of_a_level_alone() -> None:
    """On one router that takes two packets to the other host and back, some 100 ns each."""
    assert longest_gap_of_two(0.0) < 300.0

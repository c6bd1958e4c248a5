"""Closed-loop traffic from Python: its forms, running to completion, its figures, and what is refused."""

from __future__ import annotations

import math
import pickle
from typing import Any

import numpy as np
import pytest

import dragonfly_env as dfe
from dragonfly_env import _core
from dragonfly_env.traffic import parse_traffic

SMALL = dfe.Dragonfly.preset("72")
MESSAGES = 72 * 71


def config(**changes: Any) -> dfe.SimulationConfig:
    return dfe.SimulationConfig(**{"topology": SMALL, "traffic": "all-to-all", **changes})


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"message_bytes": 0}, "message_bytes = 0: must be an integer from 1"),
        ({"message_bytes": -250}, "message_bytes = -250"),
        ({"message_bytes": 2**31}, "message_bytes = 2147483648"),
        ({"message_bytes": 250.0}, "message_bytes = 250.0"),
        ({"in_flight": 0}, "in_flight = 0"),
        ({"in_flight": 10**9}, "in_flight = 1000000000"),
        ({"placement": "randon"}, "placement = 'randon': must be one of .* did you mean 'random'"),
        ({"placement": None}, "placement = None"),
    ],
)
def test_what_is_out_of_range_is_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(dfe.ConfigError, match=f"^{message}"):
        dfe.AllToAll(**arguments)
    with pytest.raises(dfe.ConfigError, match=f"^{message.split(':')[0].split(' ')[0]}"):
        parse_traffic({"pattern": "all-to-all", **arguments})
    with pytest.raises((dfe.ConfigError, TypeError)):
        _core.workload(SMALL.to_core(), 1, "all-to-all", arguments, 128)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"injection": "poisson"}, "injection = 'poisson': must be 'auto' or 'program'"),
        ({"injection": "trace"}, "injection = 'trace'"),
        ({"traffic": "uniform", "injection": "program"}, "injection = 'program': needs closed-loop traffic"),
        ({"message_packets": 2}, "message_packets = 2: must be left out"),
        ({"source_queue_full": "lose"}, "source_queue_full = 'lose': must be 'stall'"),
        ({"traffic": [(0.0, "all-to-all", 0.5)]}, "schedule step 0 traffic = 'all-to-all"),
        ({"traffic": "weighted:all-to-all=1"}, "traffic = 'all-to-all"),
        (
            {"traffic": {"pattern": "mixture", "parts": [{"hosts": [0, 1], "traffic": "all-to-all"}]}},
            "traffic = 'all-to-all",
        ),
        ({"traffic": "all-to-all:bytes=3"}, "traffic = 'all-to-all': has no argument 'bytes'; did you mean"),
        ({"traffic": "all-to-al"}, "traffic = 'all-to-al': unknown pattern; did you mean 'all-to-all'"),
    ],
)
def test_settings_that_mean_nothing_in_a_closed_loop_are_refused(
    changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(dfe.ConfigError, match=f"^{message}"):
        dfe.Simulation(config(**changes))


def test_every_host_sends_one_message_to_every_other_in_the_order_of_the_shifts() -> None:
    simulation = dfe.Simulation(config(traffic=dfe.AllToAll(message_bytes=250), packet_log=True))
    simulation.run_to_completion()
    log = simulation.packet_log()
    assert len(log["src"]) == 2 * MESSAGES  # 128-byte packets
    order = np.lexsort((log["number"], log["src"]))
    shifts = ((log["dst"] - log["src"].astype(np.int64)) % 72)[order].reshape(72, 71, 2)
    assert (shifts == np.arange(1, 72)[:, None]).all()


@pytest.mark.parametrize("placement", ["random", "random-routers", "random-groups"])
def test_a_random_placement_is_a_permutation_of_the_tasks_that_follows_from_the_seed(placement: str) -> None:
    first = []
    for seed in (1, 1, 2):
        simulation = dfe.Simulation(
            config(traffic=dfe.AllToAll(message_bytes=1, placement=placement), seed=seed, packet_log=True)
        )
        simulation.run_to_completion()
        log = simulation.packet_log()
        assert len(set(zip(log["src"].tolist(), log["dst"].tolist(), strict=True))) == MESSAGES
        opening = log["number"] == 0
        successor = dict(zip(log["src"][opening].tolist(), log["dst"][opening].tolist(), strict=True))
        at, ring = 0, [0]
        while (at := successor[at]) != 0:
            ring.append(at)
        assert sorted(ring) == list(range(72))
        block = {"random": 1, "random-routers": 2, "random-groups": 8}[placement]
        assert (
            sum(successor[host] == host + 1 for host in range(72) if host % block != block - 1)
            == 72 - 72 // block
        )
        first.append(ring)
    assert first[0] == first[1] != first[2]


def test_running_to_completion_gives_the_figures_of_the_whole_exchange() -> None:
    simulation = dfe.Simulation(config(traffic=dfe.AllToAll(message_bytes=1000)))
    assert simulation.progress() == 0.0
    m = simulation.run_to_completion()
    assert simulation.progress() == 1.0
    assert simulation.time_ns == m.makespan_ns == m.duration_ns > 0
    assert m.messages is not None
    assert m.messages.sent == m.messages.delivered == MESSAGES
    assert m.packets_delivered == m.packets_generated == 8 * MESSAGES
    assert m.packets_in_flight == 0
    assert m.offered_load == m.accepted_load == pytest.approx(8 * 71 * 32 / m.makespan_ns)
    assert m.latency_mean_ns < m.message_latency_mean_ns < m.makespan_ns
    percentiles = [m.message_latency_percentile_ns(q) for q in (0, 1, 50, 99, 100)]
    assert percentiles == sorted(percentiles)
    row = m.to_dict()
    assert row["makespan_ns"] == m.makespan_ns
    assert row["messages_delivered"] == MESSAGES
    assert row["message_latency_p99_ns"] == percentiles[3]
    assert pickle.loads(pickle.dumps(m)).to_dict() == row
    simulation.check_invariants()

    again = simulation.run_to_completion()
    assert again.to_dict() == row
    simulation.run(1000)
    assert simulation.time_ns == m.makespan_ns + 1000
    assert simulation.metrics().makespan_ns == m.makespan_ns


def test_a_limit_gives_an_unfinished_run_that_goes_on_with_the_next_call() -> None:
    whole = dfe.Simulation(config())
    makespan = whole.run_to_completion().makespan_ns
    simulation = dfe.Simulation(config())
    shares = [0.0]
    while math.isnan((m := simulation.run_to_completion(limit_ns=777.7)).makespan_ns):
        assert m.to_dict()["makespan_ns"] is None
        assert simulation.time_ns == pytest.approx(777.7 * len(shares))
        shares.append(simulation.progress())
    assert shares == sorted(shares)
    assert 0 < shares[1] < shares[-1] < 1
    assert m.to_dict() == whole.metrics().to_dict()
    assert m.makespan_ns == makespan
    assert simulation.trace_hash() == whole.trace_hash()
    assert dfe.Simulation(config()).run_to_completion(limit_ns=0).duration_ns == 0


def test_open_loop_traffic_has_no_end() -> None:
    simulation = dfe.Simulation(config(traffic="uniform"))
    for call in (simulation.run_to_completion, simulation.progress):
        with pytest.raises(dfe.StateError, match="traffic 'uniform' is open loop and has no end"):
            call()
    simulation.run(1000)
    m = simulation.metrics()
    assert m.messages is None
    assert math.isnan(m.makespan_ns)
    assert math.isnan(m.message_latency_mean_ns)
    assert math.isnan(m.message_latency_percentile_ns(50))
    assert m.to_dict()["messages_delivered"] is None
    with pytest.raises(dfe.ConfigError, match=r"^q = "):
        m.message_latency_percentile_ns(101)


@pytest.mark.parametrize("queue", [1, 2, 5])
@pytest.mark.parametrize("in_flight", [1, 4])
def test_a_bounded_source_queue_lets_packets_wait_and_loses_none(queue: int, in_flight: int) -> None:
    traffic = dfe.AllToAll(message_bytes=500, in_flight=in_flight, pacing="none")
    simulation = dfe.Simulation(config(traffic=traffic, source_queue_packets=queue))
    simulation.run(1000)
    assert 0 < simulation.metrics().packets_in_source_queues <= 72 * queue
    m = simulation.run_to_completion()
    assert m.packets_delivered == m.packets_generated == 4 * MESSAGES
    unbounded = dfe.Simulation(config(traffic=traffic))
    assert (
        unbounded.run_to_completion().makespan_ns == m.makespan_ns
    )  # messages leave in the same order, at the same times
    assert m.latency_mean_ns <= unbounded.metrics().latency_mean_ns


@pytest.mark.parametrize("in_flight", [1, 2, 5, 1000])
def test_at_most_so_many_messages_of_a_host_wait(in_flight: int) -> None:
    simulation = dfe.Simulation(
        config(traffic=dfe.AllToAll(message_bytes=384, in_flight=in_flight, pacing="none"))
    )
    most = 0
    for _ in range(300):
        simulation.run(50)
        most = max(most, simulation.metrics().packets_in_source_queues)
    allowed = 72 * 3 * min(71, in_flight)  # three packets a message
    assert allowed / 2 < most <= allowed


def test_drain_stops_the_programs_and_says_so_later() -> None:
    simulation = dfe.Simulation(config())
    simulation.run(1000)
    assert simulation.drain() is True
    m = simulation.metrics()
    assert m.packets_in_flight == 0
    assert 0 < m.packets_delivered == m.packets_generated < 2 * MESSAGES
    assert 0 < simulation.progress() < 1
    with pytest.raises(
        dfe.StateError, match=r"stopped by drain\(\): 72 tasks are not finished: task 0 of job 0"
    ):
        simulation.run_to_completion()
    finished = dfe.Simulation(config())
    finished.run_to_completion()
    assert finished.drain() is True
    assert not math.isnan(finished.run_to_completion().makespan_ns)


def test_a_time_series_covers_the_exchange_and_too_narrow_bins_are_refused_in_time() -> None:
    m = dfe.Simulation(config(series_bin_ns=500)).run_to_completion()
    assert m.time_series is not None
    assert m.time_series["delivered"].sum() == 2 * MESSAGES
    assert m.time_series["duration_ns"].sum() == pytest.approx(m.makespan_ns)
    simulation = dfe.Simulation(config(traffic=dfe.AllToAll(message_bytes=10_000_000), series_bin_ns=1))
    with pytest.raises(dfe.ConfigError, match=r"^series_bin_ns = 1.0: must be at least"):
        simulation.run_to_completion()

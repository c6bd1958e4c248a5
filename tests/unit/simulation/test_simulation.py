"""``Simulation``: time, windows, calls out of order, threads and Ctrl-C."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import dragonfly_env as dfe


def config(**changes: Any) -> dfe.SimulationConfig:
    network = dfe.NetworkConfig.preset("q-adaptive")
    return dfe.SimulationConfig(topology=dfe.Dragonfly.preset("72"), network=network).replace(**changes)


@pytest.mark.parametrize("duration", [-1, math.nan, math.inf, "10", None, True, 0.0001, 1e16, 10**400])
def test_a_bad_duration_is_refused_and_changes_nothing(duration: Any) -> None:
    simulation = dfe.Simulation(config())
    for call, name in ((simulation.run, "duration_ns"), (simulation.drain, "max_ns")):
        if duration is None and name == "max_ns":
            continue
        with pytest.raises(dfe.ConfigError, match=rf"^{name} = "):
            call(duration)
    assert simulation.time_ns == 0.0
    simulation.run(100)


def test_the_clock_has_an_end() -> None:
    simulation = dfe.Simulation(config())
    simulation.run(1000)
    with pytest.raises(dfe.ConfigError, match=r"^duration_ns = .*clock ends"):
        simulation.run(1e15)


def test_metrics_are_a_snapshot_of_the_window_since_the_reset() -> None:
    simulation = dfe.Simulation(config())
    simulation.run(5000)
    before = simulation.metrics()
    simulation.reset_statistics()
    simulation.run(3000)
    after = simulation.metrics()
    assert (before.duration_ns, after.duration_ns) == (5000.0, 3000.0)
    assert before.packets_delivered > after.packets_delivered > 0
    assert before.to_dict()["packets_delivered"] == before.packets_delivered
    assert simulation.metrics().to_dict() == after.to_dict()


def test_simulate_is_warm_up_reset_and_measurement() -> None:
    simulation = dfe.Simulation(config())
    simulation.run(2000)
    simulation.reset_statistics()
    simulation.run(1000)
    m = dfe.simulate(config(), warmup_ns=2000, measure_ns=1000)
    assert m.to_dict() == simulation.metrics().to_dict()
    for times in ({"measure_ns": 0}, {"measure_ns": -1}, {"warmup_ns": -1, "measure_ns": 1}):
        with pytest.raises(dfe.ConfigError, match=r"^(measure|warmup)_ns = "):
            dfe.simulate(config(), **times)


def test_below_saturation_the_network_accepts_what_is_offered() -> None:
    m = dfe.simulate(config(load=0.4, traffic="uniform"), warmup_ns=20_000, measure_ns=80_000)
    assert m.offered_load == pytest.approx(0.4, rel=1e-3)
    assert m.accepted_load == pytest.approx(0.4, rel=1e-3)
    assert m.fairness.jain == pytest.approx(1.0)
    links = m.link_classes
    assert links["host"].utilisation_mean == pytest.approx(0.4, rel=1e-3)
    assert sum(kind.packets for kind in links.values()) == m.packet_hops
    assert m.hop_histogram.sum() == m.packets_delivered == m.latency_histogram.sum()
    assert m.hop_histogram @ np.arange(m.hop_histogram.size) == m.hops_sum


def test_a_drained_network_is_empty_and_stays_so() -> None:
    simulation = dfe.Simulation(config(load=1.0, traffic="adv+1"))
    simulation.run(3000)
    assert simulation.drain(max_ns=1) is False
    assert simulation.drain() is True
    m = simulation.metrics()
    assert m.packets_in_flight == 0
    assert m.packets_generated == m.packets_delivered > 0
    simulation.check_invariants()
    simulation.run(1000)
    assert simulation.metrics().packets_generated == m.packets_generated


def test_a_time_series_covers_the_window_and_adds_up() -> None:
    simulation = dfe.Simulation(config(series_bin_ns=1000))
    simulation.run(2500)
    simulation.reset_statistics()
    empty = simulation.metrics().time_series
    assert empty is not None
    assert len(empty["time_ns"]) == 0
    simulation.run(5000)
    m = simulation.metrics()
    series = m.time_series
    assert series is not None
    assert series["time_ns"].tolist() == [2000, 3000, 4000, 5000, 6000, 7000]
    assert series["duration_ns"].tolist() == [500, 1000, 1000, 1000, 1000, 500]
    assert series["delivered"].sum() == m.packets_delivered
    assert series["injected"].sum() == m.packets_injected


def test_what_happens_at_the_end_of_the_window_is_in_its_last_bin() -> None:
    # Everything takes whole nanoseconds, so that some packets arrive just when a bin ends.
    simulation = dfe.Simulation(config(series_bin_ns=10, traffic="uniform", load=1.0, packet_log=True))
    seen = 0
    for _ in range(100):
        simulation.run(10)
        m = simulation.metrics()
        series = m.time_series
        assert series is not None
        assert series["delivered"].sum() == m.packets_delivered
        assert series["injected"].sum() == m.packets_injected
        assert series["time_ns"].tolist() == list(range(0, int(m.duration_ns), 10))
        seen = m.packets_delivered
    delivered_ns = simulation.packet_log()["delivered_ns"]
    assert seen == len(delivered_ns)
    assert (delivered_ns % 10 == 0).any(), "the case that is tested has occurred"


def test_group_latency_adds_up_to_all_deliveries() -> None:
    m = dfe.simulate(config(group_latency=True, traffic="adv+1"), measure_ns=5000)
    assert m.group_delivered is not None
    assert m.group_delivered.sum() == m.packets_delivered
    mean = m.group_latency_mean_ns
    assert mean is not None
    source, destination = np.nonzero(~np.isnan(mean))
    assert set(((destination - source) % 9).tolist()) == {1}


def test_the_packet_log_has_every_packet_once() -> None:
    simulation = dfe.Simulation(config(packet_log=True, policy="val-n"))
    simulation.run(5000)
    log = simulation.packet_log()
    m = simulation.metrics()
    assert len(log["src"]) == m.packets_delivered
    assert np.mean(log["delivered_ns"] - log["created_ns"]) == pytest.approx(m.latency_mean_ns)
    assert np.mean(log["delivered_ns"] - log["injected_ns"]) == pytest.approx(m.network_latency_mean_ns)
    assert log["hops"].sum() == m.hops_sum
    assert len(set(zip(log["src"].tolist(), log["number"].tolist(), strict=True))) == len(log["src"])
    assert np.array_equal(np.diff(log["route_offsets"]), log["hops"] + 1)
    assert np.array_equal(log["routers"][log["route_offsets"][:-1]], log["src"] // 2)
    assert np.array_equal(log["routers"][log["route_offsets"][1:] - 1], log["dst"] // 2)
    assert len(simulation.packet_log()["src"]) == 0


def test_a_log_that_was_not_kept_is_a_state_error() -> None:
    with pytest.raises(dfe.StateError, match="packet_log=False"):
        dfe.Simulation(config()).packet_log()


def test_after_a_deadlock_only_the_metrics_are_left(monkeypatch: pytest.MonkeyPatch) -> None:
    class Stuck:
        """A core whose network no longer moves; no setting of ours can bring that about."""

        time_ps = 0

        def run(self, ps: int) -> None:
            raise dfe.DeadlockError("no progress for 1000 ns\n  packet 1 ...")

        def reset_statistics(self) -> None:
            pass

    simulation = dfe.Simulation(config())
    monkeypatch.setattr(simulation, "_core", Stuck())
    with pytest.raises(dfe.DeadlockError, match="packet 1"):
        simulation.run(1)
    for call in (simulation.run, simulation.drain):
        with pytest.raises(dfe.StateError, match=r"stopped for good: no progress for 1000 ns$"):
            call(1)
    simulation.reset_statistics()
    assert simulation.time_ns == 0.0


@pytest.mark.parametrize("message_packets", [1, 3])
@pytest.mark.parametrize("load", [0.3, 1.0])
@pytest.mark.parametrize("injection", ["periodic", "bernoulli", "poisson"])
def test_what_waits_in_source_queues_does_not_depend_on_how_often_it_is_counted(
    injection: str, load: float, message_packets: int
) -> None:
    cfg = config(traffic="adv+1", load=load, injection=injection, message_packets=message_packets)
    often, once = dfe.Simulation(cfg), dfe.Simulation(cfg)
    for _ in range(20):
        often.run(250.0)
        often.metrics()
    once.run(5_000.0)
    m = once.metrics()
    assert often.metrics().to_dict() == m.to_dict()
    if injection == "periodic":  # each host at regular times, from a random one on
        assert m.packets_generated == pytest.approx(72 * load * 5_000.0 / 32.0, abs=72 * message_packets)

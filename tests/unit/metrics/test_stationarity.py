"""``Metrics`` says when its figures are those of a saturated network, or of one on its way to a steady state."""

from __future__ import annotations

import io
import json
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import dragonfly_env as dfe
from dragonfly_env import _core
from dragonfly_env.cli import app
from dragonfly_env.metrics.stationarity import (
    Arrivals,
    Half,
    Mark,
    has_equal_latencies,
    is_growing,
    is_saturated,
)
from dragonfly_env.sweeps import Scenario, load_results, run_all
from dragonfly_env.sweeps.results import aggregate
from dragonfly_env.sweeps.summary import render_summary, verdict_table


def measured(
    load: float, *, warmup_ns: float = 10_000.0, measure_ns: float = 10_000.0, **changes: Any
) -> dfe.Metrics:
    config = dfe.SimulationConfig(**{"topology": "72", "load": load, **changes})
    return dfe.simulate(config, warmup_ns=warmup_ns, measure_ns=measure_ns)


def test_a_network_that_does_not_is_saturated_and_its_latencies_grow() -> None:
    metrics = measured(0.5, traffic="adv+1")
    assert (metrics.saturated, metrics.stationary) == (True, False)
    assert repr(metrics).endswith(", SATURATED>")


def test_a_change_of_the_traffic_is_not_stationary() -> None:
    traffic = [(0.0, "uniform", 0.2), (15_000.0, "advc", 0.2)]
    metrics = measured(0.2, traffic=traffic)
    assert (metrics.saturated, metrics.stationary) == (False, False)
    assert repr(metrics).endswith(", not stationary>")


def hot(hosts: int, fraction: float) -> float:
    """Load that the hot hosts of 72 receive at full load."""
    return fraction * 72 / hosts + 1 - fraction


@pytest.mark.parametrize(("hosts", "fraction"), [(1, 0.05), (4, 0.2), (2, 0.01)])
@pytest.mark.parametrize("of_link", [0.3, 0.8, 1.1, 1.4])
def test_traffic_that_sends_a_host_more_than_its_link_takes_is_saturated(
    hosts: int, fraction: float, of_link: float
) -> None:
    load = min(0.7, of_link / hot(hosts, fraction))
    metrics = measured(load, traffic=f"hotspot:hosts={hosts},fraction={fraction}", measure_ns=5_000.0)
    assert metrics.destination_load_max == pytest.approx(load * hot(hosts, fraction))
    assert metrics.demanded_load == pytest.approx(load)
    assert metrics.saturated is (load * hot(hosts, fraction) > 1)


def test_a_hot_host_is_found_where_nearly_all_of_the_load_is_accepted() -> None:
    fraction = (1.4 / 0.3 - 1) / (1056 / 4 - 1)  # 4 of 1,056 hosts are sent 1.4 times what their links take
    traffic = f"hotspot:hosts=4,fraction={fraction}"
    config = dfe.SimulationConfig(topology="1056", load=0.3, traffic=traffic)
    metrics = dfe.simulate(config, warmup_ns=5_000, measure_ns=5_000)
    assert metrics.destination_load_max == pytest.approx(1.4)
    assert metrics.second_half is not None
    assert is_saturated([metrics.second_half]) is False
    assert metrics.saturated is True


@pytest.mark.parametrize(
    "spec", ["uniform", "permutation", "advc", "adv+1", "tornado", "stencil3d", "lia-c2"]
)
def test_patterns_that_spread_their_load_never_send_a_host_too_much(spec: str) -> None:
    metrics = measured(1.0, traffic=spec, warmup_ns=0.0, measure_ns=100.0)
    assert metrics.destination_load_max == pytest.approx(1.0)
    assert metrics.saturated is None


def test_what_hosts_receive_is_the_mean_of_the_steps_in_force() -> None:
    steps = [(0.0, "hotspot:hosts=1,fraction=0.5", 0.2), (7_500.0, "uniform", 0.2)]
    simulation = dfe.Simulation(dfe.SimulationConfig(topology="72", traffic=steps))
    simulation.run(10_000)  # the second half has 2,500 ns of each step
    assert simulation.metrics().destination_load_max == pytest.approx(0.1 * (hot(1, 0.5) + 1))
    simulation.run(20_000)
    assert simulation.metrics().destination_load_max == pytest.approx(0.2)


def test_load_that_a_stalled_generator_holds_back_counts_as_offered() -> None:
    metrics = measured(0.5, traffic="adv+1", source_queue_packets=2)
    assert metrics.offered_load == pytest.approx(metrics.accepted_load, rel=0.05)
    assert metrics.demanded_load == 0.5
    assert metrics.saturated is True


LIGHT = (0.02, 0.04, 0.06, 0.08)
SEEDS = range(1, 7)


@pytest.mark.parametrize("injection", ["periodic", "bernoulli", "poisson"])
@pytest.mark.parametrize("message_packets", [1, 8, 64, 1_000])
def test_light_load_is_never_taken_for_saturation(injection: str, message_packets: int) -> None:
    long = {"warmup_ns": 100_000.0, "measure_ns": 200_000.0} if message_packets == 1_000 else {}
    for load in LIGHT:
        runs = [
            measured(load, injection=injection, message_packets=message_packets, seed=seed, **long)
            for seed in SEEDS
        ]
        assert True not in [run.saturated for run in runs]
        assert is_saturated([run.second_half for run in runs if run.second_half is not None]) is not True


@pytest.mark.parametrize("injection", ["periodic", "bernoulli", "poisson"])
@pytest.mark.parametrize("message_packets", [1, 8, 64])
def test_saturation_at_light_load_is_found(injection: str, message_packets: int) -> None:
    """On 342 hosts the 18 hosts of a group share one link under adv+1: they are carried up to a load of 1/18."""
    times = {"warmup_ns": 20_000.0, "measure_ns": 20_000.0}
    for load in (0.04, 0.08):
        runs = [
            measured(
                load,
                topology="342",
                traffic="adv+1",
                injection=injection,
                message_packets=message_packets,
                seed=seed,
                **times,
            )
            for seed in SEEDS
        ]
        verdict = is_saturated([run.second_half for run in runs if run.second_half is not None])
        window_fits = not (
            injection == "periodic" and message_packets == 64
        )  # 41 us between messages at 0.08
        assert verdict is ((load > 1 / 18) if window_fits else None)
        assert (load < 1 / 18) not in [run.saturated for run in runs]


def test_a_message_of_every_host_at_the_end_of_the_window_is_no_verdict() -> None:
    """All hosts generate 64 packets at the end: neither a window without messages nor one with a round decides."""
    metrics = measured(0.05, message_packets=64)
    assert (metrics.offered_load, metrics.saturated) == (0.0, None)
    assert metrics.fitting_window_ns == pytest.approx(2 * 64 * 32 / 0.05)
    fits = measured(0.05, message_packets=64, measure_ns=metrics.fitting_window_ns)
    assert fits.offered_load == pytest.approx(0.05)
    assert fits.saturated is False
    assert np.isnan(fits.fitting_window_ns)


def test_a_window_of_random_messages_fits_if_their_number_scatters_little() -> None:
    arrivals = Arrivals(message_packets=64)
    assert arrivals.fitting_window_ns(1_000.0, 72, 10_000.0) == pytest.approx(1_600 * 1_000 / 72)
    assert arrivals.fitting_window_ns(1_000.0, 72, 50_000.0) == 50_000.0


def half(offered: float, delivered: float, held: float, **changes: int) -> Half:
    return Half(offered, delivered, held, held + offered - delivered, **changes)


def test_a_shortfall_beyond_chance_is_saturation() -> None:
    assert is_saturated([half(10_000, 9_400, 3_000)]) is True
    assert is_saturated([half(10_000, 9_600, 3_000)]) is False
    assert is_saturated([half(100, 90, 20)]) is None, "ten packets of a hundred may be in flight at the end"
    assert is_saturated([half(100, 90, 20)] * 100) is True, "but not in each of a hundred windows"
    assert is_saturated([half(10_000, 9_400, 3_000, message_packets=64)]) is None
    assert is_saturated([half(0, 90, 100)]) is None


def test_a_round_of_messages_in_phase_is_no_shortfall() -> None:
    in_phase = {"message_packets": 8, "in_phase_packets": 576}
    assert is_saturated([half(576, 90, 0, **in_phase)]) is False, "all that is held was just generated"
    assert is_saturated([half(1_152, 600, 100, **in_phase)]) is None
    assert is_saturated([half(5_760, 5_000, 100, **in_phase)]) is True


def test_a_queue_that_grows_slowly_shows_over_seeds() -> None:
    assert not is_growing([half(7_000, 6_870, 2_593)])
    assert is_growing([half(7_000, 6_870, 2_593)] * 8)
    assert not is_growing([half(7_000, 6_960, 2_593)] * 100), "less than 2.5 % is called steady"


@pytest.mark.parametrize("pieces", [1, 2, 4, 5, 40, 1_000])
def test_a_window_may_be_run_in_any_pieces(pieces: int) -> None:
    config = dfe.SimulationConfig(topology="72", traffic="adv+1", load=0.5)
    simulation = dfe.Simulation(config)
    simulation.run(5_000)
    simulation.reset_statistics()
    for _ in range(pieces):
        simulation.run(20_000 / pieces)
    metrics = simulation.metrics()
    assert metrics.middle is not None
    off_ps = abs(2 * metrics.middle.time_ps - metrics.start_ps - metrics.end_ps)
    assert off_ps <= 0.13 * (metrics.end_ps - metrics.start_ps)
    assert (metrics.saturated, metrics.stationary) == (True, False)
    whole = dfe.Simulation(config)
    whole.run(25_000)
    assert whole.trace_hash() == simulation.trace_hash()
    again = dfe.simulate(config, warmup_ns=5_000, measure_ns=20_000)
    assert again.to_dict() == metrics.to_dict()


@pytest.mark.parametrize(
    "settings",
    [{}, {"threads": 2, "topology": "1056"}, {"source_queue_packets": 2, "injection": "bernoulli"}],
    ids=str,
)
def test_a_mark_is_the_same_from_the_few_counts_as_from_all_statistics(settings: dict[str, Any]) -> None:
    fields = {"topology": "72", "traffic": "adv+1", "load": 0.9, **settings}
    core = _core.Simulation(dfe.SimulationConfig(**fields).to_core())
    marks = set()
    for _ in range(4):
        core.run(700_001)
        marks.add(Mark.of(core.totals()))
        assert Mark.of(core.totals()) == Mark.of(core.statistics())
        if len(marks) == 2:
            core.reset_statistics()
    assert len(marks) == 4


def test_the_command_line_says_so_in_tables_and_json() -> None:
    system = ["simulate", "-t", "72", "--warmup", "10000", "--measure", "10000"]
    steady = CliRunner().invoke(app, [*system, "--load", "0.5"])
    assert "SATURATED" not in steady.stdout
    assert "NOT STATIONARY" not in steady.stdout
    saturated = CliRunner().invoke(app, [*system, "--traffic", "adv+1"])
    assert "SATURATED: less than 95%" in saturated.stdout
    shown = CliRunner().invoke(app, [*system, "--traffic", "adv+1", "--json"])
    results = json.loads(shown.stdout)["results"]
    assert (results["saturated"], results["stationary"]) == (True, False)


def test_tables_of_results_mark_what_is_not_stationary(tmp_path: Any) -> None:
    from rich.console import Console

    scenario = {
        "topology": "72",
        "policies": ["min"],
        "traffic": [{"schedule": [[0, "uniform", 0.2], [15_000, "advc", 0.2]]}, "uniform"],
        "loads": [0.2],
        "warmup_ns": 10_000,
        "measure_ns": 10_000,
    }
    run_all(Scenario.from_dict(scenario), tmp_path, workers=1)
    results = load_results(tmp_path)
    assert aggregate(results, ())["stationary"].tolist() == [False, True]
    console = Console(width=160, record=True, file=io.StringIO())
    console.print(render_summary(results))
    text = console.export_text()
    assert text.count("~") == 2, "one latency, and the note that explains it"
    assert "not stationary" in text


def test_near_the_knee_the_table_marks_a_queue_that_grows(tmp_path: Any) -> None:
    scenario = {
        "topology": "72",
        "policies": ["min"],
        "traffic": ["uniform"],
        "loads": [0.5, 0.9],
        "seeds": list(range(1, 9)),
        "warmup_ns": 10_000,
        "measure_ns": 10_000,
    }
    run_all(Scenario.from_dict(scenario), tmp_path, workers=1)
    results = load_results(tmp_path)
    near = results.table[results.table["load"] == 0.9]
    assert set(near["stationary"]) == {True}, "each run alone passes"
    frame = aggregate(results, ())
    assert frame["saturated"].tolist() == [False, False]
    assert frame["stationary"].tolist() == [True, False]


def test_the_table_says_what_window_fits_and_how_far_the_list_of_loads_goes(tmp_path: Any) -> None:
    from rich.console import Console

    scenario = {
        "topology": "72",
        "policies": ["min"],
        "traffic": ["uniform", "adv+1"],
        "loads": [0.05, 0.5],
        "message_packets": 8,
        "warmup_ns": 10_000,
        "measure_ns": 12_000,
    }
    run_all(Scenario.from_dict(scenario), tmp_path, workers=1)
    results = load_results(tmp_path)
    console = Console(width=200, record=True, file=io.StringIO())
    console.print(render_summary(results))
    text = console.export_text()
    assert ">= 0.5" in text
    assert "highest load carried" in text
    assert "--measure 16us would" in text
    table = verdict_table(results.select(loads=[0.5])).set_index("traffic")
    assert table["low_saturated"].to_dict() == {"uniform": False, "adv+1": True}
    assert table["carries"].isna().to_dict() == {"uniform": False, "adv+1": True}
    low = f"({table.loc['adv+1', 'latency_low_ns'] / 1000:.2f})"
    console = Console(width=200, record=True, file=io.StringIO())
    console.print(render_summary(results.select(loads=[0.5])))
    assert console.export_text().count(low) == 2, "in the table of latencies and in that of loads carried"


@pytest.mark.parametrize(("second", "stationary"), [(0.91, True), (1.09, True), (0.89, False), (1.11, False)])
def test_the_halves_of_a_stationary_window_differ_by_a_tenth_at_most(second: float, stationary: bool) -> None:
    middle = Mark(time_ps=1, generated=1_000, lost=0, delivered=1_000, latency_sum_ps=1_000_000)
    end = Mark(
        time_ps=2, generated=2_000, lost=0, delivered=2_000, latency_sum_ps=int(1_000_000 * (1 + second))
    )
    assert has_equal_latencies(middle, end) is stationary

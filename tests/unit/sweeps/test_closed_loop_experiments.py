"""Closed-loop traffic in scenarios, sweeps and on the command line."""

from __future__ import annotations

import json
from typing import Any

import pytest
from typer.testing import CliRunner

import dragonfly_env as dfe
from dragonfly_env.cli import app
from dragonfly_env.sweeps.measure import measure
from dragonfly_env.sweeps.point import Run
from dragonfly_env.sweeps.scenario import Scenario

RUNNER = CliRunner()


def runs_of(**changes: Any) -> list[Run]:
    settings = {
        "topology": "72",
        "policies": ["min"],
        "traffic": ["all-to-all"],
        "loads": [0.2, 0.6],
        **changes,
    }
    return Scenario.from_dict(settings).runs()


def whole(**changes: Any) -> dfe.Metrics:
    config = dfe.SimulationConfig(topology=dfe.Dragonfly.preset("72"), traffic="all-to-all", **changes)
    return dfe.Simulation(config).run_to_completion()


def test_a_scenario_runs_closed_loop_traffic_once_for_all_loads() -> None:
    runs = runs_of(traffic=["uniform", "all-to-all"], warmup_ns=5000.0)
    assert [(run.traffic_label, run.load, run.warmup_ns) for run in runs] == [
        ("uniform", 0.2, 5000.0),
        ("uniform", 0.6, 5000.0),
        ("all-to-all", 1.0, 0.0),
    ]
    assert runs[2].closed_loop
    assert "load" not in runs[2].describe()
    assert len(runs_of(loads=[])) == 1


def test_a_load_of_its_own_is_refused() -> None:
    with pytest.raises(dfe.ConfigError, match=r"^traffic.loads = .*must be left out"):
        runs_of(traffic=[{"pattern": "all-to-all", "loads": [0.5]}])


def test_a_run_is_measured_from_its_start_to_its_completion_watched_or_not() -> None:
    (run,) = runs_of()
    seen: list[float] = []
    row = measure(run, progress=seen.append)
    assert row["makespan_ns"] == row["duration_ns"] == whole().makespan_ns
    assert row["packets_generated"] == row["packets_delivered"] == 2 * 72 * 71
    assert row["messages_delivered"] == 72 * 71
    assert seen == sorted(seen)
    assert seen[-1] == 1.0
    again = measure(run)
    assert again["trace_hash"] == row["trace_hash"]
    assert again["message_latency_p99_ns"] == row["message_latency_p99_ns"]


def test_a_run_that_is_not_complete_in_time_has_no_makespan() -> None:
    (run,) = runs_of(measure_ns=2000.0)
    for watched in (None, [].append):
        row = measure(run, progress=watched)
        assert row["makespan_ns"] is None
        assert row["duration_ns"] == 2000.0
        assert 0 < row["messages_delivered"] < 72 * 71


def simulate(*arguments: str) -> Any:
    return RUNNER.invoke(app, ["simulate", "--topology", "72", *arguments])


def test_simulate_runs_to_completion_and_gives_the_makespan() -> None:
    given = json.loads(simulate("--traffic", "all-to-all", "--to-completion", "--json").output)
    assert given["results"]["makespan_ns"] == whole().makespan_ns
    short = simulate("--traffic", "all-to-all", "--measure", "1000")
    assert "not complete after 1 µs" in short.output

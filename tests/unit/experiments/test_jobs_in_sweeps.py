"""Scenarios with jobs: the jobs stay, policies and seeds vary."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import dragonfly_env as dfe
from dragonfly_env.experiments.columns import check_columns
from dragonfly_env.experiments.measure import measure
from dragonfly_env.experiments.scenario import Scenario
from dragonfly_env.jobs import gaps, program
from dragonfly_env.jobs.gaps import calibrated_gaps

JOBS = [
    {"program": "milc:scale=0.001,gap_ns=1000", "hosts": 16, "placement": "random", "iterations": 2},
    {"program": "all-to-all", "hosts": 8, "start_ns": 1e6},
]


def test_a_row_has_the_times_of_jobs() -> None:
    settings = {
        "topology": "72",
        "network": "q-adaptive",
        "policies": ["min", "par"],
        "traffic": ["none"],
        "seeds": [1, 2],
        "measure_ns": 500_000,
        "jobs": JOBS,
    }
    runs = Scenario.from_dict(settings).runs()
    assert len({run.id for run in runs}) == len(runs) == 4
    assert all(run.closed_loop and run.warmup_ns == 0 for run in runs)
    row, provenance = measure(runs[0])
    assert row["duration_ns"] == 500_000
    assert row["job_run_time_ns"][0] > 2000
    assert np.isnan(row["job_run_time_ns"][1])
    again = dfe.SimulationConfig.from_dict(
        {
            key: value
            for key, value in json.loads(row["configuration"]).items()
            if key not in ("warmup_ns", "measure_ns", "arrays", "resolved_jobs")
        }
    )
    assert again.jobs == runs[0].config.jobs
    assert [job["name"] for job in json.loads(row["jobs"])] == [job.name for job in again.jobs]
    check_columns(pa.table({name: pa.array([value]) for name, value in row.items()}), "made here")
    assert provenance["trace_hash"] == f"{rerun(again):016x}"


def rerun(config: dfe.SimulationConfig) -> int:
    simulation = dfe.Simulation(config)
    simulation.run_to_completion(500_000)
    return simulation.trace_hash()


def calibrate_anew(factor: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Multiply all calibrated computing times."""
    rows = [{**row, "gap_ns": factor * row["gap_ns"]} for row in calibrated_gaps()]
    monkeypatch.setattr(gaps, "calibrated_gaps", lambda: tuple(rows))
    program._calibrated.cache_clear()


@pytest.fixture(autouse=True)
def _computing_times_as_they_are() -> Iterator[None]:
    yield
    program._calibrated.cache_clear()


@pytest.mark.parametrize("job", ["milc:hosts=32,scale=0.01", "background-mix:scale=0.01"])
def test_another_calibration_is_another_run(job: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def made() -> dict[str, Any]:
        settings = {"topology": "342", "policies": ["min"], "traffic": ["none"], "jobs": [job]}
        (run,) = Scenario.from_dict(settings).runs()
        assert json.loads(json.dumps(run.configuration)) == run.configuration
        return {"id": run.id, **run.configuration}

    before = made()
    calibrate_anew(1.0, monkeypatch)
    assert made() == before
    calibrate_anew(2.0, monkeypatch)
    after = made()
    assert {name for name in before if before[name] != after[name]} == {"id", "resolved_jobs"}


def test_a_gap_that_is_given_does_not_depend_on_the_calibration(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = {"topology": "72", "policies": ["min"], "traffic": ["none"], "jobs": JOBS}
    (run,) = Scenario.from_dict(settings).runs()
    before = run.id
    calibrate_anew(2.0, monkeypatch)
    assert run.id == before


def test_jobs_of_a_scenario_are_checked() -> None:
    settings = {
        "topology": "72",
        "policies": ["min"],
        "traffic": ["none"],
        "jobs": [{"program": "milc", "hosts": 99}],
    }
    with pytest.raises(dfe.ConfigError, match=r"jobs\[0\].hosts = 99: must be at most 72"):
        Scenario.from_dict(settings).runs()

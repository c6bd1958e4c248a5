"""Scenarios with jobs: the jobs stay, policies and seeds vary."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

import dragonfly_env as dfe
from dragonfly_env.jobs import program
from dragonfly_env.jobs.program import calibrated_gaps
from dragonfly_env.plots import draw
from dragonfly_env.sweeps import Point, Results, aggregate, load_results, run_all
from dragonfly_env.sweeps.measure import measure
from dragonfly_env.sweeps.scenario import Scenario
from dragonfly_env.sweeps.summary import jobs_frame, render_summary

JOBS = [
    {"program": "milc:scale=0.001,gap_ns=1000", "hosts": 16, "placement": "random", "iterations": 2},
    {"program": "all-to-all", "hosts": 8, "start_ns": 90_000},
]


def test_a_row_has_the_times_of_jobs() -> None:
    settings = {
        "topology": "72",
        "network": "q-adaptive",
        "policies": ["min", "par"],
        "traffic": ["none"],
        "seeds": [1, 2],
        "measure_ns": 90_010,
        "jobs": JOBS,
    }
    runs = Scenario.from_dict(settings).runs()
    assert len({run.id for run in runs}) == len(runs) == 4
    assert all(run.closed_loop and run.warmup_ns == 0 for run in runs)
    row = measure(runs[0])
    assert row["duration_ns"] == 90_010
    assert row["job_run_time_ns"][0] > 2000
    assert np.isnan(row["job_run_time_ns"][1])
    again = dfe.SimulationConfig.from_dict(
        {
            key: value
            for key, value in json.loads(row["configuration"]).items()
            if key not in ("warmup_ns", "measure_ns", "arrays", "resolved_jobs", "revisions")
        }
    )
    assert again.jobs == runs[0].config.jobs
    assert [job["name"] for job in json.loads(row["jobs"])] == [job.name for job in again.jobs]
    assert row["trace_hash"] == f"{rerun(again):016x}"


def rerun(config: dfe.SimulationConfig) -> int:
    simulation = dfe.Simulation(config)
    simulation.run_to_completion(90_010)
    return simulation.trace_hash()


def calibrate_anew(factor: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Multiply all calibrated computing times."""
    rows = [{**row, "gap_ns": factor * row["gap_ns"]} for row in calibrated_gaps()]
    monkeypatch.setattr(program, "calibrated_gaps", lambda: tuple(rows))
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


SMALL = {
    "topology": "72",
    "policies": ["min", "ugal-n"],
    "seeds": [1, 2],
    "warmup_ns": 1000,
    "measure_ns": 400_000,
    "jobs": [
        "milc:hosts=8,scale=0.001,gap_ns=1000",
        "rayleigh:hosts=8,scale=0.0001,gap_ns=1000,iterations=endless",
    ],
    "arrays": False,
}


def shown(results: Results) -> str:
    console = Console(width=140, record=True, markup=False)  # the console of the commands
    with console.capture() as capture:
        console.print(render_summary(results))
    return capture.get()


@pytest.mark.parametrize("traffic", ["none", "uniform"])
def test_tables_of_jobs_show_their_times_and_no_saturation(traffic: str, tmp_path: Path) -> None:
    given = {**SMALL, "traffic": [traffic], "loads": [0.3]} if traffic != "none" else SMALL
    assert run_all(Scenario.from_dict(given), tmp_path, workers=1).finished == 4
    results = load_results(tmp_path)
    text = shown(results)
    for word in ("run time (µs)", "MPI share (%)", "milc", "endless", "ugal-n", "±"):
        assert word in text
    for word in ("saturated", "carries", "accepted"):
        assert word not in text
    assert ("load" in text) == (traffic != "none")
    assert not aggregate(results, [])["saturated"].any()
    frame = jobs_frame(results, traffic).set_index(["number", "policy"])
    times = [json.loads(text)[0]["run_time_ns"] for text in results.table["jobs"]]
    assert frame.loc[(0, "min"), "run_time_ns"] == pytest.approx(sum(times[:2]) / 2)
    assert (frame["mpi_share"] > 0).all()
    assert "loads" in draw(results, tmp_path, formats=["png"]).skipped


AXES = {
    "topology": "72",
    "policies": ["ad0", "ad3"],
    "network": "aries-256",
    "seeds": [1, 2],
    "measure_ns": 400_000,
    "programs": [
        "milc:hosts=8,scale=0.001,gap_ns=1000",
        ["rayleigh:hosts=8,scale=0.0001,gap_ns=1000", "milc:hosts=4,scale=0.001,gap_ns=500"],
    ],
    "placements": ["consecutive", "random-routers"],
    "jobs": ["all-to-all:hosts=8"],
    "arrays": False,
}


def test_programs_and_placements_are_axes_of_a_sweep_over_jobs(tmp_path: Path) -> None:
    plan = Scenario.from_dict(AXES)
    runs = plan.runs()
    assert len({run.id for run in runs}) == len(runs) == 2 * 2 * 2 * 2
    assert len([*plan.points()]) == 8
    found = {tuple((job.name.partition(":")[0], job.placement) for job in run.config.jobs) for run in runs}
    others = ("all-to-all", "consecutive")
    for placement in AXES["placements"]:
        assert (("milc", placement), others) in found
        assert (("rayleigh", placement), ("milc", placement), others) in found
    assert run_all(plan, tmp_path, workers=1).failures == ()
    results = load_results(tmp_path)
    frame = jobs_frame(results, "none")
    frame["name"] = [name.partition(":")[0] for name in frame["name"]]
    assert len(frame[frame["name"] == "milc"]) == 2 * 2 * 2  # a program alone, and with another
    line = frame[(frame["name"] == "rayleigh") & (frame["placement"] == "random-routers")]
    assert line["seeds"].tolist() == [2, 2]
    assert (line.filter(regex="^operation_.*_ns$").notna().any(axis=1)).all()
    assert (tmp_path / "jobs.png") in draw(results, tmp_path, formats=["png"]).files


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"programs": [], "jobs": [], "traffic": ["none"]}, "placements = .* no job is listed"),
        ({"placements": ["random", "random"]}, "placements = 'random': must be listed only once"),
        ({"programs": ["background-mix:fill=0.5"]}, "programs = .*must be a job"),
    ],
    ids=str,
)
def test_impossible_axes_of_jobs_are_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(dfe.ConfigError, match=message):
        Scenario.from_dict({**AXES, **changes}).runs()


def test_points_take_seeds_and_placements_in_turn(tmp_path: Path) -> None:
    job = dfe.Job("milc:scale=0.001,gap_ns=1000", hosts=8)
    config = dfe.SimulationConfig(topology="72", traffic="none", jobs=[job])
    point = Point(
        config=config, policy_label="min", traffic_label="none", warmup_ns=0.0, measure_ns=1e5,
        placements=("consecutive", "random"),
    )  # fmt: skip
    assert [point.run(seed).config.jobs[0].placement for seed in (1, 2, 3)] == [
        *point.placements,
        "consecutive",
    ]
    report = run_all([point, point.run(3), point.run(1)], tmp_path, seeds=(1, 2), name="mine", workers=1)
    assert (report.total, report.finished, report.failures) == (3, 3, ())
    results = load_results(tmp_path)
    assert (results.name, sorted(results.table["seed"])) == ("mine", [1, 2, 3])
    with pytest.raises(dfe.ConfigError, match="points"):
        run_all([], tmp_path)

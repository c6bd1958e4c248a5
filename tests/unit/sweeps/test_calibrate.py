"""Gaps that give programs a wanted MPI share."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import dragonfly_env as dfe
from dragonfly_env import jobs
from dragonfly_env.cli import app
from dragonfly_env.jobs import program
from dragonfly_env.jobs.program import calibrated_gap_ns
from dragonfly_env.sweeps.calibrate import KEYS, calibrate_gap, merge_gaps

CONFIG = dfe.SimulationConfig(topology=dfe.Dragonfly(p=2, a=4, h=2), network="q-adaptive")


def test_a_calibrated_gap_gives_the_share_in_a_run_of_its_own() -> None:
    row = calibrate_gap(CONFIG, "nek5000", 16, scale=0.1, share=0.3, iterations=2)
    program = jobs.Nek5000(gap_ns=row["gap_ns"], scale=0.1)
    job = dfe.Job(program, 16, iterations=2)
    metrics = dfe.Simulation(CONFIG.replace(jobs=[job], traffic=None)).run_to_completion()
    assert metrics.jobs[0].mpi_share == pytest.approx(0.3, abs=0.006)
    assert row["mpi_share"] == round(metrics.jobs[0].mpi_share, 4)
    assert row["network"] == {"preset": "q-adaptive"}
    assert calibrate_gap(CONFIG, "nek5000", 16, scale=0.1, share=0.6, iterations=2)["gap_ns"] < row["gap_ns"]


def test_what_cannot_be_calibrated_is_named() -> None:
    with pytest.raises(dfe.ConfigError, match="program = 'all-to-all'"):
        calibrate_gap(CONFIG, "all-to-all", 16)
    with pytest.raises(dfe.ConfigError, match="stands_for = 8: program 'hacc' has no such setting"):
        calibrate_gap(CONFIG, "hacc", 16, stands_for=8)


def test_a_gap_is_that_of_the_nearest_row_in_proportion_to_what_is_sent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rows = [
        {"program": "milc", "hosts": 32, "bytes_per_host": 4000, "gap_ns": 1000.0},
        {"program": "milc", "hosts": 32, "bytes_per_host": 100, "gap_ns": 30.0},
        {"program": "milc", "hosts": 256, "bytes_per_host": 4000, "gap_ns": 100.0},
    ]
    monkeypatch.setattr(program, "calibrated_gaps", lambda: tuple(rows))
    assert calibrated_gap_ns("milc", 32, 4000) == 1000
    assert calibrated_gap_ns("milc", 40, 200) == 60
    assert calibrated_gap_ns("milc", 512, 2000) == 50
    assert calibrated_gap_ns("hacc", 32, 2000) == 0
    assert jobs.Milc(gap_ns=5).gap(32) == 5


def test_the_command_writes_rows_and_keeps_those_of_other_runs(tmp_path: Path) -> None:
    file = tmp_path / "gaps.json"
    merge_gaps(file, [dict.fromkeys(KEYS, 0) | {"program": "hacc", "gap_ns": 7}])
    command = [
        *("calibrate", "nek5000", "--hosts", "8", "--scale", "0.1", "--topology", "72", "--out"),
        str(file),
    ]
    for _ in range(2):
        result = CliRunner().invoke(app, command)
        assert result.exit_code == 0, result.output
        assert "nek5000" in result.output
    rows = json.loads(file.read_text())["gaps"]
    assert [row["program"] for row in rows] == ["hacc", "nek5000"]

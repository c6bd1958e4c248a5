"""Output of commands before they begin: the number of runs to do, and the memory that they need."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from dragonfly_env.sweeps import runner
from tests.unit.cli_arguments import SWEEP, run


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_dry_run_of_a_sweep_says_runs_and_memory_and_does_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(runner, "measure", lambda run: pytest.fail("nothing may run"))
    done = run(*SWEEP, "--out", "out", "--workers", "1", "--dry-run")
    assert done.exit_code == 0, done.output
    runs, memory = done.stdout.splitlines()
    assert runs == "4 runs"
    assert re.fullmatch(r"memory: about 0\.\d GB for 1 process", memory)
    assert not Path("out").exists()


def test_a_dry_run_counts_what_is_there_already() -> None:
    assert run(*SWEEP, "--out", "out", "-j", "1", "--no-plots").exit_code == 0
    done = run(*SWEEP, "-p", "par", "--out", "out", "-j", "1", "--dry-run")
    assert "6 runs, 4 are there already" in done.stdout
    assert run(*SWEEP, "--out", "out", "--dry-run").stdout == "4 runs, 4 are there already\n"
    assert "there already" not in run(*SWEEP, "--out", "out", "--dry-run", "--force").stdout


def test_a_short_job_next_to_traffic_is_measured_by_simulate() -> None:
    job = ["--job", "all-to-all:hosts=4", "--traffic", "uniform", "--load", "0.2"]
    done = run("simulate", "-t", "72", "-p", "min", *job)
    assert done.exit_code == 0, done.output
    assert "behind a warm-up of 100 µs" in done.stdout
    assert "complete after 0 µs" not in done.stdout
    late = run("simulate", "-t", "72", "--job", "all-to-all:hosts=4,start_ns=5000", "--measure", "4000")
    assert late.exit_code == 2
    assert "start_ns=5000: must be below 4000 ns" in late.output

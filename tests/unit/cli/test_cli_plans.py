"""Output of commands before they begin: the number of runs to do, and the memory and time that they need."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from dragonfly_env.sweeps import Scenario, estimate, runner
from tests.unit.cli_arguments import SWEEP, SYSTEM, run

SYSTEM_SWEEP = ("sweep", *SYSTEM)


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_dry_run_of_a_sweep_says_runs_and_memory_and_does_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(runner, "measure", lambda run: pytest.fail("nothing may run"))
    done = run(*SWEEP, "--out", "out", "--workers", "1", "--dry-run")
    assert done.exit_code == 0, done.output
    runs, memory, time = done.stdout.splitlines()
    assert re.fullmatch(r"time: about \d+ s with 1 process", time)
    assert runs == "4 runs"
    assert re.fullmatch(r"memory: about 0\.\d GB for 1 process", memory)
    assert not Path("out").exists()


def test_a_sweep_of_more_than_a_minute_says_so_before_it_begins(monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(run: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(estimate, "_seconds_per_work", lambda run: 1e-5)
    monkeypatch.setattr(runner, "measure", stop)
    long = run(*SYSTEM_SWEEP, "-l", "1.0", "-s", "1,2,3,4", "--measure", "1ms", "-j", "1")
    said, stopped = long.stderr.splitlines()
    assert said == "4 runs to do: about 52 min 48 s with 1 process"
    assert stopped.startswith("interrupted")
    short = run(*SYSTEM_SWEEP, "-l", "1.0", "--measure", "1us", "-j", "1")
    assert "to do" not in short.stderr


@pytest.mark.parametrize(
    "command", ["benchmark min --hosts 72 --track steady --rerun-references", "reproduce hpdc21 fig5"]
)
def test_a_dry_run_says_the_time_of_a_benchmark_and_a_reproduction(
    command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(estimate, "_seconds_per_work", lambda run: 1e-12)
    monkeypatch.setattr(runner, "measure", lambda run: pytest.fail("nothing may run"))
    done = run(*command.split(), "--dry-run", "--out", "out", "-j", "1")
    assert done.exit_code == 0, done.output
    assert re.search(r"\d+ runs to do: about 1 s with 1 process\n", done.stderr), done.stderr


def test_the_estimate_of_runs_is_their_work_at_the_speed_of_each_kind(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    settings = {"topology": "72", "traffic": ["uniform"], "policies": ["min", "par"], "loads": [0.5, 1.0]}
    runs = Scenario.from_dict({**settings, "warmup_ns": 0, "measure_ns": 1000}).runs()
    speeds = {"min": 1.0, "par": 3.0}
    monkeypatch.setattr(estimate, "_seconds_per_work", lambda run: speeds[run.policy_label])
    assert estimate.estimate_s(runs, 1) == pytest.approx(72 * 1000 * 1.5 * (1.0 + 3.0))
    assert estimate.estimate_s(runs, 2) == pytest.approx(72 * 1000 * 1.5 * (1.0 + 3.0) / 2)


def test_a_warmup_that_ends_before_a_packet_arrives_is_noted() -> None:
    command = ("simulate", "-t", "72", "-l", "0.1", "--measure", "1us")
    assert (
        "note: --warmup 10 ns is shorter than one hop of a packet" in run(*command, "--warmup", "10").stderr
    )
    for warmup in ("0", "10us"):
        assert "--warmup" not in run(*command, "--warmup", warmup).stderr


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

"""The command line as real processes: streams, exit codes, Ctrl-C and going on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from typer.testing import CliRunner

from dragonfly_env.cli import app
from tests.unit.cli_arguments import SYSTEM


def start(*arguments: str, cwd: Path) -> subprocess.Popen[str]:
    """The command as a process, and leader of a group, of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "dragonfly_env.cli", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=cwd,
        start_new_session=True,
        env={**os.environ, "COLUMNS": "140"},
    )


def alive_in_group(leader: int) -> list[int]:
    """The processes of a group that still run."""
    alive = []
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, group = entry.read_text().rpartition(")")[2].split()[:3]
        except OSError:  # it has just ended
            continue
        if int(group) == leader and state != "Z":
            alive.append(int(entry.parent.name))
    return alive


def wait_until(happened: Callable[[], bool], timeout_s: float = 60) -> None:
    """Return when something has happened, or when it is too late; what follows says which."""
    deadline = time.monotonic() + timeout_s
    while not happened() and time.monotonic() < deadline:
        time.sleep(0.02)


def finished_runs(folder: Path) -> list[Path]:
    """The files of a sweep's finished runs."""
    return list((folder / "runs").glob("*.parquet"))


def test_a_process_answers_a_mistake_without_a_traceback(tmp_path: Path) -> None:
    process = start("simulate", "--load", "2", cwd=tmp_path)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 2
    assert out == ""
    assert (
        err
        == "error: --load = 2.0: must be a fraction of the host links' bandwidth, in (0, 1]; did you mean 0.02?\n"
    )


@pytest.mark.parametrize(
    ("number", "jobs", "whole_group"),
    [
        (signal.SIGINT, "1", False),
        (signal.SIGINT, "2", False),
        (signal.SIGINT, "2", True),
        (signal.SIGTERM, "2", False),
        (signal.SIGTERM, "2", True),
    ],
    ids=["Ctrl-C alone", "Ctrl-C, parent only", "Ctrl-C, terminal", "SIGTERM, parent only", "batch system"],
)
def test_a_signal_keeps_what_is_finished_and_the_same_command_goes_on(
    tmp_path: Path, number: signal.Signals, jobs: str, whole_group: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    long = [*SYSTEM, "-l", "0.05:0.4:0.05", "--warmup-ns", "0", "--measure-ns", "200000"]
    command = ["sweep", *long, "--out", "out", "--jobs", jobs, "--no-plots"]
    process = start(*command, cwd=tmp_path)
    wait_until(lambda: len(finished_runs(tmp_path / "out")) >= 2)
    os.killpg(process.pid, number) if whole_group else process.send_signal(number)
    out, err = process.communicate(timeout=60)
    kept = {file.name: file.stat().st_mtime_ns for file in finished_runs(tmp_path / "out")}
    code, said = (130, "interrupted") if number == signal.SIGINT else (143, "ended by SIGTERM")
    assert process.returncode == code, err
    assert (out, "Traceback" in err) == ("", False)
    assert f"{said}: {len(kept)} of 8 runs are kept in out; to go on: dragonfly-env sweep" in err
    assert 2 <= len(kept) < 8
    wait_until(lambda: not alive_in_group(process.pid))
    assert not alive_in_group(process.pid)
    if number == signal.SIGTERM:
        return

    monkeypatch.chdir(tmp_path)
    again = CliRunner().invoke(app, ["sweep", *long, "--out", "out", "--jobs", "1", "--no-plots"])
    assert again.exit_code == 0, again.output
    assert f"{8 - len(kept)} runs done, {len(kept)} were there already" in again.stderr
    after = {file.name: file.stat().st_mtime_ns for file in (tmp_path / "out" / "runs").iterdir()}
    assert {name: after[name] for name in kept} == kept
    assert len(pd.read_parquet(tmp_path / "out" / "results.parquet")) == 8


def test_workers_of_a_killed_sweep_end_by_themselves(tmp_path: Path) -> None:
    long = [*SYSTEM, "-l", "0.1:0.4:0.1", "--measure-ns", "1e9"]
    process = start("sweep", *long, "--out", "out", "--jobs", "2", cwd=tmp_path)
    wait_until(lambda: len(list(tmp_path.glob("out/runs/*.running"))) >= 2)
    assert len(alive_in_group(process.pid)) > 2
    process.kill()
    process.communicate(timeout=60)
    wait_until(lambda: not alive_in_group(process.pid))
    assert alive_in_group(process.pid) == []


@pytest.mark.parametrize(
    ("number", "code", "said"),
    [
        (signal.SIGINT, 130, "interrupted"),
        (signal.SIGTERM, 143, "ended by SIGTERM; files that were complete are kept"),
    ],
)
def test_a_signal_during_a_single_run_ends_it(tmp_path: Path, number: int, code: int, said: str) -> None:
    log = tmp_path / "logs" / "log.parquet"  # its folder appears when the simulation is about to begin
    process = start("simulate", "--measure-ns", "1e12", "--packet-log", str(log), cwd=tmp_path)
    wait_until(log.parent.exists)
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, "Traceback" in err) == (code, "", False), err
    assert err.splitlines()[-1].startswith(said)

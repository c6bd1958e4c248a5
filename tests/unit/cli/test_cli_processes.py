"""The command line as real processes: Ctrl-C and going on, and imports of ``--help``."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import psutil
import pytest
from typer.testing import CliRunner

from dragonfly_env.cli import app
from tests.unit.cli_arguments import SYSTEM


def start(*arguments: str, cwd: Path, **environment: str) -> subprocess.Popen[str]:
    """The command as a process, and leader of a group, of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "dragonfly_env.cli", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=cwd,
        start_new_session=True,
        env={**os.environ, "COLUMNS": "140", **environment},
    )


def wait_until(happened: Callable[[], bool], timeout_s: float = 60) -> None:
    """Return when something has happened, or when it is too late; what follows says which."""
    deadline = time.monotonic() + timeout_s
    while not happened() and time.monotonic() < deadline:
        time.sleep(0.02)


def finished_runs(folder: Path) -> list[Path]:
    """The files of a sweep's finished runs."""
    return list((folder / "runs").glob("*.parquet"))


@pytest.mark.parametrize(("number", "jobs"), [(signal.SIGTERM, "1"), (signal.SIGINT, "2")])
def test_a_signal_keeps_what_is_finished_and_the_same_command_goes_on(
    tmp_path: Path, number: signal.Signals, jobs: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    long = [*SYSTEM, "-l", "0.05:0.4:0.05", "--warmup", "0", "--measure", "120000"]
    command = ["sweep", *long, "--out", "out", "--workers", jobs, "--no-plots"]
    process = start(*command, cwd=tmp_path)
    wait_until(lambda: len(finished_runs(tmp_path / "out")) >= 2)
    os.killpg(process.pid, number)
    out, err = process.communicate(timeout=60)
    kept = {file.name: file.stat().st_mtime_ns for file in finished_runs(tmp_path / "out")}
    assert process.returncode == 130, err
    assert (out, "Traceback" in err) == ("", False), err
    assert f"interrupted: {len(kept)} of 8 runs are kept in out; to go on: dragonfly-env sweep" in err
    assert 2 <= len(kept) < 8

    monkeypatch.chdir(tmp_path)
    again = CliRunner().invoke(app, ["sweep", *long, "--out", "out", "--workers", "1", "--no-plots"])
    assert again.exit_code == 0, again.output
    assert f"{8 - len(kept)} runs done, {len(kept)} were there already" in again.stderr
    after = {file.name: file.stat().st_mtime_ns for file in (tmp_path / "out" / "runs").iterdir()}
    assert {name: after[name] for name in kept} == kept
    assert len(pd.read_parquet(tmp_path / "out" / "results.parquet")) == 8


LONG = ["sweep", *SYSTEM, "-l", "0.05:0.4:0.05", "--warmup", "0", "--measure", "500000"]


def workers_of(process: subprocess.Popen[str], folder: Path) -> list[psutil.Process]:
    """The processes of a sweep that has begun."""
    wait_until(lambda: bool(finished_runs(folder)))
    started = psutil.Process(process.pid).children(recursive=True)
    assert len(started) >= 2
    return started


def test_workers_of_a_sweep_that_is_killed_end(tmp_path: Path) -> None:
    process = start(*LONG, "-o", "out", "-j", "2", "--no-plots", cwd=tmp_path)
    workers = workers_of(process, tmp_path / "out")
    process.kill()
    assert psutil.wait_procs(workers, timeout=60)[1] == []
    process.communicate(timeout=60)


def test_a_sweep_ends_after_ctrl_c_where_neither_psutil_nor_pgrep_is_installed(tmp_path: Path) -> None:
    (tmp_path / "without").mkdir()
    (tmp_path / "without" / "psutil.py").write_text("raise ImportError\n", encoding="utf-8")
    without = str(tmp_path / "without")
    process = start(
        *LONG, "-o", "out", "-j", "2", "--no-plots", cwd=tmp_path, PYTHONPATH=without, PATH=without
    )
    workers = workers_of(process, tmp_path / "out")
    process.send_signal(signal.SIGINT)
    assert psutil.wait_procs(workers, timeout=60)[1] == []
    _, err = process.communicate(timeout=60)
    assert (process.returncode, "Traceback" in err) == (130, False), err


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_during_a_single_run_ends_it(tmp_path: Path, number: int) -> None:
    log = tmp_path / "logs" / "log.parquet"  # its folder appears when the simulation is about to begin
    process = start("simulate", "--measure", "1e12", "--packet-log", str(log), cwd=tmp_path)
    wait_until(log.parent.exists)
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (130, "", "interrupted\n")


@pytest.mark.parametrize("form", ["--plots", "--json"])
def test_a_reader_that_has_gone_stops_no_sweep(tmp_path: Path, form: str) -> None:
    reads, writes = os.pipe()
    os.close(reads)
    arguments = [*SYSTEM, "-l", "0.2", "--warmup", "500", "--measure", "500", "-o", "out", "-j", "1", form]
    done = subprocess.run(
        [sys.executable, "-m", "dragonfly_env.cli", "sweep", *arguments],
        stdout=writes,
        stderr=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
        timeout=120,
    )
    os.close(writes)
    assert (done.returncode, "Traceback" in done.stderr) == (0, False), done.stderr
    assert "1 run done" in done.stderr
    assert (tmp_path / "out" / "index.html").exists()
    assert len(pd.read_parquet(tmp_path / "out" / "results.parquet")) == 1


# Modules that take a tenth of a second and more to import; a list of options has no use for them.
HELP = """
import sys
from dragonfly_env.cli import app

heavy = {"joblib", "matplotlib", "networkx", "pandas", "plotly", "pyarrow", "ray", "torch"}
for command in ([], ["info"], ["simulate"], ["sweep"], ["train"], ["reproduce"]):
    app([*command, "--help"], standalone_mode=False)
    assert not heavy & sys.modules.keys(), (command, heavy & sys.modules.keys())
"""


def test_help_imports_nothing_heavy() -> None:
    subprocess.run([sys.executable, "-c", HELP], capture_output=True, timeout=120, check=True)

"""Standard streams in whatever state: no traceback, an exit code that is true, and results that survive."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from tests.unit.cli_arguments import SHORT, SYSTEM

SIMULATE = ["simulate", "-t", "72", *SHORT]
SWEEP = ["sweep", *SYSTEM, "-l", "0.2:0.4:0.2", *SHORT, "--no-plots", "-o", "out"]


def shell(redirection: str, *arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """The command as a shell starts it, with a redirection."""
    return subprocess.run(
        [
            "/bin/sh",
            "-c",
            f'exec "$@" {redirection}',
            "sh",
            sys.executable,
            "-m",
            "dragonfly_env.cli",
            *arguments,
        ],
        capture_output=True,
        text=True,
        errors="surrogateescape",
        cwd=cwd,
        check=False,
        timeout=300,
        env={**os.environ, "COLUMNS": "140"},
    )


@pytest.mark.parametrize(
    "arguments", [SIMULATE, [*SIMULATE, "--json"], ["info"], ["--help"], ["--version"]], ids=" ".join
)
def test_results_that_cannot_be_written_are_one_line_and_exit_code_1(
    arguments: list[str], tmp_path: Path
) -> None:
    done = shell(">/dev/full", *arguments, cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith("error: ")
    assert "No space left on device" in done.stderr
    assert "Traceback" not in done.stderr
    assert "Exception" not in done.stderr


def test_a_sweep_whose_tables_cannot_be_written_has_its_results(tmp_path: Path) -> None:
    done = shell(">/dev/full", *SWEEP, "-j", "1", cwd=tmp_path)
    assert done.returncode == 1
    assert "2 runs done; results in out" in done.stderr
    assert len(pd.read_parquet(tmp_path / "out" / "results.parquet")) == 2


@pytest.mark.parametrize("redirection", ["2>/dev/full", "2>&-", "<&-", "<&- 2>&-"])
def test_no_one_need_read_the_messages(redirection: str, tmp_path: Path) -> None:
    done = shell(redirection, *SIMULATE, "--json", cwd=tmp_path)
    assert done.returncode == 0
    assert json.loads(done.stdout)["results"]["packets_delivered"] > 0


def test_a_mistake_that_nobody_can_be_told_has_its_exit_code(tmp_path: Path) -> None:
    assert shell("2>/dev/full", *SIMULATE, "--load", "2", cwd=tmp_path).returncode == 2


@pytest.mark.parametrize("redirection", [">&-", "<&- >&-"])
def test_a_closed_standard_output_is_noticed_before_anything_is_run(redirection: str, tmp_path: Path) -> None:
    done = shell(redirection, *SWEEP, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("error: standard output is closed: ")
    assert done.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_a_reader_who_has_gone_is_no_error_worth_a_word(tmp_path: Path) -> None:
    done = shell("| true", "info", cwd=tmp_path)
    assert done.stderr == ""


def test_file_names_that_are_no_text_can_be_printed(tmp_path: Path) -> None:
    folder = os.fsdecode(b"caf\xe9")
    done = shell("", *SWEEP[:-1], folder, "-j", "1", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    done = shell("", "plot", folder, "--kind", "loads", "--no-page", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert r"caf\udce9/loads.png" in done.stdout


def test_a_process_that_only_uses_the_package_keeps_its_own_answer_to_ctrl_c(tmp_path: Path) -> None:
    code = "import signal; before = signal.getsignal(2); import dragonfly_env; assert signal.getsignal(2) is before"
    script = tmp_path / "mine.py"
    script.write_text(code)
    subprocess.run([sys.executable, str(script), "dragonfly-env"], check=True, timeout=300)
    assert signal.getsignal(signal.SIGINT) is not signal.SIG_IGN

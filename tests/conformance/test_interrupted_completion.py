"""A command that runs jobs to completion shows the same run whether it is stopped and continued, or shows a bar."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import dragonfly_env as dfe

TEXT = "ranks 2\n* barrier\n0 send to=1 bytes=1000000\n1 receive from=0\n"
COMMAND = (sys.executable, "-m", "dragonfly_env.cli", "simulate", "--topology", "72", "--load", "0.2")
TO_COMPLETION = ("--traffic", "uniform", "--warmup-ns", "0", "--to-completion", "--json")


@pytest.fixture
def operations(tmp_path: Path) -> Path:
    file = tmp_path / "large.ops"
    file.write_text(TEXT)
    return file


def expected(operations: Path) -> tuple[str, float, int]:
    config = dfe.SimulationConfig(
        topology=dfe.Dragonfly.preset("72"),
        jobs=[dfe.Job(f"file:{operations}")],
        traffic="uniform",
        load=0.2,
    )
    simulation = dfe.Simulation(config)
    m = simulation.run_to_completion()
    return f"{simulation.trace_hash():016x}", m.makespan_ns, m.packets_delivered


def shown(output: str) -> tuple[str, float, int]:
    told: dict[str, Any] = json.loads(output)
    results = told["results"]
    assert results["duration_ns"] == results["makespan_ns"]
    return told["trace_hash"], results["makespan_ns"], results["packets_delivered"]


def begin(operations: Path, errors: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*COMMAND, "--job", f"file:{operations}", *TO_COMPLETION],
        stdout=subprocess.PIPE,
        stderr=errors,
        text=True,
        cwd=operations.parent,
    )


def test_a_process_that_is_stopped_and_continued_at_random_moments_shows_the_same_run(
    operations: Path,
) -> None:
    moments = random.Random(1)
    with begin(operations, subprocess.DEVNULL) as process:
        while process.poll() is None:
            process.send_signal(signal.SIGSTOP)
            time.sleep(moments.uniform(0, 0.02))
            process.send_signal(signal.SIGCONT)
            time.sleep(moments.uniform(0, 0.1))
        output, _ = process.communicate()
    assert process.returncode == 0
    assert shown(output) == expected(operations)

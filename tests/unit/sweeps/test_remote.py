"""Sweeps by an engine, without one: what is done once, again, or given up is decided by files, not by the engine."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import dragonfly_env as dfe
from dragonfly_env.cli import app
from dragonfly_env.sweeps import Run, Scenario, load_results, run_all
from dragonfly_env.sweeps.engines import EngineError
from dragonfly_env.sweeps.runner import MOST_LOSSES, MOST_ROUNDS_IN_VAIN, SweepInterrupted, SweepStoppedError
from dragonfly_env.sweeps.storage import ResultsFolder


class Workers:
    """An engine in this process whose workers do what a test says before each call.

    Args:
        before: Told of each run; raises what ends its worker.
    """

    name = "fake"

    def __init__(self, before: Callable[[Run], None] = lambda run: None) -> None:
        self._before = before
        self.calls: list[list[str]] = []
        self.started: tuple[Path, int, int | None] | None = None
        self.stopped = 0

    def start(self, folder: Path, threads: int, workers: int | None) -> None:
        self.started = (folder, threads, workers)

    def call(self, task: Callable[[Any], object], items: Sequence[Any]) -> None:
        self.calls.append([run.id for run in items])
        lost = ""
        for item in items:
            try:
                self._before(item)
            except EngineError as error:
                lost = str(error)
                continue
            task(item)
        if lost:
            raise EngineError(lost)

    def stop(self) -> None:
        self.stopped += 1


def scenario(**changes: Any) -> Scenario:
    """Four runs of milliseconds."""
    settings: dict[str, Any] = {
        "topology": "72",
        "policies": ["min", "par"],
        "traffic": ["uniform"],
        "loads": [0.1, 0.2],
        "warmup_ns": 0,
        "measure_ns": 500,
        **changes,
    }
    return Scenario.from_dict(settings)


def hashes(folder: Path) -> dict[str, str]:
    """The history of each run."""
    table = load_results(folder).table
    return dict(zip(table["run_id"], table["trace_hash"], strict=True))


def test_an_engine_leaves_what_this_machine_would(tmp_path: Path) -> None:
    workers = Workers()
    report = run_all(scenario(), tmp_path / "there", engine=workers, workers=3)
    run_all(scenario(), tmp_path / "here", workers=1)
    assert (report.finished, report.failures) == (4, ())
    assert hashes(tmp_path / "there") == hashes(tmp_path / "here")
    assert workers.started == ((tmp_path / "there").absolute(), 1, 3)
    assert workers.stopped == 1


def test_what_is_there_is_not_given_to_an_engine_unless_it_is_to_be_done_again(tmp_path: Path) -> None:
    run_all(scenario(policies=["min"]), tmp_path, workers=1)
    workers = Workers()
    report = run_all(scenario(), tmp_path, engine=workers)
    assert (report.finished, report.reused, [len(call) for call in workers.calls]) == (2, 2, [2])
    assert run_all(scenario(), tmp_path, engine=workers).finished == 0
    assert [len(call) for call in workers.calls] == [2]
    before = {path.name: path.stat().st_ino for path in (tmp_path / "runs").iterdir()}
    assert run_all(scenario(), tmp_path, engine=workers, redo=True).finished == 4
    after = {path.name: path.stat().st_ino for path in (tmp_path / "runs").iterdir()}
    assert before.keys() == after.keys()
    assert [name for name in before if before[name] == after[name]] == []


def test_a_lost_workers_runs_are_done_again_and_only_those(tmp_path: Path) -> None:
    lost: list[str] = []

    def lose_one(run: Run) -> None:
        if not lost:
            lost.append(run.id)
            ResultsFolder(tmp_path).marker(run.id).touch()  # it was in the middle of it
            raise EngineError("gone")

    workers = Workers(lose_one)
    report = run_all(scenario(), tmp_path, engine=workers)
    assert (report.finished, report.failures) == (4, ())
    assert workers.calls[1:] == [lost]
    assert not list((tmp_path / "runs").glob("*.running"))


def test_a_run_that_ends_every_worker_is_given_up_and_stops_no_other(tmp_path: Path) -> None:
    def lose(run: Run) -> None:
        if run.load == 0.2 and run.policy_label == "par":
            ResultsFolder(tmp_path).marker(run.id).touch()
            raise EngineError("gone")

    report = run_all(scenario(), tmp_path, engine=Workers(lose))
    assert (report.finished, [one.run.load for one in report.failures]) == (3, [0.2])
    assert (
        report.failures[0].error == f"its worker was lost {MOST_LOSSES} times while this run was in progress"
    )


def test_workers_that_never_begin_end_the_sweep(tmp_path: Path) -> None:
    def lose(run: Run) -> None:
        raise EngineError("gone")

    workers = Workers(lose)
    with pytest.raises(SweepStoppedError, match="workers end without finishing anything: gone"):
        run_all(scenario(), tmp_path, engine=workers)
    assert len(workers.calls) == MOST_ROUNDS_IN_VAIN
    assert workers.stopped == 1


def test_ctrl_c_leaves_the_cluster_and_keeps_what_is_done(tmp_path: Path) -> None:
    sent: list[int] = []

    def interrupt(run: Run) -> None:
        if list((tmp_path / "runs").glob("*.parquet")):
            if not sent:
                sent.append(os.getpid())
                os.kill(os.getpid(), signal.SIGINT)
            raise EngineError("no more")

    workers = Workers(interrupt)
    with pytest.raises(SweepInterrupted) as caught:
        run_all(scenario(), tmp_path, engine=workers)
    assert caught.value.kept >= 1
    assert workers.stopped == 1
    assert run_all(scenario(), tmp_path, engine=Workers()).reused == caught.value.kept


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--engine", "rya"), "engine = 'rya': must be one of 'local', 'ray', 'dask', 'slurm'"),
        (("--address", "auto"), "address = 'auto': must be left out with engine 'local'"),
        (("--engine", "dask"), "address = None: must be that of a Dask scheduler"),
        (("--slurm", "partition"), "--slurm = 'partition': must read SETTING=VALUE"),
        (("--slurm", "partition=cpu"), "must be left out with engine 'local'"),
    ],
)
@pytest.mark.parametrize(
    "command",
    [("sweep", "-p", "min", "--traffic", "uniform", "-l", "0.1"), ("reproduce", "hpdc21", "memory")],
)
def test_engines_that_cannot_be_are_refused(
    command: tuple[str, ...], arguments: tuple[str, ...], message: str, tmp_path: Path
) -> None:
    done = CliRunner().invoke(
        app, [*command, *arguments, "--out", str(tmp_path / "out")], env={"COLUMNS": "200"}
    )
    assert done.exit_code == 2
    assert message in " ".join(done.stderr.split())
    assert not (tmp_path / "out").exists()


def test_a_worker_that_does_not_see_the_folder_says_so(tmp_path: Path) -> None:
    class Elsewhere(Workers):
        def call(self, task: Callable[[Any], object], items: Sequence[Any]) -> None:
            task.keywords["folder"] = Path("/nowhere")  # type: ignore[attr-defined]
            super().call(task, items)

    with pytest.raises(SweepStoppedError, match="which must see the results folder /nowhere"):
        run_all(scenario(), tmp_path, engine=Elsewhere())


def test_a_worker_of_another_version_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    workers = Workers(lambda run: monkeypatch.setattr(dfe, "__version__", "0.0.1"))
    with pytest.raises(SweepStoppedError, match=r"has dragonfly-env 0\.0\.1, and the sweep was started with"):
        run_all(scenario(), tmp_path, engine=workers)

"""Sweeps: every run is saved as it ends, nothing finished is lost or done twice, and one failure does not spread."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import joblib
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dragonfly_env as dfe
from dragonfly_env.sweeps import Run, Scenario, SweepInterrupted, run_all, runner
from dragonfly_env.sweeps.measure import measure
from dragonfly_env.sweeps.progress import Estimate, spell_seconds
from dragonfly_env.sweeps.storage import METADATA_KEY, ResultsFolder, read_rows


def scenario(**changes: Any) -> Scenario:
    """Two policies at two loads on 72 hosts, a microsecond each."""
    settings = {
        "name": "tiny",
        "topology": "72",
        "policies": ["min", "ugal-n"],
        "traffic": ["uniform"],
        "loads": [0.2, 0.4],
        "warmup_ns": 1000,
        "measure_ns": 2000,
    }
    return Scenario.from_dict({**settings, **changes})


def rows(folder: Path) -> pd.DataFrame:
    return pd.read_parquet(folder / "results.parquet")


class Recorder:
    """Remembers what it is told."""

    def __init__(self) -> None:
        self.planned: tuple[int, float] = (0, 0.0)
        self.ended: list[str] = []
        self.work = 0.0
        self.stopped = False

    def start(self, runs: Sequence[Run], workers: int) -> None:
        self.planned = (len(runs), sum(run.work for run in runs))

    def advance(self, run: Run, seconds: float | None) -> None:
        assert seconds is None or seconds > 0
        self.ended.append(run.describe())
        self.work += run.work

    def stop(self) -> None:
        self.stopped = True


@pytest.fixture
def busy_until(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Let the n-th run raise an error instead of being measured."""

    def install(n: int, error: BaseException) -> None:
        real, calls = measure, [0]

        def measure_or_raise(run: Run) -> Any:
            calls[0] += 1
            if calls[0] == n:
                raise error
            return real(run)

        monkeypatch.setattr(runner, "measure", measure_or_raise)

    return install


def test_a_row_has_results_and_full_provenance(tmp_path: Path) -> None:
    plan = scenario(policies=["ugal-n:bias_packets=2"], loads=[0.3], seeds=[5])
    run_all(plan, tmp_path, workers=1)
    (run,) = plan.runs()
    (row,) = rows(tmp_path).to_dict("records")
    expected = dfe.simulate(run.config, warmup_ns=1000, measure_ns=2000).to_dict()
    assert {name: row[name] for name in expected} == expected
    assert (row["policy"], row["traffic"], row["load"], row["seed"]) == (
        "ugal-n:bias_packets=2",
        "uniform",
        0.3,
        5,
    )
    assert row["package_version"] == dfe.__version__
    assert json.loads(row["configuration"]) == run.configuration
    assert row["packet_hops_per_cpu_s"] == pytest.approx(row["packet_hops"] / row["measured_cpu_seconds"])
    for column in (
        *("platform", "machine", "date", "python_version", "cpu_seconds", "wall_seconds", "trace_hash"),
    ):
        assert row[column]
    assert len(row["router_accepted_load"]) == 36
    assert len(row["link_utilisation"]) == 36 * 7
    metadata = pq.read_metadata(tmp_path / "runs" / f"{run.id}.parquet").metadata
    assert json.loads(metadata[METADATA_KEY])["configuration"] == run.configuration


def test_the_largest_seed_has_its_row_next_to_one_of_an_earlier_version(tmp_path: Path) -> None:
    seeds = [1, 2**64 - 1]
    plan = scenario(policies=["min"], loads=[0.3], seeds=seeds)
    assert run_all(plan, tmp_path, workers=1).failures == ()
    assert rows(tmp_path)["seed"].tolist() == seeds
    files = [tmp_path / "runs" / f"{run.id}.parquet" for run in plan.runs()]
    older = pq.read_table(files[0])
    place = older.schema.get_field_index("seed")
    pq.write_table(older.set_column(place, "seed", older["seed"].cast("int64")), files[0])
    merged = pa.concat_tables(map(read_rows, files), promote_options="permissive")
    assert merged["seed"].to_pylist() == seeds


def test_processes_give_the_same_results_as_none(tmp_path: Path) -> None:
    plan = scenario()
    run_all(plan, tmp_path / "one", workers=1)
    run_all(plan, tmp_path / "two", workers=2)
    one, two = rows(tmp_path / "one"), rows(tmp_path / "two")
    assert one["trace_hash"].tolist() == two["trace_hash"].tolist()
    assert one["latency_mean_ns"].tolist() == two["latency_mean_ns"].tolist()


def test_ctrl_c_still_works_in_this_process_after_a_sweep(tmp_path: Path) -> None:
    before = signal.getsignal(signal.SIGINT)
    run_all(scenario(loads=[0.3], policies=["min"]), tmp_path / "one run", workers=2)
    assert signal.getsignal(signal.SIGINT) is before
    with joblib.parallel_config(backend="sequential"):  # what joblib falls back to within a worker
        run_all(scenario(), tmp_path / "no processes", workers=2)
    assert signal.getsignal(signal.SIGINT) is before


def test_finished_runs_are_not_done_again(tmp_path: Path) -> None:
    run_all(scenario(), tmp_path, workers=1)
    before = {file.name: file.stat().st_mtime_ns for file in (tmp_path / "runs").iterdir()}
    report = run_all(scenario(loads=[0.2, 0.4, 0.6]), tmp_path, workers=1)
    assert (report.total, report.finished, report.reused) == (6, 2, 4)
    after = {file.name: file.stat().st_mtime_ns for file in (tmp_path / "runs").iterdir()}
    assert {name: after[name] for name in before} == before
    assert len(rows(tmp_path)) == 6


def test_runs_of_another_version_are_done_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run_all(scenario(), tmp_path, workers=1)
    monkeypatch.setattr(dfe, "__version__", "99.0")
    report = run_all(scenario(), tmp_path, workers=1)
    assert (report.finished, report.outdated) == (4, 4)
    assert set(rows(tmp_path)["package_version"]) == {"99.0"}


def test_a_failing_run_is_reported_with_its_configuration_and_costs_only_itself(
    tmp_path: Path, busy_until: Any
) -> None:
    busy_until(2, RuntimeError("out of luck"))
    plan = scenario()
    report = run_all(plan, tmp_path, workers=1)
    (failure,) = report.failures
    assert report.finished == 3
    assert failure.error == "RuntimeError: out of luck"
    assert failure.run in plan.runs()
    assert "Traceback" in failure.details
    assert len(rows(tmp_path)) == 3
    again = run_all(plan, tmp_path, workers=1)
    assert (again.finished, again.reused, again.failures) == (1, 3, ())


def test_a_dead_worker_costs_only_the_runs_in_progress(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    execute = runner._execute_in_worker

    def die_at_load_one(run: Run, folder: Path, caller_pid: int) -> Any:
        if run.load == 1.0:
            ResultsFolder(folder).marker(run.id).touch()
            os._exit(9)
        return execute(run, folder, caller_pid)

    monkeypatch.setattr(runner, "_execute_in_worker", die_at_load_one)
    report = run_all(scenario(policies=["min"], loads=[0.2, 0.4, 0.6, 1.0]), tmp_path, workers=2)
    assert "min under uniform at load 1, seed 1" in [failure.run.describe() for failure in report.failures]
    assert all("died" in failure.error for failure in report.failures)
    assert report.finished + len(report.failures) == 4
    assert len(rows(tmp_path)) == report.finished >= 2
    assert not list((tmp_path / "runs").glob("*.running"))


def test_an_interrupted_sweep_keeps_what_is_finished_and_resumes(tmp_path: Path, busy_until: Any) -> None:
    busy_until(3, KeyboardInterrupt())
    reporter = Recorder()
    with pytest.raises(SweepInterrupted, match="2 of 4") as interrupted:
        run_all(scenario(), tmp_path, workers=1, progress=reporter)
    assert (interrupted.value.kept, interrupted.value.total) == (2, 4)
    assert reporter.stopped
    assert len(list((tmp_path / "runs").glob("*.parquet"))) == 2
    report = run_all(scenario(), tmp_path, workers=1)
    assert (report.finished, report.reused) == (2, 2)
    assert len(rows(tmp_path)) == 4


def test_leftovers_of_a_killed_sweep_are_removed(tmp_path: Path) -> None:
    run_all(scenario(), tmp_path, workers=1)
    (tmp_path / "runs" / "0123.parquet.77.tmp").write_bytes(b"half")
    (tmp_path / "runs" / "0123.running").touch()
    run_all(scenario(), tmp_path, workers=1)
    assert {file.suffix for file in (tmp_path / "runs").iterdir()} == {".parquet"}


def test_time_left_follows_the_work_done() -> None:
    now = [100.0]
    estimate = Estimate({"": 30.0}, clock=lambda: now[0])
    assert estimate.left_s is None
    now[0] = 105.0
    estimate.add("", 10.0, estimate.elapsed_s)
    assert estimate.left_s == pytest.approx(10.0)
    assert [spell_seconds(x) for x in (None, 5.4, 65, 3700)] == ["-", "5 s", "1 min 05 s", "1 h 01 min"]


@pytest.mark.parametrize("place", ["file", "file/below", "/proc/nowhere"])
def test_a_folder_that_cannot_be_written_is_refused_before_anything_is_run(
    tmp_path: Path, place: str, busy_until: Any
) -> None:
    (tmp_path / "file").write_text("in the way")
    busy_until(1, AssertionError("nothing may run"))
    with pytest.raises(dfe.ConfigError, match="results folder"):
        run_all(scenario(), tmp_path / place, workers=1)


def test_a_folder_in_use_is_refused(tmp_path: Path) -> None:
    files = ResultsFolder(tmp_path)
    files.prepare()
    with files.locked(), pytest.raises(dfe.ConfigError, match="in use"):
        run_all(scenario(), tmp_path, workers=1)


def test_runs_of_an_earlier_scenario_do_not_slip_into_the_results(tmp_path: Path) -> None:
    run_all(scenario(), tmp_path, workers=1)
    run_all(scenario(policies=["min"], loads=[0.4]), tmp_path, workers=1)
    assert len(rows(tmp_path)) == 1
    assert len(list((tmp_path / "runs").iterdir())) == 4

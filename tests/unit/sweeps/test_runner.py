"""Sweeps: every run is saved as it ends, nothing finished is lost or done twice, and one failure does not spread."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.parquet as pq
import pytest

import dragonfly_env as dfe
from dragonfly_env.sweeps import Run, Scenario, SweepInterrupted, load_results, run_all, runner
from dragonfly_env.sweeps.measure import measure
from dragonfly_env.sweeps.runner import SweepStoppedError
from tests.unit.cli_arguments import run
from tests.unit.sweeps.small_sweep import rows as small_rows
from tests.unit.sweeps.small_sweep import small


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
    (row,) = pq.read_table(tmp_path / "results.parquet").to_pylist()
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
    assert pd.read_parquet(tmp_path / "runs" / f"{run.id}.parquet")["run_id"].tolist() == [run.id]


def test_processes_give_the_same_results_as_none(tmp_path: Path) -> None:
    plan = scenario()
    run_all(plan, tmp_path / "one", workers=1)
    run_all(plan, tmp_path / "two", workers=2)
    first, two = rows(tmp_path / "one"), rows(tmp_path / "two")
    assert first["trace_hash"].tolist() == two["trace_hash"].tolist()
    assert first["latency_mean_ns"].tolist() == two["latency_mean_ns"].tolist()


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
    assert report.finished == 4
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


AGENT_THAT_DIES = """
import os, time

class Dies:
    scope, action = "source", "path"

    def act(self, batch):
        time.sleep(0.3)  # the other process finishes a run
        os._exit(9)
"""


def test_a_process_that_dies_costs_only_the_runs_under_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("dies.py").write_text(AGENT_THAT_DIES)
    plan = scenario(policies=["min", "dies.py:Dies"], loads=[0.1, 0.2, 0.3, 0.4], seeds=[1])
    report = run_all(plan, tmp_path / "out", workers=2)
    lost = [failure.run.policy_label for failure in report.failures]
    assert lost.count("Dies") == 4
    assert all(
        "its process was lost: killed, or out of memory" in failure.error for failure in report.failures
    )
    assert report.finished + len(lost) == 8
    again = run_all(scenario(policies=["min"], loads=[0.1, 0.2, 0.3, 0.4]), tmp_path / "out", shared=True)
    assert (again.finished, again.failures) == (lost.count("min"), ())


def test_an_interrupted_sweep_keeps_what_is_finished_and_resumes(tmp_path: Path, busy_until: Any) -> None:
    busy_until(3, KeyboardInterrupt())
    with pytest.raises(SweepInterrupted, match="2 of 4 runs are kept in "):
        run_all(scenario(), tmp_path, workers=1)
    assert len(list((tmp_path / "runs").glob("*.parquet"))) == 2
    report = run_all(scenario(), tmp_path, workers=1)
    assert (report.finished, report.reused) == (2, 2)
    assert len(rows(tmp_path)) == 4


def test_a_folder_that_cannot_be_written_is_refused_before_anything_is_run(
    tmp_path: Path, busy_until: Any
) -> None:
    (tmp_path / "file").write_text("in the way")
    busy_until(1, AssertionError("nothing may run"))
    with pytest.raises(dfe.ConfigError, match=r"^folder = "):
        run_all(scenario(), tmp_path / "file" / "below", workers=1)


def test_a_folder_of_another_scenario_is_refused_before_anything_is_run(
    tmp_path: Path, busy_until: Any
) -> None:
    run_all(scenario(), tmp_path, workers=1)
    before = {file: file.read_bytes() for file in tmp_path.rglob("*.*")}
    busy_until(1, AssertionError("nothing may run"))
    with pytest.raises(dfe.ConfigError, match=r"has 4 runs of another scenario: .*--out.*--force"):
        run_all(scenario(measure_ns=3000), tmp_path, workers=1)
    with pytest.raises(dfe.ConfigError, match=r"has 3 runs of another scenario"):
        run_all(scenario(policies=["min"], loads=[0.4]), tmp_path, workers=1)
    assert {file: file.read_bytes() for file in tmp_path.rglob("*.*")} == before


def test_a_folder_that_is_taken_over_keeps_all_runs_and_the_former_table(tmp_path: Path) -> None:
    run_all(scenario(), tmp_path, workers=1)
    before = rows(tmp_path)
    for measure_ns in (3000, 4000):
        run_all(scenario(measure_ns=measure_ns), tmp_path, workers=1, force=True)
        assert set(rows(tmp_path)["measure_ns"]) == {measure_ns}
    assert len(list((tmp_path / "runs").iterdir())) == 12
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "results-1.parquet"), before)
    assert set(pd.read_parquet(tmp_path / "results-2.parquet")["measure_ns"]) == {3000}


def test_a_shared_folder_keeps_runs_of_several_scenarios(tmp_path: Path) -> None:
    for measure_ns in (2000, 3000):
        run_all(scenario(measure_ns=measure_ns), tmp_path, workers=1, shared=True)
    assert len(list((tmp_path / "runs").iterdir())) == 8
    assert not (tmp_path / "results.parquet").exists()
    assert sorted(load_results(tmp_path).table["measure_ns"]) == [2000.0] * 4 + [3000.0] * 4


def test_two_shares_in_processes_of_their_own_give_the_results_of_one_process(tmp_path: Path) -> None:
    """Whichever ends last merges; a share that is lost costs its runs, and a start without --share does them."""
    program = (
        "import sys\nfrom pathlib import Path\nfrom dragonfly_env.sweeps import run_all\n"
        "from tests.unit.sweeps.small_sweep import small\n"
        "report = run_all(small(), Path(sys.argv[1]), workers=1, share=(int(sys.argv[2]), 2))\n"
        "print(report.finished, report.missing)"
    )
    folder = tmp_path / "shared"

    def start(number: int) -> subprocess.Popen[str]:
        command = [sys.executable, "-c", program, str(folder), str(number)]
        return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)

    shares = [start(number) for number in (1, 2)]
    done = [share.communicate(timeout=120)[0].split() for share in shares]
    assert [finished for finished, _ in done] == ["4"] * 2
    assert "0" in [missing for _, missing in done]
    run_all(small(), tmp_path / "alone", workers=1)
    pd.testing.assert_frame_equal(small_rows(folder), small_rows(tmp_path / "alone"))

    for file in sorted((folder / "runs").iterdir())[:2]:
        file.unlink()
    (folder / "results.parquet").unlink()
    report = run_all(small(), folder, workers=1, share=(1, 8))
    assert report.missing + report.finished == 2
    assert (folder / "results.parquet").exists() == (report.missing == 0)
    assert run_all(small(), folder, workers=1).finished == report.missing
    pd.testing.assert_frame_equal(small_rows(folder), small_rows(tmp_path / "alone"))


def test_a_worker_with_another_version_stops_the_sweep(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def of_another_version(run: Run) -> Any:
        return {**measure(run), "package_version": "0.0.1"}

    monkeypatch.setattr(runner, "measure", of_another_version)
    with pytest.raises(SweepStoppedError, match=r"has dragonfly-env 0\.0\.1, and this machine"):
        run_all(small(), tmp_path, workers=1)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--backend", "dask"), "--address: must be that of a Dask scheduler"),
        (("--share", "0/4"), "--share 0/4: must be I/N"),
    ],
)
@pytest.mark.parametrize(
    "command",
    [("sweep", "-p", "min", "--traffic", "uniform", "-l", "0.1"), ("reproduce", "hpdc21", "memory")],
)
def test_places_that_do_not_exist_are_refused_before_anything_is_run(
    command: tuple[str, ...], arguments: tuple[str, ...], message: str, tmp_path: Path
) -> None:
    done = run(*command, *arguments, "--out", str(tmp_path / "out"))
    assert done.exit_code == 2
    assert message in " ".join(done.stderr.split())
    assert not (tmp_path / "out").exists()

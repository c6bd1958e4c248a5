"""A results folder with any name, damaged files and full disks. Nothing that was computed is lost."""

from __future__ import annotations

import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import dragonfly_env as dfe
from dragonfly_env.sweeps import results, runner
from dragonfly_env.sweeps.results import load_results
from dragonfly_env.sweeps.runner import run_all
from dragonfly_env.sweeps.scenario import Scenario
from tests.unit.cli_arguments import SHORT, run


def scenario(**changes: object) -> Scenario:
    settings = {"topology": "72", "policies": ["min"], "traffic": ["uniform"], "loads": [0.2, 0.3, 0.4]}
    return Scenario.from_dict({**settings, "warmup_ns": 500, "measure_ns": 500, **changes})


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("name", ["s3:a#b?c", "naïve-日本 50%41 [x]"])
def test_a_folder_may_have_any_name(name: str) -> None:
    plan = scenario(loads=[0.2])
    report = run_all(plan, Path(name), workers=1)
    assert (report.finished, report.failures) == (1, ())
    assert run_all(plan, Path(name), workers=1).reused == 1
    assert len(load_results(Path(name)).table) == 1
    assert len(load_results(Path(name) / "results.parquet").table) == 1


def test_a_run_whose_file_is_damaged_is_done_again() -> None:
    plan = scenario(loads=[0.2])
    run_all(plan, Path("out"), workers=1)
    (file,) = Path("out/runs").iterdir()
    file.write_bytes(file.read_bytes()[:-100])
    with pytest.raises(dfe.ConfigError, match=file.name):
        load_results(Path("out"))
    assert run_all(plan, Path("out"), workers=1).finished == 1
    assert len(load_results(Path("out")).table) == 1


def test_a_folder_that_has_every_run_is_found_complete_without_reading_their_files(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plan = scenario()
    run_all(plan, Path("out"), workers=1)
    before = Path("out/results.parquet").stat().st_mtime_ns

    def refuse(*args: object, **options: object) -> None:
        raise AssertionError("the file of a run was read")

    monkeypatch.setattr(results, "read_table", refuse)
    monkeypatch.setattr(results, "is_done", refuse)
    assert run_all(plan, Path("out"), workers=1).reused == 3
    assert Path("out/results.parquet").stat().st_mtime_ns == before


THREADS = """
import sys
from pathlib import Path
import psutil
import pyarrow
from dragonfly_env.sweeps import results

pyarrow.allocate_buffer(1)  # the allocator starts its thread
begun = psutil.Process().num_threads()
print(len(results.done_of(Path("out"), sys.argv[1:])), psutil.Process().num_threads() - begun)
results.read_table(results.run_file(Path("out"), sys.argv[1]))
print(psutil.Process().num_threads() - begun)
"""


@pytest.mark.parametrize("merged", [True, False])
def test_results_are_read_without_threads_which_would_outlive_an_interrupt(merged: bool) -> None:
    plan = scenario()
    run_all(plan, Path("out"), workers=1)
    if not merged:
        Path("out/results.parquet").unlink()
    ids = [file.stem for file in Path("out/runs").iterdir()]
    done = subprocess.run([sys.executable, "-c", THREADS, *ids], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["3", "0", "0"]


def test_results_come_from_the_merged_table_where_it_has_every_run(monkeypatch: pytest.MonkeyPatch) -> None:
    run_all(scenario(), Path("out"), workers=1)
    (first, *_) = Path("out/runs").iterdir()
    from_files = results.read_runs(Path("out"), [run.id for run in scenario().runs()]).to_pandas()
    read, read_table = [], results.read_table

    def note(file: Path, **options: Any) -> Any:
        read.append(file.name)
        return read_table(file, **options)

    monkeypatch.setattr(results, "read_table", note)
    from_merged = load_results(Path("out")).table
    assert read == ["results.parquet"]
    assert from_merged.equals(from_files[from_merged.columns])
    first.touch()
    load_results(Path("out"))
    assert len(read) == 1 + 3


def test_a_sweep_merges_what_it_has_written_without_reading_it_and_reads_what_is_too_much_to_keep(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    read, read_table = [], results.read_table

    def note(file: Path, **options: Any) -> Any:
        read.append(file)
        return read_table(file, **options)

    monkeypatch.setattr(results, "read_table", note)
    run_all(scenario(), Path("out"), workers=1)
    assert read == []
    merged = read_table(Path("out/results.parquet"))
    Path("out/results.parquet").unlink()
    results.merge(Path("out"))
    assert len(read) == 3
    assert read_table(Path("out/results.parquet")).equals(merged)
    monkeypatch.setattr(runner, "_MOST_KEPT_BYTES", merged.nbytes // 2)
    run_all(scenario(), Path("other"), workers=1)
    assert 3 < len(read) < 6


def test_the_merged_table_follows_when_a_run_or_a_label_changes() -> None:
    run_all(scenario(), Path("out"), workers=1)
    (first, *_) = Path("out/runs").iterdir()
    first.unlink()
    report = run_all(scenario(), Path("out"), workers=1)
    assert (report.finished, report.reused) == (1, 2)
    assert run_all(scenario(policies=["mine=min"]), Path("out"), workers=1).reused == 3
    assert set(load_results(Path("out") / "results.parquet").table["policy"]) == {"mine"}


def test_the_seeds_of_a_call_take_the_place_of_those_of_a_scenario() -> None:
    plan = scenario(loads=[0.2], seeds=[1])
    assert run_all(plan, Path("out"), seeds=(5, 6), workers=1).finished == 2
    assert sorted(load_results(Path("out")).table["seed"]) == [5, 6]
    with pytest.raises(dfe.ConfigError, match="must be left out: the runs have seeds"):
        run_all(plan.runs(), Path("other"), seeds=(5, 6), workers=1)


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_full_disk_stops_a_sweep_and_what_was_saved_is_kept(jobs: int) -> None:
    """Worker processes inherit the limit; a file over it cannot be written by any user."""
    plan = scenario(loads=[0.2, 0.3], arrays=False)
    run_all(plan, Path("out"), workers=1)
    everything = scenario(loads=[0.2, 0.3, 0.4, 0.5], arrays=False)
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    code = (
        "import resource, sys\n"
        f"resource.setrlimit(resource.RLIMIT_FSIZE, (8_000, {hard}))\n"
        "from dragonfly_env.cli import app\n"
        "app(sys.argv[1:])\n"
    )
    command = ["sweep", "-t", "72", "-p", "min", "--traffic", "uniform", "-l", "0.2:0.5:0.1", "--no-arrays"]
    short = ["--warmup", "500", "--measure", "500", "-o", "out", "--no-plots", "-j", str(jobs)]
    done = subprocess.run(
        [sys.executable, "-c", code, *command, *short],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 1, done.stderr
    assert "Traceback" not in done.stderr
    assert "File too large" in done.stderr
    assert "2 of 4 runs are kept in out; to go on: " in done.stderr
    report = run_all(everything, Path("out"), workers=1)
    assert (report.finished, report.reused) == (2, 2)


def test_runs_that_an_earlier_sweep_gave_other_names_are_shown_under_those_of_the_last() -> None:
    command = ["-t", "72", "--traffic", "uniform", "-l", "0.2", *SHORT, "-o", "out", "-j", "1", "--no-plots"]
    assert run("sweep", "-p", "one=min", *command).exit_code == 0
    done = run("sweep", "-p", "two=min", *command)
    assert done.exit_code == 0, done.output
    assert "0 runs done, 1 were there already" in done.stderr
    assert load_results(Path("out")).table["policy"].tolist() == ["two"]
    assert load_results(Path("out/results.parquet")).table["policy"].tolist() == ["two"]


def test_without_a_folder_every_scenario_has_one_of_its_own() -> None:
    command = ["sweep", "-t", "72", "--traffic", "uniform", "-l", "0.2", *SHORT, "-j", "1", "--no-plots"]
    for policies in (["-p", "min"], ["-p", "min", "-p", "par"], ["-p", "min"]):
        done = run(*command, *policies)
        assert done.exit_code == 0, done.output
    assert "0 runs done, 1 were there already" in done.stderr
    assert sorted(len(load_results(folder).table) for folder in Path("results").iterdir()) == [1, 2]
    assert all(folder.name.startswith("uniform-on-72-hosts-") for folder in Path("results").iterdir())


def test_a_folder_of_another_scenario_names_the_file_that_has_changed() -> None:
    rows = "time_ns,src,dst,bytes\n0,1,40,128\n"
    Path("messages.csv").write_text(rows, encoding="utf-8")
    Path("ping.csv").write_text(rows, encoding="utf-8")
    traffic = ["--traffic", "trace:messages.csv", "--job", "trace:ping.csv"]
    command = ["sweep", "-t", "72", *traffic, *SHORT, "-o", "out", "-j", "1", "--no-plots", "-p", "min"]
    assert run(*command).exit_code == 0
    Path("messages.csv").write_text(f"{rows}5,2,41,64\n", encoding="utf-8")
    said = "has 1 runs of another scenario (messages.csv has changed)"
    assert f"--out out: {said}: name another folder" in " ".join(run(*command).stderr.split())
    assert f"out {said}" in run(*command, "--dry-run").stdout
    assert run(*command, "--force").exit_code == 0


def test_a_second_sweep_into_a_folder_loses_nothing() -> None:
    command = ["sweep", "-t", "72", "--traffic", "uniform", *SHORT, "-o", "out", "-j", "1", "--no-plots"]
    assert run(*command, "-p", "min", "-p", "par", "-l", "0.2:0.4:0.1").exit_code == 0
    refused = run(*command, "-p", "ugal-n", "-l", "0.2")
    assert refused.exit_code == 2
    message = " ".join(refused.stderr.split())
    assert "--out out: has 6 runs of another scenario" in message
    assert "(--out)" in message
    assert "(--force)" in message
    planned = run(*command, "-p", "ugal-n", "-l", "0.2", "--dry-run").stdout
    assert "out has 6 runs of another scenario" in planned
    assert run(*command, "-p", "min", "-p", "par", "-p", "ugal-n", "-l", "0.2:0.4:0.1").exit_code == 0
    assert len(load_results(Path("out/results.parquet")).table) == 9

"""A results folder with any name, damaged files and full disks. Nothing that was computed is lost."""

from __future__ import annotations

import errno
import io
import os
import resource
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dragonfly_env as dfe
from dragonfly_env.sweeps import storage
from dragonfly_env.sweeps.results import load_results
from dragonfly_env.sweeps.runner import SweepStoppedError, run_all
from dragonfly_env.sweeps.scenario import Scenario
from tests.unit.cli_arguments import SHORT, SWEEP, run

NAMES = (
    "a:b",
    "s3:",
    "http:/x",
    "file:x",
    "50%41",
    "a#b",
    *("a?b", "a b", "-dash", "naïve-日本", "$HOME", "[x]", "'"),
    "\n",
    "x" * 200,
)


def scenario(**changes: object) -> Scenario:
    settings = {"topology": "72", "policies": ["min"], "traffic": ["uniform"], "loads": [0.2, 0.3, 0.4]}
    return Scenario.from_dict({**settings, "warmup_ns": 500, "measure_ns": 500, **changes})


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("name", NAMES)
def test_a_folder_may_have_any_name(name: str) -> None:
    plan = scenario(loads=[0.2])
    report = run_all(plan, Path(name), workers=1)
    assert (report.finished, report.failures) == (1, ())
    assert run_all(plan, Path(name), workers=1).reused == 1
    assert len(load_results(Path(name)).table) == 1
    assert len(load_results(Path(name) / "results.parquet").table) == 1


@pytest.mark.parametrize("name", ["http:x.csv", "s3:x.parquet"])
def test_a_trace_may_have_any_name(name: str) -> None:
    columns = {"time_ns": [0, 5], "src": [1, 2], "dst": [3, 4], "bytes": [100, 100]}
    if name.endswith("csv"):
        rows = zip(*columns.values(), strict=True)
        Path(name).write_text("\n".join(",".join(map(str, row)) for row in [tuple(columns), *rows]))
    else:
        with Path(name).open("wb") as file:
            pq.write_table(pa.table(columns), file)
    report = run_all(scenario(traffic=[f"trace:{name}"]), Path("out"), workers=1)
    assert (report.finished, report.failures) == (1, ())
    assert len(load_results(Path("out")).table) == 1


@pytest.mark.parametrize("content", [b"", b"no Parquet", None])
def test_a_run_whose_file_is_none_is_done_again(content: bytes | None) -> None:
    plan = scenario(loads=[0.2])
    run_all(plan, Path("out"), workers=1)
    (file,) = Path("out/runs").iterdir()
    if content is None:
        pq.write_table(pa.table({"policy": ["min"]}), file)
    else:
        file.write_bytes(content)
    with pytest.raises(dfe.ConfigError, match=file.name):
        load_results(Path("out"))
    assert run_all(plan, Path("out"), workers=1).finished == 1
    assert len(load_results(Path("out")).table) == 1


def test_a_merged_file_damaged_in_its_body_is_refused_in_one_line() -> None:
    run_all(scenario(), Path("out"), workers=1)
    merged = Path("out/results.parquet")
    content = bytearray(merged.read_bytes())
    column = pq.read_metadata(io.BytesIO(content)).row_group(0).column(0)
    content[column.dictionary_page_offset + column.total_compressed_size - 1] ^= 0xFF
    merged.write_bytes(content)
    command = ("plot", str(merged), "--kind", "loads", "--no-page")
    done = run(*command)
    assert (done.exit_code, done.stderr.count("\n")) == (2, 1)
    assert "cannot be read" in done.stderr
    run_all(scenario(), Path("out"), workers=1)
    assert run(*command).exit_code == 0


@pytest.mark.parametrize(("name", "code"), [("scenario.json", 1), ("results.parquet", 1)])
def test_a_folder_where_a_file_should_be_is_one_line(name: str, code: int) -> None:
    (Path("out") / name).mkdir(parents=True)
    done = run(*SWEEP, "-o", "out", "-j", "1", "--no-plots")
    assert done.exit_code == code
    assert done.stderr.startswith("error: ")
    assert done.stderr.count("\n") == 1
    assert name in done.stderr
    (Path("out") / name).rmdir()
    assert run(*SWEEP, "-o", "out", "-j", "1", "--no-plots").exit_code == 0


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_full_disk_stops_a_sweep_and_what_was_saved_is_kept(jobs: int) -> None:
    """Worker processes inherit the limit; a file over it cannot be written, whoever the user is."""
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
    short = ["--warmup-ns", "500", "--measure-ns", "500", "-o", "out", "--no-plots", "-j", str(jobs)]
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


def test_a_full_disk_while_merging_loses_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(folder: storage.ResultsFolder, labels: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(folder.merged))

    with monkeypatch.context() as patch:
        patch.setattr(storage.ResultsFolder, "merge", full)
        with pytest.raises(SweepStoppedError, match="No space left on device") as stopped:
            run_all(scenario(), Path("out"), workers=1)
        assert (stopped.value.kept, stopped.value.total) == (3, 3)
        done = run(*SWEEP, "-o", "out", "-j", "1", "--no-plots")
        assert done.exit_code == 1
        assert done.stderr.startswith(
            "error: [Errno 28] No space left on device: 'out/results.parquet'; 4 of 4"
        )
    report = run_all(scenario(), Path("out"), workers=1)
    assert (report.finished, report.reused) == (0, 3)
    assert Path("out/results.parquet").exists()


def test_labels_are_shown_as_they_are_written() -> None:
    labels = ("$$", r"$\frac{", "[/x]", "[red]", "_hidden", "</script><b>")
    policies = ("min", "val-g", "val-n", "vlb-lg", "vlb-gl", "ugal-g")
    named = [f"-p{label}={policy}" for label, policy in zip(labels, policies, strict=True)]
    done = run(
        "sweep", *named, "-t", "72", "--traffic", "uniform", "-l", "0.2", *SHORT, "-o", "out", "-j", "1"
    )
    assert done.exit_code == 0, done.stderr
    for label in labels:
        assert label in done.stdout
    picture = Path("out/loads.svg").read_text(encoding="utf-8")
    for label in ("$$", r"$\frac{", "[/x]", "_hidden"):
        assert label in picture
    assert "</script><b>" not in Path("out/index.html").read_text(encoding="utf-8")


def test_runs_that_an_earlier_sweep_gave_other_names_are_shown_under_those_of_the_last() -> None:
    command = ["-t", "72", "--traffic", "uniform", "-l", "0.2", *SHORT, "-o", "out", "-j", "1", "--no-plots"]
    assert run("sweep", "-p", "one=min", *command).exit_code == 0
    done = run("sweep", "-p", "two=min", *command)
    assert done.exit_code == 0, done.output
    assert "0 runs done, 1 were there already" in done.stderr
    assert load_results(Path("out")).table["policy"].tolist() == ["two"]
    assert load_results(Path("out/results.parquet")).table["policy"].tolist() == ["two"]

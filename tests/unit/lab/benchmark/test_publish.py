"""``python -m dragonfly_env.lab.benchmark.publish``: from a results folder to the table of the package."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner, Result

from dragonfly_env.lab.benchmark import Benchmark, Suite, publish, reference_results
from dragonfly_env.lab.benchmark.reference_results import (
    read_references,
    write_references,
)
from tests.unit.lab.benchmark.tiny_suite import tiny

SUITE = Suite.from_dict(tiny())


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Benchmark:
    """The tiny suite with the references and one more policy, all done."""
    folder = tmp_path_factory.mktemp("finished")
    work = Benchmark(suite=SUITE, effort="quick", policies=("par",), folder=folder, published=False)
    report = work.execute(workers=1)
    assert report is not None
    assert (report.finished, report.failures) == (30, ())
    return work


@pytest.fixture
def folder(finished: Benchmark, tmp_path: Path) -> Path:
    """A copy of its folder."""
    shutil.copytree(finished.folder, tmp_path / "results")
    return tmp_path / "results"


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Folder that the command writes to."""
    (tmp_path / "published").mkdir()
    monkeypatch.setattr(reference_results, "FOLDER", tmp_path / "published")
    monkeypatch.setattr(publish, "find_suite", lambda name: SUITE)
    return tmp_path / "published" / "tiny-v1.parquet"


@pytest.fixture
def command(table: Path) -> Callable[..., Result]:
    app = typer.Typer()
    app.command()(publish.main)
    return lambda *arguments: CliRunner().invoke(app, [*map(str, arguments)], env={"COLUMNS": "1000"})


def test_what_is_published_gives_the_scores_of_the_folder(
    finished: Benchmark, command: Callable[..., Result], tmp_path: Path
) -> None:
    done = command(finished.folder)
    assert done.exit_code == 0, done.output
    assert "24 runs: 24 added, 0 confirmed, 0 dropped that no case has any more" in done.output
    work = replace(finished, policies=(), folder=tmp_path / "empty", published=True)
    assert work.todo() == ()
    measured = finished.scores().table.query("policy != 'par'").reset_index(drop=True)
    assert work.scores().table.equals(measured)


def test_a_run_that_differs_from_what_is_published_is_refused_with_both_values(
    folder: Path, table: Path, command: Callable[..., Result]
) -> None:
    found = publish.publish(folder, SUITE, {}).results.values()
    first, *others = found
    write_references([replace(first, value=1234.5), *others], table)
    content = table.read_bytes()
    done = command(folder)
    assert done.exit_code == 2
    assert first.run_id in done.output
    assert table.read_bytes() == content
    assert command(folder, "--replace").exit_code == 0
    assert {row.key: row.value for row in read_references(table).values()} == {
        row.key: row.value for row in found
    }


def test_runs_that_no_case_has_any_more_are_dropped(folder: Path) -> None:
    before = publish.publish(folder, SUITE, {}).results
    changed = Suite.from_dict(tiny(loads=[0.3]))
    found = publish.publish(folder, changed, before)
    assert (len(found.results), found.added, found.confirmed, found.dropped) == (16, 0, 16, 8)
    settings = tiny()
    settings["tracks"]["transient"]["after_ns"] = 2001  # equal runs with another value
    again = publish.publish(folder, Suite.from_dict(settings), before)
    assert (len(again.results), again.added, again.confirmed, again.dropped) == (24, 8, 16, 8)


def test_runs_of_former_weights_are_forgotten(
    folder: Path, table: Path, command: Callable[..., Result]
) -> None:
    assert command(folder).exit_code == 0
    before = read_references(table)
    assert command("--forget", "min").exit_code == 0
    assert read_references(table) == {key: row for key, row in before.items() if row.policy != "min"}
    assert "6 added" in command(folder).output
    assert read_references(table) == before

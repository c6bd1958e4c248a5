"""``dragonfly-env view`` on the command line."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from dragonfly_env.cli import app

SMALL = ("view", "-t", "72", "--measure", "2us")


def test_view_writes_a_page_and_says_where(tmp_path: Path) -> None:
    page = tmp_path / "new" / "page.html"
    done = CliRunner().invoke(app, [*SMALL, "--frames", "3", "-p", "min", "-p", "par", "--out", str(page)])
    assert (done.exit_code, done.stdout.split()) == (0, [str(page)])
    text = page.read_text(encoding="utf-8")
    assert "<title>min and par" in text
    assert '"count":3' in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("-p", "min", "-p", "par", "-p", "pb"), "a page shows at most 2 runs, and these are 3"),
        (("--frames", "100"), "--frames 100: must be at most 62"),
    ],
)
def test_what_is_impossible_is_said_and_leaves_no_file(
    arguments: tuple[str, ...], message: str, tmp_path: Path
) -> None:
    page = tmp_path / "page.html"
    done = CliRunner().invoke(app, [*SMALL, *arguments, "--out", str(page)])
    assert done.exit_code == 2
    assert message in done.stderr
    assert not page.exists()


@pytest.mark.parametrize("name", ["run.mp4", "run.png"])
def test_a_page_is_not_written_into_a_file_of_another_kind(name: str, tmp_path: Path) -> None:
    done = CliRunner().invoke(app, [*SMALL, "--out", str(tmp_path / name)])
    assert done.exit_code == 2
    assert "must end in .html" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_mistyped_path_makes_no_folders_at_the_root() -> None:
    done = CliRunner().invoke(app, [*SMALL, "--out", "/nonexistent/folder/page.html"])
    assert done.exit_code == 2
    assert "there is no /nonexistent: make it with 'mkdir /nonexistent'" in " ".join(done.stderr.split())
    assert not Path("/nonexistent").exists()

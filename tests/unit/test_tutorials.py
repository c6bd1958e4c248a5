"""Pages that show what their snippets print: tutorials, their notebook, and what a clone shows without a build."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
sys.path.insert(0, str(DOCS / "_ext"))

from dragonfly_docs import running, tutorials  # noqa: E402

RECORDED = sorted(path for path in DOCS.rglob("*.md") if f"\n{tutorials.LABEL}\n" in path.read_text("utf-8"))
NEED_TORCH = ("batched", "learning", "vec-env")


def check_outputs(snippets: list[tutorials.Snippet], outputs: list[str | None]) -> None:
    """Run snippets in a new folder, and compare what each prints with what is recorded."""
    with running.working_folder():
        for number, printed in enumerate(tutorials.run_snippets(snippets)):
            recorded = outputs[number]
            assert recorded is None or running.agrees(recorded, printed), printed


def marked(path: Path) -> Any:
    """A tutorial takes most of a minute: a sweep, a figure of a paper, a benchmark."""
    marks = [pytest.mark.slow] if path.parent.name == tutorials.FOLDER else []
    return pytest.param(path, marks=marks, id=path.stem)


@pytest.mark.parametrize("path", [marked(path) for path in RECORDED if path.stem not in tutorials.NOTEBOOKS])
def test_snippets_print_what_their_page_says(path: Path) -> None:
    if path.stem in NEED_TORCH:
        pytest.importorskip("stable_baselines3", reason="needs the extra [sb3]")
    commands = tutorials.runs_commands(path.parent.name, path.stem)
    snippets = tutorials.snippets_of(path.read_text("utf-8"), commands=commands)
    check_outputs(snippets, [snippet.output for snippet in snippets])


@pytest.mark.slow
@pytest.mark.parametrize("name", tutorials.NOTEBOOKS)
def test_a_notebook_runs_and_prints_what_the_page_says(name: str) -> None:
    pytest.importorskip("stable_baselines3", reason="needs the extra [sb3]")
    page = (DOCS / tutorials.FOLDER / f"{name}.md").read_text("utf-8")
    book = (DOCS / tutorials.FOLDER / f"{name}.ipynb").read_text("utf-8")
    outputs = [snippet.output for snippet in tutorials.snippets_of(page)]
    check_outputs(tutorials.snippets_of_notebook(book), outputs)


@pytest.mark.parametrize("name", tutorials.NOTEBOOKS)
def test_a_notebook_is_its_page(name: str) -> None:
    page = (DOCS / tutorials.FOLDER / f"{name}.md").read_text("utf-8")
    book = (DOCS / tutorials.FOLDER / f"{name}.ipynb").read_text("utf-8")
    assert book == tutorials.notebook_of(page)
    assert [(snippet.language, snippet.text.strip()) for snippet in tutorials.snippets_of_notebook(book)] == [
        (snippet.language, snippet.text.strip()) for snippet in tutorials.snippets_of(page)
    ]
    cells = json.loads(book)["cells"]
    assert "pip install" in "".join(cells[0]["source"])
    assert not any("](../" in "".join(cell["source"]) for cell in cells)


def test_the_readme_runs_and_shows_a_table_that_its_command_prints() -> None:
    pytest.importorskip("torch", reason="needs the extra [sb3]")
    page = (ROOT / "README.md").read_text("utf-8")
    found = re.search(r"```sh\n(dragonfly-env .*)\n```\n\n```text\n(.*\n)((?:.*\n)+?)```", page)
    assert found is not None
    with running.working_folder():
        printed = running.run_commands(found[1]).splitlines()
        assert found[2].strip() in printed
        rows = [line.split() for line in printed]
        assert [line for line in found[3].splitlines() if line.split() not in rows] == []
        outputs = [*tutorials.run_snippets(tutorials.snippets_of(page, commands=False))]
    comments = re.findall(r"(?:^|print.*)# (.*\d ns)$", page, re.MULTILINE)
    shown = [part for output in outputs for part in re.findall(r"\d+ ns", output)]
    assert running.agrees(" ".join(re.findall(r"\d+ ns", " ".join(comments))), " ".join(shown))


def test_the_gallery_has_every_example() -> None:
    text = (DOCS / "gallery.md").read_text("utf-8")
    for path in (ROOT / "examples").iterdir():
        if path.suffix in (".py", ".toml"):
            assert f"](../examples/{path.name})" in text, path.name
    for name in re.findall(r"!\[[^\]]+\]\(([^)]+)\)", text):
        assert (DOCS / name).exists()

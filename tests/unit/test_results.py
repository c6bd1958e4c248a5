"""The headline figures are in docs/results.toml, and no text states another value; generated parts are current."""

from __future__ import annotations

import dataclasses
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "docs" / "_ext"))

from dragonfly_docs import committed, results  # noqa: E402

KNOWN = results.results()
TEXTS = {path: path.read_text(encoding="utf-8") for path in results.texts()}
README = TEXTS[ROOT / "README.md"]


def test_no_text_states_another_value() -> None:
    found = {path: results.wrong_statements(text, KNOWN) for path, text in TEXTS.items()}
    assert {path: wrong for path, wrong in found.items() if wrong} == {}


@pytest.mark.parametrize("result", KNOWN, ids=lambda result: result.name)
def test_every_statement_occurs(result: results.Result) -> None:
    for stated in result.stated:
        one = dataclasses.replace(result, stated=(stated,))
        assert any(pattern.search(text) for text in TEXTS.values() for pattern in one.patterns(text)), stated


def test_every_figure_of_the_table_of_the_readme_is_in_the_file() -> None:
    _, _, table = README.partition("| what | measured |")
    lines = [line for line in table.splitlines()[2:] if line.startswith("|")]
    assert len(lines) > 8
    for line in lines:
        covered = {
            position
            for result in KNOWN
            for pattern in result.patterns(line)
            for match in pattern.finditer(line)
            for position in range(match.start(2), match.end(2))
        }
        begin = line.index("|", 1)
        for figure in re.finditer(r"\d+\.\d+|\d+", line[begin : line.index("|", begin + 1)]):
            outside = (
                line[begin + figure.start() - 3 : begin + figure.start()] == "of "
            )  # how many claims there are
            assert outside or begin + figure.start() in covered, (figure[0], line)


@pytest.mark.parametrize("path", [path for path, text in TEXTS.items() if "<!-- generated:" in text], ids=str)
def test_generated_parts_of_pages_are_current(path: Path) -> None:
    assert committed.with_parts(TEXTS[path]) == TEXTS[path]


def test_every_generated_part_is_in_a_page() -> None:
    found = {name for text in TEXTS.values() for name in re.findall(r"<!-- generated: ([\w-]+) -->", text)}
    assert found == set(committed.PARTS)


def test_every_result_is_in_a_table_or_a_text() -> None:
    assert [one.name for one in KNOWN if not one.table and not one.stated] == []
    assert {one.table for one in KNOWN if one.table} <= set(committed.PARTS)

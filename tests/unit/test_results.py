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
        changed = dataclasses.replace(result, stated=(stated,))
        assert any(pattern.search(text) for text in TEXTS.values() for pattern in changed.patterns(text)), (
            stated
        )


def test_every_comparison_of_the_readme_is_in_the_file() -> None:
    section = README.partition("## Can I trust the numbers?")[2].partition("## Alternatives")[0]
    covered = {
        position
        for result in KNOWN
        for pattern in result.patterns(section)
        for match in pattern.finditer(section)
        for position in range(match.start(2), match.end(2))
    }
    figures = [*re.finditer(r"\d+(?:\.\d+)?(?= (?:%|ns)(?!\w))", section)]
    assert len(figures) == 5
    assert [figure[0] for figure in figures if figure.start() not in covered] == []


@pytest.mark.parametrize(
    ("paper", "page"), [("HPDC'21", "hpdc21"), ("TACO'25", "taco25"), ("IPDPS'21", "aries")]
)
def test_the_readme_says_what_became_of_every_claim(paper: str, page: str) -> None:
    def numbers(row: str) -> list[int]:
        return [int(cell.split()[0]) for cell in row.split("|")[2:-1] if cell.split()[0].isdigit()]

    (row,) = [line for line in README.splitlines() if f"{paper}" in line and line.strip().startswith("|")]
    summary = (ROOT / "docs" / "reproduction" / f"{page}.md").read_text("utf-8").partition("## Summary")[2]
    claims, met, experiment, simulator, still_open, undecided, fitted, struck = numbers(
        next(line for line in summary.splitlines() if line.startswith("| `"))
    )[:8]
    assert numbers(row) == [claims, met, experiment + simulator, still_open, undecided + fitted + struck]
    assert sum(numbers(row)[1:]) == claims


@pytest.mark.parametrize(
    ("name", "page", "variant"),
    [
        ("claims-hpdc21", "hpdc21", "usual"),
        ("claims-taco25", "taco25", "round-robin"),
        ("claims-taco25-transit-first", "taco25", "transit-first"),
        ("claims-taco25-5256", "taco25-5256", "round-robin"),
        ("claims-aries", "aries", "usual"),
    ],
)
def test_counts_of_claims_are_those_of_the_tables(name: str, page: str, variant: str) -> None:
    text = (ROOT / "docs" / "reproduction" / f"{page}.md").read_text("utf-8").partition("## Summary")[2]
    (row,) = [
        line for line in text.splitlines() if line.startswith(f"| `{variant}` |") and line.count("|") > 5
    ]
    rows, met = (int(cell.split()[0]) for cell in row.split("|")[2:4])
    (result,) = [result for result in KNOWN if result.name == name]
    assert (result.value, result.unit) == (f"{met}", f"of {rows} rows met")


@pytest.mark.parametrize("path", [path for path, text in TEXTS.items() if "<!-- generated:" in text], ids=str)
def test_generated_parts_of_pages_are_current(path: Path) -> None:
    assert committed.with_parts(TEXTS[path]) == TEXTS[path]


def test_every_generated_part_is_in_a_page() -> None:
    found = {name for text in TEXTS.values() for name in re.findall(r"<!-- generated: ([\w-]+) -->", text)}
    assert found == set(committed.PARTS)


def test_every_result_is_in_a_table_or_a_text() -> None:
    assert [result.name for result in KNOWN if not result.table and not result.stated] == []
    assert {result.table for result in KNOWN if result.table} <= set(committed.PARTS)

"""Measurements of a results folder enter the committed table of a paper."""

from __future__ import annotations

import csv
from pathlib import Path

from dragonfly_env.lab.papers import find_paper
from dragonfly_env.lab.papers.report import as_csv
from dragonfly_env.lab.papers.stored import entered, judge_again

TABLE = Path(__file__).parents[4] / "docs" / "reproduction" / "taco25-claims.csv"


def rows() -> list[dict[str, str]]:
    return list(csv.DictReader(TABLE.read_text(encoding="utf-8").splitlines()))


def verdicts(known: list[dict[str, str]], measured: list[dict[str, str]]) -> dict[tuple[str, str], str]:
    text = as_csv(judge_again(find_paper("taco25"), entered(known, measured)))
    return {(row["variant"], row["id"]): row["verdict"] for row in csv.DictReader(text.splitlines())}


def test_a_measurement_replaces_the_row_of_its_variant_alone() -> None:
    known = rows()
    row = next(row for row in known if row["id"] == "LI07a-1056" and row["variant"] == "round-robin")
    found = verdicts(known, [{**row, "measured": "0.3"}])
    assert found["round-robin", "LI07a-1056"] == "deviates"
    assert found["transit-first", "LI07a-1056"] == "met"


def test_a_claim_that_was_not_run_changes_nothing() -> None:
    known = rows()
    row = next(row for row in known if row["id"] == "LI07a-1056" and row["variant"] == "round-robin")
    assert verdicts(known, [{**row, "measured": "", "verdict": "not run"}]) == verdicts(known, [])


def test_a_new_claim_is_not_run_under_variants_without_a_measurement() -> None:
    known = rows()
    row = next(row for row in known if row["id"] == "LI07a-1056" and row["variant"] == "round-robin")
    fewer = [claim for claim in known if claim["id"] != "LI07a-1056"]
    found = verdicts(fewer, [row])
    assert found["round-robin", "LI07a-1056"] == "met"
    assert found["transit-first", "LI07a-1056"] == "not run"

"""Measurements of a results folder enter the committed table of a paper."""

from __future__ import annotations

import csv
import json
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


def test_fewer_runs_do_not_replace_a_row_and_as_many_do() -> None:
    known = rows()
    row = next(row for row in known if row["id"] == "LI39-1056" and row["variant"] == "round-robin")
    changed = {**row, "measured": "0", "ordering": "reversed"}
    runs = json.loads(row["values"])["runs"]
    for fewer, expected in ((runs - 1, "met"), (runs, "deviates")):
        found = verdicts(known, [{**changed, "values": json.dumps({"runs": fewer})}])
        assert found["round-robin", "LI39-1056"] == expected
    without_count = verdicts(known, [{**changed, "values": ""}])
    assert without_count["round-robin", "LI39-1056"] == "met"


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


def test_the_row_of_the_published_window_counts_where_it_was_run() -> None:
    known = [row for row in rows() if not row["id"].startswith("LI48c")]
    row = next(row for row in rows() if row["id"] == "LI48c-1056" and row["variant"] == "round-robin")
    long = {**row, "id": "LI48c-1056-60us", "figure": "windows", "measured": "0.4"}
    judged = judge_again(
        find_paper("taco25"), entered(known, [long, row, {**row, "variant": "transit-first"}])
    )
    counted = [
        {
            verdict.claim.id: verdict.counts_as
            for verdict in variant.verdicts
            if verdict.claim.sentence == "LI48c"
        }
        for variant in judged
    ]
    assert counted == [
        {"LI48c-1056-60us": "deviates", "LI48c-1056": "repeated"},
        {"LI48c-1056-60us": "not run", "LI48c-1056": "met"},
    ]

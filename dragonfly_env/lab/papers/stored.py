"""Tables of claims that were written earlier (``claims.csv``), judged again by today's claims and rules.

A measurement takes hours and a rule changes in a minute: the table keeps what was measured, and the labels follow from
the claims of the paper's module.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from dragonfly_env.lab.papers.claims import Claim, Measured, excluded, given
from dragonfly_env.lab.papers.explanations import explained
from dragonfly_env.lab.papers.paper import Paper, Reproduction
from dragonfly_env.lab.papers.report import JudgedReproduction
from dragonfly_env.lab.papers.verdicts import EXCLUDED, INPUT, NOT_DECIDED, NOT_RUN, Verdict, counted, judge


def judge_again(
    paper: Paper, rows: Sequence[Mapping[str, str]], hosts: int = 0
) -> tuple[JudgedReproduction, ...]:
    """The verdicts on the measurements of a table, by model variant; claims that the table lacks are left out.

    Args:
        paper: The paper whose claims and rules count.
        rows: The rows of its table, as `csv.DictReader` reads them.
        hosts: Size of the system whose claims are taken; 0 for all.
    """
    found = {}
    for variant in dict.fromkeys(row["variant"] for row in rows):
        by_id = {row["id"]: row for row in rows if row["variant"] == variant}
        claims = [
            claim for claim in paper.claims if claim.id in by_id and (not hosts or claim.hosts in (0, hosts))
        ]
        found[variant] = counted((_verdict(claim, by_id[claim.id]) for claim in claims), variant)
    return tuple(
        JudgedReproduction(
            Reproduction(
                paper=paper,
                figures=paper.figures,
                effort=replace(paper.efforts[0], variant=variant),
                folder=Path(),
            ),
            verdicts,
        )
        for variant, verdicts in explained(found).items()
    )


def entered(
    known: Sequence[Mapping[str, str]], measured: Sequence[Mapping[str, str]]
) -> list[Mapping[str, str]]:
    """The rows of a table with the measurements of a results folder (``claims.csv``).

    A claim that the table lacked has a row of every variant of the table; without a measurement the row is "not run".
    A measurement of fewer runs than the table's row has does not replace the row.
    """
    rows = {(row["variant"], row["id"]): row for row in known}
    variants = dict.fromkeys(row["variant"] for row in known)
    for row in measured:
        place = row["variant"], row["id"]
        if row["verdict"] != NOT_RUN and (place not in rows or _runs(row) >= _runs(rows[place])):
            rows[place] = row
            empty = dict.fromkeys(
                ("measured", "ci95", "ordering", "uncertain", "deviation", "values", "setting"), ""
            )
            missing = {**row, **empty, "verdict": NOT_RUN, "remark": f"{row['figure']} was not run"}
            for variant in variants:
                rows.setdefault((variant, row["id"]), {**missing, "variant": variant})
    return list(rows.values())


def _runs(row: Mapping[str, str]) -> int:
    """Runs per point of a row's measurement; 0 if nothing was measured."""
    if not row["measured"]:
        return 0
    return int(json.loads(row["values"] or "{}").get("runs", 1))


def _verdict(claim: Claim, row: Mapping[str, str]) -> Verdict:
    """The verdict on a row's measurement."""
    if claim.relation is excluded:
        return Verdict(claim, None, math.nan, EXCLUDED, setting=row["setting"])
    measured = _measured(row)
    if claim.relation is given or row["verdict"] == NOT_RUN:
        label = INPUT if claim.relation is given else NOT_RUN
        deviation = _number(row["deviation"])
        return Verdict(claim, measured, deviation, label, row["remark"], setting=row["setting"])
    assert measured is not None, row["id"]
    return replace(judge(claim, measured), setting=row["setting"])


def _measured(row: Mapping[str, str]) -> Measured | None:
    if not row["measured"]:
        return None
    details = "" if row["verdict"] == NOT_DECIDED else row["remark"]
    return Measured(
        _number(row["measured"]),
        _number(row["ci95"]),
        row["ordering"],
        details,
        bool(row["uncertain"]),
        json.loads(row["values"]) if row.get("values") else {},
    )


def _number(text: str) -> float:
    return float(text) if text else math.nan

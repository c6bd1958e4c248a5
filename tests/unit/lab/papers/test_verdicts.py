"""Judging: every claim can fail, bounds have two sides, "no effect" is never met, and what is fitted does not count."""

from __future__ import annotations

import csv
import dataclasses
import math
from pathlib import Path

import numpy as np
import pytest

from dragonfly_env.lab.papers import PAPERS, Reproduction, find_paper, judge_all
from dragonfly_env.lab.papers.claims import (
    Claim,
    Measured,
    excluded,
    gap,
    given,
    pair_ratio,
    ratio,
    reduction,
    relative_gap,
    saving,
    spread_ratio,
    value,
)
from dragonfly_env.lab.papers.findings import Findings
from dragonfly_env.lab.papers.report import (
    JudgedReproduction,
    as_csv,
    as_markdown,
    measured_text,
    summary,
    tally,
)
from dragonfly_env.lab.papers.stored import judge_again
from dragonfly_env.lab.papers.verdicts import (
    DEVIATES,
    FITTED,
    MET,
    NOT_DECIDED,
    NOT_RUN,
    REPEATED,
    STRUCK,
    Verdict,
    judge,
)

TACO25 = find_paper("taco25")
QUICK = TACO25.effort("quick")

CLAIMS = [found for paper in PAPERS for found in paper.claims]
TESTED = [found for found in CLAIMS if found.relation not in (given, excluded)]

# Results that a simulation can have, by the claim's unit: (lowest, highest).
RANGES = {
    "fraction": (0.0, 1.0),
    "load": (0.0, 1.0),
    "relative": (0.0, 100.0),
    "x": (0.0, 100.0),
    "hops": (1.0, 9.0),
    "us": (0.0, 1000.0),
    "ns": (1e3, 2e7),
    "packets": (0.0, 100.0),
}
COMPARED = {
    gap: (-1.0, 1.0),
    relative_gap: (-0.9, 10.0),
    saving: (-10.0, 0.9),
    reduction: (-10.0, 0.9),
    **dict.fromkeys((ratio, pair_ratio, spread_ratio), (0.01, 100.0)),
}


def claim(identity: str) -> Claim:
    return next(found for found in CLAIMS if found.id == identity)


def possible(found: Claim) -> tuple[float, float]:
    return COMPARED.get(found.relation) or RANGES[found.unit]


def test_every_claim_can_fail_and_can_be_met_or_is_not_decided() -> None:
    for found in TESTED:
        if found.is_ordering:
            assert judge(found, Measured(0.0, math.nan, "reversed")).verdict == DEVIATES, found.id
            assert judge(found, Measured(1.0, math.nan, "holds")).verdict == MET, found.id
            continue
        verdicts = {
            judge(found, Measured(number, math.nan)).verdict for number in np.linspace(*possible(found), 101)
        }
        assert DEVIATES in verdicts, found.id
        published = judge(found, Measured(found.published, math.nan)).verdict
        assert published == (NOT_DECIDED if found.includes_no_effect else MET), found.id


def test_no_effect_and_the_opposite_never_meet_a_claim_that_states_an_effect() -> None:
    for found in TESTED:
        for share in (0.0, -0.001) if found.states_effect else ():
            assert found.neutral is not None
            measured = found.neutral + share * (found.published - found.neutral)
            assert judge(found, Measured(measured, math.nan)).verdict in (DEVIATES, NOT_DECIDED), found.id


def test_a_published_number_has_two_bounds_unless_the_text_states_one() -> None:
    for found in CLAIMS:
        if found.id == "QA39":
            assert found.bounds == (-math.inf, 168.48)  # faster is not worse
        elif found.relation in (value, ratio, gap, saving) and not found.is_ordering:
            assert np.isfinite(found.accepted).all(), found.id


@pytest.mark.parametrize(
    ("identity", "measured", "expected"),
    [
        ("QA40", 187.0, DEVIATES),  # published: 455 us
        ("QA40", 455.0 * 1.07, MET),
        ("LI07a", 0.507, MET),
        ("LI07a", 0.46, DEVIATES),
        ("LI07a", 0.53, DEVIATES),  # more than half and the share of minimal paths
        ("LI07c", 0.53, DEVIATES),  # one bound for one wording
        ("LI08a-1056", 0.234, DEVIATES),  # "more than 25 %"
        ("LI08a-1056", 0.26, MET),
        ("LI08a-1056", 0.40, DEVIATES),  # "up to 30 %"
        *(("LI09", 0.23, DEVIATES), ("LI09", 0.29, MET), ("LI17a", 0.039, DEVIATES)),
        *(("LI17a", 0.05, MET), ("LI10b", 1.03, DEVIATES), ("AR03", 0.14, DEVIATES)),
        ("AR14", -0.07, DEVIATES),  # published: -0.34
        ("AR14", -0.30, MET),
        ("AR17", 0.95, DEVIATES),  # less than half of the published change
        ("AR17", 0.80, MET),
        ("AR14", 0.0, DEVIATES),
    ],
)
def test_numbers_are_judged_on_both_sides(identity: str, measured: float, expected: str) -> None:
    assert judge(claim(identity), Measured(measured, math.nan)).verdict == expected


def test_a_number_within_its_bounds_deviates_if_the_other_policy_is_better() -> None:
    found = claim("QA08")
    assert judge(found, Measured(found.published, math.nan, "holds")).verdict == MET
    assert judge(found, Measured(found.published, math.nan, "reversed")).verdict == DEVIATES


def test_bounds_that_hold_no_effect_decide_nothing_inside_them() -> None:
    for low in (-0.01, 0.0):
        found = dataclasses.replace(claim("AR05"), low=low, high=0.12)
        assert judge(found, Measured(0.05, 0.01)).verdict == NOT_DECIDED
        assert judge(found, Measured(0.13, 0.01)).verdict == DEVIATES
        assert judge(dataclasses.replace(found, low=0.01), Measured(0.05, 0.01)).verdict == MET


def test_identical_runs_decide_nothing() -> None:
    for identity, number in (("AR06", 0.0), ("AR16", 0.0), ("AR22", 1.0)):
        found = judge(claim(identity), Measured(number, 0.0))
        assert (found.verdict, found.uncertain) == (NOT_DECIDED, False)
        assert "identical" in found.reason
    assert judge(claim("AR16"), Measured(0.01, 0.02)).verdict == MET  # the paper: no effect


def test_an_interval_over_a_bound_is_uncertain() -> None:
    bound = claim("QA01").accepted[0]
    assert judge(claim("QA01"), Measured(bound + 0.001, 0.002)).uncertain
    assert not judge(claim("QA01"), Measured(bound + 0.003, 0.002)).uncertain
    assert not judge(claim("QA01"), Measured(bound + 0.001, math.nan)).uncertain


def test_an_interval_has_the_digits_of_its_mean() -> None:
    times = dataclasses.replace(claim("QA01"), unit="x")
    assert measured_text(judge(times, Measured(21.318, 0.522))) == "21.32 x ± 0.52"


# ------------------------------------------------------------------------------------------------ what is counted


def verdicts_of(folder: Path, variant: str) -> tuple[Reproduction, tuple[Verdict, ...]]:
    """Made-up results of LIA's figure 12 on 1,056 hosts: everything accepted the same."""
    work = Reproduction(
        paper=TACO25,
        figures=TACO25.choose(("fig12",)),
        effort=QUICK,
        folder=folder,
    )
    points = work.figures[0].points(work.effort)
    row = {"accepted_load": 0.5, "latency_mean_ns": 500.0}
    findings = Findings(points={"fig12": points}, rows=dict.fromkeys(points, (row,)), name="")
    claims = [
        dataclasses.replace(found, fitted=("chosen",)) if found.id == "LI07a-1056" else found
        for found in work.claims()
    ]
    return work, judge_all(claims, findings, decides_all=False, variant=variant, published=TACO25.published)


def test_what_a_variant_was_fitted_to_does_not_count(tmp_path: Path) -> None:
    by_variant = {
        name: {verdict.claim.id: verdict for verdict in verdicts_of(tmp_path, name)[1]}
        for name in ("chosen", "other")
    }
    for name, counted in (("chosen", FITTED), ("other", MET)):
        found = by_variant[name]["LI07a-1056"]
        assert (found.verdict, found.counts_as) == (MET, counted)
    assert f"1 {FITTED}" in tally(tuple(by_variant["chosen"].values()))
    assert f"0 {FITTED}" in tally(tuple(by_variant["other"].values()))


def test_a_sentence_counts_once_and_what_is_struck_does_not(tmp_path: Path) -> None:
    """LI07a-1056 is the first claim of its sentence that was run: LI07a, of the larger system, was not."""
    work, _ = verdicts_of(tmp_path, "usual")
    points = work.figures[0].points(work.effort)
    row = {"accepted_load": 0.5, "latency_mean_ns": 500.0}
    findings = Findings(points={"fig12": points}, rows=dict.fromkeys(points, (row,)), name="")
    by_id = {found.id: found for found in work.claims()}
    first, whole, struck = by_id["LI07a-1056"], by_id["LI07a"], by_id["LI07b-1056"]
    claims = [
        whole,
        first,
        dataclasses.replace(first, id="LI07a-again"),
        dataclasses.replace(struck, struck="it is too easy"),
    ]
    verdicts = judge_all(claims, findings, decides_all=False)
    counted = [(verdict.counts_as, verdict.repeats) for verdict in verdicts]
    assert counted == [(NOT_RUN, ""), (MET, ""), (REPEATED, "LI07a-1056"), (STRUCK, "")]
    assert "1 met" in tally(verdicts)
    assert verdicts[3].struck == "it is too easy"
    failed = judge(claims[3], Measured(0.1, math.nan))
    assert (failed.counts_as, failed.struck) == (DEVIATES, "")


# ------------------------------------------------------------------------------------------------ model variants


def test_variants_stand_next_to_each_other(tmp_path: Path) -> None:
    work, verdicts = verdicts_of(tmp_path, "round-robin")
    other = dataclasses.replace(work, effort=dataclasses.replace(work.effort, variant="transit-first"))
    changed = tuple(
        judge(verdict.claim, Measured(0.1, math.nan))
        if verdict.claim.id == "LI07b-1056"
        else dataclasses.replace(verdict, fitted=verdict.claim.id == "LI07c-1056")
        for verdict in verdicts
    )
    judged = [JudgedReproduction(work, verdicts), JudgedReproduction(other, changed)]
    assert "Met by `round-robin` alone: LI07b-1056." in as_markdown(judged, {}, "command")
    rows = list(csv.DictReader(as_csv(judged).splitlines()))
    assert [row["variant"] for row in rows if row["id"] == "LI07b-1056"] == ["round-robin", "transit-first"]


def test_variants_of_lia_differ_in_their_arbiters_alone() -> None:
    efforts = [dataclasses.replace(QUICK, variant=name) for name in ("usual", "transit-first")]
    for figure in TACO25.figures:
        for first, other in zip(*map(figure.points, efforts), strict=True):
            usual, transit = (point.run(1).config for point in (first, other))
            assert transit.network.arbitration == f"transit-first-{usual.network.arbitration}"
            assert transit.network.replace(arbitration=usual.network.arbitration) == usual.network


# ------------------------------------------------------------------------------------------------ the committed pages


@pytest.mark.parametrize("paper", ["hpdc21", "taco25", "aries"])
def test_a_table_read_back_has_the_same_labels(paper: str) -> None:
    folder = Path(__file__).parents[4] / "docs" / "reproduction"
    text = (folder / f"{paper}-claims.csv").read_text(encoding="utf-8")
    rows = list(csv.DictReader(text.splitlines()))
    assert as_csv(judge_again(find_paper(paper), rows)) == text
    changed = [{**row, "measured": "1e6"} if row["verdict"] == MET and row["met_to"] else row for row in rows]
    again = list(csv.DictReader(as_csv(judge_again(find_paper(paper), changed)).splitlines()))
    assert {row["verdict"] for row, old in zip(again, changed, strict=True) if old["measured"] == "1e6"} == {
        DEVIATES
    }


def test_a_window_that_meets_an_open_claim_breaks_another_claim() -> None:
    table = Path(__file__).parents[4] / "docs" / "reproduction" / "hpdc21-claims.csv"
    rows = list(csv.DictReader(table.read_text(encoding="utf-8").splitlines()))
    verdicts = {row["id"]: row["verdict"] for row in rows}
    measured = {row["id"]: row["values"] for row in rows}
    windows: dict[str, dict[str, str]] = {}
    for name, verdict in verdicts.items():
        if name.endswith("us"):
            assert '"runs": 1' in measured[name]
            claim, _, window = name.partition("-")
            windows.setdefault(window, {})[claim] = verdict
    explained = {row["id"] for row in rows if "as the buffers fill" in row["explanation"]}
    assert explained == {"QA15", "QA27", "QA35", "QA52", "QA55", "QA68", "QA69"}
    for claim in explained:
        fitting = [found for found in windows.values() if found.get(claim) == MET]
        assert fitting
        for found in fitting:
            assert [name for name, verdict in found.items() if verdict == DEVIATES and verdicts[name] == MET]


@pytest.mark.parametrize("paper", ["hpdc21", "taco25", "taco25-5256", "aries"])
def test_a_committed_page_begins_with_the_summary_of_its_claims(paper: str) -> None:
    folder = Path(__file__).parents[4] / "docs" / "reproduction"
    rows = list(csv.DictReader((folder / f"{paper}-claims.csv").read_text(encoding="utf-8").splitlines()))
    page = (folder / f"{paper}.md").read_text(encoding="utf-8")
    expected = "\n".join(
        summary([row for row in rows if paper != "taco25-5256" or row["variant"] == "round-robin"])
    )
    assert expected in page
    assert page.index(expected) < page.index("\n## Claims\n")

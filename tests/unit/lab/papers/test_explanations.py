"""Explanations of deviations: every figure is a measurement of the same report."""

from __future__ import annotations

import csv
import dataclasses
import math
import re
import string
from pathlib import Path

import pytest

from dragonfly_env.lab.papers import PAPERS, Paper, Reproduction, Verdict, find_paper, judge_all
from dragonfly_env.lab.papers.claims import EXPLANATIONS, NOTHING_TRIED, Measured
from dragonfly_env.lab.papers.explanations import explained
from dragonfly_env.lab.papers.findings import Findings
from dragonfly_env.lab.papers.report import JudgedReproduction, write_reports
from dragonfly_env.lab.papers.verdicts import DEVIATES, NOT_RUN, judge
from tests.identity.dump import MadeUpRow

LIA = {claim.id: claim for claim in find_paper("taco25").claims}
SHORTER = LIA["LI17a"]  # lia takes at least 4 % less time than tpr
OTHER = LIA["LI18"]


def deviating(explanation: str, claim: str = "LI17a", **measured: object) -> Verdict:
    """The verdict on a saving that is too small."""
    values = {"lia": 82_029.0, "tpr": 83_031.0, **measured}
    return judge(
        dataclasses.replace(LIA[claim], explanation=explanation),
        Measured(0.0122, math.nan, "holds", "told", values=values),
    )


def quoting(explanation: str, *others: Verdict, **more: tuple[Verdict, ...]) -> str:
    """The explanation of a claim in a report with other claims, and other model variants."""
    return explained({"own": (deviating(explanation), *others), **more})["own"][0].explanation


def test_an_explanation_quotes_its_own_claim() -> None:
    assert quoting("{percent}, {mean:.4f}, {tpr:,.0f} ns, {details}") == "+1.2 %, 0.0122, 83,031 ns, told"
    assert quoting("{deviation:+.2f}, {verdict}") == "-2.78, deviates"


def test_an_explanation_quotes_another_claim_of_its_variant() -> None:
    other = deviating("", "LI18", **{"pb-acor": 88_090.0})
    assert quoting("{LI18.pb-acor:,.0f} ns, {LI18.percent}", other) == "88,090 ns, +1.2 %"


def test_an_explanation_quotes_another_variant() -> None:
    changed = {"first": (deviating("", tpr=82_702.0),)}
    assert quoting("{LI17a.tpr:,.0f} and {LI17a@first.tpr:,.0f}", **changed) == "83,031 and 82,702"


@pytest.mark.parametrize("name", ["pb:.2f", "LI18.mean:,.0f", "LI17a@first.tpr", "LI17a.pb", "hole:.2f"])
def test_what_was_not_run_reads_so(name: str) -> None:
    not_run = Verdict(OTHER, None, math.nan, NOT_RUN)
    reproduction = deviating(f"{{{name}}} ns", hole=math.nan)
    assert explained({"own": (reproduction, not_run)})["own"][0].explanation == "not run ns"


def test_only_deviations_are_explained() -> None:
    met = judge(dataclasses.replace(SHORTER, explanation="open: "), Measured(0.05))
    bare = deviating("")
    assert [found.explanation for found in explained({"own": (met, bare)})["own"]] == ["", NOTHING_TRIED]


def test_both_files_of_a_report_have_the_explanations(tmp_path: Path) -> None:
    paper = find_paper("taco25")
    work = Reproduction(
        paper=paper, figures=paper.choose(("fig19",)), effort=paper.effort("quick"), folder=tmp_path
    )
    reproduction = deviating("open: {percent}; transit-first {LI17a@transit-first.percent}")
    other = dataclasses.replace(work, effort=dataclasses.replace(work.effort, variant="transit-first"))
    judged = [JudgedReproduction(work, (reproduction,)), JudgedReproduction(other, (reproduction,))]
    table, page = (path.read_text(encoding="utf-8") for path in write_reports(judged, {}, "command"))
    for row in csv.DictReader(table.splitlines()):
        assert row["explanation"] == "open: +1.2 %; transit-first +1.2 %"
    assert "| open: +1.2 %; transit-first +1.2 % |" in page


# ------------------------------------------------------------------------------------------------ of the papers

# Runs of made-up numbers for each point: of jobs so many that some are compact and some dispersed.
RUNS = {"hpdc21": 1, "taco25": 1, "aries": 16}


def judged_on_made_up_rows(paper: Paper, effort_name: str) -> dict[str, tuple[Verdict, ...]]:
    """Verdicts by model variant on numbers that no simulation gave; every claim deviates."""
    judged = {}
    for variant in paper.variants:
        effort = dataclasses.replace(paper.effort(effort_name), variant=variant.name)
        points = {figure.name: figure.points(effort) for figure in paper.figures}
        rows = {}
        for point in dict.fromkeys(point for some in points.values() for point in some):
            run = point.run(1)
            rows[point] = tuple(MadeUpRow(run) for _ in range(RUNS[paper.name]))
            for number, row in enumerate(rows[point]):
                row["run_id"] += f" {number}"
        findings = Findings(points=points, rows=rows, name="made up")
        judged[variant.name] = tuple(
            verdict if verdict.measured is None else dataclasses.replace(verdict, verdict=DEVIATES)
            for verdict in judge_all(paper.claims, findings, decides_all=True, variant=variant.name)
        )
    return judged


def quoted_claims(explanation: str) -> set[str]:
    """The ids of other claims, with the model variant if there is one, that an explanation quotes."""
    fields = [field for _, field, _, _ in string.Formatter().parse(explanation) if field]
    return {field.partition(".")[0] for field in fields if "." in field}


@pytest.mark.parametrize("paper", PAPERS, ids=lambda paper: paper.name)
def test_explanations_quote_claims_that_exist(paper: Paper) -> None:
    claims = {claim.id for claim in paper.claims}
    variants = {variant.name for variant in paper.variants}
    assert paper.explanations.keys() <= claims
    for name, text in paper.explanations.items():
        assert text.startswith(EXPLANATIONS), name
        for quoted in quoted_claims(text):
            claim, _, variant = quoted.partition("@")
            assert claim in claims, name
            assert not variant or variant in variants, name


@pytest.mark.filterwarnings(
    "ignore:Mean of empty slice"
)  # made-up series begin at 0: figure 17c has no such bins
@pytest.mark.parametrize(
    ("name", "effort"), [("hpdc21", "quick"), ("taco25", "quick"), ("taco25", "full"), ("aries", "quick")]
)
def test_explanations_quote_what_was_measured(name: str, effort: str) -> None:
    judged = judged_on_made_up_rows(find_paper(name), effort)
    run = {verdict.claim.id for some in judged.values() for verdict in some if verdict.measured is not None}
    for some in explained(judged).values():
        for verdict in some:
            quoted = {claim.partition("@")[0] for claim in quoted_claims(verdict.claim.explanation)}
            if verdict.claim.id not in run or verdict.claim.figure == "fig17c" or not quoted <= run:
                continue
            for wrong in ("{", "nan", "not run"):
                assert wrong not in verdict.explanation, verdict.claim.id


# ------------------------------------------------------------------------------------------------ typed figures

NOT_FIGURES = re.compile(
    r"\{[^}]*\}|\b[A-Za-z]\w*\d[\w-]*|\b[hm] = \d|ADV\+\w|report of [\d-]+|1 / \S+|\d/2|dcdd75f"
)
"""Quoted values, names of claims, pages and modes, sizes of systems, patterns, dated reports, formulas, a commit."""
FIGURE = re.compile(r"\d+(?:[.,]\d+)*")

# fmt: off
# Typed in explanations: loads, windows (us or ms), bands and tolerances (%), packets, hosts.
SETTINGS = {
    "QA15": "25 125", "QA20": "300 400", "QA27": "50 100", "QA28": "2", "QA35": "100",
    "QA38": "0.2 7", "QA39": "5", "QA40": "5 8", "QA41": "5", "QA52": "100",
    "QA53": "1.4 1.5 1.8 1.9", "QA55": "50", "QA59": "0.8", "QA68": "100",
    "QA69": "100", "QA72": "0.5 0.45 1.4 300 1.75", "QA75": "100",
    "LI02": "128 32 1,056", "LI03a": "128 32 1,056", "LI05b": "128 32 1,056", "LI04a": "3", "LI07c": "50",
    "LI08a": "25 5,256",
    "LI08b": "25 5,256", "LI09": "0.30", "LI11": "60", "LI17a": "5,256", "LI21": "12 30", "LI39": "1,056",
    "LI44a": "0.3", "LI57": "3", "AR33": "1 2 6", "AR35": "1 2 3", "AR42-flits": "13",
}
# Loads of the busiest link, and the counter that follows: tests/analytic/test_nonminimal_loads.py.
ARITHMETIC = {"LI04b": "0.333 0.143", "LI06b": "0.222", "LI13": "0.154 18.5", "LI25": "0.286"}
# fmt: on


def figures_of_fogsim() -> set[str]:
    """Its latencies in ns and us, and its accepted loads, as an explanation writes them."""
    data = Path(__file__).parents[3] / "oracle" / "data" / "fogsim.csv"
    rows = list(csv.DictReader(data.read_text(encoding="utf-8").splitlines()))
    latencies = [float(row["latency_ns"]) for row in rows]
    figures = [f"{latency:.0f}" for latency in latencies] + [f"{latency / 1000:.3f}" for latency in latencies]
    return {*figures, *(f"{float(row['accepted']):.3f}" for row in rows)}


@pytest.mark.parametrize("paper", PAPERS, ids=lambda paper: paper.name)
def test_figures_of_explanations_are_quoted_or_have_a_source(paper: Paper) -> None:
    fogsim = figures_of_fogsim()
    for name, text in paper.explanations.items():
        figures = set(FIGURE.findall(NOT_FIGURES.sub("", text)))
        for listed in (SETTINGS, ARITHMETIC):
            for known in (name, name.partition("-")[0]):
                figures -= set(listed.get(known, "").split())
        if "FOGSim" in text:
            figures -= fogsim
        assert not figures, f"{name}: quote them, as {{mean:.2f}} or {{LI11.details}}"


def typed_figures(page: str) -> tuple[set[str], set[str]]:
    """The figures in the text of a page that are not quoted, and those that its begin declares as settings."""
    settings, _, text = page.partition("-->")
    text = re.sub(
        r"^    .*$|\d{4}-\d\d-\d\d|`[^`]*`|\]\([^)]*\)|\b20\d\d\b|\([RTM]+\)|[Ff]igures? \d+|[Ss]ection [\d.]+",
        "",
        text,
        flags=re.M,
    )
    return set(FIGURE.findall(NOT_FIGURES.sub("", text))), set(settings.split()) - {"<!--", "settings:"}


@pytest.mark.parametrize("page", ["hpdc21", "taco25", "aries"])
def test_figures_of_pages_are_quoted_or_settings(page: str) -> None:
    text = (Path(__file__).parents[4] / "docs" / "reproduction" / f"{page}.inc").read_text(encoding="utf-8")
    published = {f"{scale * claim.published:g}" for claim in find_paper(page).claims for scale in (1, 100)}
    typed, settings = typed_figures(text)
    assert typed - settings - published == set()
    assert settings - typed == set(), "settings that the page does not have would hide a typed figure"
    mutated, _ = typed_figures(f"{text}\nIt accepts 0.8431 after 17.5 µs.")
    assert mutated - typed == {"0.8431", "17.5"}


def test_the_overview_states_figures_of_the_tables() -> None:
    docs = Path(__file__).parents[4] / "docs"
    measured: dict[str, float] = {}
    for paper in ("hpdc21", "aries"):
        table = (docs / "reproduction" / f"{paper}-claims.csv").read_text(encoding="utf-8")
        measured |= {
            row["id"]: float(row["measured"]) for row in csv.DictReader(table.splitlines()) if row["measured"]
        }
    text = " ".join((docs / "reproduce.md").read_text(encoding="utf-8").split())
    gain, larger = (100.0 * measured[name] for name in ("AR01", "AR01-larger"))
    assert f"MILC gains {gain:.1f} % from AD3 (published 11.1 %), and {larger:.1f} % where messages" in text
    assert f"in the paper's abstract: {measured['QA72']:.2f}, published 0.75" in text

"""Table *id, figure, claim, published, measured, verdict, variant, explanation*: for a terminal, CSV and Markdown."""

from __future__ import annotations

import csv
import io
import json
import math
import platform
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from pathlib import Path

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

import dragonfly_env as dfe
from dragonfly_env.checks.files import refusing, write_text
from dragonfly_env.lab.papers.claims import EXPLANATIONS, excluded, given
from dragonfly_env.lab.papers.explanations import explained
from dragonfly_env.lab.papers.paper import Reproduction
from dragonfly_env.lab.papers.verdicts import (
    DEVIATES,
    EXCLUDED,
    FITTED,
    INPUT,
    MET,
    NOT_DECIDED,
    NOT_RUN,
    REPEATED,
    STRUCK,
    Verdict,
)
from dragonfly_env.sweeps.measure import machine

COLUMNS = (
    "id", "section", "figure", "claim", "published", "measured", "ci95", "unit", "met_from", "met_to", "deviation",
    "ordering", "verdict", "uncertain", "counts_as", "repeats", "setting", "variant", "explanation", "remark", "values",
)  # fmt: skip
_COLORS = {MET: "green", DEVIATES: "yellow", **dict.fromkeys((NOT_DECIDED, NOT_RUN, INPUT, EXCLUDED), "dim")}
_COUNTED = (MET, DEVIATES, NOT_DECIDED, FITTED, STRUCK, REPEATED, NOT_RUN, INPUT, EXCLUDED)
_JUDGED_ALONE = (MET, DEVIATES, NOT_DECIDED, FITTED, STRUCK)
_ALWAYS_COUNTED = (MET, DEVIATES, NOT_DECIDED, FITTED, NOT_RUN)
_OTHER_SETTING = "†"
_WITHOUT_UNIT = ("fraction", "load", "relative")


def render_verdicts(verdicts: Sequence[Verdict], title: str | None = None) -> RenderableType:
    """For a terminal."""
    table = Table(box=box.SIMPLE_HEAD, title=title, title_justify="left")
    for name in ("id", "claim"):
        table.add_column(name)
    for name in ("published", "measured", "deviation"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("verdict", no_wrap=True)
    for verdict in verdicts:
        style = _COLORS[verdict.verdict]
        table.add_row(
            verdict.claim.id,
            Text(verdict.claim.describe()),
            _published(verdict),
            measured_text(verdict),
            _deviation(verdict),
            Text(_verdict(verdict), style=style),
        )
    return Group(table, Text(tally(verdicts)))


def tally(verdicts: Sequence[Verdict]) -> str:
    """Counts of claims by verdict, and of orderings that hold. Claims that repeat a sentence, to which a variant was
    fitted, or that are struck count apart.
    """
    counts = Counter(verdict.counts_as for verdict in verdicts)
    orderings = Counter(verdict.ordering for verdict in verdicts if verdict.ordering and not verdict.fitted)
    doubts = Counter(verdict.counts_as for verdict in verdicts if verdict.uncertain)
    text = ", ".join(
        f"{counts[name]} {name}" + (f" ({doubts[name]} uncertain)" if doubts[name] else "")
        for name in _COUNTED
        if counts[name] or name in _ALWAYS_COUNTED
    )
    if orderings:
        text += f"; orderings: {orderings['holds']} of {orderings.total()} hold"
    return f"{len(verdicts)} claims: {text}"


@dataclass(frozen=True, slots=True)
class JudgedReproduction:
    """A reproduction under one model variant and the verdicts on its claims."""

    work: Reproduction
    verdicts: tuple[Verdict, ...]

    @property
    def variant(self) -> str:
        """Name of the model variant."""
        return self.work.variant.name


def write_reports(
    judged: Sequence[JudgedReproduction], pictures: Mapping[str, str], command: str
) -> tuple[Path, Path]:
    """Write ``claims.csv`` and ``claims.md`` (with the figures) into the results folder."""
    texts = explained({reproduction.variant: reproduction.verdicts for reproduction in judged})
    judged = [replace(reproduction, verdicts=texts[reproduction.variant]) for reproduction in judged]
    folder = judged[0].work.folder
    table, page = folder / "claims.csv", folder / "claims.md"
    with refusing("folder", folder, "must be a writable folder"):
        folder.mkdir(parents=True, exist_ok=True)
        for path, text in ((table, as_csv(judged)), (page, as_markdown(judged, pictures, command))):
            write_text(text, path)
    return table, page


def variants_in(folder: Path) -> list[str]:
    """The model variants of which the folder's table has verdicts; none if there is no table that can be read."""
    try:
        with (folder / "claims.csv").open(newline="", encoding="utf-8") as file:
            return list(dict.fromkeys(row["variant"] for row in csv.DictReader(file)))
    except (OSError, KeyError, ValueError, csv.Error):
        return []


def as_csv(judged: Sequence[JudgedReproduction]) -> str:
    """Table with a row per claim and model variant; numbers in full, empty where there is none.

    ``met_from`` and ``met_to`` are the values that count as met, ``setting`` says in what the simulations differ from
    the published ones, ``counts_as`` how the claim is counted (`Verdict.counts_as`), and ``values`` has further
    measured numbers as JSON. `stored.judge_again` reads the table.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for reproduction in judged:
        for verdict in reproduction.verdicts:
            claim, measured = verdict.claim, verdict.measured
            has_bounds = not (claim.is_ordering or claim.relation in (excluded, given))
            met_from, met_to = (_full(bound) for bound in claim.accepted) if has_bounds else ("", "")
            writer.writerow(
                [
                    claim.id,
                    claim.section,
                    claim.figure,
                    claim.describe(),
                    "" if claim.is_ordering or claim.relation is excluded else claim.published,
                    "" if measured is None else _full(measured.mean),
                    "" if measured is None else _full(measured.ci95),
                    claim.unit,
                    met_from,
                    met_to,
                    _full(verdict.deviation),
                    verdict.ordering,
                    verdict.verdict,
                    "yes" if verdict.uncertain else "",
                    verdict.counts_as,
                    verdict.repeats,
                    verdict.setting,
                    reproduction.variant,
                    micro(verdict.explanation),
                    micro(verdict.reason),
                    ""
                    if measured is None or not measured.values
                    else json.dumps(dict(measured.values), default=str),
                ]
            )
    return text.getvalue()


def as_markdown(judged: Sequence[JudgedReproduction], pictures: Mapping[str, str], command: str) -> str:
    """A page: how it was made, a summary, the table, how it is to be read, the figures.

    With several model variants the table has two columns of each, and ``variant`` says which of them meet a claim.
    """
    work, effort = judged[0].work, judged[0].work.effort
    lines = [
        f"# {work.paper.reference}: published and measured",
        "",
        f"    {command}",
        "",
        f"dragonfly-env {dfe.__version__}, {datetime.now(timezone.utc):%Y-%m-%d}, {machine()}, "
        f"{platform.system()}, Python {platform.python_version()}. Mode `{effort.name}`, {_seeds(work)}, "
        + (
            effort.conditions
            or f"{effort.injection} injection, warm-up {effort.warmup_ns / 1000:g} us (learners "
            f"{effort.learner_warmup_ns / 1000:g} us), then {effort.measure_ns / 1000:g} us measured."
        ),
        "",
    ]
    for reproduction in judged:
        if reproduction.work.variant.summary:
            lines += [f"Variant `{reproduction.variant}`: {reproduction.work.variant.summary}", ""]
    if effort.learner_settings:
        settings = ", ".join(f"{name} = {value}" for name, value in effort.learner_settings)
        lines += [f"Learners differ from the paper: {settings}.", ""]
    rows = list(csv.DictReader(as_csv(judged).splitlines()))
    lines += [*summary(rows), "", "## Claims", "", *claims_table(judged)]
    lines += ["", "## How to read it", "", *notes(judged)]
    for title, file in pictures.items():
        lines += ["", f"## {heading(title, file)}", "", f"![{title}]({file})"]
        lines += ["", found] if (found := claims_of(judged, file)) else []
    return micro("\n".join(lines)) + "\n"


def notes(judged: Sequence[JudgedReproduction]) -> list[str]:
    """Say how the table is to be read: the rule, the labels, settings, interpretations, and details of claims."""
    paper = judged[0].work.paper
    every = [verdict for reproduction in judged for verdict in reproduction.verdicts]
    lines = [
        f"* {paper.rule}",
        "* Measured: mean over seeds ± 95 % confidence interval (Student's t); in brackets: decides nothing. "
        "Uncertain: the interval reaches over a bound, so that more runs might turn the verdict.",
        '* Not decided: the bounds include "no effect", the runs that are compared are identical, or runs scatter over '
        "the bound, as the row says. Fitted: the variant or the setting was chosen because it meets the claim, which "
        "then tests nothing. Repeats: the same sentence of the paper in another setting. None of these counts as met.",
        *(f"* Fitted ({', '.join(ids)}): {reason}." for reason, ids in _grouped(every, "fitted_by").items()),
        *(
            f"* Struck ({', '.join(ids)}): {reason}. It is met, and does not count."
            for reason, ids in _grouped(every, "struck").items()
        ),
        "* Explanation of a deviation: an experiment, the public simulator if it deviates as this one does, or open.",
        *_settings(every),
        *(f"* {sentence}" for sentence in paper.interpretations),
    ]
    for reproduction in judged:
        variant = f" (`{reproduction.variant}`)" if len(judged) > 1 else ""
        reasons = _grouped(reproduction.verdicts, "reason")
        lines += [f"* {', '.join(ids)}{variant}: {reason}." for reason, ids in reasons.items()]
    return [micro(line) for line in lines]


def micro(text: str) -> str:
    """The text with µs for us."""
    return re.sub(r"(?<=\d) us\b", " µs", re.sub(r"\bin us\b", "in µs", text))


def heading(title: str, file: str) -> str:
    """The title, after the paper's own number of the figure if the file is named after it."""
    numbered = re.match(r"(fig|table)(\d+[a-z]*)", file)
    if numbered is None:
        return title
    kind, number = numbered.groups()
    return f"{'Figure' if kind == 'fig' else 'Table'} {number}: {title}"


def claims_of(judged: Sequence[JudgedReproduction], file: str) -> str:
    """Count the claims about a figure that are met, and name those that deviate; empty if no claim counts."""
    for reproduction in judged:
        suffix = (
            "" if reproduction.work.variant is reproduction.work.paper.usual else f"-{reproduction.variant}"
        )
        of_figure = [
            verdict for verdict in reproduction.verdicts if f"{verdict.claim.figure}{suffix}.png" == file
        ]
        met = sum(verdict.counts_as == MET for verdict in of_figure)
        deviating: dict[str, list[str]] = {}
        for verdict in of_figure:
            if verdict.counts_as == DEVIATES:
                deviating.setdefault(verdict.explanation.partition(":")[0], []).append(verdict.claim.id)
        counted = met + sum(len(ids) for ids in deviating.values())
        if counted:
            text = f"{met} of {counted} claims about this figure are met."
            others = [f"{', '.join(ids)} ({kind})" for kind, ids in deviating.items()]
            return text + (f" These deviate: {'; '.join(others)}." if others else "")
    return ""


def summary(rows: Sequence[Mapping[str, str]]) -> list[str]:
    """Begin the report: what became of the claims of the paper, by variant, and those that deviate."""
    variants = list(dict.fromkeys(row["variant"] for row in rows))
    kinds = [kind.rstrip(": ") for kind in EXPLANATIONS]
    lines = [
        "## Summary",
        "",
        f"| variant | rows | met | {' | '.join(f'deviates: {kind}' for kind in kinds)} | not decided | fitted "
        "| struck | orderings that hold | numbers met |",
        f"|---|---:|---:|{'---:|' * len(kinds)}---:|---:|---:|---:|---:|",
    ]
    listed = []
    for variant in variants:
        of_variant = [row for row in rows if row["variant"] == variant]
        counts = Counter(row["counts_as"] for row in of_variant)
        unsure = sum(row["counts_as"] == MET and bool(row["uncertain"]) for row in of_variant)
        deviates = [row for row in of_variant if row["counts_as"] == DEVIATES]
        deviating = {
            kind: [row["id"] for row in deviates if row["explanation"].startswith(kind)] for kind in kinds
        }
        orderings = [
            row["ordering"] for row in of_variant if row["ordering"] and row["counts_as"] in (MET, DEVIATES)
        ]
        cells = [
            f"`{variant}`",
            f"{sum(counts[name] for name in _JUDGED_ALONE)}",
            f"{counts[MET]}" + (f" ({unsure} uncertain)" if unsure else ""),
            *(f"{len(ids)}" for ids in deviating.values()),
            *(f"{counts[name]}" for name in (NOT_DECIDED, FITTED, STRUCK)),
            f"{orderings.count('holds')} of {len(orderings)}" if orderings else "-",
            _numbers_met(of_variant),
        ]
        lines.append(f"| {' | '.join(cells)} |")
        listed += [f"| `{variant}` | {kind} | {', '.join(ids)} |" for kind, ids in deviating.items() if ids]
    lines += [
        "",
        "A row counts if it was run and can be judged. Rows that repeat a sentence in another setting, inputs, and "
        "rows that were not run do not count. A number joins the rows whose ids differ in their last letter alone "
        "(LI03a to LI03d), and is met if all of these are.",
    ]
    if listed:
        lines += ["", "Claims that deviate, by what explains them (each claim in the table below):", ""]
        lines += ["| variant | explanation | claims |", "|---|---|---|", *listed]
    return lines


def _numbers_met(rows: Sequence[Mapping[str, str]]) -> str:
    """Count the numbers in the list of claims whose rows are all met, out of those with a row that counts."""
    labels: dict[str, set[str]] = {}
    for row in rows:
        if row["counts_as"] in _JUDGED_ALONE:
            labels.setdefault(row["id"].partition("-")[0].rstrip("abcdefgh"), set()).add(row["counts_as"])
    return f"{sum(found == {MET} for found in labels.values())} of {len(labels)}"


def claims_table(judged: Sequence[JudgedReproduction]) -> list[str]:
    """A row per claim; of several model variants two columns each, and after the table which claims need which."""
    columns = " | ".join(
        "measured | verdict" if len(judged) == 1 else f"`{reproduction.variant}` | verdict"
        for reproduction in judged
    )
    lines = [
        f"| id | figure | claim | published | {columns} | variant | explanation |",
        f"|---|---|---|---:|{'---:|---|' * len(judged)}---|---|",
    ]
    for verdicts in zip(*(reproduction.verdicts for reproduction in judged), strict=True):
        claim = verdicts[0].claim
        found = " | ".join(f"{measured_text(verdict)} | {_verdict(verdict)}" for verdict in verdicts)
        explanation = next((verdict.explanation for verdict in verdicts if verdict.explanation), "")
        lines.append(
            f"| {claim.id} | {claim.figure} | {claim.describe()} | {_published(verdicts[0])} | {found} "
            f"| {_variant(judged, verdicts)} | {micro(explanation.replace('|', '/'))} |"
        )
    if len(judged) > 1:
        lines += ["", *_which_needs_which(judged)]
    return lines


def _variant(judged: Sequence[JudgedReproduction], verdicts: Sequence[Verdict]) -> str:
    """The variant of the table; of several those that meet the claim."""
    if len(judged) == 1:
        return judged[0].variant
    if not any(verdict.verdict in (MET, DEVIATES) for verdict in verdicts):
        return "-"
    meets = [
        reproduction.variant + (" (fitted)" if verdict.fitted else "")
        for reproduction, verdict in zip(judged, verdicts, strict=True)
        if verdict.verdict == MET
    ]
    return "every" if len(meets) == len(judged) else ", ".join(meets) or "none"


def _which_needs_which(judged: Sequence[JudgedReproduction]) -> list[str]:
    needs: dict[str, list[str]] = {}
    for verdicts in zip(*(reproduction.verdicts for reproduction in judged), strict=True):
        needs.setdefault(_variant(judged, verdicts), []).append(verdicts[0].claim.id)
    names = sorted(set(needs) - {"-", "every", "none"})
    return [
        *(f"Met by `{name}` alone: {', '.join(needs[name])}.  " for name in names),
        *(
            f"Met by {text}: {', '.join(needs[name])}.  "
            for name, text in (("every", "every variant"), ("none", "none"))
            if name in needs
        ),
    ]


def _seeds(work: Reproduction) -> str:
    """Runs per point, those of the paper, and why they are not as many."""
    published, seeds = work.paper.published, work.effort.seeds
    if published.seeds is not None and seeds >= published.seeds:
        return f"{seeds} seed(s)"
    why = [f"published: {published.seeds}"] if published.seeds is not None else []
    why += [published.seeds_reason] if published.seeds_reason else []
    return f"{seeds} seed(s)" + (f" ({'; '.join(why)})" if why else "")


def _settings(verdicts: Sequence[Verdict]) -> list[str]:
    found = _grouped([verdict for verdict in verdicts if verdict.measured is not None], "setting")
    return [
        f"* {_OTHER_SETTING} Judged in another setting than the published one: {setting} ({', '.join(ids)})."
        for setting, ids in found.items()
    ]


def _grouped(verdicts: Sequence[Verdict], attribute: str) -> dict[str, list[str]]:
    """Ids by what an attribute says, where it says something."""
    found: dict[str, list[str]] = {}
    for verdict in verdicts:
        if text := getattr(verdict, attribute):
            ids = found.setdefault(text, [])
            if verdict.claim.id not in ids:
                ids.append(verdict.claim.id)
    return found


def _published(verdict: Verdict) -> str:
    claim = verdict.claim
    if claim.is_ordering:
        return "ordering"
    if claim.relation is excluded or not claim.published:
        return "-" if claim.relation in (excluded, given) else _number(claim.published, claim.unit)
    prefix = "at most " if claim.relation.at_most else "at least " if claim.low == claim.published else ""
    return prefix + _number(claim.published, claim.unit)


def measured_text(verdict: Verdict) -> str:
    measured, claim = verdict.measured, verdict.claim
    if measured is None or math.isnan(measured.mean):
        return "-"
    if claim.is_ordering:
        return measured.ordering
    text = _number(measured.mean, claim.unit)
    if not math.isnan(measured.ci95):
        text += f" ± {measured.ci95:.{_digits(measured.mean, claim.unit)}f}"
    return f"({text})" if verdict.verdict == NOT_RUN else text


def _deviation(verdict: Verdict) -> str:
    if math.isnan(verdict.deviation):
        return "-"
    if verdict.claim.relation.in_points:
        return f"{verdict.deviation:+.4f}"
    return f"{verdict.deviation:+.1%}".replace("%", " %")


def _verdict(verdict: Verdict) -> str:
    text = verdict.verdict
    if verdict.counts_as in (FITTED, STRUCK):
        text = f"{verdict.counts_as} ({text})"
    elif verdict.counts_as == REPEATED:
        text = f"repeats {verdict.repeats} ({text})"
    if verdict.ordering == "reversed" and not verdict.claim.is_ordering:
        text += ", ordering reversed"
    if verdict.uncertain:
        text += " (uncertain)"
    return f"{text} {_OTHER_SETTING}" if verdict.setting and verdict.measured is not None else text


def _number(value: float, unit: str) -> str:
    text = f"{value:.{_digits(value, unit)}f}"
    return text if unit in _WITHOUT_UNIT else f"{text} {'µs' if unit == 'us' else unit}".strip()


def _digits(value: float, unit: str) -> int:
    """Decimals of a value, and of its interval."""
    return 4 if unit in _WITHOUT_UNIT else 0 if abs(value) >= 100 else 3 if abs(value) < 1 else 2


def _full(value: float) -> str:
    return f"{value:.6g}" if math.isfinite(value) else ""

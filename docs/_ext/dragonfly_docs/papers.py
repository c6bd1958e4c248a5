"""Pages and tables of reproduced papers, from what was measured.

``docs/reproduction/<name>-claims.csv`` has the measurements. Every build of the documentation judges them by today's
claims, writes the labels into the table, and fills ``<name>.inc`` into the page of this name: names in braces stand for
generated parts (``{summary}``, ``{claims}``, ``{notes}``, ``{figures}``, ``{windows}``, ``{fig5}``) and for measured
values (``{QA27.mean:.2f}``), as in the explanations of deviations.
"""

from __future__ import annotations

import csv
import functools
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dragonfly_env.lab.papers import find_paper
from dragonfly_env.lab.papers.explanations import Quotes, quotes
from dragonfly_env.lab.papers.report import (
    JudgedReproduction,
    as_csv,
    claims_of,
    claims_table,
    heading,
    micro,
    notes,
    summary,
)
from dragonfly_env.lab.papers.stored import entered, judge_again
from dragonfly_env.lab.papers.verdicts import DEVIATES, MET, Verdict

FOLDER = Path(__file__).parents[2] / "reproduction"
PAGES = {"hpdc21": "hpdc21", "taco25": "taco25", "taco25-5256": "taco25", "aries": "aries"}
"""Pages and their papers."""
_PREFIXES = {"hpdc21": "", "taco25": "taco25-", "aries": "aries-"}  # prefixes of the pictures
_SETTINGS = re.compile(r"\A<!--.*?-->\n+", re.DOTALL)
_WINDOW = re.compile(r"-(\d+-\d+)us$")


def enter(name: str, folder: Path) -> str:
    """The table of a page with the measurements of a results folder."""
    known, measured = (
        list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))
        for path in (FOLDER / f"{name}-claims.csv", folder / "claims.csv")
    )
    return as_csv(judge_again(find_paper(PAGES[name]), entered(known, measured)))


def paper_pages() -> dict[str, str]:
    """The tables and pages, by path below ``docs/``."""
    found = {}
    for name in PAGES:
        judged = measured(name)
        found[f"reproduction/{name}-claims.csv"] = as_csv(judged)
        found[f"reproduction/{name}.md"] = _page(name, judged)
    return found


@functools.cache
def measured(name: str) -> tuple[JudgedReproduction, ...]:
    """The verdicts on the measurements of a page, by model variant."""
    text = (FOLDER / f"{name}-claims.csv").read_text(encoding="utf-8")
    return judge_again(find_paper(PAGES[name]), list(csv.DictReader(text.splitlines())))


def template(name: str) -> str:
    """The text of a page without the settings at its begin."""
    return _SETTINGS.sub("", (FOLDER / f"{name}.inc").read_text(encoding="utf-8"))


def _page(name: str, judged: tuple[JudgedReproduction, ...]) -> str:
    shown = judged[:1] if name == "taco25-5256" else judged
    rows = list(csv.DictReader(as_csv(shown).splitlines()))
    parts: dict[str, Any] = {
        "summary": "\n".join(summary(rows)),
        "claims": "\n".join(claims_table(_without_windows(shown))),
        "notes": "\n".join(notes(_without_windows(shown))),
        "windows": windows_table(judged),
    }
    if name in _PREFIXES:
        parts |= _figures(_PREFIXES[name], judged)
    text = template(name).format_map(
        Quotes(
            {
                **quotes(
                    {reproduction.variant: reproduction.verdicts for reproduction in judged},
                    judged[0].variant,
                ),
                **parts,
            }
        )
    )
    return micro(text)


def _figures(prefix: str, judged: Sequence[JudgedReproduction]) -> dict[str, str]:
    """By the file's name: heading, picture and count of claims of each figure that is committed."""
    paper = judged[0].work.paper
    found = {}
    for variant in paper.variants:
        for figure in paper.figures:
            file_name = figure.name if variant is paper.usual else f"{figure.name}-{variant.name}"
            title = figure.title if variant is paper.usual else f"{figure.title} ({variant.name})"
            if not (FOLDER / f"{prefix}{file_name}.png").exists():
                continue
            count = claims_of(judged, f"{file_name}.png")
            lines = [
                f"## {heading(title, file_name)}",
                "",
                f"![{title}]({prefix}{file_name}.png)",
                *(["", count] if count else []),
            ]
            found[file_name.replace("-", "_")] = micro("\n".join(lines))
    return {**found, "figures": "\n\n".join(found.values())}


def _without_windows(judged: Sequence[JudgedReproduction]) -> list[JudgedReproduction]:
    """Leave out the rows of claims in other windows, which have a table of their own."""
    return [
        JudgedReproduction(
            reproduction.work,
            tuple(verdict for verdict in reproduction.verdicts if not _WINDOW.search(verdict.claim.id)),
        )
        for reproduction in judged
    ]


def windows_table(judged: Sequence[JudgedReproduction]) -> str:
    """Numbers by claim and window, and the label of the claim in the reproduction's own window."""
    verdicts = {verdict.claim.id: verdict for verdict in judged[0].verdicts}
    found: dict[str, dict[str, Verdict]] = {}
    for name, verdict in verdicts.items():
        if (window := _WINDOW.search(name)) and verdict.measured is not None:
            found.setdefault(name.removesuffix(window[0]), {})[window[1]] = verdict
    if not found:
        return "No other window was run."
    windows = list(dict.fromkeys(window for row in found.values() for window in row))
    lines = [
        f"| claim | published | {' | '.join(f'{window} µs' for window in windows)} | own window |",
        f"|---|---:|{'---:|' * len(windows)}---|",
    ]
    for claim, row in found.items():
        label = verdicts[claim].verdict if claim in verdicts else ""
        published = next(iter(row.values())).claim.published
        cells = " | ".join(_in_window(row.get(window)) for window in windows)
        lines.append(f"| {claim} | {published:#.3g} | {cells} | {label} |")
    columns = [[row[window] for row in found.values() if window in row] for window in windows]
    counts = " | ".join(f"{_met(column)} of {len(column)}" for column in columns)
    listed = [verdicts[claim] for claim in found if claim in verdicts]
    judged_alone = [verdict for verdict in listed if verdict.verdict in (MET, DEVIATES)]
    lines.append(f"| met | | {counts} | {_met(judged_alone)} of {len(judged_alone)} |")
    return "\n".join(lines)


def _met(verdicts: Sequence[Verdict]) -> int:
    return sum(verdict.verdict == MET for verdict in verdicts)


def _in_window(verdict: Verdict | None) -> str:
    """The cell of a number in a window; empty if the window was not measured."""
    if verdict is None or verdict.measured is None:
        return ""
    return f"{verdict.measured.mean:#.3g}{'*' if verdict.verdict == MET else ''}"


if __name__ == "__main__":
    page, results = sys.argv[1:]
    (FOLDER / f"{page}-claims.csv").write_text(enter(page, Path(results)), encoding="utf-8")

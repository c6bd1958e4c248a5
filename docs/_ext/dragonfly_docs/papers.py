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
from dragonfly_env.lab.papers.stored import judge_again
from dragonfly_env.lab.papers.verdicts import DEVIATES, MET

FOLDER = Path(__file__).parents[2] / "reproduction"
PAGES = {"hpdc21": "hpdc21", "taco25": "taco25", "taco25-5256": "taco25", "aries": "aries"}
"""Pages and their papers."""
_PREFIXES = {"hpdc21": "", "taco25": "taco25-", "aries": "aries-"}  # prefixes of the pictures
_SETTINGS = re.compile(r"\A<!--.*?-->\n+", re.DOTALL)
_WINDOW = re.compile(r"-(\d+-\d+)us$")


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
        Quotes({**quotes({one.variant: one.verdicts for one in judged}, judged[0].variant), **parts})
    )
    return micro(text)


def _figures(prefix: str, judged: Sequence[JudgedReproduction]) -> dict[str, str]:
    """By the file's name: heading, picture and count of claims of each figure that is committed."""
    paper = judged[0].work.paper
    found = {}
    for variant in paper.variants:
        for figure in paper.figures:
            own = figure.name if variant is paper.usual else f"{figure.name}-{variant.name}"
            title = figure.title if variant is paper.usual else f"{figure.title} ({variant.name})"
            if not (FOLDER / f"{prefix}{own}.png").exists():
                continue
            count = claims_of(judged, f"{own}.png")
            lines = [
                f"## {heading(title, own)}",
                "",
                f"![{title}]({prefix}{own}.png)",
                *(["", count] if count else []),
            ]
            found[own.replace("-", "_")] = micro("\n".join(lines))
    return {**found, "figures": "\n\n".join(found.values())}


def _without_windows(judged: Sequence[JudgedReproduction]) -> list[JudgedReproduction]:
    """Leave out the rows of claims in other windows, which have a table of their own."""
    return [
        JudgedReproduction(
            one.work, tuple(verdict for verdict in one.verdicts if not _WINDOW.search(verdict.claim.id))
        )
        for one in judged
    ]


def windows_table(judged: Sequence[JudgedReproduction]) -> str:
    """Numbers by claim and window, and the label of the claim in the reproduction's own window."""
    verdicts = {verdict.claim.id: verdict for verdict in judged[0].verdicts}
    found: dict[str, dict[str, str]] = {}
    published: dict[str, float] = {}
    for name, verdict in verdicts.items():
        window = _WINDOW.search(name)
        if window and verdict.measured is not None:
            star = "*" if verdict.verdict == MET else ""
            claim = name.removesuffix(window[0])
            found.setdefault(claim, {})[window[1]] = f"{verdict.measured.mean:#.3g}{star}"
            published[claim] = verdict.claim.published
    if not found:
        return "No other window was run."
    windows = list(dict.fromkeys(window for row in found.values() for window in row))
    lines = [
        f"| claim | published | {' | '.join(f'{window} µs' for window in windows)} | own window |",
        f"|---|---:|{'---:|' * len(windows)}---|",
    ]
    for claim, row in found.items():
        label = verdicts[claim].verdict if claim in verdicts else ""
        cells = " | ".join(row.get(window, "") for window in windows)
        lines.append(f"| {claim} | {published[claim]:#.3g} | {cells} | {label} |")
    met = [sum(row.get(window, "").endswith("*") for row in found.values()) for window in windows]
    runs = [sum(window in row for row in found.values()) for window in windows]
    own = [verdicts[claim].verdict for claim in found if claim in verdicts]
    counts = " | ".join(f"{one} of {of}" for one, of in zip(met, runs, strict=True))
    lines.append(f"| met | | {counts} | {own.count(MET)} of {own.count(MET) + own.count(DEVIATES)} |")
    return "\n".join(lines)

"""The report of a benchmark: the leaderboard for a terminal, as Markdown and as an HTML page with the heat map to hover
over (it opens from a file, offline); the scores as Parquet.
"""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.offline import get_plotlyjs
from rich import box
from rich.console import Group, JustifyMethod, RenderableType
from rich.table import Table
from rich.text import Text

import dragonfly_env as dfe
from dragonfly_env.checks.files import open_output, refusing, write_text
from dragonfly_env.colors import HEAT
from dragonfly_env.lab.benchmark.execution import Benchmark
from dragonfly_env.lab.benchmark.figures import BEST, WORST, heat_map, ratios_of
from dragonfly_env.lab.benchmark.scores import CLOSE, TRAINING, Scores
from dragonfly_env.lab.benchmark.suite import KINDS
from dragonfly_env.lab.benchmark.training import TrainingCost
from dragonfly_env.plots.style import save

SCORES_NAME, PAGE_NAME = "scores.parquet", "benchmark.html"
LEADERBOARD_NAME, FIGURE_NAME = "benchmark.md", "heatmap"
_STYLE = (
    "body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:1400px;padding:0 1rem;color:#222}"
    "table{border-collapse:collapse;margin:.5rem 0 2rem}th,td{padding:.25rem .7rem;border-bottom:1px solid #ddd;"
    "text-align:left}td.number{text-align:right}.own td{font-weight:600}h2{margin-top:2rem}"
)
_OWN = "yours"
_ONLINE = "while measured"
_TERMINAL = ("policy", "over the bound", "over the best", "worst", "saturated", "cases")
BOARD = (
    "policy", "kind", "knows", "over the bound", "95 %", "better than the next", "over the best",
    "over the best that can be built", "worst", "worst case", "links there", "within 2 %", "saturated", "cases",
    "trained",
)  # fmt: skip
_CASES = ("case", "bound", "best reference", "its value", "over the bound", "references")
_TRAININGS = ("policy", "track", "split", "trainings", "over the bound", "95 %")
_TEXTS = (
    "policy", "kind", "knows", "worst case", "links there", "trained", "case", "best reference", "track", "split",
)  # fmt: skip
ONE_SEED = "No interval covers other seeds: add --seeds 5."


@dataclass(frozen=True, slots=True)
class Section:
    """A table of the page."""

    title: str  # title above the table
    headings: tuple[str, ...]  # one per column
    rows: tuple[tuple[str, ...], ...]  # texts, one per heading
    is_yours: tuple[bool, ...] = ()  # whether a row is about a policy of the user

    def only(self, headings: tuple[str, ...]) -> Section:
        """Return the section with these columns only."""
        places = [self.headings.index(name) for name in headings]
        rows = tuple(tuple(row[place] for place in places) for row in self.rows)
        return replace(self, headings=headings, rows=rows)

    @property
    def told(self) -> Section:
        """The section without columns that are empty in all rows."""
        places = range(len(self.headings))
        full = {place for place in places if any(row[place] not in ("-", "") for row in self.rows)}
        return self.only(tuple(self.headings[place] for place in places if place in full or not self.rows))


def _table(shown: Section) -> Table:
    table = Table(box=box.SIMPLE_HEAD, title=shown.title, title_justify="left")
    for heading in shown.headings:
        justify: JustifyMethod = "left" if heading in _TEXTS else "right"
        table.add_column(
            heading, justify=justify, overflow="fold", no_wrap=heading in ("policy", "saturated")
        )
    for place, row in enumerate(shown.rows):
        style = "bold" if shown.is_yours and shown.is_yours[place] else ""
        table.add_row(*(Text(text, style=style) for text in row))
    return table


def explanation() -> str:
    """Explain the tables."""
    return (
        "Over the bound: the value of a case over the bound of any routing, geometric mean over the cases. For "
        "accepted loads: the bound over the value; workloads have no bound. 95 %: its interval, by the bootstrap over "
        "cases and seeds. Better than the next: the probability that a run is better than one of the next policy in "
        "the same case. Over the best: the same mean over the best reference of each case; that can be built: of those "
        "that know no more of other routers than signals with their delay. Worst: its highest value, "
        "with the case, and the links that were full there. Within 2 %: share of cases up to "
        f"{CLOSE:g}. Saturated: cases whose load the policy does not carry, but a reference does. Trained: the "
        "CPU time of an earlier training. Method: Agarwal et al., Deep Reinforcement Learning at the Edge of the "
        "Statistical Precipice, NeurIPS 2021."
    )


def origin(work: Benchmark) -> str:
    """Say in one sentence how many runs were not done here; empty if all were done or will be."""
    taken = work.taken()
    if not taken:
        return ""
    versions = " and ".join(sorted({result.package_version for result in taken}))
    others = sum(result.policy not in work.kinds for result in taken)
    and_others = f", and {others:,} of other policies" if others else ""
    return (
        f"{len(work.kinds)} references: {len(taken) - others:,} of {work.reference_runs():,} runs published with "
        f"dragonfly-env {versions}{and_others}, not run here; --rerun-references runs them"
    )


def sections(work: Benchmark, scores: Scores) -> tuple[Section, ...]:
    """All tables: for each track and split the policies and the cases; and the trainings, if a policy has several."""
    titles = {track.name: track.title for track in work.chosen}
    found = []
    for track, split, rows in scores.ranked():
        title = f"{titles[track]}: {split}"
        is_yours = tuple(not row["kind"] for _, row in rows.iterrows())
        found.append(Section(title, BOARD, tuple(of_policy(row) for _, row in rows.iterrows()), is_yours))
        here = scores.table[(scores.table["track"] == track) & (scores.table["split"] == split)]
        others = [
            label for label in scores.policies if label in set(here[~here["kind"].isin(KINDS)]["policy"])
        ]
        cases = tuple(_of_case(some, others) for _, some in here.groupby("case", sort=False))
        found.append(Section(f"{title}, by case", (*_CASES, *others), cases))
    trained = scores.trained() if scores.trainings else None
    if trained is not None and len(trained):
        told = tuple(
            (row["policy"], row["track"], row["split"], str(row["trainings"]), _ratio_text(row["over_bound"]),
             interval_text(row["over_low"], row["over_high"], digits(row["over_bound"])))
            for _, row in trained.iterrows()
        )  # fmt: skip
        found.append(Section("Interquartile mean over trainings", _TRAININGS, told))
    return tuple(found)


def of_policy(row: pd.Series) -> tuple[str, ...]:
    """A row of the leaderboard as texts, one for each of ``BOARD``."""
    cost = TrainingCost(*(row[name] for name in TRAINING))
    return (
        str(row["policy"]),
        str(row["kind"]) or _OWN,
        str(row["knowledge"]) or "-",
        _ratio_text(row["over_bound"]),
        interval_text(row["over_low"], row["over_high"], digits(row["over_bound"])),
        f"{row['better']:.2f} ({interval_text(row['better_low'], row['better_high'], 2)})"
        if not math.isnan(row["better"])
        else "-",
        _ratio_text(row["geometric_mean"]),
        _ratio_text(row["over_delayed"]),
        _ratio_text(row["worst"]),
        str(row["worst_case"]),
        str(row["reason"]) or "-",
        f"{row['close_share']:.0%}".replace("%", " %"),
        str(row["saturated"]),
        f"{row['cases']} of {row['of']}",
        _ONLINE if row["kind"] == "online" else cost.describe(),
    )


def _of_case(some: pd.DataFrame, others: Sequence[str]) -> tuple[str, ...]:
    """A row of the cases: bound, best reference, and the ratios of the policies that are no references."""
    labels = some["policy"].astype(str)
    over, ratio, values = (
        dict(zip(labels, some[name].to_numpy(np.float64).tolist(), strict=True))
        for name in ("over_bound", "ratio", "value")
    )
    bound, best = float(some["bound"].iloc[0]), str(some["best_reference"].iloc[0])
    known = not math.isnan(bound)
    return (
        str(some["case"].iloc[0]),
        _value_text(bound),
        best or "-",
        _value_text(values.get(best, math.nan)),
        _ratio_text(over.get(best, math.nan)),
        str(int(some["kind"].isin(KINDS).sum())),
        *(_ratio_text((over if known else ratio).get(label, math.nan)) for label in others),
    )


def _ratio_text(value: float) -> str:
    if math.isnan(value):
        return "-"
    return f"{value:.{digits(value)}f}"


def digits(ratio: float) -> int:
    """Decimals of a ratio, and of its interval."""
    return 3 if ratio < 10 else 0


def interval_text(low: float, high: float, digits: int) -> str:
    return "-" if math.isnan(low) else f"{low:.{digits}f} to {high:.{digits}f}"


def _value_text(value: float) -> str:
    if math.isnan(value):
        return "-"
    return f"{value:.4f}" if value < 2 else f"{value:,.0f}"


def render_leaderboard(work: Benchmark, scores: Scores) -> RenderableType:
    """Render the policies for a terminal, one table per track and split."""
    parts: list[RenderableType] = []
    for section in sections(work, scores):
        if section.headings == BOARD:
            parts.append(_table(section.only(_TERMINAL)))
        elif section.headings == _TRAININGS:
            parts.append(_table(section))
    parts += [Text(note, style="dim") for note in (explanation(), *_notes(work))]
    return Group(*parts)


def _notes(work: Benchmark) -> tuple[str, ...]:
    """Sentences that a reader of the tables needs besides."""
    taken = origin(work)
    return (*((ONE_SEED,) if len(work.seeds_of()) == 1 else ()), *((f"{taken}.",) if taken else ()))


def as_markdown(work: Benchmark, scores: Scores, command: str) -> str:
    """The leaderboard as a page: the same text for the same results."""
    suite = work.suite
    lines = [
        f"# Leaderboard of {suite.name}",
        "",
        f"    {command}",
        "",
        f"dragonfly-env {dfe.__version__}, mode `{work.effort}`, {len(work.seeds_of())} seed(s).",
        *(
            line
            for note in _notes(work)
            for line in ("", note.replace("--rerun-references", "`--rerun-references`"))
        ),
        "",
        explanation(),
        "",
        *(
            f"- {kind}: {', '.join(f'`{spec}`' for spec in specs)}"
            for kind, specs in {**suite.references, **suite.shown}.items()
            if specs
        ),
    ]
    for section in (each.told for each in sections(work, scores)):
        folded = section.headings[0] == _CASES[0]  # a row per case: long, and few read it
        lines += [
            "",
            f"## {section.title}",
            "",
            *((f"<details><summary>{len(section.rows)} cases</summary>", "") if folded else ()),
            "| " + " | ".join(section.headings) + " |",
            "|" + "".join("---|" if heading in _TEXTS else "---:|" for heading in section.headings),
            *("| " + " | ".join(row) + " |" for row in section.rows),
            *(("", "</details>") if folded else ()),
        ]
    return "\n".join(lines) + "\n"


def write_page(work: Benchmark, scores: Scores, path: Path) -> None:
    """Write the page."""
    tables = []
    for section in (each.told for each in sections(work, scores)):
        head = "".join(f"<th>{html.escape(name)}</th>" for name in section.headings)
        kinds = ["" if name in _TEXTS else " class=number" for name in section.headings]
        body = "".join(
            f"<tr{' class=own' if section.is_yours and section.is_yours[place] else ''}>"
            + "".join(f"<td{kind}>{html.escape(text)}</td>" for kind, text in zip(kinds, row, strict=True))
            + "</tr>"
            for place, row in enumerate(section.rows)
        )
        tables.append(f"<h2>{html.escape(section.title)}</h2><table><tr>{head}</tr>{body}</table>")
    told = "".join(f"<p>{html.escape(note)}</p>" for note in (explanation(), *_notes(work)))
    title = html.escape(f"{work.suite.title} ({work.effort})")
    write_text(
        f"<!doctype html><html lang=en><meta charset=utf-8><title>{title}</title><style>{_STYLE}</style>"
        f"<h1>{title}</h1>{told}"
        f"<script>{get_plotlyjs()}</script>{_chart(scores)}{''.join(tables)}</html>\n",
        path,
    )


def _chart(scores: Scores) -> str:
    found = ratios_of(scores)
    values = found.values
    ticks = (BEST, 1.0, 1.5, 2.0, 3.0, WORST)
    figure = go.Figure(
        go.Heatmap(
            z=np.log2(np.clip(values, BEST, WORST)),
            x=[f"{case}<br>{track}, {split}" for track, split, case in found.cases],
            y=found.labels,
            text=np.where(np.isnan(values), "not measured", np.round(values, 3).astype(str)),
            hovertemplate="%{y}<br>%{x}<br>ratio %{text}<extra></extra>",
            colorscale=HEAT,
            zmin=np.log2(BEST),
            zmax=np.log2(WORST),
            colorbar={"title": "ratio", "tickvals": np.log2(ticks).tolist(),
                      "ticktext": [f"{tick:g}" for tick in ticks[:-1]] + [f"{WORST:g} or more"]},
        )
    )  # fmt: skip
    figure.update_layout(
        height=200 + 26 * len(found.policies),
        margin={"l": 10, "r": 10, "t": 10, "b": 10},
        xaxis={"showticklabels": False, "title": "cases (hover to see which)"},
        yaxis={"autorange": "reversed"},
    )
    chart: str = figure.to_html(full_html=False, include_plotlyjs=False, div_id="chart")
    return chart


def write_reports(work: Benchmark, scores: Scores, command: str) -> dict[str, Path]:
    """Write scores, page, leaderboard and figure into the results folder; what each file is, and where."""
    folder = work.folder
    with refusing("folder", folder, "must be a writable folder"):
        folder.mkdir(parents=True, exist_ok=True)
        with open_output(folder / SCORES_NAME) as file:
            scores.table.to_parquet(file, index=False)  # pyarrow takes only names in UTF-8
        write_text(as_markdown(work, scores, command), folder / LEADERBOARD_NAME)
        picture = save(heat_map(scores), folder, FIGURE_NAME)[0]
        write_page(work, scores, folder / PAGE_NAME)
    return {
        "scores": folder / SCORES_NAME,
        "leaderboard": folder / LEADERBOARD_NAME,
        "page": folder / PAGE_NAME,
        "figure": picture,
    }

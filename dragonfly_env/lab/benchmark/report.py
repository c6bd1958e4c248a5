"""What a benchmark says: the leaderboard for a terminal, as Markdown and as an HTML page with the heat map to hover
over (it opens from a file, offline); the scores as Parquet.
"""

from __future__ import annotations

import html
import math
import platform
from datetime import datetime, timezone
from pathlib import Path

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.offline import get_plotlyjs
from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

import dragonfly_env as dfe
from dragonfly_env.checks.files import replacing, write_text
from dragonfly_env.checks.values import config_error
from dragonfly_env.lab.benchmark.execution import Benchmark
from dragonfly_env.lab.benchmark.figures import WORST, heat_map, ratios_of
from dragonfly_env.lab.benchmark.scores import CLOSE, TRAINING, Scores
from dragonfly_env.lab.benchmark.training import TrainingCost
from dragonfly_env.plots.style import save
from dragonfly_env.sweeps.measure import machine

SCORES_NAME, PAGE_NAME = "scores.parquet", "benchmark.html"
LEADERBOARD_NAME, FIGURE_NAME = "benchmark.md", "heatmap"
_TEXTS = ("policy", "kind", "worst case", "trained")
HEADINGS = (
    "policy",
    "kind",
    "geometric mean",
    "worst",
    "worst case",
    "within 2 %",
    "saturated",
    "cases",
    "trained",
)
_OWN = "yours"
_ONLINE = "while measured"
_STYLE = (
    "body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:1200px;padding:0 1rem;color:#222}"
    "table{border-collapse:collapse;margin:.5rem 0 2rem}th,td{padding:.25rem .7rem;border-bottom:1px solid #ddd;"
    "text-align:right}th:first-child,td:first-child,th:nth-child(2),td:nth-child(2),th:nth-child(5),td:nth-child(5),"
    "th:nth-child(9),td:nth-child(9){text-align:left}.own td{font-weight:600}h2{margin-top:2rem}"
)


def explanation() -> str:
    """How to read the tables, in one paragraph."""
    return (
        "In every case: the policy's value over that of the best reference policy (for accepted loads the other way "
        f"round): 1 is as good, more is worse. Within 2 %: share of cases with a ratio up to {CLOSE:g}. Saturated: "
        "cases in which it does not carry the load although some reference does. Trained: what a training took before; "
        "on-line learners begin with nothing, in every run."
    )


def origin(work: Benchmark) -> str:
    """How many runs of the references were not done here, in one sentence; nothing if all were, or are to be."""
    taken = work.taken()
    if not taken:
        return ""
    versions = " and ".join(sorted({result.package_version for result in taken}))
    return (
        f"{len(work.kinds)} references: {len(taken):,} of {work.reference_runs():,} runs published with dragonfly-env "
        f"{versions}, not run here; --measure-all runs them"
    )


def cases_of(row: pd.Series) -> tuple[str, ...]:
    """A row of the leaderboard as texts, one per heading."""
    return (
        str(row["policy"]),
        str(row["kind"]) or _OWN,
        _ratio_text(row["geometric_mean"]),
        _ratio_text(row["worst"]),
        str(row["worst_case"]),
        f"{row['close_share']:.0%}".replace("%", " %"),
        str(row["saturated"]),
        f"{row['cases']} of {row['of']}",
        _ONLINE if row["kind"] == "online" else TrainingCost(*(row[name] for name in TRAINING)).describe(),
    )


def _ratio_text(value: float) -> str:
    if math.isnan(value):
        return "-"
    return f"{value:.3f}" if value < 10 else f"{value:.0f}"


def render_leaderboard(scores: Scores) -> RenderableType:
    """For a terminal: one table per track and split."""
    parts: list[RenderableType] = []
    for track, split, rows in scores.ranked():
        table = Table(box=box.SIMPLE_HEAD, title=f"{track}, {split}", title_justify="left")
        for heading in HEADINGS:
            table.add_column(heading, justify="left" if heading in _TEXTS else "right")
        for _, row in rows.iterrows():
            style = "" if row["kind"] else "bold"
            table.add_row(*(Text(case, style=style) for case in cases_of(row)))
        parts.append(table)
    parts.append(Text(explanation(), style="dim"))
    return Group(*parts)


def as_markdown(work: Benchmark, scores: Scores, command: str) -> str:
    """The leaderboard as a page."""
    suite = work.suite
    taken = origin(work).replace("--measure-all", "`--measure-all`")
    lines = [
        f"# Benchmark {suite.name}: leaderboard",
        "",
        f"    {command}",
        "",
        f"dragonfly-env {dfe.__version__}, {datetime.now(timezone.utc):%Y-%m-%d}, {machine()}, {platform.system()}. "
        f"Mode `{work.effort}`, {len(work.seeds_of())} seed(s).",
        *(("", f"{taken}.") if taken else ()),
        "",
        explanation(),
        "",
        *(
            f"- {kind}: {', '.join(f'`{spec}`' for spec in specs)}"
            for kind, specs in suite.references.items()
        ),
    ]
    titles = {track.name: track.title for track in work.chosen}
    for track, split, rows in scores.ranked():
        lines += [
            "",
            f"## {titles[track]}: {split}",
            "",
            "| " + " | ".join(HEADINGS) + " |",
            "|" + "".join("---|" if heading in _TEXTS else "---:|" for heading in HEADINGS),
            *("| " + " | ".join(cases_of(row)) + " |" for _, row in rows.iterrows()),
        ]
    return "\n".join(lines) + "\n"


def write_page(work: Benchmark, scores: Scores, path: Path) -> None:
    """Write the page.

    Raises:
        OSError: If the file cannot be written.
    """
    titles = {track.name: track.title for track in work.chosen}
    tables = []
    for track, split, rows in scores.ranked():
        head = "".join(f"<th>{html.escape(name)}</th>" for name in HEADINGS)
        body = "".join(
            f"<tr{'' if row['kind'] else ' class=own'}>"
            + "".join(f"<td>{html.escape(case)}</td>" for case in cases_of(row))
            + "</tr>"
            for _, row in rows.iterrows()
        )
        tables.append(f"<h2>{html.escape(titles[track])}: {split}</h2><table><tr>{head}</tr>{body}</table>")
    taken = origin(work)
    told = f"<p>{html.escape(taken)}.</p>" if taken else ""
    title = html.escape(f"{work.suite.title} ({work.effort})")
    write_text(
        f"<!doctype html><html lang=en><meta charset=utf-8><title>{title}</title><style>{_STYLE}</style>"
        f"<h1>{title}</h1><p>{html.escape(explanation())}</p>{told}"
        f"<script>{get_plotlyjs()}</script>{_chart(scores)}{''.join(tables)}</html>\n",
        path,
    )


def _chart(scores: Scores) -> str:
    found = ratios_of(scores)
    values = found.values
    limit = float(np.log2(WORST))
    figure = go.Figure(
        go.Heatmap(
            z=np.clip(np.log2(values), -limit, limit),
            x=[f"{case}<br>{track}, {split}" for track, split, case in found.cases],
            y=found.labels,
            text=np.where(np.isnan(values), "not measured", np.round(values, 3).astype(str)),
            hovertemplate="%{y}<br>%{x}<br>ratio %{text}<extra></extra>",
            colorscale="RdBu_r",
            zmin=-limit,
            zmax=limit,
            colorbar={"title": "ratio", "tickvals": [-limit, -1, 0, 1, limit],
                      "ticktext": [f"{1 / WORST:g}", "0.5", "1", "2", f"{WORST:g} or more"]},
        )
    )  # fmt: skip
    figure.update_layout(
        height=200 + 26 * len(found.policies),
        margin={"l": 10, "r": 10, "t": 10, "b": 10},
        xaxis={"showticklabels": False, "title": "cases (hover to see which)"},
        yaxis={"autorange": "reversed"},
    )
    chart: str = figure.to_html(full_html=False, include_plotlyjs=False)
    return chart


def write_reports(work: Benchmark, scores: Scores, command: str) -> dict[str, Path]:
    """Write scores, page, leaderboard and figure into the results folder; what each file is, and where.

    Raises:
        ConfigError: If the folder cannot be written to.
    """
    folder = work.folder
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with replacing(folder / SCORES_NAME) as temporary, temporary.open("wb") as file:
            scores.table.to_parquet(file, index=False)  # pyarrow takes only names in UTF-8
        write_text(as_markdown(work, scores, command), folder / LEADERBOARD_NAME)
        picture = save(heat_map(scores), folder, FIGURE_NAME)[0]
        write_page(work, scores, folder / PAGE_NAME)
    except OSError as error:
        reason = error.strerror or str(error)
        raise config_error("results folder", str(folder), f"must be a writable folder ({reason})") from error
    return {
        "scores": folder / SCORES_NAME,
        "leaderboard": folder / LEADERBOARD_NAME,
        "page": folder / PAGE_NAME,
        "figure": picture,
    }

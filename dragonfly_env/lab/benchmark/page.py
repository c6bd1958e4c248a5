"""One HTML page: the heat map to hover over, and the leaderboard. It opens from a file, offline."""

from __future__ import annotations

import html
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import plotly.graph_objects as go
from plotly.offline import get_plotlyjs

from dragonfly_env.checks.files import write_text
from dragonfly_env.lab.benchmark.figures import WORST, ratios_of
from dragonfly_env.lab.benchmark.scores import Scores
from dragonfly_env.lab.benchmark.tables import HEADINGS, cells_of, explanation, origin

if TYPE_CHECKING:
    from dragonfly_env.lab.benchmark.execution import Benchmark

_STYLE = (
    "body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:1200px;padding:0 1rem;color:#222}"
    "table{border-collapse:collapse;margin:.5rem 0 2rem}th,td{padding:.25rem .7rem;border-bottom:1px solid #ddd;"
    "text-align:right}th:first-child,td:first-child,th:nth-child(2),td:nth-child(2),th:nth-child(5),td:nth-child(5),"
    "th:nth-child(9),td:nth-child(9){text-align:left}.own td{font-weight:600}h2{margin-top:2rem}"
)


def write_page(work: Benchmark, scores: Scores, path: Path) -> None:
    """Write the page.

    Raises:
        OSError: If the file cannot be written.
    """
    ranked = scores.leaderboard()
    titles = {board.name: board.title for board in work.chosen}
    tables = []
    for board, part in scores.boards:
        here = ranked[(ranked["board"] == board) & (ranked["part"] == part)] if len(ranked) else ranked
        head = "".join(f"<th>{html.escape(name)}</th>" for name in HEADINGS)
        body = "".join(
            f"<tr{'' if row['kind'] else ' class=own'}>"
            + "".join(f"<td>{html.escape(cell)}</td>" for cell in cells_of(row))
            + "</tr>"
            for _, row in here.iterrows()
        )
        tables.append(f"<h2>{html.escape(titles[board])}: {part}</h2><table><tr>{head}</tr>{body}</table>")
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
            x=[f"{cell}<br>{board}, {part}" for board, part, cell in found.cells],
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
        xaxis={"showticklabels": False, "title": "cells (hover to see which)"},
        yaxis={"autorange": "reversed"},
    )
    chart: str = figure.to_html(full_html=False, include_plotlyjs=False)
    return chart

"""What a benchmark says: tables for a terminal and as Markdown, the scores as Parquet."""

from __future__ import annotations

import platform
from datetime import datetime, timezone
from pathlib import Path

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

import dragonfly_env as dfe
from dragonfly_env.checks.files import replacing, write_text
from dragonfly_env.checks.values import config_error
from dragonfly_env.lab.benchmark.execution import Benchmark
from dragonfly_env.lab.benchmark.figures import heat_map
from dragonfly_env.lab.benchmark.page import write_page
from dragonfly_env.lab.benchmark.scores import Scores
from dragonfly_env.lab.benchmark.tables import HEADINGS, cells_of, explanation, origin
from dragonfly_env.plots.style import save
from dragonfly_env.sweeps.measure import machine

SCORES_NAME, PAGE_NAME, LEADERBOARD_NAME, FIGURE_NAME = (
    "scores.parquet",
    "benchmark.html",
    "benchmark.md",
    "heatmap",
)
_TEXTS = ("policy", "kind", "worst cell", "trained")


def render_leaderboard(scores: Scores) -> RenderableType:
    """For a terminal: one table per board and part."""
    parts: list[RenderableType] = []
    ranked = scores.leaderboard()
    for board, part in scores.boards:
        here = ranked[(ranked["board"] == board) & (ranked["part"] == part)] if len(ranked) else ranked
        table = Table(box=box.SIMPLE_HEAD, title=f"{board}, {part}", title_justify="left")
        for heading in HEADINGS:
            table.add_column(heading, justify="left" if heading in _TEXTS else "right")
        for _, row in here.iterrows():
            style = "" if row["kind"] else "bold"
            table.add_row(*(Text(cell, style=style) for cell in cells_of(row)))
        parts.append(table)
    parts.append(Text(explanation(), style="dim"))
    return Group(*parts)


def as_markdown(work: Benchmark, scores: Scores, command: str) -> str:
    """The leaderboard as a page."""
    ranked = scores.leaderboard()
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
    titles = {board.name: board.title for board in work.chosen}
    for board, part in scores.boards:
        here = ranked[(ranked["board"] == board) & (ranked["part"] == part)] if len(ranked) else ranked
        lines += [
            "",
            f"## {titles[board]}: {part}",
            "",
            "| " + " | ".join(HEADINGS) + " |",
            "|" + "".join("---|" if heading in _TEXTS else "---:|" for heading in HEADINGS),
            *("| " + " | ".join(cells_of(row)) + " |" for _, row in here.iterrows()),
        ]
    return "\n".join(lines) + "\n"


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

"""Tables of results, and the comparison of two result files."""

from __future__ import annotations

import json
import statistics
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from benchmarks.result import Result

FORMAT = 2
_OLDER_FORMATS = (1,)  # the same without the yardstick
_WIDTH_WITHOUT_TERMINAL = 160


def console(*, error: bool = False) -> Console:
    """For standard output or the error stream; wide enough for the tables where there is no terminal."""
    stream = sys.stderr if error else sys.stdout
    return Console(stderr=error, width=None if stream.isatty() else _WIDTH_WITHOUT_TERMINAL, highlight=False)


def number(value: float) -> str:
    """Four significant digits, without an exponent."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:#.4g}".rstrip(".")


def yardsticks(result: Result) -> str:
    """Median (lowest-highest) as multiples of the yardstick, or nothing."""
    samples = result.yardsticks
    if not samples:
        return ""
    middle = number(statistics.median(samples))
    return f"{middle} ({number(min(samples))}-{number(max(samples))})" if len(samples) > 1 else middle


def table(results: Sequence[Result]) -> Table:
    """Every figure: median, lowest, highest, the same as a multiple of the yardstick, goal."""
    shown = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in ("family", "what", "median", "lowest", "highest", "spread", "yardsticks", "goal", "unit"):
        right = heading in ("median", "lowest", "highest", "spread", "yardsticks", "goal")
        shown.add_column(heading, justify="right" if right else "left", no_wrap=heading != "unit")
    family = ""
    for result in results:
        if family and family != result.family:
            shown.add_section()
        goal = Text()
        if result.goal is not None:
            goal = Text(f"{result.goal:g}", style="green" if result.meets_goal else "red")
            goal.append(" met" if result.meets_goal else " missed")
        shown.add_row(
            result.family if result.family != family else "",
            result.name,
            number(result.median),
            number(min(result.samples)),
            number(max(result.samples)),
            f"{result.spread:.1%}" if len(result.samples) > 1 else "",
            yardsticks(result),
            goal,
            result.unit,
        )
        family = result.family
    return shown


def read(path: Path) -> dict[str, Any]:
    """A result file.

    Raises:
        ValueError: If it is none, naming it.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ValueError(f"{path}: {error}") from error
    if not isinstance(content, dict) or content.get("format") not in (FORMAT, *_OLDER_FORMATS):
        raise ValueError(f"{path}: not a result file of these benchmarks, format {FORMAT}")
    return content


def differences(a: dict[str, Any], b: dict[str, Any]) -> list[str]:
    """What makes two result files hard to compare, one line each."""
    lines = []
    for part, names in (
        ("machine", ("processor", "usable_processors", "nice")),
        ("build", ("compiler", "flags")),
    ):
        for name in names:
            if a[part].get(name) != b[part].get(name):
                lines.append(f"{name}: {a[part].get(name)} / {b[part].get(name)}")
    if a["effort"] != b["effort"]:
        lines.append(f"effort: {a['effort']['name']} / {b['effort']['name']}")
    return lines


def comparison(a: dict[str, Any], b: dict[str, Any]) -> Table:
    """Ratios B/A of the medians of all figures that both files have, and of their multiples of the yardstick.

    The first means something on one quiet machine, the second on different or busy ones too. A ratio is called
    better or worse only where the ranges of the samples do not touch.
    """
    shown = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in ("family", "what", "A", "B", "B/A", "", "in yardsticks", "unit"):
        shown.add_column(
            heading, justify="right" if heading in ("A", "B", "B/A", "in yardsticks") else "left"
        )
    before = {(r["family"], r["name"]): Result.from_dict(r) for r in a["results"]}
    after = {(r["family"], r["name"]): Result.from_dict(r) for r in b["results"]}
    for key, old in before.items():
        if key not in after:
            continue
        new = after[key]
        verdict = Text()
        higher, lower = min(new.samples) > max(old.samples), max(new.samples) < min(old.samples)
        if higher or lower:
            good = higher == old.higher_is_better
            verdict = Text("better" if good else "worse", style="green" if good else "red")
        ratio = f"{new.median / old.median:.3f}" if old.median else ""
        multiples = old.yardsticks, new.yardsticks
        without_machine = ""
        if all(multiples):
            without_machine = f"{statistics.median(multiples[1]) / statistics.median(multiples[0]):.3f}"
        shown.add_row(*key, number(old.median), number(new.median), ratio, verdict, without_machine, old.unit)
    return shown

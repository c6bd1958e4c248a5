"""Generated pages and parts of pages that are committed, so that a clone reads without a build.

A part begins with ``<!-- generated: NAME -->`` and ends with ``<!-- /generated -->``. ``results.py`` writes them.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping
from pathlib import Path

from dragonfly_docs.commands import command_table
from dragonfly_docs.leaderboard import all_tracks, top_ten
from dragonfly_docs.markdown import GENERATED, code, table
from dragonfly_docs.policies import policy_table
from dragonfly_docs.results import results
from dragonfly_docs.systems import grid_table, network_table, topology_table
from dragonfly_docs.tasks import baseline_scores, reference_scores, trained_scores
from dragonfly_docs.traffic import traffic_table
from dragonfly_docs.training_step import step_table

_PART = re.compile(r"(<!-- generated: ([\w-]+) -->\n).*?(^<!-- /generated -->)", re.DOTALL | re.MULTILINE)


def result_table(name: str) -> str:
    """The figures of a table of ``results.toml``."""
    rows = (
        (
            result.what,
            f"{result.value} {result.unit}",
            result.note,
            code(result.command),
            result.measured.replace("-", "\u2011"),
        )
        for result in results()
        if result.table == name
    )
    return table(("what", "measured", "details", "command", "date"), rows)


PARTS: dict[str, Callable[[], str]] = {
    "commands": command_table,
    **{
        f"{group}-policies": functools.partial(policy_table, group)
        for group in ("oblivious", "source", "progressive", "learned")
    },
    "patterns": traffic_table,
    "topologies": topology_table,
    "grids": grid_table,
    "networks": network_table,
    "agreement": lambda: result_table("agreement"),
    "claims": lambda: result_table("claims"),
    "speed": lambda: result_table("speed"),
    "peers": lambda: result_table("peers"),
    "training-step": step_table,
    "top-ten": top_ten,
    "all-tracks": all_tracks,
    "task-references": reference_scores,
    "task-scores": trained_scores,
    "task-baselines": baseline_scores,
}


def write_pages(folder: Path, pages: Mapping[str, str]) -> list[Path]:
    """Write the pages that have changed, and remove pages that were generated and no longer are; the changed files."""
    changed = []
    for name, text in pages.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
            changed.append(path)
    for generated in {Path(name).parent for name in pages if Path(name).suffix == ".md"}:
        for path in (folder / generated).glob("*.md"):
            generated_before = path.read_text(encoding="utf-8").startswith(GENERATED)
            if generated_before and path.relative_to(folder).as_posix() not in pages:
                path.unlink()
                changed.append(path)
    return changed


def with_parts(text: str) -> str:
    """A page with its generated parts as they must be.

    Raises:
        KeyError: If there is no such part.
    """
    return _PART.sub(lambda match: f"{match[1]}\n{PARTS[match[2]]()}\n{match[3]}", text)

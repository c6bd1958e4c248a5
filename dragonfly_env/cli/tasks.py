"""``dragonfly-env tasks``: the named tasks, and the results of trainings in them."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Annotated

import typer
from rich import box
from rich.console import RenderableType
from rich.table import Table

from dragonfly_env.checks.values import config_error
from dragonfly_env.cli.console import show, titled
from dragonfly_env.named_tasks import task
from dragonfly_env.named_tasks import tasks as names
from dragonfly_env.registration import SUITE


def tasks(
    folder: Annotated[
        Path | None,
        typer.Argument(
            metavar="FOLDER",
            help="A folder with result files of 'train --task' and 'evaluate --task': print their scores.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """List the named tasks, or print the scores of the results in a folder.

    [bold]Examples[/bold]
    dragonfly-env tasks
    dragonfly-env train --task Mixed-72 --seed 1:10 --out results/mixed
    dragonfly-env tasks results/mixed
    """
    show(_list() if folder is None else _scores(folder))


def _list() -> RenderableType:
    listed = _table("task", "scenarios", "policies choose", "budget (decisions)", "a policy learns")
    for name in names():
        found = task(name)
        chooses = "ports" if found.chooses == "port" else "paths or ports"
        listed.add_row(name, str(len(found.test)), chooses, f"{found.decisions:,}", found.teaches)
    return titled(f"Tasks of the suite {SUITE}", listed)


def _scores(folder: Path) -> RenderableType:
    """Interquartile means by task, policy and track; a policy that was not trained is one result."""
    from dragonfly_env.training.tasks import read_results

    found: dict[tuple[str, str, str], list[dict[str, float]]] = defaultdict(list)
    for result in read_results(folder):
        found[result["task"], result["policy"], result["track"]].append(result)
    if not found:
        allowed = "has no result files: 'train --task NAME' and 'evaluate --task NAME' write them"
        raise config_error("folder", str(folder), allowed)
    listed = _table(
        "task", "policy", "track", "score", "95 % interval", "worst", "ratio", "saturated", "results"
    )
    order = {name: number for number, name in enumerate(names())}
    for (name, policy, track), results in sorted(found.items(), key=lambda row: (order[row[0][0]], row[0])):
        summary = task(name).summary([result["score"] for result in results])
        mean = sum(result["ratio"] for result in results) / len(results)
        saturated = max(int(result["saturated"]) for result in results)
        figures = (f"{summary.score:.1f}", f"{summary.low:.1f} to {summary.high:.1f}", f"{summary.worst:.1f}")
        listed.add_row(name, policy, track, *figures, f"{mean:.2f}", str(saturated), str(summary.trainings))
    return titled(f"Scores in the tasks of the suite {SUITE}: interquartile means", listed)


def _table(*columns: str) -> Table:
    made = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in columns:
        made.add_column(name)
    return made

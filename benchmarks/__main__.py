"""``python -m benchmarks``: measure and write JSON; ``python -m benchmarks compare A.json B.json``: ratios."""

from __future__ import annotations

import dataclasses
import json
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from benchmarks import (
    core_speed,
    environment_speed,
    machine,
    network_policies,
    overhead,
    peers,
    scale,
    scenario_speed,
    threads,
)
from benchmarks.effort import FULL, QUICK, SMOKE, Effort
from benchmarks.report import FORMAT, comparison, console, differences, read, table
from benchmarks.result import Result
from benchmarks.workload import Report
from benchmarks.yardstick.program import describe

Measure = Callable[[Effort, Report], list[Result]]

FAMILIES: dict[str, Measure] = {
    "core": core_speed.measure,
    "scale": scale.measure,
    "threads": threads.measure,
    "environment": environment_speed.measure,
    "scenarios": scenario_speed.measure,
    "networks": network_policies.measure,
    "overhead": overhead.measure,
    "peers": peers.measure,
}

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode="rich")
_output, _errors = console(), console(error=True)


@app.callback(invoke_without_command=True)
def measure(
    context: typer.Context,
    out: Annotated[Path, typer.Option(help="Folder for the result file.")] = Path("results/bench"),
    quick: Annotated[bool, typer.Option("--quick", help="Less of everything: under a minute.")] = False,
    smoke: Annotated[
        bool, typer.Option("--smoke", help="Tiny systems: shows that the benchmarks work, measures nothing.")
    ] = False,
    only: Annotated[
        list[str] | None,
        typer.Option(metavar="FAMILY", help=f"One of {', '.join(FAMILIES)}; may be repeated."),
    ] = None,
) -> None:
    """Measure speed and scale; print a table, write one JSON file with all samples.

    Give it a quiet machine: CPU time suffers from neighbours (caches, clock), wall-clock time even more.
    """
    if context.invoked_subcommand is not None:
        return
    unknown = [name for name in only or () if name not in FAMILIES]
    if unknown:
        raise typer.BadParameter(f"{unknown[0]!r}; must be one of {', '.join(FAMILIES)}", param_hint="--only")
    effort = SMOKE if smoke else QUICK if quick else FULL
    out.mkdir(parents=True, exist_ok=True)
    try:
        content = run(effort, only or list(FAMILIES))
    except RuntimeError as error:
        _errors.print(f"error: {error}", markup=False, soft_wrap=True)
        raise typer.Exit(1) from None
    commit = (content["build"]["commit"] or "unknown")[:7]
    file = out / f"{content['started'][:19].replace(':', '')}-{commit}.json"
    file.write_text(json.dumps(content, indent=1, allow_nan=False) + "\n", encoding="utf-8")
    _output.print(table([Result.from_dict(values) for values in content["results"]]))
    for note in content["notes"]:
        _output.print(note, style="dim", markup=False)
    if speed := content["yardstick"]["hops_per_s"]:
        _output.print(
            f"1 yardstick: {speed['median'] / 1e6:.2f} M of its packet-hops / CPU-s here "
            f"({speed['min'] / 1e6:.2f}-{speed['max'] / 1e6:.2f} meanwhile)",
            markup=False,
        )
    _output.print(f"written: {file}", markup=False, soft_wrap=True)


def run(effort: Effort, families: list[str]) -> dict[str, Any]:
    """Measure the families; the content of a result file."""
    began = time.perf_counter()
    content: dict[str, Any] = {
        "format": FORMAT,
        "started": machine.now(),
        "machine": machine.describe_machine(),
        "build": machine.describe_build(),
        "effort": dataclasses.asdict(effort),
        "families": families,
        "yardstick": describe(),
    }
    results: list[Result] = []
    for family in families:
        with _errors.status(family) as status:

            def report(text: str, family: str = family) -> None:
                status.update(f"{family}: {text}")

            results += FAMILIES[family](effort, report)
    beside = [speed for result in results for speed in result.yardstick_hops_per_s]
    content["yardstick"]["hops_per_s"] = (
        {"median": statistics.median(beside), "min": min(beside), "max": max(beside)} if beside else None
    )
    content["notes"] = peers.notes() if "peers" in families else []
    content["machine"]["load_average_at_end"] = machine.describe_machine()["load_average"]
    content["seconds"] = time.perf_counter() - began
    content["results"] = [result.to_dict() for result in results]
    return content


@app.command()
def compare(
    a: Annotated[Path, typer.Argument(metavar="A.json", exists=True, dir_okay=False)],
    b: Annotated[Path, typer.Argument(metavar="B.json", exists=True, dir_okay=False)],
) -> None:
    """Print the ratios B/A of all figures that two result files share."""
    try:
        before, after = read(a), read(b)
    except ValueError as error:
        _errors.print(f"error: {error}", markup=False, soft_wrap=True)
        raise typer.Exit(2) from None
    for line in differences(before, after):
        _output.print(f"not the same: {line}", style="yellow", markup=False, soft_wrap=True)
    _output.print(comparison(before, after))


if __name__ == "__main__":
    app(prog_name="python -m benchmarks")

"""``dragonfly-env sweep``: policies x traffic x programs x placements x loads x seeds."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dragonfly_env.checks.files import check_folder, read_toml
from dragonfly_env.cli import options
from dragonfly_env.cli.commands import Typed, rows
from dragonfly_env.cli.comparison import compare
from dragonfly_env.sweeps.scenario import Scenario


def sweep(
    settings: Annotated[Typed, rows(Scenario)],
    how: Annotated[Typed, rows(options.Work)],
    scenario: Annotated[
        Path | None,
        typer.Argument(
            metavar="SCENARIO.toml",
            help="File that says what to compare, e.g. examples/demo.toml.",
            show_default=False,
        ),
    ] = None,
    out: options.ResultsFolder = None,
    dry_run: options.DryRun = False,
    plots: options.Plots = True,
    as_json: options.AsJson = False,
) -> None:
    """Compare policies: simulate each with each traffic, load and seed; then draw figures and print tables.

    Every run is saved the moment it ends. [bold]Ctrl-C[/bold] stops at once and keeps what is finished; the same
    command again does the rest.

    [bold]Examples[/bold]
    dragonfly-env sweep examples/demo.toml -o results/demo
    dragonfly-env sweep -p min,ugal-n --traffic adv+1 -l 0.05:0.5:0.05 -o results/adv
    dragonfly-env sweep examples/demo.toml --seed 1,2,3 -o results/three-seeds
    dragonfly-env sweep -t 342 -p min,par --program milc:hosts=64,scale=0.01 --placement random,groups=2

    [bold]Results folder[/bold]
    results.parquet (one row per run), index.html (tables and figures), loads.png and other figures
    """
    from dragonfly_env.sweeps.results import default_folder

    base = {} if scenario is None else read_toml(scenario, "SCENARIO.toml")
    plan = Scenario.from_dict(settings.over(base), name=scenario.stem if scenario else "")
    usual = Path("results", scenario.stem) if scenario else default_folder(plan.name, plan)
    folder = check_folder("--out", out or usual)
    compare(plan, folder, how.make(), dry_run=dry_run, plots=plots, as_json=as_json)

"""``dragonfly-env sweep``: policies x traffic x programs x placements x loads x seeds."""

from __future__ import annotations

import dataclasses
import itertools
from pathlib import Path
from typing import Annotated

import typer

from dragonfly_env.checks.files import check_folder, read_toml
from dragonfly_env.cli import options
from dragonfly_env.cli.comparison import compare
from dragonfly_env.cli.options import WHERE, option, scenario_settings


@options.taking(given=options.COMPARE_WITH_JOBS, how=(*options.FOLDER, *WHERE))
def sweep(
    scenario: Annotated[
        Path | None,
        typer.Argument(
            metavar="SCENARIO.toml",
            help="A file that says what to compare (see examples/demo.toml). Options change or replace parts of it.",
            show_default=False,
        ),
    ] = None,
    out: Annotated[
        Path | None,
        option(
            "--out -o",
            "The results folder. [dim]\\[default: in results/, after the scenario][/dim]",
            options.MACHINE,
        ),
    ] = None,
    policy: Annotated[
        list[str] | None,
        option(
            "--policy -p",
            "A routing policy, e.g. min or ugal-n:bias_packets=2; repeat for several.",
            options.SYSTEM,
            metavar="NAME[:SETTING=..]",
        ),
    ] = None,
    *,
    given: options.Given,
    how: options.Given,
) -> None:
    """Compare policies: simulate each with each traffic, load and seed; then draw figures and print tables.

    Every run is saved the moment it ends. [bold]Ctrl-C[/bold] stops at once and keeps what is
    finished; the same command again does the rest.

    [bold]Examples[/bold]

    dragonfly-env sweep examples/demo.toml --out results/demo

    dragonfly-env sweep -p min -p ugal-n --traffic adv+1 --load 0.05:0.5:0.05 --out results/adv

    dragonfly-env sweep examples/demo.toml --seed 1 --seed 2 --seed 3 --out results/three-seeds

    dragonfly-env sweep -t 342 -p min -p ugal-n --job milc:hosts=64,scale=0.01 --measure-ns 1000000 --dry-run

    dragonfly-env sweep -t 342 -p min -p par --program milc:hosts=64,scale=0.01 --placement random --placement groups=2

    [bold]Results folder[/bold]

    results.parquet (one row per run, with everything that made it), index.html
    (open in a browser), loads.png and other figures, runs/ (one small Parquet
    file per run).
    """
    from dragonfly_env.sweeps.results import default_folder
    from dragonfly_env.sweeps.scenario import Scenario

    base = {} if scenario is None else read_toml(scenario)
    settings = scenario_settings(base, given, policies=policy)
    plan = Scenario.from_dict(settings, name=scenario.stem if scenario else "sweep")
    if scenario is None:  # for the page's title
        jobs = (*itertools.chain(*plan.programs), *plan.jobs)
        names = [job.title for job in jobs] + [choice.label for choice in plan.traffic]
        traffic = ", ".join(name for name in names if not (jobs and name == "none"))
        plan = dataclasses.replace(plan, name=f"{traffic} on {plan.shared['topology'].num_hosts:,} hosts")
    usual = Path("results", scenario.stem) if scenario else default_folder(plan.name, plan)
    compare(plan, check_folder("--out", out or usual), **how)

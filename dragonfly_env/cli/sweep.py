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
from dragonfly_env.cli.options import items, scenario_settings
from dragonfly_env.sweeps.scenario import Scenario


def sweep(
    ctx: typer.Context,
    scenario: Annotated[
        Path | None,
        typer.Argument(
            metavar="SCENARIO.toml",
            help="File that says what to compare, e.g. examples/demo.toml.",
            show_default=False,
        ),
    ] = None,
    policies: options.Policies = None,
    topology: options.Topology = None,
    arrangement: options.Arrangement = None,
    network: options.Network = None,
    network_settings: options.NetworkSettings = None,
    traffic: options.Traffics = None,
    loads: options.Loads = None,
    jobs: options.Jobs = None,
    programs: Annotated[
        list[str] | None,
        items(
            "--program", "A job of some runs: each --program has its own runs.", options.LOAD, metavar="JOB"
        ),
    ] = None,
    placements: Annotated[
        list[str] | None,
        items(
            "--placement",
            "Hosts of the jobs, e.g. random,groups=2: each placement has its own runs.",
            options.LOAD,
            metavar="PLACEMENT",
        ),
    ] = None,
    injection: options.Injection = None,
    source_queue_packets: options.SourceQueue = None,
    message_packets: options.MessagePackets = None,
    seeds: options.Seeds = None,
    warmup_ns: options.Warmup = None,
    measure_ns: options.Measure = None,
    series_bin_ns: options.SeriesBin = None,
    arrays: options.Arrays = None,
    threads: options.Threads = None,
    out: options.ResultsFolder = None,
    workers: options.Workers = None,
    force: options.Force = False,
    dry_run: options.DryRun = False,
    plots: options.Plots = True,
    share: options.Share = None,
    backend: options.Backend = "loky",
    address: options.Address = None,
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

    name = scenario.stem if scenario else "sweep"
    base = {} if scenario is None else read_toml(scenario, "SCENARIO.toml")
    plan = Scenario.from_dict(scenario_settings(base, ctx.params), name=name)
    if scenario is None:  # for the page's title
        titles = [job.title for job in (*itertools.chain(*plan.programs), *plan.jobs)]
        traffics = [choice.label for choice in plan.traffic if choice.label != "none"]
        system = f"{plan.common['topology'].num_hosts:,} hosts"
        plan = dataclasses.replace(plan, name=f"{', '.join(titles + traffics)} on {system}")
    usual = Path("results", name) if scenario else default_folder(plan.name, plan)
    compare(plan, check_folder("--out", out or usual), ctx.params)

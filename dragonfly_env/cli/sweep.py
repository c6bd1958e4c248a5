"""``dragonfly-env sweep``: policies x traffic x loads x seeds."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from dragonfly_env import _toml
from dragonfly_env.cli import options
from dragonfly_env.cli.console import console, note, show
from dragonfly_env.cli.guard import FAILED, INTERRUPTED, complain, guarded

if TYPE_CHECKING:
    from dragonfly_env.experiments.runner import SweepReport


@guarded
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
        typer.Option(
            "--out",
            "-o",
            help="The results folder. [dim]\\[default: results/NAME, after the scenario's file][/dim]",
            rich_help_panel=options.MACHINE,
        ),
    ] = None,
    policy: Annotated[
        list[str] | None,
        typer.Option(
            "--policy",
            "-p",
            metavar="NAME[:SETTING=..]",
            help="A routing policy, e.g. min or ugal-n:bias_packets=2; repeat for several.",
            rich_help_panel=options.SYSTEM,
        ),
    ] = None,
    traffic: Annotated[
        list[str] | None,
        typer.Option(
            "--traffic",
            help="A traffic pattern, e.g. uniform or adv+1; repeat for several.",
            rich_help_panel=options.LOAD,
        ),
    ] = None,
    load: Annotated[
        list[str] | None,
        typer.Option(
            "--load",
            "-l",
            metavar="LOAD|START:STOP:STEP",
            help="Offered load as a fraction of the host links' bandwidth, or a range with both ends; repeat.",
            rich_help_panel=options.LOAD,
        ),
    ] = None,
    seed: Annotated[
        list[int] | None,
        typer.Option(
            "--seed",
            "-s",
            help="Seed of the random streams; repeat for several: then means have confidence intervals. "
            "[dim]\\[default: 1][/dim]",
            rich_help_panel=options.TIME,
        ),
    ] = None,
    topology: options.Topology = None,
    arrangement: options.Arrangement = None,
    network: options.Network = None,
    network_settings: options.NetworkSettings = None,
    injection: options.Injection = None,
    source_queue: options.SourceQueue = None,
    message_packets: options.MessagePackets = None,
    warmup_ns: options.Warmup = None,
    measure_ns: options.Measure = None,
    series_bin_ns: options.SeriesBin = None,
    threads: options.Threads = None,
    jobs: Annotated[
        int | None,
        typer.Option(
            "--jobs",
            "-j",
            help="Runs at a time, each in its own process. [dim]\\[default: one per processor][/dim]",
            rich_help_panel=options.MACHINE,
        ),
    ] = None,
    redo: Annotated[
        bool,
        typer.Option(
            "--redo", help="Do finished runs again instead of keeping them.", rich_help_panel=options.MACHINE
        ),
    ] = False,
    arrays: Annotated[
        bool | None,
        typer.Option(
            "--arrays/--no-arrays",
            help="Keep results per router, link and time bin, some megabytes per run of a large system. The figures of "
            "fairness, links and series need them. [dim]\\[default: arrays][/dim]",
            rich_help_panel=options.TIME,
        ),
    ] = None,
    plots: Annotated[
        bool,
        typer.Option(
            "--plots/--no-plots",
            help="Draw figures and the page at the end.",
            rich_help_panel=options.MACHINE,
        ),
    ] = True,
) -> None:
    """Compare policies: simulate each with each traffic, load and seed; then draw figures and print tables.

    Every run is saved the moment it ends. [bold]Ctrl-C[/bold] stops at once and keeps what is finished; the same
    command again does the rest.

    [bold]Examples[/bold]

    dragonfly-env sweep examples/demo.toml --out results/demo

    dragonfly-env sweep -p min -p ugal-n --traffic adv+1 --load 0.05:0.5:0.05 --out results/adv

    dragonfly-env sweep examples/demo.toml --seed 1 --seed 2 --seed 3 --out results/three-seeds

    [bold]Results folder[/bold]

    results.parquet (one row per run, with everything that made it), index.html (open in a browser), loads.png and other
    figures, runs/ (one small Parquet file per run).
    """
    from dragonfly_env.experiments.progress import Bar
    from dragonfly_env.experiments.runner import SweepInterrupted, run_sweep
    from dragonfly_env.experiments.scenario import Scenario

    base = {} if scenario is None else _toml.load(scenario)
    settings = options.scenario_settings(
        base,
        topology=topology,
        arrangement=arrangement,
        network=network,
        network_settings=network_settings,
        policies=policy,
        traffic=traffic,
        loads=load,
        source_queue=source_queue,
        others={
            "seeds": seed,
            "injection": injection,
            "message_packets": message_packets,
            "warmup_ns": warmup_ns,
            "measure_ns": measure_ns,
            "series_bin_ns": series_bin_ns,
            "threads": threads,
            "arrays": arrays,
        },
    )
    plan = Scenario.from_dict(settings, name=scenario.stem if scenario else "sweep")
    folder = out or Path("results") / (scenario.stem if scenario else "sweep")
    try:
        with Bar(console(error=True)) as bar:
            report = run_sweep(plan, folder, jobs=jobs, reporter=bar, redo=redo)
    except SweepInterrupted as interrupt:
        command = shlex.join(["dragonfly-env", *sys.argv[1:]])
        text = f"interrupted: {interrupt.kept} of {interrupt.total} runs are kept in {folder}; to go on: {command}"
        note(Text(text, style="yellow"))
        raise typer.Exit(INTERRUPTED) from None
    _report(report, folder)
    if len(report.failures) < report.total:
        _show_results(folder, plots)
    if report.failures:
        raise typer.Exit(FAILED)


def _report(report: SweepReport, folder: Path) -> None:
    done = f"{report.finished} runs done"
    if report.reused:
        done += f", {report.reused} were there already"
    if report.outdated:
        done += f" ({report.outdated} made by another version of this package were done again)"
    note(Text(f"{done}; results in {folder}"))
    for failure in report.failures:
        complain(f"{failure.run.describe()}: {failure.error}")
        note(Text(f"  configuration: {failure.run.config.to_json()}", style="dim"))
        if failure.details:
            note(Text(failure.details.rstrip(), style="dim"))


def _show_results(folder: Path, plots: bool) -> None:
    from dragonfly_env.experiments.results import load_results
    from dragonfly_env.experiments.summary import render_summary

    results = load_results(folder)
    show(render_summary(results))
    if plots:
        from dragonfly_env.experiments.plots import draw

        with console(error=True).status("drawing figures"):
            drawn = draw(results, folder)
        pictures = ", ".join(path.name for path in drawn.files if path.suffix == ".png")
        note(Text(f"figures: {pictures}"))
        note(Text(f"page:    {drawn.files[-1]}", style="bold"))

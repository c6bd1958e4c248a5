"""``dragonfly-env plot``: figures from results."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from dragonfly_env.checks.files import check_folder
from dragonfly_env.cli.commands import option
from dragonfly_env.cli.console import console, note, show
from dragonfly_env.cli.options import items


def plot(
    results: Annotated[
        Path,
        typer.Argument(
            metavar="RESULTS",
            help="A results folder of 'sweep' (a running or interrupted one too), or a Parquet file.",
        ),
    ],
    kinds: Annotated[
        list[str] | None,
        items(
            "--kind -k",
            "loads (latency, throughput and hops over load), distributions (box plots with p95 and p99), series (over "
            "time; needs --series-bin in the sweep), fairness (by router), global-links or ports (heat maps).",
            default="all that the results can show",
            metavar="NAME",
        ),
    ] = None,
    out: Annotated[
        Path | None, option("--out -o", "Where the files go.", default="next to the results")
    ] = None,
    policies: Annotated[
        list[str] | None, items("--policy -p", "Only these policies.", metavar="POLICY")
    ] = None,
    traffic: Annotated[list[str] | None, items("--traffic", "Only this traffic.", metavar="PATTERN")] = None,
    load: Annotated[
        float | None,
        option(
            "--load -l",
            "The load for figures that show only one.",
            default="the highest that some policies carry and others do not",
            metavar="LOAD",
        ),
    ] = None,
    formats: Annotated[
        list[str] | None, items("--format -f", "png, svg or pdf.", default="png,svg", metavar="NAME")
    ] = None,
    page: Annotated[bool, option("--page/--no-page", "Write index.html, a page with everything.")] = True,
    table: Annotated[bool, option("--table", "Print the tables that 'sweep' prints.")] = False,
) -> None:
    """Draw figures from the results of a sweep.

    [bold]Examples[/bold]
    dragonfly-env plot results/demo
    dragonfly-env plot results/demo --kind distributions -l 0.4 --traffic adv+1 -o figures --format pdf
    dragonfly-env plot results/demo --kind ports -p min,par --no-page
    """
    from dragonfly_env.plots import draw
    from dragonfly_env.sweeps.results import load_results
    from dragonfly_env.sweeps.summary import render_summary

    loaded = load_results(results).select(policies=policies or (), traffic=traffic or ())
    folder = check_folder("--out", out or (results if results.is_dir() else results.parent))
    if table:
        show(render_summary(loaded))
    with console(error=True).status("drawing figures"):
        drawn = draw(
            loaded, folder, kinds=kinds or (), load=load, formats=formats or ("png", "svg"), page=page
        )
    for kind, reason in drawn.skipped.items():
        note(Text(f"no figure '{kind}': {reason}", style="dim"))
    for path in drawn.files:
        show(str(path))

"""``dragonfly-env calibrate``: computing times of programs from their MPI shares."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich import box
from rich.table import Table
from rich.text import Text

from dragonfly_env.checks.files import check_file
from dragonfly_env.cli import options
from dragonfly_env.cli.console import note, show
from dragonfly_env.cli.options import option, scenario_settings


@options.taking(given=options.MACHINE_ONLY)
def calibrate(
    programs: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[PROGRAM]...", help="Programs of jobs; without any: all of them.", show_default=False
        ),
    ] = None,
    hosts: Annotated[int, option("--hosts", "Hosts of the job.", options.SYSTEM)] = 32,
    scale: Annotated[
        float, option("--scale", "Size of messages, as a multiple of the application's.", options.LOAD)
    ] = 1.0,
    share: Annotated[
        float | None,
        option(
            "--share",
            "The share of the time that ranks shall spend in operations; without it: the paper's, by program.",
            options.LOAD,
            show_default=False,
        ),
    ] = None,
    stands_for: Annotated[
        int,
        option(
            "--stands-for",
            "Nodes that a host stands for, for programs that have this setting (milc): 8 on theta-m8.",
            options.LOAD,
        ),
    ] = 1,
    iterations: Annotated[int, option("--iterations", "Of each run.", options.TIME)] = 3,
    policy: Annotated[
        str, option("--policy -p", "The routing policy.", options.SYSTEM, metavar="NAME")
    ] = "min",
    seed: Annotated[int, option("--seed -s", "Seed of the random streams.", options.TIME)] = 1,
    out: Annotated[
        Path | None,
        option("--out -o", "Write the results into this file, next to what it has.", options.MACHINE),
    ] = None,
    *,
    given: options.Given,
) -> None:
    """Find the computing time of each program with which its MPI share is what was published.

    Published: Chunduri et al., IPDPS 2021, table I. Measured: one job alone on
    the machine.

    The package's own are in [bold]dragonfly_env/jobs/data/gaps.json[/bold]; jobs without
    gap_ns take the row with the nearest number of hosts.

    [bold]Examples[/bold]

    dragonfly-env calibrate milc hacc --hosts 32 --scale 0.25 --topology 342

    dragonfly-env calibrate --topology 1056 --network q-adaptive --policy ugal-n --out gaps.json
    """
    from dragonfly_env.jobs import Motif
    from dragonfly_env.simulation.config import SimulationConfig
    from dragonfly_env.sweeps.calibrate import calibrate_gap, merge_gaps, read_gaps
    from dragonfly_env.sweeps.scenario import DEFAULT_TOPOLOGY

    settings = scenario_settings({"topology": {"preset": DEFAULT_TOPOLOGY}}, given)
    config = SimulationConfig.from_dict({**settings, "policy": policy, "seed": seed})
    table = Table(box=box.SIMPLE_HEAD)
    for heading in ("program", "gap (ns)", "MPI share"):
        table.add_column(heading, justify="left" if heading == "program" else "right")
    if out is not None:
        read_gaps(check_file("--out", out))
    rows = []
    for program in programs or list(Motif.classes):
        row = calibrate_gap(
            config,
            program,
            hosts,
            scale=scale,
            share=share,
            iterations=iterations,
            stands_for=stands_for,
        )
        rows.append(row)
        table.add_row(program, f"{row['gap_ns']:,.0f}", f"{row['mpi_share']:.3f}")
        if out is not None:
            merge_gaps(out, rows)
    show(table)
    if out is not None:
        note(Text(f"gaps: {out}"))

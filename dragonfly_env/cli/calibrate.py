"""``dragonfly-env calibrate``: computing times of programs from their MPI shares."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich import box
from rich.table import Table
from rich.text import Text

from dragonfly_env.checks.files import check_file
from dragonfly_env.checks.values import split_items
from dragonfly_env.cli import options
from dragonfly_env.cli.commands import Typed, option, rows
from dragonfly_env.cli.console import note, show
from dragonfly_env.config.rows import MACHINE, SYSTEM, TIME, TRAFFIC
from dragonfly_env.jobs.program import PAPER_SHARES
from dragonfly_env.simulation.config import SimulationConfig


def calibrate(
    settings: Annotated[Typed, rows(SimulationConfig, "topology network threads")],
    programs: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="PROGRAM...",
            help="Programs of jobs; without any: all of them.",
            show_default=False,
            parser=split_items,
            callback=options.joined,
        ),
    ] = None,
    hosts: Annotated[int, option("--hosts", "Hosts of the job.", SYSTEM, metavar="N")] = 32,
    policy: Annotated[str, option("--policy -p", "The routing policy.", SYSTEM, metavar="POLICY")] = "min",
    scale: Annotated[
        float,
        option("--scale", "Size of messages, as a multiple of the application's.", TRAFFIC, metavar="FACTOR"),
    ] = 1.0,
    share: Annotated[
        float | None,
        option(
            "--share",
            "The share of their time that ranks shall spend in operations.",
            TRAFFIC,
            default="as published, by program",
            metavar="SHARE",
        ),
    ] = None,
    stands_for: Annotated[
        int,
        option(
            "--stands-for",
            "Nodes that a host stands for, for programs that have this setting (milc): 8 on theta-m8.",
            TRAFFIC,
            metavar="N",
        ),
    ] = 1,
    iterations: Annotated[int, option("--iterations", "Iterations of each run.", TIME, metavar="N")] = 3,
    seed: Annotated[int, option("--seed -s", "Seed of the random streams.", TIME, metavar="N")] = 1,
    out: Annotated[
        Path | None,
        option(
            "--out -o",
            "Also write the results into this file, next to what it has.",
            MACHINE,
            metavar="FILE",
        ),
    ] = None,
) -> None:
    """Find the computing time that makes each program spend the published share of its time in MPI.

    Published: Chunduri et al., IPDPS 2021, table I. Measured: one job alone on the machine.

    The package's own are in [bold]dragonfly_env/jobs/data/gaps.json[/bold]; jobs without gap_ns take the row with the
    nearest number of hosts.

    [bold]Examples[/bold]
    dragonfly-env calibrate milc hacc --hosts 32 --scale 0.25 -t 342
    dragonfly-env calibrate -t 1056 -n q-adaptive -p ugal-n -o gaps.json
    """
    from dragonfly_env.sweeps.calibrate import calibrate_gap, merge_gaps, read_gaps

    config = SimulationConfig.from_dict(settings.over({"topology": "1056", "policy": policy, "seed": seed}))
    if out is not None:
        read_gaps(check_file("--out", out))
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("program")
    table.add_column("gap (ns)", justify="right")
    table.add_column("MPI share", justify="right")
    rows = []
    for program in programs or list(PAPER_SHARES):
        row = calibrate_gap(
            config, program, hosts, scale=scale, share=share, iterations=iterations, stands_for=stands_for
        )
        rows.append(row)
        table.add_row(program, f"{row['gap_ns']:,.0f}", f"{row['mpi_share']:.3f}")
        if out is not None:
            merge_gaps(out, rows)
    show(table)
    if out is not None:
        note(Text(f"gaps: {out}"))

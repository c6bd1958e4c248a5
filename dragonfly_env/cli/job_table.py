"""What was measured of jobs, as a table."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rich import box
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from dragonfly_env.metrics.jobs import JobMetrics


def job_table(jobs: Sequence[JobMetrics]) -> RenderableType:
    """One row per job, and below it one for each of its operations."""
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("job")
    for heading in (
        "hosts",
        "run time (us)",
        "iterations",
        "MPI share (%)",
        "count",
        "mean (us)",
        "max (us)",
    ):
        table.add_column(heading, justify="right")
    for number, job in enumerate(jobs):
        iterations = job.iterations.count // len(job.hosts)
        table.add_row(
            Text(f"{number}: {job.name}", style="bold"),
            f"{len(job.hosts):,}",
            _number(job.run_time_ns / 1000) if job.complete else "endless" if job.endless else "not complete",
            f"{iterations:,}" if job.iterations.count else "",
            _number(100 * job.mpi_share),
            *[""] * 3,
        )
        for name, one in job.operations.items():
            table.add_row(
                f"   {name}",
                *[""] * 4,
                f"{one.count:,}",
                _number(one.mean_ns / 1000),
                _number(one.max_ns / 1000),
            )
    return table


def _number(value: float) -> str:
    return "" if math.isnan(value) else f"{value:,.1f}"

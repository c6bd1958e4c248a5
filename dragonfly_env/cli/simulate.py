"""``dragonfly-env simulate``: one run."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from rich import box
from rich.console import Group, RenderableType
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from dragonfly_env.checks.files import check_file, open_output, write_text
from dragonfly_env.checks.values import config_error
from dragonfly_env.cli import options
from dragonfly_env.cli.commands import Typed, option, rows
from dragonfly_env.cli.comparison import note_long, note_short_warmup
from dragonfly_env.cli.console import console, note, show
from dragonfly_env.config.rows import MACHINE, TIME
from dragonfly_env.metrics.jobs import JobMetrics
from dragonfly_env.metrics.slowdowns import SlowdownTable
from dragonfly_env.metrics.stationarity import (
    OFFERED_WITHIN,
    SATURATED_BELOW,
    STATIONARY_WITHIN,
    is_overloaded,
)
from dragonfly_env.sweeps.scenario import DEFAULT_LOAD, LONGEST_NS, Scenario

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

    from dragonfly_env.sweeps.measure import Runnable
    from dragonfly_env.sweeps.point import Run

# (heading, column, divisor, form, unit) of the table; everything else is in --json.
_ROWS = (
    ("offered load", "offered_load", 1.0, ".4f", "of the host links' bandwidth"),
    ("accepted load", "accepted_load", 1.0, ".4f", "of the host links' bandwidth"),
    ("makespan", "makespan_ns", 1.0, ",.1f", "ns, the last completion"),
    ("messages delivered", "messages_delivered", 1.0, ",.0f", ""),
    ("message latency, mean", "message_latency_mean_ns", 1.0, ",.1f", "ns, source queue included"),
    ("message latency, p50", "message_latency_p50_ns", 1.0, ",.0f", "ns"),
    ("message latency, p99", "message_latency_p99_ns", 1.0, ",.0f", "ns"),
    ("message latency, highest", "message_latency_max_ns", 1.0, ",.0f", "ns"),
    ("packets delivered", "packets_delivered", 1.0, ",.0f", ""),
    ("packets in flight", "packets_in_flight", 1.0, ",.0f", "source queues included"),
    ("packets lost", "packets_lost", 1.0, ",.0f", "turned away by full source queues"),
    ("latency, mean", "latency_mean_ns", 1.0, ",.1f", "ns, source queue included"),
    ("latency, p50", "latency_p50_ns", 1.0, ",.0f", "ns"),
    ("latency, p95", "latency_p95_ns", 1.0, ",.0f", "ns"),
    ("latency, p99", "latency_p99_ns", 1.0, ",.0f", "ns"),
    ("latency, highest", "latency_max_ns", 1.0, ",.0f", "ns"),
    ("latency in the network, mean", "network_latency_mean_ns", 1.0, ",.1f", "ns, without source queue"),
    ("hops, mean", "hops_mean", 1.0, ".3f", "between routers"),
    ("minimal paths", "minimal_fraction", 0.01, ".1f", "% of packets"),
    ("fairness of routers, Jain", "router_fairness_jain", 1.0, ".4f", "1 is even"),
    ("local links, mean utilisation", "local_link_utilisation_mean", 0.01, ".1f", "%"),
    ("local links, highest", "local_link_utilisation_max", 0.01, ".1f", "%"),
    ("global links, mean utilisation", "global_link_utilisation_mean", 0.01, ".1f", "%"),
    ("global links, highest", "global_link_utilisation_max", 0.01, ".1f", "%"),
)


def simulate(
    settings: Annotated[
        Typed,
        rows(
            Scenario,
            without="programs placements series_bin_ns arrays",
        ),
    ],
    to_completion: Annotated[
        bool,
        option(
            "--to-completion",
            "Run closed-loop traffic such as all-to-all, jobs or a trace to their end, however long it takes; "
            "otherwise the run ends after --measure.",
            TIME,
        ),
    ] = False,
    as_json: options.AsJson = False,
    out: Annotated[
        Path | None,
        option(
            "--out -o",
            "Also write results, configuration and provenance, as --json.",
            MACHINE,
            metavar="FILE",
        ),
    ] = None,
    packet_log: Annotated[
        Path | None,
        option(
            "--packet-log",
            "Write a row per delivered packet: source, destination, times, hops, kind of path (minimal, lgl, lg, gl, "
            "g, l, prescribed), routers, and of a trace the row of the message. Parquet, or CSV by the ending .csv "
            "(routers separated by spaces).",
            MACHINE,
            metavar="FILE",
        ),
    ] = None,
) -> None:
    """Simulate one policy under one traffic at one load, and print what was measured.

    Without options: min under uniform traffic at load 0.5.

    [bold]Examples[/bold]
    dragonfly-env simulate -p ugal-n --traffic adv+1 -l 0.45 -n q-adaptive --arrangement absolute
    dragonfly-env simulate -t p=2,a=4,h=2 -l 0.3 --json | jq .results.latency_p99_ns
    dragonfly-env simulate -t 16512 -p par --warmup 20us --measure 20us --threads 2
    dragonfly-env simulate -t 342 --traffic all-to-all:message_bytes=4096 --to-completion
    dragonfly-env simulate -t 342 --job milc:hosts=64,scale=0.01 --job nek5000:hosts=64 --to-completion
    """
    from dragonfly_env.sweeps.measure import simulate_run

    if to_completion and "measure_ns" in settings.whole:
        raise config_error("--to-completion", True, "cannot be combined with --measure: leave one out")
    usual = {
        "policies": ["min"],
        "traffic": ["none" if "jobs" in settings.whole else "uniform"],
        "loads": [DEFAULT_LOAD],
    }
    given = settings.over(usual)
    if to_completion:
        given["measure_ns"] = LONGEST_NS
    run = _only(Scenario.from_dict(given, name="simulate").runs())
    if to_completion:
        _check_end(run)
    if packet_log is not None:
        if packet_log.suffix not in ("", ".parquet", ".csv"):
            raise config_error(
                "--packet-log", str(packet_log), "must be the name of a .parquet or a .csv file"
            )
        check_file("--packet-log", packet_log)
        run = dataclasses.replace(run, config=run.config.replace(packet_log=True))
    if out is not None:
        check_file("--out", out)
    note_short_warmup([run])
    note_long([run], 1)
    errors = console(error=True)
    columns = (TextColumn("simulating"), BarColumn(bar_width=None), TextColumn("{task.percentage:>3.0f} %"))
    times = (TimeElapsedColumn(), TimeRemainingColumn())
    with Progress(*columns, *times, console=errors, transient=True, disable=not errors.is_terminal) as bar:
        task = bar.add_task("", total=1.0)
        simulation, metrics, provenance = simulate_run(
            run, to_completion=to_completion, progress=lambda done: bar.update(task, completed=done)
        )
    of_jobs: dict[str, Any] = {"jobs": [job.to_dict() for job in metrics.jobs]} if metrics.jobs else {}
    if metrics.slowdowns is not None:
        of_jobs["slowdowns"] = {
            name: list(map(_plain, column)) for name, column in metrics.slowdowns.to_dict().items()
        }
    text = json.dumps({"results": metrics.to_dict(), **of_jobs, **provenance}, indent=2, allow_nan=False)
    if as_json:
        show(text)
    else:
        show(_table(run, metrics.to_dict()))
        if metrics.jobs:
            show(_job_table(metrics.jobs))
        if metrics.slowdowns is not None:
            show(_slowdown_table(metrics.slowdowns))
        if (speed := provenance["packet_hops_per_cpu_s"]) is not None:
            seconds = provenance["measured_cpu_seconds"]
            speed_text = f"{speed / 1e6:.2f} million packet-hops per CPU-second ({seconds:.2f} s measured)"
            note(Text(speed_text, style="dim"))
    if out is not None:
        write_text(f"{text}\n", out)
        note(Text(f"results: {out}"))
    if packet_log is not None:
        _write_log(_log_table(simulation, run), packet_log)
        note(Text(f"packet log: {packet_log}"))


def _only(runs: Sequence[Run]) -> Run:
    """The one run; several are a sweep."""
    if len(runs) == 1:
        return runs[0]
    varied = {
        "--policy": {run.policy_label: None for run in runs},
        "--traffic": {run.traffic_label: None for run in runs},
        "--load": {f"{run.load:g}": None for run in runs},
        "--seed": {f"{run.config.seed}": None for run in runs},
    }
    name, values = next((name, values) for name, values in varied.items() if len(values) > 1)
    text = f"simulate does one run, and these are {len(runs)}: 'dragonfly-env sweep' takes the same options"
    raise config_error(name, ",".join(values), text)


def _check_end(run: Run) -> None:
    """Refuse to run to the end of what has none."""
    jobs = run.config.jobs
    if jobs and all(job.is_endless for job in jobs):
        raise config_error("jobs", [job.title for job in jobs], "never ends: leave out --to-completion")
    if not jobs and not run.closed_loop and not run.config.traffic_object.is_trace:
        allowed = f"{run.traffic_label} never ends; a trace, closed-loop traffic such as all-to-all, or a --job does"
        raise config_error("--to-completion", True, allowed)


def _write_log(log: pa.Table, path: Path) -> None:
    """Write the log as Parquet, or as CSV where the ending says so."""
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.csv

    from dragonfly_env.sweeps.results import write_table

    if path.suffix != ".csv":
        write_table(log, path)
        return
    column = log.schema.get_field_index("routers")
    routers = log["routers"].combine_chunks().cast(pa.large_list(pa.string()))
    with open_output(path) as file:
        pyarrow.csv.write_csv(log.set_column(column, "routers", pc.binary_join(routers, " ")), file)


def _log_table(simulation: Runnable, run: Run) -> pa.Table:
    """Table of packets, one row each; ``path_kind`` is one of ``PATH_KINDS``, ``routers`` the list of its routers."""
    import numpy as np
    import pyarrow as pa

    import dragonfly_env as dfe
    from dragonfly_env.simulation.path_kinds import PATH_KINDS

    columns = dict(simulation.packet_log())
    offsets, routers = columns.pop("route_offsets"), columns.pop("routers")
    columns["path_kind"] = np.array(PATH_KINDS)[columns["path_kind"]]
    lists = pa.LargeListArray.from_arrays(pa.array(offsets), pa.array(routers))
    provenance = {"package_version": dfe.__version__, "configuration": run.configuration}
    return pa.table({**columns, "routers": lists}).replace_schema_metadata(
        {"dragonfly_env": json.dumps(provenance)}
    )


def _stationarity(run: Run, results: Mapping[str, Any]) -> tuple[str, str]:
    """Say whether the figures are those of a steady network, and how to color the sentence; a reader needs it first."""
    growing = "queues grow, so latencies depend on the window"
    if results["saturated"]:
        if is_overloaded(most := results["destination_load_max"] or 0.0):
            return f"SATURATED: one host gets {most:.3g} times what its link takes; {growing}", "yellow"
        return (
            f"SATURATED: less than {SATURATED_BELOW:.0%} of what was offered was accepted in the window's second half; "
            f"{growing}",
            "yellow",
        )
    if results["stationary"] is False:
        return (
            f"NOT STATIONARY: the mean latency changed by more than {STATIONARY_WITHIN:.0%} between the window's "
            "halves, or the queues grew; a longer --warmup may help",
            "yellow",
        )
    if results["saturated"] is None or results["stationary"] is None:
        unknown = "too few packets to say whether the network was stationary and not saturated"
        return ("" if run.closed_loop else unknown, "yellow")
    return (
        f"stationary (mean latency within {STATIONARY_WITHIN:.0%} between the window's halves), not saturated",
        "green",
    )


def _table(run: Run, results: Mapping[str, Any]) -> RenderableType:
    topology = run.config.topology
    system = f"{topology.num_hosts:,} hosts (p={topology.p}, a={topology.a}, h={topology.h}, g={topology.g}, "
    times = f"measured {results['duration_ns'] / 1000:g} µs after {run.warmup_ns / 1000:g} µs"
    if run.closed_loop:
        ended = "complete" if results["makespan_ns"] is not None else "not complete"
        times = f"{ended} after {results['duration_ns'] / 1000:g} µs"
        if run.warmup_ns > 0.0:
            times += f", behind a warm-up of {run.warmup_ns / 1000:g} µs"
    head = Text.assemble((run.describe(), "bold"), f"\n{system}{topology.arrangement}), {times}")
    text, style = _stationarity(run, results)
    if text:
        head.append(f"\n{text}", style=style)
    if (window_ns := results["fitting_window_ns"]) is not None:
        head.append(
            f"\nhosts offered over {OFFERED_WITHIN:.0%} more or less than the load {results['demanded_load']:.3g}: "
            f"the window does not fit the injection; --measure {math.ceil(window_ns / 1000):g}us would",
            style="yellow",
        )
    table = Table(box=box.SIMPLE, show_header=False)
    table.add_column("what")
    table.add_column("value", justify="right")
    table.add_column("unit", style="dim")
    for heading, name, divisor, form, unit in _ROWS:
        if name == "router_fairness_jain" and run.config.jobs:
            continue  # routers without a job have nothing to send, and shall not
        value = results.get(name)
        if value is not None and math.isfinite(value):
            table.add_row(heading, format(value / divisor, form), unit)
    return Group(head, table)


def _job_table(jobs: Sequence[JobMetrics]) -> RenderableType:
    """Table of jobs, one row each, with a row below for each of its operations."""
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("job")
    for heading in (
        "hosts",
        "run time (µs)",
        "iterations",
        "MPI share (%)",
        "count",
        "mean (µs)",
        "max (µs)",
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
        for name, operation in job.operations.items():
            times = (_number(operation.mean_ns / 1000), _number(operation.max_ns / 1000))
            table.add_row(f"   {name}", *[""] * 4, f"{operation.count:,}", *times)
    return table


def _slowdown_table(slowdowns: SlowdownTable) -> RenderableType:
    """Table of messages by size, and a line on the order of their packets."""
    table = Table(box=box.SIMPLE_HEAD)
    for heading in (
        "packets of messages, from",
        "messages",
        "slowdown, p50",
        "slowdown, p99",
        "late packets",
    ):
        table.add_column(heading, justify="right")
    columns = (
        *(slowdowns.packets, slowdowns.messages, slowdowns.slowdown_p50, slowdowns.slowdown_p99),
        slowdowns.late_packets,
    )
    for packets, messages, median, high, late in zip(*columns, strict=True):
        table.add_row(f"{packets:,}", f"{messages:,}", f"{median:.2f}", f"{high:.2f}", f"{late:,}")
    return Group(
        table,
        Text(
            f"{slowdowns.reordered_fraction:.2%} of the packets came after a later packet of their message, "
            f"at most {slowdowns.reordering_distance:,} packets",
            style="dim",
        ),
    )


def _plain(value: np.generic) -> int | float | None:
    number = value.item()
    return None if math.isnan(number) else number


def _number(value: float) -> str:
    return "" if math.isnan(value) else f"{value:,.1f}"

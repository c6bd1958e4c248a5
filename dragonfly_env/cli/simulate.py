"""``dragonfly-env simulate``: one run."""

from __future__ import annotations

import dataclasses
import json
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from rich import box
from rich.console import Group, RenderableType
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from dragonfly_env.checks.files import check_file, replacing
from dragonfly_env.checks.values import config_error
from dragonfly_env.cli import options
from dragonfly_env.cli.console import console, note, show
from dragonfly_env.cli.options import option, scenario_settings
from dragonfly_env.metrics.jobs import JobMetrics
from dragonfly_env.metrics.steadiness import SATURATED_BELOW, STATIONARY_WITHIN, is_overloaded

if TYPE_CHECKING:
    import pyarrow as pa

    from dragonfly_env.jobs import BackgroundMix, Job
    from dragonfly_env.metrics import Metrics
    from dragonfly_env.sweeps.measure import Runnable
    from dragonfly_env.sweeps.point import Run


# (heading, column, divisor, form, unit) of the table; what is not here is in --json.
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
    (
        "latency in the network, mean",
        "network_latency_mean_ns",
        1.0,
        ",.1f",
        "ns, from leaving the source queue",
    ),
    ("hops, mean", "hops_mean", 1.0, ".3f", "between routers"),
    ("minimal paths", "minimal_fraction", 0.01, ".1f", "% of packets"),
    ("fairness of routers, Jain", "router_fairness_jain", 1.0, ".4f", "1 is even"),
    ("local links, mean utilisation", "local_link_utilisation_mean", 0.01, ".1f", "%"),
    ("local links, highest", "local_link_utilisation_max", 0.01, ".1f", "%"),
    ("global links, mean utilisation", "global_link_utilisation_mean", 0.01, ".1f", "%"),
    ("global links, highest", "global_link_utilisation_max", 0.01, ".1f", "%"),
)


@options.taking(given=options.SIMULATE)
def simulate(
    policy: Annotated[
        str,
        option(
            "--policy -p",
            "The routing policy, e.g. min or ugal-n:bias_packets=2 ('dragonfly-env info' lists them), or an agent "
            "as of 'evaluate'.",
            options.SYSTEM,
            metavar="NAME[:SETTING=..]",
        ),
    ] = "min",
    seed: Annotated[int, option("--seed -s", "Seed of the random streams.", options.TIME)] = 1,
    to_completion: Annotated[
        bool,
        option(
            "--to-completion",
            "Closed-loop traffic such as all-to-all, or jobs: run to the end of them, however long it "
            "takes. Without it such a run ends after --measure-ns at the latest.",
            options.TIME,
        ),
    ] = False,
    as_json: Annotated[
        bool,
        option(
            "--json", "Print one JSON object with results, configuration and provenance instead of a table."
        ),
    ] = False,
    packet_log: Annotated[
        Path | None,
        option(
            "--packet-log",
            "Write one row per delivered packet: source, destination, times, hops, kind of path (minimal, lgl, "
            "lg, gl, g, l, prescribed), routers passed. Parquet, or CSV if FILE ends with .csv (routers separated by "
            "spaces).",
            metavar="FILE",
        ),
    ] = None,
    *,
    given: options.Given,
) -> None:
    """Simulate one policy under one traffic at one load, and print what was measured.

    [bold]Examples[/bold]

    dragonfly-env simulate --policy ugal-n --traffic adv+1 --load 0.45 --network q-adaptive --arrangement absolute

    dragonfly-env simulate --topology p=2,a=4,h=2 --load 0.3 --json | jq .results.latency_p99_ns

    dragonfly-env simulate --topology 16512 --policy par --threads 2

    dragonfly-env simulate --topology 342 --traffic all-to-all:message_bytes=4096 --to-completion

    dragonfly-env simulate --topology 342 --job milc:hosts=64,scale=0.01 --job nek5000:hosts=64 --to-completion
    """
    from dragonfly_env.jobs.workload import parse_jobs
    from dragonfly_env.sweeps.measure import simulate_run
    from dragonfly_env.sweeps.scenario import LONGEST_NS, Scenario

    given = options.with_traffic(given)
    settings = scenario_settings({}, given, policies=[policy], seeds=[seed])
    if to_completion:
        _check_completable(given["traffic"], parse_jobs(given["job"]), given["measure_ns"])
        settings["measure_ns"] = LONGEST_NS
    (run,) = Scenario.from_dict(settings, name="simulate").runs()
    if packet_log is not None:
        _check_log(packet_log)
        run = dataclasses.replace(run, config=run.config.replace(packet_log=True))
    with _progress_bar() as progress:
        simulation, metrics, provenance = simulate_run(run, progress=progress)
    cpu = provenance["measured_cpu_seconds"]
    provenance["packet_hops_per_cpu_s"] = metrics.packet_hops / cpu if cpu > 0 else None
    try:
        if packet_log is not None:
            _write_log(_log_table(simulation, run), packet_log)
            note(Text(f"packet log: {packet_log}"))
    finally:  # a full disk does not take away what was measured
        _show(run, metrics, provenance, as_json)


def _check_completable(traffic: str, jobs: Sequence[Job | BackgroundMix], measure_ns: float | None) -> None:
    from dragonfly_env.traffic import parse_traffic

    if jobs and all(job.is_endless for job in jobs):
        raise config_error(
            "--job", [job.title for job in jobs], "all jobs are endless: leave out --to-completion"
        )
    if not jobs and not parse_traffic(traffic).is_closed_loop:
        raise config_error(
            "--traffic", traffic, "has no end: --to-completion needs closed-loop traffic, or jobs"
        )
    if measure_ns is not None:
        raise config_error("--measure-ns", measure_ns, "must be left out with --to-completion")


def _show(run: Run, metrics: Metrics, provenance: Mapping[str, Any], as_json: bool) -> None:
    results = metrics.to_dict()
    if as_json:
        jobs = {"jobs": [one.to_dict() for one in metrics.jobs]} if metrics.jobs else {}
        show(json.dumps({"results": results, **jobs, **provenance}, indent=2, allow_nan=False))
    else:
        show(_table(run, results))
        if metrics.jobs:
            show(job_table(metrics.jobs))
        speed = provenance["packet_hops_per_cpu_s"]
        seconds = provenance["measured_cpu_seconds"]
        if speed is not None:
            note(
                Text(
                    f"{speed / 1e6:.2f} million packet-hops per CPU-second ({seconds:.2f} s measured)",
                    style="dim",
                )
            )


@contextmanager
def _progress_bar() -> Iterator[Callable[[float], None]]:
    """A bar on the error stream from the second second on, if that is a terminal."""
    errors = console(error=True)
    bar = Progress(
        TextColumn("simulating"),
        BarColumn(bar_width=None),
        TextColumn("{task.percentage:>3.0f} %"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=errors,
        transient=True,
    )
    task = bar.add_task("", total=1.0)
    begin = time.monotonic()

    def advance(fraction: float) -> None:
        bar.update(task, completed=fraction)
        if errors.is_terminal and not bar.live.is_started and time.monotonic() - begin > 1.0:
            bar.start()

    try:
        yield advance
    finally:
        if bar.live.is_started:
            bar.stop()


def _check_log(path: Path) -> None:
    """Refuse a log that cannot be written before simulating for it."""
    if path.suffix not in ("", ".parquet", ".csv"):
        raise config_error("--packet-log", str(path), "must be the name of a .parquet or a .csv file")
    check_file("--packet-log", path)


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
    with replacing(path) as temporary, temporary.open("wb") as file:
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
    table = pa.table(
        {**columns, "routers": pa.LargeListArray.from_arrays(pa.array(offsets), pa.array(routers))}
    )
    provenance = {"package_version": dfe.__version__, "configuration": run.configuration}
    return table.replace_schema_metadata({"dragonfly_env": json.dumps(provenance)})


def _warning(results: Mapping[str, Any]) -> str:
    """Warnings that a reader of the figures needs first."""
    if results["saturated"]:
        if is_overloaded(most := results["destination_load_max"] or 0.0):
            return (
                f"SATURATED: the traffic sends one host {most:.3g} times what its link takes; "
                "latencies are those of growing queues, and grow with the window"
            )
        return (
            f"SATURATED: less than {SATURATED_BELOW:.0%} of what was offered was accepted in the window's second half; "
            "latencies are those of growing queues, and grow with the window"
        )
    if results["stationary"] is False:
        return (
            f"NOT STATIONARY: the mean latency changed by more than {STATIONARY_WITHIN:.0%} between the window's "
            "halves; a longer --warmup-ns may help"
        )
    return ""


def _table(run: Run, results: Mapping[str, Any]) -> RenderableType:
    topology = run.config.topology
    system = f"{topology.num_hosts:,} hosts (p={topology.p}, a={topology.a}, h={topology.h}, g={topology.g}, "
    times = f"measured {results['duration_ns'] / 1000:g} us after {run.warmup_ns / 1000:g} us"
    if run.closed_loop:
        ended = "complete" if results["makespan_ns"] is not None else "not complete"
        times = f"{ended} after {results['duration_ns'] / 1000:g} us"
        if run.warmup_ns > 0.0:
            times += f", behind a warm-up of {run.warmup_ns / 1000:g} us"
    head = Text.assemble((run.describe(), "bold"), f"\n{system}{topology.arrangement}), {times}")
    if warning := _warning(results):
        head.append(f"\n{warning}", style="yellow")
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


def job_table(jobs: Sequence[JobMetrics]) -> RenderableType:
    """Table of jobs, one row each, with a row below for each of its operations."""
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

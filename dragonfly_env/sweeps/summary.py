"""The tables that say which policy carries this traffic best. Of jobs and closed-loop traffic, which
run to their end: the times that they take, means over seeds.
"""

from __future__ import annotations

import json
import math
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from dragonfly_env.jobs.mix import NAME
from dragonfly_env.metrics.stationarity import OFFERED_WITHIN, SATURATED_BELOW, STATIONARY_WITHIN
from dragonfly_env.sweeps.results import Results, aggregate, means_of

SUMMARY = (
    "accepted_load",
    "latency_mean_ns",
    "latency_p50_ns",
    "latency_p95_ns",
    "latency_p99_ns",
    "hops_mean",
    "minimal_fraction",
    "router_fairness_jain",
    "packet_hops_per_cpu_s",
)
"""Columns of the summary, in its order."""


def summary_table(results: Results) -> pd.DataFrame:
    """Table with a row per traffic, policy and load: means over seeds with confidence intervals; see `aggregate`."""
    return aggregate(results, SUMMARY)


def verdict_table(results: Results) -> pd.DataFrame:
    """Table with a row per traffic and policy.

    Returns:
        ``traffic``, ``policy``; ``carries``: the highest load that is carried, as are all lower loads (NaN if not
        even the lowest is); ``carries_more``: whether that is the highest load of all; ``accepted_max``: the
        highest accepted load; ``latency_low_ns``: mean latency at the lowest load, and ``low_saturated``: whether
        the network is saturated there; ``latency_ns``, ``p99_ns`` and ``hops`` at the load ``carries`` (NaN as above).
    """
    table = summary_table(results)
    rows = []
    for (traffic, policy), part in table.groupby(["traffic", "policy"], sort=False):
        line = part.sort_values("load")
        carried = line[~line["saturated"].cummax() & ~line["undecided"]]
        last = carried.iloc[-1] if len(carried) else pd.Series(math.nan, line.columns)
        rows.append(
            {
                "traffic": traffic,
                "policy": policy,
                "carries": float(last["load"]),
                "carries_more": bool(last["load"] == line["load"].iloc[-1]),
                "accepted_max": float(line["accepted_load"].max()),
                "latency_low_ns": float(line["latency_mean_ns"].iloc[0]),
                "low_saturated": bool(line["saturated"].iloc[0]),
                "latency_ns": float(last["latency_mean_ns"]),
                "p99_ns": float(last["latency_p99_ns"]),
                "hops": float(last["hops_mean"]),
            }
        )
    return pd.DataFrame(rows)


_VERDICTS = (
    "highest load carried", "most accepted", "mean latency at lowest load (µs)",
    "mean latency at highest load carried (µs)", "p99 (µs)", "hops",
)  # fmt: skip
_SATURATED = f"In brackets: saturated, less than {SATURATED_BELOW:.0%} of the load was accepted."
_UNDECIDED = "With ?: too few messages in the window to say whether the network is saturated."
_NOT_STATIONARY = (
    f"With ~: not stationary, the mean latency changed by more than {STATIONARY_WITHIN:.0%} between the window's "
    "halves, or the queues grew (a longer --warmup?)."
)
_CARRIES_MORE = ">=: no higher load was simulated."


def render_latencies(results: Results) -> RenderableType:
    """Render for a terminal, while runs end: latency by load and policy for each traffic that offers loads."""
    table = summary_table(results)
    loaded = [
        pattern
        for pattern in results.traffic
        if not has_jobs(results, pattern) and not is_workload(results, pattern)
    ]
    return Group(*(_latencies(results, table, traffic) for traffic in loaded))


def render_summary(results: Results) -> RenderableType:
    """Render for a terminal: latency by load and policy for each traffic, then what each policy carries. Of jobs and
    closed-loop traffic the times that they took.
    """
    table = summary_table(results)
    parts: list[RenderableType] = []
    loaded = []
    for traffic in results.traffic:
        if has_jobs(results, traffic):
            parts.append(render_jobs(results, traffic))
        elif is_workload(results, traffic):
            parts.append(render_makespans(results, traffic))
        else:
            loaded.append(traffic)
            parts.append(_latencies(results, table, traffic))
    if not loaded:
        return Group(*parts)
    verdicts = verdict_table(results)
    parts.append(_verdicts(verdicts, loaded))
    here = table[table["traffic"].isin(loaded)]
    explained = (
        (here["saturated"], _SATURATED),
        (here["undecided"], _UNDECIDED),
        (~here["stationary"] & ~here["saturated"] & ~here["undecided"], _NOT_STATIONARY),
        (verdicts[verdicts["traffic"].isin(loaded)]["carries_more"], _CARRIES_MORE),
        (here["fitting_window_ns"].notna(), _other_window(here)),
    )
    notes = [text for rows, text in explained if bool(rows.any())]
    parts.append(Text(" ".join([*notes, "Load: fraction of the host links' bandwidth."]), style="dim"))
    return Group(*parts)


def _other_window(table: pd.DataFrame) -> str:
    """Name the loads that hosts did not offer in their windows, and a window in which they do."""
    loads = ", ".join(
        f"{load:g}" for load in sorted(table[table["fitting_window_ns"].notna()]["load"].unique())
    )
    return (
        f"At load {loads} hosts offered over {OFFERED_WITHIN:.0%} more or less than that: the window does not fit the "
        f"injection; --measure {np.ceil(table['fitting_window_ns'].max() / 1000):g}us would."
    )


def _table(*left: str, right: Sequence[str]) -> Table:
    """An empty table with these headings; the columns of numbers are on the right."""
    table = Table(box=box.SIMPLE_HEAD)
    for heading in left:
        table.add_column(heading, overflow="fold")
    for heading in right:
        table.add_column(Text(heading), justify="right", overflow="fold")
    return table


def _titled(title: str, table: Table) -> RenderableType:
    """A table with its title above; a title inside would be wrapped to the width of a narrow table."""
    return Group(Text(title, style="bold"), table)


def _latencies(results: Results, table: pd.DataFrame, traffic: str) -> RenderableType:
    part = table[table["traffic"] == traffic]
    several = bool((part["seeds"] > 1).any())
    title = f"Mean latency (µs) under {traffic}" + (", ± 95 % confidence" if several else "")
    shown = _table(right=("load", *results.policies))
    for load in sorted(part["load"].unique()):
        cells: list[RenderableType] = [f"{load:g}"]
        for policy in results.policies:
            rows = part[(part["load"] == load) & (part["policy"] == policy)]
            cells.append("" if rows.empty else _latency(rows.iloc[0]))
        shown.add_row(*cells)
    return _titled(title, shown)


def _latency(row: pd.Series[float]) -> RenderableType:
    mean, half = row["latency_mean_ns"] / 1000, row["latency_mean_ns_ci95"] / 1000
    text = mean_text(mean, half, _digits(mean))
    if row["saturated"]:
        return Text(f"({text})", style="dim")
    if row["undecided"]:
        return f"?{text}"
    return text if row["stationary"] else f"~{text}"


def _verdicts(table: pd.DataFrame, loaded: Sequence[str]) -> RenderableType:
    shown = _table("traffic", "policy", right=_VERDICTS)
    for traffic in loaded:
        part = table[table["traffic"] == traffic]
        best = part["accepted_max"].max()
        for row in part.to_dict("records"):
            winner = row["accepted_max"] >= best - 0.005
            accepted = f"{row['accepted_max']:.4f}"
            carries = "-" if math.isnan(row["carries"]) else f"{row['carries']:g}"
            low = microseconds(row["latency_low_ns"] / 1000)
            shown.add_row(
                Text(traffic if row["policy"] == part["policy"].iloc[0] else ""),
                Text(str(row["policy"])),
                f">= {carries}" if row["carries_more"] else carries,
                Text(accepted, style="bold green" if winner else ""),
                Text(f"({low})", style="dim") if row["low_saturated"] else low,
                microseconds(row["latency_ns"] / 1000),
                microseconds(row["p99_ns"] / 1000),
                mean_text(row["hops"], math.nan, 2),
            )
        shown.add_section()
    return _titled("What each policy carries", shown)


def microseconds(value: float) -> str:
    """Three significant digits or so; a dash for NaN."""
    return mean_text(value, math.nan, _digits(value))


def _digits(value: float) -> int:
    return 3 if value < 10 else 2 if value < 100 else 0


def mean_text(mean: float, half: float, digits: int) -> str:
    """``"0.865 ±0.002"``: a mean and half the width of its interval with the same digits. A NaN ``half`` is left out,
    and a NaN mean is a dash.
    """
    if math.isnan(mean):
        return "-"
    return f"{mean:,.{digits}f}" + ("" if math.isnan(half) else f" ±{half:,.{digits}f}")


_MOST_JOBS = 12
_COLUMNS = ("makespan_ns", "message_latency_mean_ns", "message_latency_p99_ns", "hops_mean")
_MEASURED = ("run_time_ns", "mpi_share", "message_mean_ns")
OPERATION = "operation_"
"""The first part of the names of columns with the times of a job's operations."""


def has_jobs(results: Results, traffic: str) -> bool:
    """Whether the runs under this traffic have jobs."""
    return "jobs" in results.table and bool(_of(results, traffic)["jobs"].notna().any())


def is_workload(results: Results, traffic: str) -> bool:
    """Whether the runs under this traffic end by themselves: closed-loop traffic, or jobs."""
    counted = "messages_delivered"
    return counted in results.table and bool(_of(results, traffic)[counted].notna().any())


def loaded_part(results: Results) -> Results | None:
    """The part whose traffic offers loads; None if there is none."""
    loaded = [traffic for traffic in results.traffic if not is_workload(results, traffic)]
    if len(loaded) == len(results.traffic):
        return results
    return results.select(traffic=loaded) if loaded else None


def job_runs(results: Results, traffic: str) -> pd.DataFrame:
    """Table with a row per run and job.

    Returns:
        ``number`` and ``name`` of the job; ``hosts``; ``placement``, empty if it is not known; ``endless``; ``load``,
        ``policy`` and ``seed`` of the run; ``run_time_ns`` (NaN if it is not complete), ``mpi_share``,
        ``message_mean_ns``; and for each of its operations the mean time, ``operation_NAME_ns``.
    """
    read: list[dict[str, Any]] = []
    for run in _of(results, traffic).dropna(subset=["jobs"]).to_dict("records"):
        for number, job in enumerate(json.loads(run["jobs"])):
            described = {name: job[name] for name in ("name", "endless", *_MEASURED)}
            of_run = {"load": run["load"], "policy": run["policy"], "seed": run["seed"]}
            placed = {"hosts": len(job["hosts"]), "placement": job.get("placement", "")}
            times = {
                f"{OPERATION}{name}_ns": operation["mean_ns"] for name, operation in job["operations"].items()
            }
            read.append({"number": number, **placed, **described, **of_run, **times})
    frame = pd.DataFrame(read)
    measured = [*_MEASURED, *(str(name) for name in frame if str(name).startswith(OPERATION))]
    return frame.assign(
        **{name: pd.to_numeric(frame[name], errors="coerce").astype(float) for name in measured}
    )


def jobs_frame(results: Results, traffic: str) -> pd.DataFrame:
    """Table with a row per job, placement, load of the traffic next to it, and policy.

    Returns:
        ``number``, ``name``, ``hosts``, ``placement`` and ``endless`` of the job; ``load``; ``policy``; ``seeds`` and
        how many of them are ``complete``; means over seeds with their ``_ci95``: ``run_time_ns`` (NaN unless all are
        complete), ``mpi_share``, ``message_mean_ns``, and those of its operations, ``operation_NAME_ns``.
    """
    runs = job_runs(results, traffic)
    by = ("number", "name", "hosts", "endless", "load", "placement", "policy")
    measured = [*_MEASURED, *(str(name) for name in runs if str(name).startswith(OPERATION))]
    return means_of(
        results, runs, by, measured, lambda group: {"complete": int(group["run_time_ns"].count())}
    )


def render_jobs(results: Results, traffic: str) -> RenderableType:
    """The run times of jobs under every policy, and the share of it that their ranks spent in MPI operations."""
    frame = jobs_frame(results, traffic)
    beside = traffic != "none"
    several = ", ± 95 % confidence" if bool((frame["seeds"] > 1).any()) else ""
    title = "Jobs" + (f" next to {traffic} traffic" if beside else "") + several
    parts: list[RenderableType] = [Text(title, style="bold")]
    jobs = comparable(frame)
    for number, name, part in jobs[:_MOST_JOBS]:
        hosts = int(part["hosts"].iloc[0])
        parts += [Text(f"{number}: {name} on {hosts:,} hosts"), _times_of(part, beside)]
    if len(jobs) > _MOST_JOBS:
        parts.append(
            Text(f"and {len(jobs) - _MOST_JOBS} more jobs: column 'jobs' of the results", style="dim")
        )
    return Group(*parts)


def _times_of(part: pd.DataFrame, beside: bool) -> Table:
    """Table of one job: a line for each load of the traffic next to it, each placement and each policy."""
    several = part["placement"].nunique() > 1
    varied = (*(("load",) if beside else ()), *(("placement",) if several else ()), "policy")
    shown = _table(*varied, right=("run time (µs)", "MPI share (%)", "message latency (µs)"))
    shown.add_column("operations: mean (µs)")
    for _, same in part.groupby(["load", "placement"], sort=False):
        fastest = same["run_time_ns"].min()
        for row in same.to_dict("records"):
            time = _run_time(row)
            shown.add_row(
                *([f"{row['load']:g}"] if beside else []),
                *([Text(str(row["placement"]))] if several else []),
                Text(str(row["policy"])),
                Text(time, style="bold green" if row["run_time_ns"] == fastest else ""),
                mean_text(100 * row["mpi_share"], 100 * row["mpi_share_ci95"], 1),
                _time(row, "message_mean_ns"),
                Text(operations_text(row)),
            )
    return shown


def operations_text(row: Mapping[Hashable, Any]) -> str:
    """``"allreduce 12.3, wait 4.0"``: the mean times of a job's operations in us, of a row of `jobs_frame`."""
    times = {str(name): value for name, value in row.items() if str(name).startswith(OPERATION)}
    return ", ".join(
        f"{name.removeprefix(OPERATION).removesuffix('_ns')} {mean_text(value / 1000, math.nan, 1)}"
        for name, value in times.items()
        if not name.endswith("_ci95") and not math.isnan(value)
    )


def comparable(frame: pd.DataFrame) -> list[tuple[int, str, pd.DataFrame]]:
    """Jobs by number and name. Those of a mix follow from the seed: they are left out next to others."""
    jobs = [
        (int(part["number"].iloc[0]), str(part["name"].iloc[0]), part)
        for _, part in frame.groupby(["number", "name"], sort=False)
    ]
    watched = [job for job in jobs if not job[1].startswith(f"{NAME}: ")]
    return watched or jobs


def render_makespans(results: Results, traffic: str) -> RenderableType:
    """The times of closed-loop traffic under every policy."""
    frame = aggregate(results, _COLUMNS)
    part = frame[frame["traffic"] == traffic]
    shown = _table("policy", right=("makespan (µs)", "message latency: mean (µs)", "p99 (µs)", "hops"))
    least = part["makespan_ns"].min()
    for row in part.to_dict("records"):
        incomplete = math.isnan(row["makespan_ns"])
        time = "not complete" if incomplete else _time(row, "makespan_ns")
        shown.add_row(
            Text(str(row["policy"])),
            Text(time, style="bold green" if row["makespan_ns"] == least else ""),
            _time(row, "message_latency_mean_ns"),
            _time(row, "message_latency_p99_ns"),
            mean_text(row["hops_mean"], row["hops_mean_ci95"], 2),
        )
    several = ", ± 95 % confidence" if bool((part["seeds"] > 1).any()) else ""
    return Group(Text(f"Time to complete {traffic}{several}", style="bold"), shown)


def _of(results: Results, traffic: str) -> pd.DataFrame:
    return results.table[results.table["traffic"] == traffic]


def _run_time(row: dict[Any, Any]) -> str:
    if row["endless"]:
        return "endless"
    if row["complete"] == row["seeds"]:
        return _time(row, "run_time_ns", 1)
    return "not complete" if row["complete"] == 0 else f"{row['complete']} of {row['seeds']} complete"


def _time(row: dict[Any, Any], name: str, digits: int = 3) -> str:
    return mean_text(row[name] / 1000, row[f"{name}_ci95"] / 1000, digits)

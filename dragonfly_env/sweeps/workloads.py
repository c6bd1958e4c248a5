"""What runs to its end, in tables: the times of jobs and of closed-loop traffic, means over seeds."""

from __future__ import annotations

import json
import math
from collections.abc import Hashable, Mapping
from typing import Any

import pandas as pd
from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from dragonfly_env.jobs.mix import NAME
from dragonfly_env.sweeps.results import Results, aggregate
from dragonfly_env.sweeps.statistics import mean_and_ci95

_MOST_JOBS = 12
_COLUMNS = ("makespan_ns", "message_latency_mean_ns", "message_latency_p99_ns", "hops_mean")
_MEASURED = ("run_time_ns", "mpi_share", "message_mean_ns")
OPERATION = "operation_"
"""What the columns of a job's operations begin with."""


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
    """One row per run and job.

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
            times = {f"{OPERATION}{name}_ns": one["mean_ns"] for name, one in job["operations"].items()}
            read.append({"number": number, **placed, **described, **of_run, **times})
    frame = pd.DataFrame(read)
    measured = [*_MEASURED, *(str(name) for name in frame if str(name).startswith(OPERATION))]
    return frame.assign(
        **{name: pd.to_numeric(frame[name], errors="coerce").astype(float) for name in measured}
    )


def jobs_frame(results: Results, traffic: str) -> pd.DataFrame:
    """One row per job, placement, load of the traffic next to it, and policy.

    Returns:
        ``number``, ``name``, ``hosts``, ``placement`` and ``endless`` of the job; ``load``; ``policy``; ``seeds`` and
        how many of them are ``complete``; means over seeds with their ``_ci95``: ``run_time_ns`` (NaN unless all are
        complete), ``mpi_share``, ``message_mean_ns``, and those of its operations, ``operation_NAME_ns``.
    """
    rows = []
    by = ["number", "name", "hosts", "placement", "endless", "load", "policy"]
    runs = job_runs(results, traffic)
    measured = [*_MEASURED, *(str(name) for name in runs if str(name).startswith(OPERATION))]
    for key, group in runs.groupby(by, sort=False):
        row: dict[str, Any] = dict(zip(by, key, strict=True))
        row |= {"seeds": len(group), "complete": int(group["run_time_ns"].notna().sum())}
        for name in measured:
            values = group[name].tolist()
            row[name], row[f"{name}_ci95"] = mean_and_ci95(values)
        rows.append(row)
    frame = pd.DataFrame(rows)
    frame["policy"] = pd.Categorical(frame["policy"], categories=list(results.policies), ordered=True)
    frame = frame.sort_values(["number", "name", "load", "placement", "policy"], kind="stable").reset_index(
        drop=True
    )
    return frame.astype({"policy": str})


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
    """One job: a line for each load of the traffic next to it, each placement and each policy."""
    several = part["placement"].nunique() > 1
    shown = Table(box=box.SIMPLE_HEAD)
    if beside:
        shown.add_column("load", justify="right")
    if several:
        shown.add_column("placement")
    shown.add_column("policy")
    for heading in ("run time (us)", "MPI share (%)", "message latency (us)"):
        shown.add_column(heading, justify="right")
    shown.add_column("operations: mean (us)")
    for _, same in part.groupby(["load", "placement"], sort=False):
        fastest = same["run_time_ns"].min()
        for row in same.to_dict("records"):
            time = _run_time(row)
            shown.add_row(
                *([f"{row['load']:g}"] if beside else []),
                *([Text(str(row["placement"]))] if several else []),
                Text(str(row["policy"])),
                Text(time, style="bold green" if row["run_time_ns"] == fastest else ""),
                _number(100 * row["mpi_share"], 100 * row["mpi_share_ci95"], ".1f"),
                _number(row["message_mean_ns"] / 1000, row["message_mean_ns_ci95"] / 1000, ",.3f"),
                Text(operations_text(row)),
            )
    return shown


def operations_text(row: Mapping[Hashable, Any]) -> str:
    """``"allreduce 12.3, wait 4.0"``: the mean times of a job's operations in us, of a row of `jobs_frame`."""
    times = {str(name): value for name, value in row.items() if str(name).startswith(OPERATION)}
    return ", ".join(
        f"{name.removeprefix(OPERATION).removesuffix('_ns')} {_number(value / 1000, math.nan, ',.1f')}"
        for name, value in times.items()
        if not name.endswith("_ci95") and not math.isnan(value)
    )


def comparable(frame: pd.DataFrame) -> list[tuple[int, str, pd.DataFrame]]:
    """Jobs by number and name. Those of a mix follow from the seed: they are left out beside others."""
    jobs = [
        (int(part["number"].iloc[0]), str(part["name"].iloc[0]), part)
        for _, part in frame.groupby(["number", "name"], sort=False)
    ]
    own = [job for job in jobs if not job[1].startswith(f"{NAME}: ")]
    return own or jobs


def render_makespans(results: Results, traffic: str) -> RenderableType:
    """The times of closed-loop traffic under every policy."""
    frame = aggregate(results, _COLUMNS)
    part = frame[frame["traffic"] == traffic]
    shown = Table(box=box.SIMPLE_HEAD)
    shown.add_column("policy")
    for heading in ("makespan (us)", "message latency: mean (us)", "p99 (us)", "hops"):
        shown.add_column(heading, justify="right")
    least = part["makespan_ns"].min()
    for row in part.to_dict("records"):
        incomplete = math.isnan(row["makespan_ns"])
        time = "not complete" if incomplete else _time(row, "makespan_ns")
        shown.add_row(
            Text(str(row["policy"])),
            Text(time, style="bold green" if row["makespan_ns"] == least else ""),
            _time(row, "message_latency_mean_ns"),
            _time(row, "message_latency_p99_ns"),
            _number(row["hops_mean"], math.nan, ".2f"),
        )
    several = ", ± 95 % confidence" if bool((part["seeds"] > 1).any()) else ""
    return Group(Text(f"Time to complete {traffic}{several}", style="bold"), shown)


def _of(results: Results, traffic: str) -> pd.DataFrame:
    return results.table[results.table["traffic"] == traffic]


def _run_time(row: dict[Any, Any]) -> str:
    if row["endless"]:
        return "endless"
    if row["complete"] == row["seeds"]:
        return _time(row, "run_time_ns", ",.1f")
    return "not complete" if row["complete"] == 0 else f"{row['complete']} of {row['seeds']} complete"


def _time(row: dict[Any, Any], name: str, form: str = ",.3f") -> str:
    return _number(row[name] / 1000, row[f"{name}_ci95"] / 1000, form)


def _number(value: float, half: float, form: str) -> str:
    if math.isnan(value):
        return "-"
    return format(value, form) + ("" if math.isnan(half) else f" ±{half:{form}}")

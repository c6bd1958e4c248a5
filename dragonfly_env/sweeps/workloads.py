"""What runs to its end, in tables: the times of jobs and of closed-loop traffic, means over seeds."""

from __future__ import annotations

import json
import math
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


def jobs_frame(results: Results, traffic: str) -> pd.DataFrame:
    """One row per job, load of the traffic next to it, and policy.

    Returns:
        ``number`` and ``name`` of the job; ``hosts``; ``load``; ``policy``; ``endless``; ``seeds`` and how many of
        them are ``complete``; means over seeds with their ``_ci95``: ``run_time_ns`` (NaN unless all are complete),
        ``mpi_share``, ``message_mean_ns``.
    """
    read: list[dict[str, Any]] = []
    for run in _of(results, traffic).dropna(subset=["jobs"]).to_dict("records"):
        for number, job in enumerate(json.loads(run["jobs"])):
            described = {name: job[name] for name in ("name", "endless", *_MEASURED)}
            of_run = {"load": run["load"], "policy": run["policy"]}
            read.append({"number": number, "hosts": len(job["hosts"]), **described, **of_run})
    rows = []
    by = ["number", "name", "hosts", "endless", "load", "policy"]
    for key, group in pd.DataFrame(read).groupby(by, sort=False):
        row: dict[str, Any] = dict(zip(by, key, strict=True))
        row |= {"seeds": len(group), "complete": int(group["run_time_ns"].notna().sum())}
        for name in _MEASURED:
            values = pd.to_numeric(group[name], errors="coerce").astype(float).tolist()
            row[name], row[f"{name}_ci95"] = mean_and_ci95(values)
        rows.append(row)
    frame = pd.DataFrame(rows)
    frame["policy"] = pd.Categorical(frame["policy"], categories=list(results.policies), ordered=True)
    frame = frame.sort_values(["number", "load", "policy"], kind="stable").reset_index(drop=True)
    return frame.astype({"policy": str})


def render_jobs(results: Results, traffic: str) -> RenderableType:
    """The run times of jobs under every policy, and the share of it that their ranks spent in MPI operations."""
    frame = jobs_frame(results, traffic)
    beside = traffic != "none"
    several = ", ± 95 % confidence" if bool((frame["seeds"] > 1).any()) else ""
    title = "Jobs" + (f" next to {traffic} traffic" if beside else "") + several
    parts: list[RenderableType] = [Text(title, style="bold")]
    jobs = _comparable(frame)
    for number, name, part in jobs[:_MOST_JOBS]:
        hosts = int(part["hosts"].iloc[0])
        parts += [Text(f"{number}: {name} on {hosts:,} hosts"), _times_of(part, beside)]
    if len(jobs) > _MOST_JOBS:
        parts.append(
            Text(f"and {len(jobs) - _MOST_JOBS} more jobs: column 'jobs' of the results", style="dim")
        )
    return Group(*parts)


def _times_of(part: pd.DataFrame, beside: bool) -> Table:
    """One job: a line for each load of the traffic next to it and each policy."""
    shown = Table(box=box.SIMPLE_HEAD)
    if beside:
        shown.add_column("load", justify="right")
    shown.add_column("policy")
    for heading in ("run time (us)", "MPI share (%)", "message latency (us)"):
        shown.add_column(heading, justify="right")
    for _, same in part.groupby("load", sort=False):
        fastest = same["run_time_ns"].min()
        for row in same.to_dict("records"):
            time = _run_time(row)
            shown.add_row(
                *([f"{row['load']:g}"] if beside else []),
                Text(str(row["policy"])),
                f"[bold green]{time}[/]" if row["run_time_ns"] == fastest else time,
                _number(100 * row["mpi_share"], 100 * row["mpi_share_ci95"], ".1f"),
                _number(row["message_mean_ns"] / 1000, row["message_mean_ns_ci95"] / 1000, ",.3f"),
            )
    return shown


def _comparable(frame: pd.DataFrame) -> list[tuple[int, str, pd.DataFrame]]:
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
            f"[bold green]{time}[/]" if row["makespan_ns"] == least else time,
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

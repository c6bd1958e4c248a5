"""The tables that answer the question: which policy carries this traffic best?"""

from __future__ import annotations

import math
from collections.abc import Sequence

import pandas as pd
from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from dragonfly_env.metrics.steadiness import SATURATED_BELOW, STATIONARY_WITHIN
from dragonfly_env.sweeps.results import Results, aggregate
from dragonfly_env.sweeps.workloads import has_jobs, is_workload, render_jobs, render_makespans

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
    """One row per traffic, policy and load: means over seeds with confidence intervals; see `aggregate`."""
    return aggregate(results, SUMMARY)


def verdict_table(results: Results) -> pd.DataFrame:
    """One row per traffic and policy.

    Returns:
        ``traffic``, ``policy``; ``carries``: the highest load up to which at least `SATURATED_BELOW` of every
        load is accepted (NaN if not even the lowest is); ``accepted_max``: the highest accepted load;
        ``latency_low_ns``: mean latency at the lowest load; ``latency_ns``, ``p99_ns`` and ``hops`` at the
        load ``carries`` (NaN as above).
    """
    table = summary_table(results)
    rows = []
    for (traffic, policy), part in table.groupby(["traffic", "policy"], sort=False):
        line = part.sort_values("load")
        carried = line[~line["saturated"].cummax()]
        last = carried.iloc[-1] if len(carried) else None
        rows.append(
            {
                "traffic": traffic,
                "policy": policy,
                "carries": math.nan if last is None else float(last["load"]),
                "accepted_max": float(line["accepted_load"].max()),
                "latency_low_ns": float(line["latency_mean_ns"].iloc[0]),
                "latency_ns": math.nan if last is None else float(last["latency_mean_ns"]),
                "p99_ns": math.nan if last is None else float(last["latency_p99_ns"]),
                "hops": math.nan if last is None else float(last["hops_mean"]),
            }
        )
    return pd.DataFrame(rows)


_NOT_STATIONARY = (
    f"With ~: not stationary, the mean latency changed by more than {STATIONARY_WITHIN:.0%} between the window's "
    "halves (a longer --warmup-ns?). "
)


def render_summary(results: Results) -> RenderableType:
    """For a terminal: latency by load and policy for each traffic, then what each policy carries. Of jobs and
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
    parts.append(_verdicts(results, loaded))
    parts.append(
        Text(
            f"A latency in brackets: saturated, less than {SATURATED_BELOW:.0%} of the load was accepted. "
            + (_NOT_STATIONARY if bool((~table["stationary"] & ~table["saturated"]).any()) else "")
            + "Load: fraction of the host links' bandwidth.",
            style="dim",
        )
    )
    return Group(*parts)


def _titled(title: str, table: Table) -> RenderableType:
    """A table with its title above; a title inside would be wrapped to the width of a narrow table."""
    return Group(Text(title, style="bold"), table)


def _latencies(results: Results, table: pd.DataFrame, traffic: str) -> RenderableType:
    part = table[table["traffic"] == traffic]
    several = bool((part["seeds"] > 1).any())
    title = f"Mean latency (us) under {traffic}" + (", ± 95 % confidence" if several else "")
    shown = Table(box=box.SIMPLE_HEAD)
    shown.add_column("load", justify="right")
    for policy in results.policies:
        shown.add_column(Text(policy), justify="right", no_wrap=True)
    for load in sorted(part["load"].unique()):
        cells: list[RenderableType] = [f"{load:g}"]
        for policy in results.policies:
            rows = part[(part["load"] == load) & (part["policy"] == policy)]
            cells.append("" if rows.empty else _latency(rows.iloc[0]))
        shown.add_row(*cells)
    return _titled(title, shown)


def _latency(row: pd.Series[float]) -> RenderableType:
    mean, half = row["latency_mean_ns"] / 1000, row["latency_mean_ns_ci95"] / 1000
    text = microseconds(mean) + ("" if math.isnan(half) else f" ±{half:.2f}")
    if row["saturated"]:
        return Text(f"({text})", style="dim")
    return text if row["stationary"] else f"~{text}"


def _verdicts(results: Results, loaded: Sequence[str]) -> RenderableType:
    shown = Table(box=box.SIMPLE_HEAD)
    for column in ("traffic", "policy"):
        shown.add_column(column)
    for column in (
        "carries load",
        "accepted at most",
        "latency at lowest load (us)",
        "there: mean (us)",
        "p99 (us)",
        "hops",
    ):
        shown.add_column(column, justify="right")
    table = verdict_table(results)
    for traffic in loaded:
        part = table[table["traffic"] == traffic]
        best = part["accepted_max"].max()
        for row in part.to_dict("records"):
            winner = row["accepted_max"] >= best - 0.005
            accepted = f"{row['accepted_max']:.4f}"
            shown.add_row(
                Text(traffic if row["policy"] == part["policy"].iloc[0] else ""),
                Text(str(row["policy"])),
                _number(row["carries"], "g"),
                Text(accepted, style="bold green" if winner else ""),
                microseconds(row["latency_low_ns"] / 1000),
                microseconds(row["latency_ns"] / 1000),
                microseconds(row["p99_ns"] / 1000),
                _number(row["hops"], ".2f"),
            )
        shown.add_section()
    return _titled("What each policy carries", shown)


def microseconds(value: float) -> str:
    """Three significant digits or so; a dash for NaN."""
    if math.isnan(value):
        return "-"
    return f"{value:.3f}" if value < 10 else f"{value:.2f}" if value < 100 else f"{value:.0f}"


def _number(value: float, form: str) -> str:
    return "-" if math.isnan(value) else format(value, form)

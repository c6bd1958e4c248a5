"""HTML page with all results: figures, a sortable table, and how the results were made.

It opens from a file, offline: script, pictures and style are inside.
"""

from __future__ import annotations

import base64
import html
import json
import math
import re
from collections.abc import Hashable, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import pandas as pd

from dragonfly_env.checks.files import refusing, write_text
from dragonfly_env.plots.style import conditions
from dragonfly_env.sweeps.results import Results
from dragonfly_env.sweeps.summary import has_jobs, is_workload, jobs_frame, operations_text, summary_table

_HEADINGS = {
    "traffic": "traffic",
    "policy": "policy",
    "load": "load",
    "seeds": "seeds",
    "accepted_load": "accepted load",
    "latency_mean_ns": "mean latency (µs)",
    "latency_p50_ns": "p50 (µs)",
    "latency_p95_ns": "p95 (µs)",
    "latency_p99_ns": "p99 (µs)",
    "hops_mean": "hops",
    "minimal_fraction": "minimal fraction",
    "router_fairness_jain": "Jain fairness of routers",
    "packet_hops_per_cpu_s": "packet-hops per CPU-s",
}
_JOB_HEADINGS = {
    "name": "job",
    "hosts": "hosts",
    "placement": "placement",
    "load": "load",
    "policy": "policy",
    "seeds": "seeds",
    "complete": "complete",
    "run_time_ns": "run time (µs)",
    "mpi_share": "MPI share (%)",
    "message_mean_ns": "message latency (µs)",
    "operations": "operations: mean (µs)",
}
_DIGITS = {"load": 3, "accepted_load": 4, "hops_mean": 3, "minimal_fraction": 3, "router_fairness_jain": 4}


def write_page(results: Results, path: Path, pictures: Mapping[str, Path]) -> Path:
    """Write the page.

    Args:
        results: Runs.
        path: The file to write.
        pictures: PNG or SVG files of figures by caption; they are embedded.

    Returns:
        ``path``.

    Raises:
        ConfigError: If the file cannot be written.
    """
    template = files("dragonfly_env.plots").joinpath("page.html").read_text(encoding="utf-8")
    table = summary_table(results)
    table.loc[[is_workload(results, traffic) for traffic in table["traffic"]], "load"] = math.nan
    parts = {
        "TITLE": html.escape(results.name),
        "SUBTITLE": html.escape(_subtitle(results)),
        "WORKLOADS": "\n".join(
            _jobs(results, traffic) for traffic in results.traffic if has_jobs(results, traffic)
        ),
        "FIGURES": "\n".join(_picture(caption, picture) for caption, picture in pictures.items()),
        "TABLE": _table(
            table.to_dict("records"), {name: _HEADINGS[name] for name in _HEADINGS if name in table}
        ),
        "PROVENANCE": _provenance(results.table),
    }
    page = re.sub(r"\{\{([A-Z]+)\}\}", lambda match: parts[match[1]], template)
    with refusing("page", path, "must be writable"):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_text(page, path)
    return path


def _subtitle(results: Results) -> str:
    first = results.table.iloc[0]
    system = (
        f"{int(first['num_hosts']):,} hosts: Dragonfly p={first['topology_p']}, a={first['topology_a']}, "
        f"h={first['topology_h']}, g={first['topology_g']}, {first['topology_arrangement']} arrangement"
    )
    missing = results.expected - len(results.table)
    return f"{system} · {conditions(results)} · {len(results.table)} runs" + (
        f" · {missing} still missing" if missing > 0 else ""
    )


def _picture(caption: str, picture: Path) -> str:
    data = base64.b64encode(picture.read_bytes()).decode()
    text, kind = html.escape(caption), "svg+xml" if picture.suffix == ".svg" else "png"
    return f'<figure><img alt="{text}" src="data:image/{kind};base64,{data}"><figcaption>{text}</figcaption></figure>'


def _jobs(results: Results, traffic: str) -> str:
    """The times of jobs next to a traffic."""
    frame = jobs_frame(results, traffic)
    if traffic == "none":
        frame["load"] = math.nan
    rows = frame.to_dict("records")
    for row in rows:
        row["operations"] = operations_text(row)
        row["mpi_share"], row["mpi_share_ci95"] = 100 * row["mpi_share"], 100 * row["mpi_share_ci95"]
    title = "Jobs" if traffic == "none" else f"Jobs next to {traffic} traffic"
    return f'<h2>{html.escape(title)}</h2>\n<div class="scroll"><table>{_table(rows, _JOB_HEADINGS)}</table></div>'


def _table(rows: Sequence[Mapping[Hashable, Any]], headings: Mapping[str, str]) -> str:
    """The columns with a heading, of all rows."""
    head = "".join(f"<th>{html.escape(text)}</th>" for text in headings.values())
    body = []
    for row in rows:
        kind = ' class="saturated"' if row.get("saturated") else ""
        body.append(f"<tr{kind}>" + "".join(_cell(row, name) for name in headings) + "</tr>")
    return f"<thead><tr>{head}</tr></thead>\n<tbody>\n" + "\n".join(body) + "\n</tbody>"


def _cell(row: Mapping[Hashable, Any], name: str) -> str:
    value = row[name]
    if isinstance(value, str):
        return f"<td>{html.escape(value)}</td>"
    number = float(value)
    if math.isnan(number):
        return "<td></td>"
    half = float(row.get(f"{name}_ci95", math.nan))
    if name.endswith("_ns"):
        number, half = number / 1000.0, half / 1000.0
    digits = _DIGITS.get(name, 0 if number >= 100 or number.is_integer() else 3 if number < 10 else 1)
    text = f"{number:,.{digits}f}" if name != "load" else f"{number:g}"
    spread = "" if math.isnan(half) else f"<small> ±{half:,.{digits}f}</small>"
    return f'<td data-value="{number!r}">{text}{spread}</td>'


def _provenance(table: pd.DataFrame) -> str:
    first = table.iloc[0]
    cpu = float(table["cpu_seconds"].sum())
    facts = {
        "package version": ", ".join(sorted(set(table["package_version"].astype(str)))),
        "platform": ", ".join(sorted(set(table["platform"].astype(str)))),
        "processor": ", ".join(sorted(set(table["machine"].astype(str)))),
        "made": f"{table['date'].min()} to {table['date'].max()}",
        "CPU time": f"{cpu:,.1f} s for {table['packet_hops'].sum() / 1e6:,.1f} million measured packet-hops",
    }
    items = "".join(
        f"<dt>{html.escape(key)}</dt><dd>{html.escape(value)}</dd>" for key, value in facts.items()
    )
    configuration = json.dumps(json.loads(str(first["configuration"])), indent=2)
    return (
        f"<dl>{items}</dl><details><summary>Configuration of the first run (every row of the Parquet file has its own)"
        f"</summary><pre>{html.escape(configuration)}</pre></details>"
    )

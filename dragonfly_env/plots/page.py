"""HTML page with all results: figures, a sortable table, and how the results were made.

It opens from a file, offline: script, pictures and style are inside.
"""

from __future__ import annotations

import base64
import html
import json
import math
from collections.abc import Hashable, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import pandas as pd
import plotly.graph_objects as go
from plotly.offline import get_plotlyjs
from plotly.subplots import make_subplots

from dragonfly_env.checks.files import fill_page
from dragonfly_env.colors import REFERENCE, looks
from dragonfly_env.plots.loads import latency_limit_ns, load_limits
from dragonfly_env.plots.style import LABEL_POINTS, conditions, wrapped
from dragonfly_env.sweeps.results import Results
from dragonfly_env.sweeps.summary import (
    has_jobs,
    is_workload,
    jobs_frame,
    loaded_part,
    operations_text,
    summary_table,
)

_SYMBOLS = {
    "o": "circle", "s": "square", "D": "diamond", "d": "diamond-tall", "^": "triangle-up", "v":
    "triangle-down", "<": "triangle-left", ">": "triangle-right", "*": "star", "P": "cross", "X": "x", "p":
    "pentagon", "h": "hexagon", "8": "octagon",
}  # fmt: skip
_LABEL_IN = 1.6  # inches of a panel's height for its label, in the size of the other figures
_PANELS = (
    ("latency_mean_ns", "mean latency (µs)", 1e-3),
    ("accepted_load", "accepted load", 1.0),
    ("hops_mean", "mean hops", 1.0),
)
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
_NO_LOADS = "<p>Jobs and closed-loop traffic offer no load.</p>"
_DIGITS = {"load": 3, "accepted_load": 4, "hops_mean": 3, "minimal_fraction": 3, "router_fairness_jain": 4}


def write_page(results: Results, path: Path, pictures: Mapping[str, Path]) -> Path:
    """Write the page.

    Args:
        results: Runs.
        path: The file to write.
        pictures: PNG files of further figures by caption; they are embedded.

    Returns:
        ``path``.

    Raises:
        ConfigError: If the file cannot be written.
    """
    template = files("dragonfly_env.plots").joinpath("page.html").read_text(encoding="utf-8")
    table = summary_table(results)
    table.loc[[is_workload(results, traffic) for traffic in table["traffic"]], "load"] = math.nan
    loaded = loaded_part(results)
    several = results.table["seed"].nunique() > 1
    parts = {
        "TITLE": html.escape(results.name),
        "BARS": " Bars: 95 % intervals over seeds." if several else "",
        "MEANS": "Means over seeds with 95 % confidence intervals." if several else "One seed.",
        "SUBTITLE": html.escape(_subtitle(results)),
        "PLOTLY": get_plotlyjs(),
        "CHART": _NO_LOADS if loaded is None else _interactive(loaded, table),
        "WORKLOADS": "\n".join(
            _jobs(results, traffic) for traffic in results.traffic if has_jobs(results, traffic)
        ),
        "FIGURES": "\n".join(_picture(caption, picture) for caption, picture in pictures.items()),
        "TABLE": _table(
            table.to_dict("records"), {name: _HEADINGS[name] for name in _HEADINGS if name in table}
        ),
        "PROVENANCE": _provenance(results.table),
    }
    fill_page(template, parts, path)
    return path


def _subtitle(results: Results) -> str:
    first = results.table.iloc[0]
    system = (
        f"{int(first['num_hosts']):,} hosts: Dragonfly p={first['topology_p']}, a={first['topology_a']}, "
        f"h={first['topology_h']}, g={first['topology_g']}, {first['topology_arrangement']} arrangement"
        + (f", failed {failed}" if isinstance(failed := first.get("topology_failed"), str) and failed else "")
    )
    missing = results.expected - len(results.table)
    return f"{system} · {conditions(results)} · {len(results.table)} runs" + (
        f" · {missing} still missing" if missing > 0 else ""
    )


def _interactive(results: Results, table: pd.DataFrame) -> str:
    """The load figure as a chart with values under the pointer."""
    look = looks(results.policies)
    rows = len(results.traffic)
    figure = make_subplots(rows=rows, cols=3, horizontal_spacing=0.06, vertical_spacing=0.26 / rows)
    for index, traffic in enumerate(results.traffic, start=1):
        part = table[table["traffic"] == traffic]
        ends = list(load_limits(part["load"]))
        for policy in results.policies:
            line = part[part["policy"] == policy].sort_values("load")
            symbol = _SYMBOLS[look[policy].marker]
            for column, (name, label, scale) in enumerate(_PANELS, start=1):
                figure.add_trace(
                    go.Scatter(
                        x=line["load"].tolist(),
                        y=(line[name] * scale).tolist(),
                        mode="lines+markers",
                        name=policy,
                        legendgroup=policy,
                        showlegend=index == 1 and column == 1,
                        line={"color": look[policy].color, "dash": look[policy].dash, "width": 2},
                        marker={
                            "symbol": [symbol + "-open" * saturated for saturated in line["saturated"]],
                            "size": 7,
                        },
                        error_y={
                            "array": (line[f"{name}_ci95"] * scale).tolist(),
                            "thickness": 1,
                            "width": 3,
                        },
                        hovertemplate=f"{html.escape(policy)}<br>load %{{x}}<br>{label} %{{y:.4g}}<extra></extra>",
                    ),
                    row=index,
                    col=column,
                )
                figure.update_xaxes(title_text="offered load", range=ends, row=index, col=column)
                named = html.escape(wrapped(traffic, _LABEL_IN, LABEL_POINTS)).replace("\n", "<br>")
                title = f"<b>{named}</b><br>{label}" if column == 1 else label
                figure.update_yaxes(
                    title_text=title, rangemode="tozero", automargin=True, row=index, col=column
                )
        figure.update_yaxes(range=[0, latency_limit_ns(part) / 1000], row=index, col=1)
        figure.add_trace(
            go.Scatter(
                x=[0, ends[1]],
                y=[0, ends[1]],
                mode="lines",
                name="accepted = offered",
                showlegend=index == 1,
                line={"color": REFERENCE, "dash": "dot", "width": 1},
                hoverinfo="skip",
            ),
            row=index,
            col=2,
        )
        if beyond := _off_scale(part):
            where = {"x": 0.02, "y": 0.98, "xref": "x domain", "yref": "y domain", "align": "left"}
            figure.add_annotation(text=beyond, showarrow=False, font_size=11, **where, row=index, col=1)
    figure.update_layout(
        template="plotly_white",
        height=60 + 330 * rows,
        margin={"l": 70, "r": 20, "t": 60, "b": 50},
        legend={"orientation": "h", "yanchor": "bottom", "y": 1.0 + 0.06 / rows, "x": 0.0},
        hovermode="closest",
    )
    chart = figure.to_html(
        full_html=False, include_plotlyjs=False, div_id="loads", config={"displaylogo": False}
    )
    return str(chart)


def _off_scale(part: pd.DataFrame) -> str:
    """The policies of a panel of which no latency is low enough to be seen; the axis may be dragged to them."""
    limit_ns = latency_limit_ns(part)
    least = part.groupby("policy", sort=False)["latency_mean_ns"].min()
    hidden = [
        f"{html.escape(str(name))}: {ns / 1000:.3g} µs or more" for name, ns in least.items() if ns > limit_ns
    ]
    return "<br>".join(["above the panel:", *hidden]) if hidden else ""


def _picture(caption: str, picture: Path) -> str:
    data = base64.b64encode(picture.read_bytes()).decode()
    text = html.escape(caption)
    return f'<figure><img alt="{text}" src="data:image/png;base64,{data}"><figcaption>{text}</figcaption></figure>'


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

"""Figures 6, 7, 10, 13, 15, 16 and 19 of LIA, TACO 2025: ADV+i for every i, accepted load of every router of a group,
workloads that run to their end.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from dragonfly_env.colors import REFERENCE, SERIES, distinct_looks, looks
from dragonfly_env.lab.papers.claims import PaperFindings, relative_gap, value
from dragonfly_env.lab.papers.figures.panels import legend_handles, letter, mark, means_of, published_of
from dragonfly_env.lab.papers.findings import FloatArray
from dragonfly_env.lab.papers.quantities import (
    MAKESPAN,
    THROUGHPUT,
    loads_of_routers,
    offset_of,
    path_loads_of_routers,
    remote_counter,
    remote_counters,
)
from dragonfly_env.plots.style import fitting_legend, grid, policy_legend
from dragonfly_env.simulation.path_kinds import PATH_KINDS
from dragonfly_env.sweeps.point import Point

_PATH_COLORS = (*SERIES[:6], REFERENCE)
_BASE = "min"
_POINT: dict[str, Any] = {
    "marker": "s", "markerfacecolor": "white", "markeredgecolor": "black", "markersize": 6.5, "linestyle": "none",
    "zorder": 6,
}  # fmt: skip


def offset_curves(findings: PaperFindings, figure: str) -> Figure:
    """Throughput over the offset; dotted: multiples of h."""
    points = findings.simulated(figure)
    policies = tuple(dict.fromkeys(point.policy_label for point in points))
    look = distinct_looks(policies)
    drawn, axes = grid(7.2, 3.2, 1, 1)
    panel = axes[0][0]
    for policy in policies:
        of_policy = sorted((point for point in points if point.policy_label == policy), key=offset_of)
        means, halves = means_of(findings.values(point, "accepted_load") for point in of_policy)
        offsets, style = [offset_of(point) for point in of_policy], look[policy]
        panel.errorbar(offsets, means, yerr=halves, **style.line, marker=style.marker, label=policy, capsize=2.0,
                       elinewidth=0.9)  # fmt: skip
    stated = published_of(findings, figure, THROUGHPUT)
    colors = {policy: look[policy].color for policy in policies}
    mark(panel, stated, offset_of, colors)
    h = points[0].config.topology.h
    last = max(offset_of(point) for point in points)
    for multiple in range(h, last + 1, h):
        panel.axvline(multiple, color=REFERENCE, linestyle=":", linewidth=1.0, zorder=1)
    panel.set_title(
        f"ADV+i, offered load {points[0].load:g}, {points[0].config.topology.num_hosts:,} hosts (h = {h})"
    )
    panel.set_xlabel("offset i of the destination group (dotted: multiples of h)")
    panel.set_ylabel("accepted load")
    panel.set_ylim(0.0, 0.55)
    handles, _ = panel.get_legend_handles_labels()
    fitting_legend(drawn, [*handles, *legend_handles(stated)])
    return drawn


def saturation_counters(findings: PaperFindings, figure: str) -> Figure:
    """The remote counter at which non-minimal paths -G- saturate, by offset; dashed: what theory says."""
    points = findings.simulated(figure)
    drawn, panel = _counters(findings, figure)
    means, halves = means_of(remote_counter(findings, point) for point in points)
    panel.bar([point.traffic_label for point in points], means, yerr=halves, capsize=2.5, color=SERIES[0])
    return drawn


def mixture_counters(findings: PaperFindings, figure: str) -> Figure:
    """The remote counters at which -G- saturates under mixtures of two destinations; dashed: what theory says."""
    points = [point for point in findings.simulated(figure) if point.policy_label == "vlb-g"]
    drawn, panel = _counters(findings, figure)
    labels, heights = [], []
    for point in points:
        offsets = point.traffic_label.removeprefix("weighted:").replace("=0.5", "").replace(",", " ")
        for link, counter in sorted(remote_counters(findings, point).items()):
            labels.append(f"{offsets}\nR+{link}")
            heights.append(counter)
    means, halves = means_of(heights)
    panel.bar(labels, means, yerr=halves, capsize=2.5, color=SERIES[0])
    panel.tick_params(axis="x", labelsize=7)
    return drawn


def _counters(findings: PaperFindings, figure: str) -> tuple[Figure, Axes]:
    """A panel for counters of packets with what theory says and what is published."""
    drawn, axes = grid(4.8, 3.0, 1, 1)
    panel = axes[0][0]
    for stated in {
        claim.published for claim in findings.claims if claim.figure == figure and claim.unit == "packets"
    }:
        panel.axhline(stated, color="black", linewidth=1.2, label=f"published: {stated:g}")
    panel.axhline(20.0, color=REFERENCE, linestyle="--", linewidth=1.0, label="a local link that is full: 20")
    panel.set_ylabel("packets of a router\nin 200 ns on one type of link")
    fitting_legend(drawn, panel.get_legend_handles_labels()[0])
    return drawn, panel


def switch_loads(findings: PaperFindings, figure: str) -> Figure:
    """Draw a line per policy over the routers of a group, each the mean over all groups."""
    points = findings.simulated(figure)
    look = looks([point.policy_label for point in points])
    drawn, axes = grid(5.6, 3.4, 1, 1)
    panel = axes[0][0]
    for point in points:
        loads = loads_of_routers(findings, point)
        means, halves = means_of(loads.T)
        style = look[point.policy_label]
        panel.errorbar(range(len(means)), means, yerr=halves, **style.line, marker=style.marker, capsize=2.0,
                       label=point.policy_label, elinewidth=0.9)  # fmt: skip
    _of_a_group(panel, points[0], points[0].traffic_label, loads_of_routers(findings, points[0]).shape[1])
    panel.set_ylim(0.0, 1.1 * points[0].load)
    policy_legend(drawn, panel)
    return drawn


def switch_paths(findings: PaperFindings, figure: str) -> Figure:
    """A stacked bar per router of a group: its accepted load by the kind of path, the mean over all groups."""
    (point,) = findings.simulated(figure)
    loads = path_loads_of_routers(findings, point).mean(axis=0)
    drawn, axes = grid(5.6, 3.4, 1, 1)
    panel = axes[0][0]
    below = np.zeros(len(loads))
    for index, (kind, color) in enumerate(zip(PATH_KINDS, _PATH_COLORS, strict=True)):
        if not loads[:, index].any():
            continue
        panel.bar(range(len(loads)), loads[:, index], bottom=below, color=color, label=kind)
        below = below + loads[:, index]
    _of_a_group(panel, point, f"{point.policy_label}, {point.traffic_label}", len(loads))
    handles, _ = panel.get_legend_handles_labels()
    fitting_legend(drawn, handles)
    return drawn


def _of_a_group(panel: Axes, point: Point, what: str, routers: int) -> None:
    panel.set_title(f"{what}, offered load {point.load:g}, {point.config.topology.num_hosts:,} hosts")
    panel.set_xlabel("router of the group (the last owns the minimal links)")
    panel.set_ylabel("accepted load of its hosts")
    panel.set_xticks(range(routers))


def speedups(findings: PaperFindings, figure: str) -> Figure:
    """Makespan of MIN over that of every other policy, one panel per workload."""
    points = findings.simulated(figure)
    workloads = tuple(dict.fromkeys(point.traffic_label for point in points))
    look = distinct_looks(
        [policy for policy in dict.fromkeys(point.policy_label for point in points) if policy != _BASE]
    )
    drawn, axes = grid(3.0 if len(workloads) > 1 else 5.6, 3.1, 1, len(workloads))
    marks: list[Line2D] = []
    for index, (panel, workload) in enumerate(zip(axes[0], workloads, strict=True)):
        of_workload = [point for point in points if point.traffic_label == workload]
        makespans = {point.policy_label: findings.values(point, "makespan_ns") for point in of_workload}
        base = makespans.get(_BASE)
        if base is None:
            continue
        others = [policy for policy in makespans if policy != _BASE]
        means, halves = means_of(base / makespans[policy] for policy in others)
        colors = [look[policy].color for policy in others]
        panel.bar(others, means, color=colors, yerr=halves, capsize=2.5)
        speed = _published_speedups(findings, figure, workload, base, makespans)
        for policy, speedup in speed:
            marks += panel.plot([others.index(policy)], [speedup], **_POINT)
        panel.axhline(1.0, color=REFERENCE, linestyle="--", linewidth=1.0)
        panel.set_xticks(range(len(others)), others, rotation=45, ha="right", rotation_mode="anchor")
        stated = "".join(
            f" (published: {claim.published / 1000.0:,.3g})"
            for claim in findings.claims
            if (claim.metrics, claim.policy, claim.traffic, claim.hosts, claim.relation)
            == ((MAKESPAN,), _BASE, workload, points[0].config.topology.num_hosts, value)
        )
        name = workload.replace(":placement=", ", ")
        panel.set_title(f"({letter(index)}) {name}\nMIN: {base.mean() / 1000.0:,.3g} µs{stated}", fontsize=8)
        panel.grid(visible=False, axis="x")
    axes[0][0].set_ylabel("speed-up over MIN")
    if marks:
        marks[0].set_label("published, relative to the measured rival")
        drawn.legend(handles=marks[:1], loc="outside lower center", frameon=False)
    return drawn


def _published_speedups(
    findings: PaperFindings, figure: str, workload: str, base: FloatArray, makespans: dict[str, FloatArray]
) -> list[tuple[str, float]]:
    """(policy, speed-up over MIN) that a claim makes of what was measured of the policy that it compares with."""
    hosts = findings.of(figure)[0].config.topology.num_hosts
    return [
        (claim.policy, float(np.mean(base / makespans[claim.reference])) * (1.0 + claim.published))
        for claim in findings.claims
        if (claim.metrics, claim.relation, claim.traffic, claim.hosts)
        == ((MAKESPAN,), relative_gap, workload, hosts)
        and {claim.policy, claim.reference} <= set(makespans)
    ]


def throughput_bars(findings: PaperFindings, figure: str) -> Figure:
    """A bar per policy and load: accepted load, one panel per traffic, with 95 % intervals over seeds."""
    points = findings.simulated(figure)
    patterns = tuple(dict.fromkeys(point.traffic_label for point in points))
    drawn, axes = grid(3.4 if len(patterns) > 1 else 5.6, 3.0, 1, len(patterns))
    loads = sorted({point.load for point in points})
    for index, (panel, pattern) in enumerate(zip(axes[0], patterns, strict=True)):
        of_pattern = [point for point in points if point.traffic_label == pattern]
        policies = list(dict.fromkeys(point.policy_label for point in of_pattern))
        alone = len({point.load for point in of_pattern}) == 1
        for number, load in enumerate(loads):
            some = [point for point in of_pattern if point.load == load]
            if not some:
                continue
            means, halves = means_of(findings.values(point, "accepted_load") for point in some)
            places = [
                policies.index(point.policy_label) + (0.0 if alone else 0.4 * number - 0.2) for point in some
            ]
            panel.bar(places, means, yerr=halves, width=0.38, capsize=2.0, color=SERIES[number],
                      label=f"offered load {load:g}")  # fmt: skip
        panel.axhline(0.5, color=REFERENCE, linestyle="--", linewidth=1.0)
        panel.set_xticks(range(len(policies)), policies, rotation=45, ha="right", rotation_mode="anchor")
        panel.set_xlim(-0.8, len(policies) - 0.2)
        panel.set_title(f"({letter(index)}) {pattern}")
        panel.grid(visible=False, axis="x")
    axes[0][0].set_ylabel("accepted load")
    handles = [handle for panel in axes[0] for handle in panel.get_legend_handles_labels()[0]]
    fitting_legend(drawn, list({str(handle.get_label()): handle for handle in handles}.values()))
    return drawn

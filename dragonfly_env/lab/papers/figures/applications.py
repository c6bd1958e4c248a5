"""Run times of applications: figures 2 to 5 and 7 to 9 and table II of Chunduri et al., IPDPS 2021."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from dragonfly_env.lab.papers.cells import Cell
from dragonfly_env.lab.papers.claims import Claim
from dragonfly_env.lab.papers.figures.panels import COLOURS, letter
from dragonfly_env.lab.papers.findings import Findings, FloatArray, NotFoundYetError
from dragonfly_env.lab.papers.job_metrics import JOB_METRICS, operation_times_us, run_times_us
from dragonfly_env.lab.papers.job_orderings import MODES, normalised
from dragonfly_env.lab.papers.paired import of_pair, reduction
from dragonfly_env.plots.style import grid, looks

_BASE = "ad0"
_MARKS: dict[str, Any] = {"marker": "D", "color": "white", "markeredgecolor": "black", "markersize": 4.5}
_PUBLISHED: dict[str, Any] = {
    "marker": "D", "markerfacecolor": "none", "markeredgecolor": "#d4006a", "markersize": 6.0,
    "markeredgewidth": 1.4, "linestyle": "none", "zorder": 6,
}  # fmt: skip
_OF_SHOWN = ("compute", "wait", "allreduce", "alltoallv")


def _by_traffic(findings: Findings, figure: str) -> dict[str, list[Cell]]:
    found: dict[str, list[Cell]] = {}
    for cell in findings.simulated(figure):
        found.setdefault(cell.traffic, []).append(cell)
    return found


def _boxes(panel: Axes, names: list[str], values: list[FloatArray]) -> None:
    """A box each with its points, its mean and its 95th percentile."""
    look = looks(names)
    drawn = panel.boxplot(values, showfliers=False, patch_artist=True, widths=0.6,
                          medianprops={"color": "black"})  # fmt: skip
    for patch, name in zip(drawn["boxes"], names, strict=True):
        patch.set_facecolor(look[name].colour)
        patch.set_alpha(0.6)
    for place, runs in enumerate(values, 1):
        panel.plot(place + np.linspace(-0.2, 0.2, len(runs)), runs, "k.", markersize=3, alpha=0.5)
    places = range(1, len(values) + 1)
    panel.plot(places, [runs.mean() for runs in values], linestyle="none", zorder=4, label="mean", **_MARKS)
    panel.plot(places, [np.percentile(runs, 95) for runs in values], "_", color="black", markersize=14,
               markeredgewidth=1.6, label="95th percentile")  # fmt: skip
    panel.set_xticks(list(places), names)
    panel.grid(visible=False, axis="x")


def run_time_boxes(findings: Findings, figure: str) -> Figure:
    """Times of all watched jobs by mode, one panel per kind of runs, over the mean of AD0.

    Raises:
        NotFoundYetError: If nothing of it was simulated.
    """
    groups = _by_traffic(findings, figure)
    columns = min(4, len(groups))
    drawn, axes = grid(2.4, 2.7, -(-len(groups) // columns), columns)
    panels = [panel for row in axes for panel in row]
    stated: list[Line2D] = []
    for panel in panels[len(groups) :]:
        panel.set_axis_off()
    for index, (panel, (traffic, cells)) in enumerate(zip(panels, groups.items(), strict=False)):
        times = [
            np.array([time for row in findings.rows[cell] for time in run_times_us(row)]) for cell in cells
        ]
        base = next(
            (runs.mean() for cell, runs in zip(cells, times, strict=True) if cell.policy == _BASE), 1.0
        )
        _boxes(panel, [cell.policy for cell in cells], [runs / base for runs in times])
        panel.axhline(1.0, color="#999999", linestyle="--", linewidth=1.0)
        for claim in findings.claims:
            known = (claim.metric, claim.relation, claim.traffic, claim.reference)
            if known == ("run_time", "reduction", traffic, _BASE):
                policies = [cell.policy for cell in cells]
                if claim.policy in policies:
                    stated = panel.plot(
                        [policies.index(claim.policy) + 1.25], [1.0 - claim.published], **_PUBLISHED
                    )
        panel.set_title(f"({letter(index)}) {traffic}", fontsize=9)
    axes[0][0].set_ylabel("run time over the mean of AD0")
    handles, _ = panels[0].get_legend_handles_labels()
    if stated:
        stated[0].set_label("published mean")
    drawn.legend(handles=[*handles, *stated], loc="outside upper center", ncols=3, frameon=False)
    return drawn


def reductions(findings: Findings, figure: str, claims: tuple[Claim, ...]) -> Figure:
    """By how much AD3 shortens run and MPI time of each application, beside what was published.

    Raises:
        NotFoundYetError: If nothing of it was simulated.
    """
    drawn, axes = grid(5.2, 3.2, 1, 2)
    shown = 0
    for panel, (metric, title) in zip(
        axes[0], (("run_time", "run time"), ("mpi_time", "MPI time")), strict=True
    ):
        places = 0
        names: list[str] = []
        for claim in claims:
            if (claim.figure, claim.metric, claim.relation) != (figure, metric, "reduction"):
                continue
            try:
                pair = of_pair(findings, figure, claim.traffic, metric, (claim.policy, claim.reference))
            except NotFoundYetError:
                continue
            found = reduction(*pair)
            error = [[found.mean - found.low], [found.high - found.mean]] if found.low == found.low else None
            panel.bar(
                places - 0.19,
                claim.published,
                width=0.36,
                color="#bbbbbb",
                label="published" if not names else None,
            )
            panel.bar(places + 0.19, found.mean, width=0.36, color=COLOURS[0], yerr=error, capsize=3,
                      label="measured, 95 %" if not names else None)  # fmt: skip
            names.append(claim.traffic.split()[0])
            places += 1
        shown += places
        panel.set_xticks(range(places), names, rotation=30, ha="right", rotation_mode="anchor")
        panel.axhline(0.0, color="black", linewidth=0.8)
        panel.set_title(f"{title}: 1 - AD3 / AD0")
        panel.grid(visible=False, axis="x")
    if not shown:
        raise NotFoundYetError("; ".join(findings.absent(figure)) or f"{figure} was not run")
    axes[0][0].legend(frameon=False)
    return drawn


def operation_bars(findings: Findings, figure: str) -> Figure:
    """What ranks spend their time in, run by run and mode by mode (stacked).

    Raises:
        NotFoundYetError: If nothing of it was simulated.
    """
    groups = _by_traffic(findings, figure)
    drawn, axes = grid(4.4, 2.9, 1, len(groups))
    labelled: set[str] = set()
    for index, (panel, (traffic, cells)) in enumerate(zip(axes[0], groups.items(), strict=True)):
        place, highest, ticks = 0.0, 0.0, []
        for cell in cells:
            begin = place
            for row in findings.rows[cell]:
                times, bottom = operation_times_us(row), 0.0
                for number, name in enumerate(_OF_SHOWN):
                    if not (height := times.get(name, 0.0)):
                        continue
                    label = None if name in labelled else name
                    labelled.add(name)
                    panel.bar(place, height, bottom=bottom, width=0.9, color=COLOURS[number], label=label)
                    bottom += height
                panel.bar(place, sum(times.values()) - bottom, bottom=bottom, width=0.9, color="#dddddd")
                highest = max(highest, sum(times.values()))
                place += 1.0
            ticks.append(((begin + place - 1.0) / 2.0, cell.policy))
            place += 1.5
        panel.set_xticks([at for at, _ in ticks], [name for _, name in ticks])
        panel.set_ylim(0.0, 1.05 * highest)
        panel.set_title(f"({letter(index)}) {traffic}", fontsize=9)
        panel.grid(visible=False, axis="x")
    axes[0][0].set_ylabel("time of a rank (us), a bar per run")
    known = {
        label: handle
        for panel in axes[0]
        for handle, label in zip(*panel.get_legend_handles_labels(), strict=True)
    }
    drawn.legend(
        known.values(), known.keys(), loc="outside upper center", ncols=4, frameon=False, columnspacing=1.2
    )
    return drawn


def z_scores(findings: Findings, figure: str) -> Figure:
    """Run times of all applications in controlled runs, normalised per application.

    Raises:
        NotFoundYetError: If nothing of it was simulated.
    """
    scores = normalised(findings, figure)
    drawn, axes = grid(4.6, 3.2, 1, 1)
    _boxes(axes[0][0], list(MODES), [scores[mode] for mode in MODES])
    axes[0][0].set_ylabel("z-score of the run time, per application")
    drawn.legend(*axes[0][0].get_legend_handles_labels(), loc="outside upper center", ncols=2, frameon=False)
    return drawn


def shares(findings: Findings, figure: str, claims: tuple[Claim, ...]) -> Figure:
    """The MPI shares of isolated runs, beside those of table I that computing times were calibrated to.

    Raises:
        NotFoundYetError: If nothing of it was simulated.
    """
    cells = findings.simulated(figure)
    published = {claim.traffic: claim.published for claim in claims if claim.metric == "mpi_share"}
    drawn, axes = grid(5.2, 2.9, 1, 1)
    panel = axes[0][0]
    for index, cell in enumerate(cells):
        measured = float(JOB_METRICS["mpi_share"](findings, cell).mean())
        first = index == 0
        panel.bar(
            index - 0.19,
            published[cell.traffic],
            width=0.36,
            color="#bbbbbb",
            label="published" if first else None,
        )
        panel.bar(
            index + 0.19, measured, width=0.36, color=COLOURS[0], label="isolated, AD0" if first else None
        )
    panel.set_xticks(range(len(cells)), [cell.traffic.split()[0] for cell in cells], rotation=30, ha="right",
                     rotation_mode="anchor")  # fmt: skip
    panel.set_ylabel("share of the time in MPI")
    drawn.legend(*panel.get_legend_handles_labels(), loc="outside upper center", ncols=2, frameon=False)
    panel.grid(visible=False, axis="x")
    return drawn

"""Common parts of the figures of a paper: panels, legends, and numbers of the paper's text as points.

A black-edged diamond has the published value itself. A black-edged square follows from a published comparison (a ratio,
a gap, a saving) and what was measured of the reference, where the paper does not state the reference's own value.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from dragonfly_env.colors import NOTE
from dragonfly_env.lab.papers.claims import (
    Claim,
    Metric,
    PaperFindings,
    at_most,
    gap,
    ratio,
    relative_gap,
    saving,
    value,
)
from dragonfly_env.lab.papers.findings import FloatArray
from dragonfly_env.sweeps.point import Point
from dragonfly_env.sweeps.results import mean_and_ci95

LABEL, RELATIVE_LABEL = "published", "published, relative to the measured reference"
_STYLE: dict[str, Any] = {
    "markersize": 6.0,
    "markeredgecolor": "black",
    "markeredgewidth": 1.1,
    "linestyle": "none",
    "zorder": 6,
}


@dataclass(frozen=True, slots=True)
class Published:
    """A published value of one simulated point."""

    point: Point
    value: float  # value in the unit of claims
    absolute: bool  # whether the paper states it, or it takes the measured value of a reference

    @property
    def marker(self) -> str:
        """The marker of the point in figures."""
        return "D" if self.absolute else "s"

    @property
    def label(self) -> str:
        """The label of the point in legends."""
        return LABEL if self.absolute else RELATIVE_LABEL


def published_of(findings: PaperFindings, figure: str, metric: Metric) -> list[Published]:
    """The published values of a quantity, of those points of a figure that were simulated; each once."""
    found: dict[Point, Published] = {}
    for point in findings.of(figure):
        for claim in findings.claims:
            if claim.metrics != (metric,) or not _is_about(claim, point, claim.policy):
                continue
            if claim.load is None and point.load < _highest_load(findings, figure, point):
                continue  # a maximum over all loads has one point
            number, absolute = _value(findings, figure, claim)
            if math.isfinite(number) and (point not in found or (absolute and not found[point].absolute)):
                found[point] = Published(point, number, absolute)
    return list(found.values())


def mark(
    panel: Axes, stated: Iterable[Published], place: Callable[[Point], float], colors: dict[str, str]
) -> None:
    """Draw what is published at the points' places on the horizontal axis."""
    for number in stated:
        panel.plot([place(number.point)], [number.value], marker=number.marker,
                   markerfacecolor=colors.get(number.point.policy_label, "white"), **_STYLE)  # fmt: skip


def legend_handles(points: Iterable[Published]) -> list[Line2D]:
    """An entry for each kind of point that there is."""
    markers = {point.label: point.marker for point in points}
    return [
        Line2D([], [], label=label, marker=marker, markerfacecolor="white", **_STYLE)
        for label, marker in sorted(markers.items())
    ]


def error_of(values: FloatArray) -> tuple[float, float]:
    """(mean, half of the 95 % interval) over seeds; the latter 0 with one seed."""
    mean, half = mean_and_ci95(values.tolist())
    return mean, 0.0 if math.isnan(half) else half


def _is_about(claim: Claim, point: Point, policy: str) -> bool:
    return (
        claim.hosts in (0, point.config.topology.num_hosts)
        and (claim.traffic, policy) == (point.traffic_label, point.policy_label)
        and (claim.load is None or math.isclose(claim.load, point.load, abs_tol=1e-9))
    )


def _highest_load(findings: PaperFindings, figure: str, point: Point) -> float:
    def kind(compared: Point) -> tuple[int, str, str]:
        return compared.config.topology.num_hosts, compared.traffic_label, compared.policy_label

    return max(other.load for other in findings.of(figure) if kind(other) == kind(point))


def _value(findings: PaperFindings, figure: str, claim: Claim) -> tuple[float, bool]:
    """(published value of the claim's policy, whether the paper states it); NaN if it has none."""
    if claim.relation in (value, at_most):
        return claim.published, True
    if not claim.reference:
        return math.nan, False
    reference, absolute = _reference(findings, figure, claim)
    stated = {
        ratio: claim.published * reference,
        gap: reference - claim.published,
        relative_gap: reference / (1.0 + claim.published),
        saving: reference * (1.0 - claim.published),
    }
    return stated.get(claim.relation, math.nan), absolute and claim.relation in stated


def _reference(findings: PaperFindings, figure: str, claim: Claim) -> tuple[float, bool]:
    for other in findings.claims:
        place = (other.metrics, other.hosts, other.traffic, other.policy, other.relation)
        if other.load in (claim.load, None) and place == (
            claim.metrics, claim.hosts, claim.traffic, claim.reference, value,
        ):  # fmt: skip
            return other.published, True
    for point in findings.of(figure):
        if _is_about(claim, point, claim.reference):
            return float(np.nanmean(claim.metrics[0].values(findings, point))), False
    return math.nan, False


def letter(index: int) -> str:
    """``a`` for the first panel."""
    return "abcdefghijklmnopqrstuvwxyz"[index]


def say_missing(axes: Axes) -> None:
    """Tell in an empty panel that there is nothing to see."""
    axes.text(
        0.5, 0.5, "not run", ha="center", va="center", transform=axes.transAxes, color=NOTE, fontsize=8, wrap=True
    )  # fmt: skip


def means_of(values: Iterable[FloatArray]) -> tuple[list[float], list[float] | None]:
    """(means over seeds, halves of their 95 % intervals): the latter None if all have one seed."""
    found = [error_of(run_values) for run_values in values]
    halves = [half for _, half in found]
    return [mean for mean, _ in found], halves if any(halves) else None


def legend_of_all(drawn: Figure, panels: Iterable[Axes], columns: int, **how: Any) -> None:
    """Draw a legend above the panels with the labels of all of them."""
    known: dict[str, Artist] = {}
    for panel in panels:
        known |= {label: handle for handle, label in zip(*panel.get_legend_handles_labels(), strict=True)}
    drawn.legend(
        known.values(), known.keys(), loc="outside lower center", ncols=columns, frameon=False, **how
    )

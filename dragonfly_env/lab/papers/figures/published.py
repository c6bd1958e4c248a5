"""What a paper's text states in numbers, as points in the figures that show the quantity.

A black-edged diamond has the published value itself. A black-edged square follows from a published comparison (a ratio,
a gap, a saving) and what was measured of the reference, where the paper does not state the reference's own value.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from dragonfly_env.lab.papers.cells import Cell
from dragonfly_env.lab.papers.claims import Claim
from dragonfly_env.lab.papers.findings import Findings, FloatArray
from dragonfly_env.lab.papers.measurements import METRICS
from dragonfly_env.sweeps.statistics import mean_and_ci95

LABEL, RELATIVE_LABEL = "published", "published, relative to the measured reference"
_STYLE: dict[str, Any] = {
    "markersize": 6.0,
    "markeredgecolor": "black",
    "markeredgewidth": 1.1,
    "linestyle": "none",
    "zorder": 6,
}
_PLAIN = ("value", "at-most", "at-least")


@dataclass(frozen=True, slots=True)
class Published:
    """A published value of one simulated cell.

    Attributes:
        cell: Whose quantity it is.
        value: In the unit of claims.
        absolute: Whether the paper states it, or it takes the measured value of a reference.
    """

    cell: Cell
    value: float
    absolute: bool

    @property
    def marker(self) -> str:
        """Of the point in figures."""
        return "D" if self.absolute else "s"

    @property
    def label(self) -> str:
        """Of the point in legends."""
        return LABEL if self.absolute else RELATIVE_LABEL


def published_of(findings: Findings, figure: str, metric: str) -> list[Published]:
    """The published values of a quantity, of those cells of a figure that were simulated; each once."""
    found: dict[Cell, Published] = {}
    for cell in findings.of(figure):
        for claim in findings.claims:
            if claim.metric != metric or not _is_about(claim, cell, claim.policy):
                continue
            if claim.load is None and cell.load < _highest_load(findings, figure, cell):
                continue  # a maximum over all loads has one point
            value, absolute = _value(findings, figure, claim)
            if math.isfinite(value) and (cell not in found or (absolute and not found[cell].absolute)):
                found[cell] = Published(cell, value, absolute)
    return list(found.values())


def mark(
    panel: Axes,
    points: Iterable[Published],
    place: dict[Cell, float],
    colours: dict[str, str],
    scale: float = 1.0,
) -> None:
    """Draw the points of those cells that have a place on the horizontal axis."""
    for point in points:
        if point.cell in place:
            panel.plot(
                [place[point.cell]],
                [point.value * scale],
                marker=point.marker,
                markerfacecolor=colours.get(point.cell.policy, "white"),
                **_STYLE,
            )


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


def _is_about(claim: Claim, cell: Cell, policy: str) -> bool:
    return (
        claim.hosts in (0, cell.hosts)
        and claim.traffic == cell.traffic
        and policy == cell.policy
        and (claim.load is None or math.isclose(claim.load, cell.load, abs_tol=1e-9))
    )


def _highest_load(findings: Findings, figure: str, cell: Cell) -> float:
    alike = (cell.hosts, cell.traffic, cell.policy)
    return max(
        other.load for other in findings.of(figure) if (other.hosts, other.traffic, other.policy) == alike
    )


def _value(findings: Findings, figure: str, claim: Claim) -> tuple[float, bool]:
    """(published value of the claim's policy, whether the paper states it); NaN if it has none."""
    if claim.relation in _PLAIN:
        return claim.published, True
    if not claim.reference:
        return math.nan, False
    reference, absolute = _reference(findings, figure, claim)
    if claim.relation in ("ratio", "ratio-at-most"):
        return claim.published * reference, absolute
    if claim.relation == "gap":
        return reference - claim.published, absolute
    if claim.relation == "relative-gap":
        return reference / (1.0 + claim.published), absolute
    if claim.relation == "saving":
        return reference * (1.0 - claim.published), absolute
    return math.nan, False


def _reference(findings: Findings, figure: str, claim: Claim) -> tuple[float, bool]:
    for other in findings.claims:
        place = (other.metric, other.hosts, other.traffic, other.policy, other.relation)
        if other.load in (claim.load, None) and place == (
            claim.metric, claim.hosts, claim.traffic, claim.reference, "value",
        ):  # fmt: skip
            return other.published, True
    for cell in findings.of(figure):
        if _is_about(claim, cell, claim.reference):
            return float(np.nanmean(METRICS[claim.metric](findings, cell))), False
    return math.nan, False

"""Distributions of packet latency: figures 6 and 9 of HPDC 2021.

One column per traffic: below the whole range, above it the same zoomed in on the boxes. Box: first to third quartile
with the median; whiskers: 1.5 interquartile ranges, as far as there are packets; marks: mean, 95th and 99th percentile,
the former and the last with 95 % intervals over seeds; in red what the paper states.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from dragonfly_env.colors import PUBLISHED, SPAN, looks
from dragonfly_env.lab.papers.claims import Metric, PaperFindings
from dragonfly_env.lab.papers.figures.panels import error_of, letter, published_of, say_missing
from dragonfly_env.lab.papers.findings import FloatArray
from dragonfly_env.lab.papers.quantities import FRACTION_BELOW, LATENCY_MEAN, LATENCY_P99
from dragonfly_env.plots.style import fitting_legend, grid
from dragonfly_env.sweeps.point import Point

_MARKS: dict[str, dict[str, Any]] = {
    "mean": {"marker": "D", "color": "white", "markeredgecolor": "black", "markersize": 4.5},
    "p95": {"marker": "_", "color": "black", "markersize": 12, "markeredgewidth": 1.6},
    "p99": {"marker": "x", "color": "black", "markersize": 5.5, "markeredgewidth": 1.4},
}
_PUBLISHED: dict[Metric, dict[str, Any]] = {
    LATENCY_MEAN: {
        "marker": "D",
        "color": "none",
        "markeredgecolor": PUBLISHED,
        "markersize": 5.5,
        "zorder": 6,
    },
    LATENCY_P99: {"marker": "x", "color": PUBLISHED, "markersize": 6.5, "markeredgewidth": 1.6, "zorder": 6},
}
_SHORT = {LATENCY_MEAN: "mean", LATENCY_P99: "p99"}
_BESIDE = 0.18  # offset in box widths that keeps a published mark from hiding a measured one
_LABELS = {"mean": "mean", "p95": "95th percentile", "p99": "99th percentile"}
_ZOOM = 2.5  # times the lowest upper whisker: what the upper panel shows


def latency_boxes(findings: PaperFindings, figure: str) -> Figure:
    """The figure; what is missing of a traffic is said in its panel."""
    every = findings.points[figure]
    columns = list(dict.fromkeys((point.traffic_label, point.load) for point in every))
    published = {metric: published_of(findings, figure, metric) for metric in _PUBLISHED}
    policies = tuple(dict.fromkeys(point.policy_label for point in every))
    colors = {name: look.color for name, look in looks(policies).items()}
    width, size = (2.9, 9.5) if len(columns) <= 3 else (2.5, 8.5)
    drawn, axes = grid(width, 2.5, 2, len(columns), height_ratios=(1.0, 1.25))
    for index, (traffic, load) in enumerate(columns):
        above, below = axes[0][index], axes[1][index]
        points = [point for point in every if (point.traffic_label, point.load) == (traffic, load)]
        present = [point for point in points if point in findings.rows]
        boxes = [(point, box) for point in present if (box := box_of(*findings.histogram(point)))]
        below.set_title(f"({letter(index)}) {traffic}, load {load:g}", y=-0.5, fontsize=size)
        if not boxes:
            for panel in (above, below):
                panel.set_xticks([])
                panel.set_yticks([])
            say_missing(below)
            continue
        for panel in (above, below):
            _draw(panel, boxes, colors, findings)
            places = {point: place for place, (point, _) in enumerate(boxes, 1)}
            for metric, stated in published.items():
                for number in (number for number in stated if number.point in places):
                    panel.plot(
                        [places[number.point] + _BESIDE],
                        [number.value],
                        **_PUBLISHED[metric],
                        linestyle="none",
                    )
        values = [
            number.value for stated in published.values() for number in stated if number.point in present
        ]
        top = max([*(max(box["p99"], box["whishi"]) for _, box in boxes), *values])
        below.set_ylim(0.0, top * 1.06)
        zoom = _ZOOM * min(box["whishi"] for _, box in boxes)
        above.set_ylim(0.0, min(zoom, top * 1.06))
        above.set_xticklabels([])
        if _say_fractions(below, findings, figure, (traffic, load)):
            below.set_ylim(0.0, top * 1.4)
        # The lower panel shades what the upper one shows.
        below.axhspan(*above.get_ylim(), color=SPAN, alpha=0.45, zorder=0, linewidth=0.0)
    axes[0][0].set_ylabel("latency (µs), zoomed in")
    axes[1][0].set_ylabel("packet latency (µs)")
    handles = [
        Line2D([], [], linestyle="none", label=_LABELS[name], **style) for name, style in _MARKS.items()
    ]
    if any(published.values()):
        handles += [
            Line2D([], [], linestyle="none", label=f"published {_LABELS[_SHORT[metric]]}", **style)
            for metric, style in _PUBLISHED.items()
        ]
    fitting_legend(drawn, handles)
    return drawn


def box_of(latency_us: FloatArray, packets: FloatArray) -> dict[str, float]:
    """Arguments of `Axes.bxp`, and the marks, from a histogram over ascending latencies; empty without packets."""
    total = float(packets.sum())
    if not total:
        return {}
    share = np.cumsum(packets) / total

    def quantile(q: float) -> float:
        return float(latency_us[int(np.searchsorted(share, q - 1e-12))])

    first, third = quantile(0.25), quantile(0.75)
    reach = 1.5 * (third - first)
    return {
        "whislo": float(latency_us[np.searchsorted(latency_us, first - reach)]),
        "q1": first,
        "med": quantile(0.5),
        "q3": third,
        "whishi": float(latency_us[np.searchsorted(latency_us, third + reach, side="right") - 1]),
        "mean": float((latency_us * packets).sum() / total),
        "p95": quantile(0.95),
        "p99": quantile(0.99),
    }


def _draw(
    axes: Axes, boxes: list[tuple[Point, dict[str, float]]], colors: dict[str, str], findings: PaperFindings
) -> None:
    drawn = axes.bxp(
        [{**{key: box[key] for key in ("whislo", "q1", "med", "q3", "whishi")}} for _, box in boxes],
        showfliers=False,
        patch_artist=True,
        widths=0.6,
        medianprops={"color": "black", "linewidth": 1.4},
    )
    for patch, (point, _) in zip(drawn["boxes"], boxes, strict=True):
        patch.set_facecolor(colors[point.policy_label])
        patch.set_alpha(0.65)
    positions = range(1, len(boxes) + 1)
    for name, style in _MARKS.items():
        axes.plot(positions, [box[name] for _, box in boxes], linestyle="none", zorder=4, **style)
    for column, name in (("latency_mean_ns", "mean"), ("latency_p99_ns", "p99")):
        halves = [error_of(findings.values(point, column))[1] / 1000.0 for point, _ in boxes]
        if any(halves):
            axes.errorbar(
                positions, [box[name] for _, box in boxes], yerr=halves, fmt="none", ecolor="black", elinewidth=0.9,
                capsize=2.0, zorder=5,
            )  # fmt: skip
    names = [point.policy_label for point, _ in boxes]
    axes.set_xticks(list(positions), names, rotation=40, ha="right", rotation_mode="anchor")
    axes.grid(visible=False, axis="x")


def _say_fractions(axes: Axes, findings: PaperFindings, figure: str, place: tuple[str, float]) -> bool:
    """Write in words what no mark shows: the share of the packets below 2 us, measured and published."""
    stated = [
        fraction
        for fraction in published_of(findings, figure, FRACTION_BELOW)
        if (fraction.point.traffic_label, fraction.point.load) == place
    ]
    lines = []
    for fraction in stated:
        found, _ = error_of(FRACTION_BELOW.values(findings, fraction.point))
        lines.append(f"{fraction.point.policy_label}: {found:.1%} ({fraction.value:.1%})")
    if lines:
        text = "\n".join(["below 2 µs (published):", *lines])
        axes.text(0.02, 0.97, text, transform=axes.transAxes, va="top", fontsize=7.5)
    return bool(lines)

"""Policies x cases as a heat map."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import matplotlib as mpl
import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.collections import QuadMesh
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure

from dragonfly_env.lab.benchmark.scores import Scores
from dragonfly_env.plots.style import HEAT_MAP, RC, TITLE_POINTS, broken, plain, shortened, text_width

BEST, WORST = 0.8, 4.0
"""Ratios below the first have one colour, and so have ratios above the second."""


# Sizes in inches: width and height of a case, line of a label, label, gap, strip of panels; share of a bar.
_WIDTH, _HEIGHT, _LINE, _LABEL, _GAP, _STRIP, _BAR = 0.085, 0.165, 0.15, 1.6, 0.3, 9.2, 0.9
_POINTS = 8.5


def heat_map(scores: Scores) -> Figure:
    """The ratio of every policy in every case: the darker, the worse than the best reference of the case.

    A panel for each split of a track. Its cases are ordered by traffic, network, hosts and load.
    The user's own policies come first, marked.
    """
    found = ratios_of(scores)
    if not found.cases:
        drawn = Figure(figsize=(4.0, 1.0))
        drawn.text(0.5, 0.5, "no case was measured", ha="center", va="center")
        return drawn
    strips = _strips(_panels(scores, found))
    names = [shortened(plain(label), 2 * _LABEL, _POINTS) for label in found.labels]
    left = max((text_width(name, _POINTS) for name in names), default=0.0) + 0.2
    above, rows = 0.5, _HEIGHT * len(names)
    below = [
        max(text_width(line, _POINTS) for panel in strip for line in panel.lines) + 0.2 for strip in strips
    ]
    width = left + max(_length(strip) for strip in strips) + _BAR
    height = sum(below) + len(strips) * (rows + above)
    with mpl.rc_context(RC):
        drawn = Figure(figsize=(width, height))
    image, top = None, height
    for strip, room in zip(strips, below, strict=True):
        top -= above + rows
        start = left
        for panel in strip:
            axes = drawn.add_axes((start / width, top / height, panel.width / width, rows / height))
            image = _draw(axes, panel, names if panel is strip[0] else [])
            start += panel.width + _GAP
        top -= room
    if image is not None:
        _add_key(drawn, image, (width, height), rows, above)
    return drawn


@dataclass(frozen=True, slots=True)
class _Panel:
    """The cases of a track and split."""

    title: str  # title above the panels
    values: npt.NDArray[np.float64]  # (policies, cases)
    edges: list[float]  # edges of the cases, in inches from the left
    groups: list[tuple[str, float, float]]  # label and edges of the cases of each traffic

    @property
    def width(self) -> float:
        """Width in inches."""
        return self.edges[-1]

    @property
    def lines(self) -> list[str]:
        """The lines of all labels."""
        return [line for label, _, _ in self.groups for line in label.split("\n")]


def _panels(scores: Scores, found: Ratios) -> list[_Panel]:
    columns = ["track", "split", "case", "traffic", "network", "hosts", "load"]
    known = scores.table[columns].drop_duplicates(["track", "split", "case"]).to_dict("records")
    networks = list(dict.fromkeys(row["network"] for row in known))
    place = {case: number for number, case in enumerate(found.cases)}
    panels = []
    for track, split in dict.fromkeys((row["track"], row["split"]) for row in known):
        here = [row for row in known if (row["track"], row["split"]) == (track, split)]
        chosen: list[int] = []
        edges, groups = [0.0], []
        for traffic in dict.fromkeys(row["traffic"] for row in here):
            cases = [row for row in here if row["traffic"] == traffic]
            cases.sort(key=lambda row: (networks.index(row["network"]), row["hosts"], row["load"]))
            label = broken(plain(str(traffic)), _LABEL, _POINTS)
            start = edges[-1]
            wide = max(_WIDTH * len(cases), _LINE * (label.count("\n") + 1) + 0.02)
            edges += [start + wide * number / len(cases) for number in range(1, len(cases) + 1)]
            groups.append((label, start, edges[-1]))
            chosen += [place[track, split, row["case"]] for row in cases]
        title = f"{track},\n{split}"
        stretch = max(1.0, max(text_width(line, TITLE_POINTS) for line in title.split("\n")) / edges[-1])
        edges = [edge * stretch for edge in edges]
        groups = [(label, start * stretch, end * stretch) for label, start, end in groups]
        panels.append(_Panel(title, found.values[:, chosen], edges, groups))
    return panels


def _strips(panels: Sequence[_Panel]) -> list[list[_Panel]]:
    """Panels side by side, as many as there is room for."""
    strips: list[list[_Panel]] = []
    for panel in panels:
        if not strips or _length([*strips[-1], panel]) > _STRIP:
            strips.append([])
        strips[-1].append(panel)
    return strips


def _length(strip: Sequence[_Panel]) -> float:
    return sum(panel.width + _GAP for panel in strip) - _GAP


def _draw(axes: Axes, panel: _Panel, names: Sequence[str]) -> QuadMesh:
    count = len(panel.values)
    image = axes.pcolormesh(
        panel.edges,
        np.arange(count + 1) - 0.5,
        np.clip(panel.values, BEST, WORST),
        cmap=HEAT_MAP,
        norm=LogNorm(BEST, WORST),
    )
    axes.set_facecolor("white")
    axes.grid(visible=False)
    axes.invert_yaxis()
    axes.set_title(panel.title, loc="left", fontsize=TITLE_POINTS)
    for _, _, end in panel.groups[:-1]:
        axes.axvline(end, color="white", linewidth=2.0)
    middles = [(start + end) / 2 for _, start, end in panel.groups]
    axes.set_xticks(middles, [label for label, _, _ in panel.groups], rotation=90, fontsize=_POINTS)
    axes.set_yticks(range(count) if names else [], names, fontsize=_POINTS)
    return image


def _add_key(drawn: Figure, image: QuadMesh, size: tuple[float, float], rows: float, above: float) -> None:
    width, height = size
    place = ((width - _BAR + 0.15) / width, 1.0 - (above + rows) / height, 0.12 / width, rows / height)
    ticks = [BEST, 1.0, 1.5, 2.0, 3.0, WORST]
    bar = drawn.colorbar(image, cax=drawn.add_axes(place), ticks=ticks)
    bar.set_ticklabels([f"{tick:g}" for tick in ticks[:-1]] + [f"{WORST:g}+"])
    bar.set_label("ratio to the best reference (log scale)", fontsize=_POINTS)
    bar.ax.minorticks_off()


@dataclass(frozen=True, slots=True)
class Ratios:
    """Ratios as a matrix."""

    values: npt.NDArray[np.float64]  # (policies, cases); NaN where something was not measured
    policies: list[str]  # rows: policies of the user first
    cases: list[tuple[str, str, str]]  # (track, split, case) of the columns, in the order of the suite
    yours: int  # number of the user's policies

    @property
    def labels(self) -> list[str]:
        """The rows' names, with a mark at the user's own."""
        return [f"▶ {name}" if row < self.yours else name for row, name in enumerate(self.policies)]


def ratios_of(scores: Scores) -> Ratios:
    """The ratio of every policy in every case."""
    rows = scores.table[["track", "split", "case", "policy", "ratio"]].itertuples(index=False)
    found = {((str(row[0]), str(row[1]), str(row[2])), str(row[3])): float(row[4]) for row in rows}
    cases = list(dict.fromkeys(case for case, _ in found))
    policies = [policy for policy in scores.policies if any(name == policy for _, name in found)]
    table = scores.table
    mine = set(table[table["kind"] == ""]["policy"].astype(str))
    policies.sort(key=lambda policy: policy not in mine)
    values = np.array(
        [[found.get((case, policy), np.nan) for case in cases] for policy in policies], np.float64
    )
    return Ratios(values, policies, cases, sum(policy in mine for policy in policies))

"""What the figures of a paper share."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dragonfly_env.lab.papers.figures.published import error_of
from dragonfly_env.lab.papers.findings import FloatArray

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00")
"""Colours that colour-blind readers tell apart (after Okabe and Ito), for curves of one policy."""


def letter(index: int) -> str:
    """``a`` for the first panel."""
    return "abcdefghijklmnopqrstuvwxyz"[index]


def say_missing(axes: Axes) -> None:
    """Tell in an empty panel that there is nothing to see."""
    axes.text(
        0.5, 0.5, "not run", ha="center", va="center", transform=axes.transAxes, color="#777777", fontsize=8, wrap=True
    )  # fmt: skip


def means_of(values: Iterable[FloatArray]) -> tuple[list[float], list[float] | None]:
    """(means over seeds, halves of their 95 % intervals): the latter None if all have one seed."""
    found = [error_of(one) for one in values]
    halves = [half for _, half in found]
    return [mean for mean, _ in found], halves if any(halves) else None


def legend_of_all(drawn: Figure, panels: Iterable[Axes], columns: int, **how: Any) -> None:
    """One legend above the panels with what any of them labels."""
    known: dict[str, Artist] = {}
    for panel in panels:
        known |= {label: handle for handle, label in zip(*panel.get_legend_handles_labels(), strict=True)}
    drawn.legend(
        known.values(), known.keys(), loc="outside upper center", ncols=columns, frameon=False, **how
    )

"""What the figures of a paper share."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00")
"""Colours that colour-blind readers tell apart (after Okabe and Ito), for curves of one policy."""


def letter(index: int) -> str:
    """``a`` for the first panel."""
    return "abcdefghijklmnopqrstuvwxyz"[index]


def say_missing(axes: Axes, reasons: Sequence[str]) -> None:
    """Tell in an empty panel why there is nothing to see."""
    axes.text(
        0.5,
        0.5,
        "\n".join(reasons) or "not run",
        ha="center",
        va="center",
        transform=axes.transAxes,
        color="#777777",
        fontsize=8,
        wrap=True,
    )

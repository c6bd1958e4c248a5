"""The colors of every picture: plots, the animation, the page of ``view``, and the page of a sweep.

The module needs no other package, so that pictures without Matplotlib have the same colors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

SERIES = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#222222", "#999933")
"""Colors of what is not a policy: loads, classes of links, operations (after Okabe and Ito)."""

LEARNERS = {"ippo": SERIES[0], "ppo": SERIES[5], "mappo": SERIES[2], "idqn": SERIES[3]}
"""Colors of the baselines of ``examples/`` in learning curves."""

HEAT = ("#ece9e2", "#f6d06f", "#ea8f2a", "#c8501a", "#96290b")
"""Colors of a utilization or another value of a map, evenly spaced from the lowest value to the highest. Lightness
falls all the way, and stays far enough from black for lines and text on top.
"""

MISSING = "#b9c4cc"
"""Color of a map where there is no value."""

PUBLISHED = "#d4006a"
"""Color of a published value beside a box or bar, which no policy has."""

REFERENCE = "#999999"
"""Color of lines to compare with: an offered load, a ratio of 1."""

LIGHT = "#c8c8c8"
"""Color of bars beside those that matter: published numbers, and what is left of a sum."""

SPAN = "#f0e6c8"
"""Color behind a range of an axis."""

NOTE = "#666666"
"""Color of remarks in a panel."""


@dataclass(frozen=True, slots=True)
class SeriesStyle:
    """Color, mark and line of one policy in every figure.

    Attributes:
        color: Color of lines, boxes and bars.
        marker: At the points of a line.
        dash: One of `DASHES`.
    """

    color: str
    marker: str
    dash: str = "solid"

    @property
    def line(self) -> dict[str, Any]:
        """Keyword arguments of ``Axes.plot``: color and dashes."""
        return {"color": self.color, "linestyle": DASHES[self.dash]}


DASHES: dict[str, Any] = {
    "solid": "-",
    "dash": "--",
    "dot": ":",
    "dashdot": "-.",
    "longdashdot": (0, (7.0, 1.5, 1.0, 1.5, 1.0, 1.5)),
}
"""Dashes of lines for Matplotlib, by Plotly's names."""

# Nine colours that readers with deuteranopia and protanopia tell apart (a test computes the differences). Policies of
# one colour differ in both marker and dashes.
_BLACK, _BROWN, _INDIGO, _BLUE, _SKY, _GREEN, _RED, _GOLD, _PURPLE = COLORS = (
    *("#222222", "#7a5230", "#332288", "#0072b2", "#56b4e9"),
    *("#009e73", "#d55e00", "#f0b400", "#902868"),
)
_LOOKS = {
    "min": SeriesStyle(_BLACK, "o"),
    "val-n": SeriesStyle(_BLACK, "s", "dash"),
    "val-g": SeriesStyle(_BLACK, "D", "dot"),
    "ad": SeriesStyle(_BLACK, "8", "dashdot"),
    "acor": SeriesStyle(_BROWN, "d"),
    "pb": SeriesStyle(_BROWN, "<", "dash"),
    "ad3": SeriesStyle(_BROWN, ">", "dot"),
    "ugal-ideal": SeriesStyle(_INDIGO, "p"),
    "vlb-lg": SeriesStyle(_INDIGO, "D", "dash"),
    "vlb-gl": SeriesStyle(_INDIGO, "<", "dot"),
    "vlb-g": SeriesStyle(_INDIGO, ">", "dashdot"),
    "ugal-g": SeriesStyle(_BLUE, "^"),
    "ad1": SeriesStyle(_BLUE, "v", "dash"),
    "ugal-n": SeriesStyle(_SKY, "v"),
    "ad0": SeriesStyle(_SKY, "^", "dash"),
    "pb-acor": SeriesStyle(_SKY, ">", "dot"),
    "par": SeriesStyle(_GREEN, "D"),
    "tpr": SeriesStyle(_GREEN, "h", "dash"),
    "mlp": SeriesStyle(_GREEN, "s", "dot"),
    "q-adaptive": SeriesStyle(_RED, "*"),
    "q-adaptive-queue": SeriesStyle(_RED, "P", "dash"),
    "q-adaptive-fast": SeriesStyle(_RED, "X", "dot"),
    "q-routing": SeriesStyle(_RED, "d", "dashdot"),
    "lia": SeriesStyle(_GOLD, "X"),
    "ad2": SeriesStyle(_GOLD, "<", "dash"),
    "neural-v1": SeriesStyle(_PURPLE, "P"),
    "neural-v2": SeriesStyle(_PURPLE, "s", "dash"),
    "neural-v3": SeriesStyle(_PURPLE, "X", "dot"),
}


def _spare() -> tuple[SeriesStyle, ...]:
    """Styles left for parameters of a policy and for agents: every colour with the dashes not yet used with it."""
    found: list[SeriesStyle] = []
    for dash, marker in zip(reversed(DASHES), ("8", "p", "h", "s"), strict=False):
        for color in COLORS:
            taken = [look for look in (*_LOOKS.values(), *found) if look.color == color]
            if not any(dash == look.dash or marker == look.marker for look in taken):
                found.append(SeriesStyle(color, marker, dash))
    return tuple(found)


_SPARE = _spare()


def looks(policies: Sequence[str]) -> dict[str, SeriesStyle]:
    """A look for every label: the policy's own, or a spare one for further parameters of the same policy.

    A policy thus looks the same in every figure of every sweep that has it without parameters.
    """
    chosen: dict[str, SeriesStyle] = {}
    spare = 0
    for label in sorted(policies, key=lambda name: name not in _LOOKS):
        look = _LOOKS.get(label.partition(":")[0])
        if look is None or look in chosen.values():
            look = _SPARE[spare % len(_SPARE)]
            spare += 1
        chosen[label] = look
    return {label: chosen[label] for label in policies}


def distinct_looks(policies: Sequence[str]) -> dict[str, SeriesStyle]:
    """Looks of which no two have one color, as far as colors go: for bars, and for policies that are related.

    A policy keeps its color where that is possible; those with solid lines come first.
    """
    chosen = looks(policies)
    free = [color for color in COLORS if color not in {look.color for look in chosen.values()}]
    taken: set[str] = set()
    for label in sorted(chosen, key=lambda name: (name not in _LOOKS, chosen[name].dash != "solid")):
        if chosen[label].color in taken and free:
            chosen[label] = replace(chosen[label], color=free.pop(0))
        taken.add(chosen[label].color)
    return chosen

"""What all figures share: one look per policy, axes, and files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.legend import Legend

from dragonfly_env.checks.files import replacing
from dragonfly_env.checks.values import config_error, unknown_name

FORMATS = ("png", "svg", "pdf")
Place: TypeAlias = Literal["outside lower center", "outside upper center"]
_DPI = 150

_RC: dict[Any, Any] = {
    "font.size": 9.0,
    "axes.titlesize": 10.0,
    "axes.labelsize": 9.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#e4e4e4",
    "grid.linewidth": 0.7,
    "lines.linewidth": 1.5,
    "lines.markersize": 4.5,
    "legend.frameon": False,
    "svg.fonttype": "none",
    "svg.hashsalt": "dragonfly-env",
    "figure.constrained_layout.use": True,
}


@dataclass(frozen=True, slots=True)
class Look:
    """How one policy is drawn in every figure."""

    colour: str
    marker: str


# Colours that differ for colour-blind readers too (after Okabe and Ito), dark for the two bounds.
_LOOKS = {
    "min": Look("#222222", "o"),
    "val-n": Look("#8a8a8a", "s"),
    "val-g": Look("#b08d57", "D"),
    "ugal-g": Look("#0072b2", "^"),
    "ugal-n": Look("#56b4e9", "v"),
    "ugal-ideal": Look("#332288", "p"),
    "par": Look("#009e73", "D"),
    "q-adaptive": Look("#d55e00", "*"),
    "q-routing": Look("#e69f00", "P"),
    "lia": Look("#cc79a7", "X"),
    "tpr": Look("#aa4499", "h"),
    "pb": Look("#999933", "<"),
    "acor": Look("#7a5230", "d"),
    "pb-acor": Look("#117733", ">"),
    "vlb-lg": Look("#b08d57", "D"),
    "vlb-gl": Look("#c08fd0", "<"),
    "vlb-g": Look("#6b8e23", ">"),
    "ad0": Look("#88ccee", "^"),
    "ad1": Look("#4477aa", "v"),
    "ad2": Look("#cc6677", "<"),
    "ad3": Look("#882255", ">"),
}
_SPARE = (
    Look("#882255", "h"),
    Look("#44aa99", "X"),
    Look("#f0b400", "P"),
    Look("#661100", "<"),
    Look("#4b6cb7", ">"),
    Look("#b8b84a", "p"),
    Look("#ee8866", "8"),
    Look("#555555", "d"),
)


def looks(policies: Sequence[str]) -> dict[str, Look]:
    """A look for every label: the policy's own, or a spare one for further parameters of the same policy.

    A policy thus looks the same in every figure of every sweep in which it stands without parameters.
    """
    chosen: dict[str, Look] = {}
    spare = 0
    for label in sorted(policies, key=lambda name: name not in _LOOKS):
        own = _LOOKS.get(label.partition(":")[0])
        if own is None or own in chosen.values():
            own = _SPARE[spare % len(_SPARE)]
            spare += 1
        chosen[label] = own
    return {label: chosen[label] for label in policies}


def new_figure(width: float, height: float) -> Figure:
    """An empty figure of this size in inches, in the common style."""
    with mpl.rc_context(_RC):
        return Figure(figsize=(width, height), layout="constrained")


def grid(
    width: float, height: float, rows: int, columns: int, **options: Any
) -> tuple[Figure, list[list[Axes]]]:
    """A figure with rows x columns axes, in the common style; sizes in inches of one panel."""
    with mpl.rc_context(_RC):
        figure = Figure(figsize=(width * columns, height * rows), layout="constrained")
        axes = figure.subplots(rows, columns, squeeze=False, **options)
        return figure, [list(row) for row in axes]


def broken(label: str) -> str:
    """A policy's label on two lines if it has parameters, for titles and ticks."""
    return label.replace(":", "\n").replace(",", "\n")


def plain(text: str) -> str:
    """A text that is drawn as it stands: to Matplotlib dollars begin a formula, and what begins with an underscore is
    left out of legends.
    """
    text = text.replace("$", r"\$")
    return f" {text}" if text.startswith("_") else text


def policy_legend(figure: Figure, axes: Axes, *, below: bool = False) -> None:
    """One legend for the whole figure, above (or below) the panels, from the artists of ``axes``."""
    handles, _ = axes.get_legend_handles_labels()
    fitting_legend(figure, handles, "outside lower center" if below else "outside upper center")


def fitting_legend(figure: Figure, handles: Sequence[Any], place: Place) -> Legend:
    """A legend outside the panels with as many columns as the figure has room for.

    Args:
        figure: Where it stands.
        handles: Artists with labels.
        place: Below or above them.
    """
    columns = max(1, len(handles))
    while True:
        with mpl.rc_context(_RC):
            legend: Legend = figure.legend(handles=handles, loc=place, ncols=columns, frameon=False)
        if columns == 1 or legend.get_window_extent().width <= figure.bbox.width:
            return legend
        legend.remove()
        columns -= 1


def save(figure: Figure, folder: Path, name: str, formats: Sequence[str] = ("png", "svg")) -> list[Path]:
    """Write a figure as ``folder/name.<format>`` in every format.

    Raises:
        ConfigError: For an unknown format, or if the folder is not writable.
    """
    for kind in formats:
        if kind not in FORMATS:
            raise unknown_name("format", kind, FORMATS)
    paths = [folder / f"{name}.{kind}" for kind in formats]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with mpl.rc_context(_RC):
            for kind, path in zip(formats, paths, strict=True):
                metadata = {"Date": None} if kind == "svg" else None
                with replacing(path) as temporary:
                    figure.savefig(temporary, dpi=_DPI, metadata=metadata, format=kind)
    except OSError as error:
        raise config_error("figure folder", str(folder), f"must be writable ({error.strerror})") from error
    return paths

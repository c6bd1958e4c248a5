"""Common parts of all figures: the style of each policy, axes, files, and the load of figures with room for one."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import matplotlib as mpl
import numpy as np
import numpy.typing as npt
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.legend import Legend
from matplotlib.patches import Patch
from matplotlib.textpath import text_to_path

from dragonfly_env.checks.files import open_output, refusing
from dragonfly_env.checks.values import config_error, unknown_name
from dragonfly_env.colors import HEAT
from dragonfly_env.sweeps.results import KEYS, Results, aggregate, mean_and_ci95
from dragonfly_env.sweeps.summary import loaded_part

FloatArray: TypeAlias = npt.NDArray[np.float64]

FORMATS = ("png", "svg", "pdf")
_DPI = 150
_MOST_LINES = 8
TITLE_POINTS = 10.0
LABEL_POINTS = 9.0
_LEGEND_POINTS = 7.0
_PANEL_TITLE_IN = 1.6  # inches of a panel's width for the name of its policy
_LINE_IN = 0.17  # distance between two lines of text
_KEY_IN = 0.8
_HINTING = 1.05  # factor by which a line may be wider on the screen

RC: dict[Any, Any] = {
    "font.size": 9.0,
    "axes.titlesize": TITLE_POINTS,
    "axes.labelsize": LABEL_POINTS,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#e4e4e4",
    "grid.linewidth": 0.7,
    "lines.linewidth": 1.5,
    "lines.markersize": 4.5,
    "legend.frameon": False,
    "legend.handlelength": 2.8,
    "svg.fonttype": "none",
    "svg.hashsalt": "dragonfly-env",
}

HEAT_MAP = LinearSegmentedColormap.from_list("heat", HEAT)


def grid(
    width: float,
    height: float,
    rows: int,
    columns: int,
    *,
    lines: int = 0,
    lines_beside: int = 0,
    key: bool = False,
    **options: Any,
) -> tuple[Figure, list[list[Axes]]]:
    """A figure with rows x columns axes, in the common style; sizes in inches of one panel."""
    with mpl.rc_context(RC):
        size = (width * columns + lines_beside * _LINE_IN + key * _KEY_IN, height * rows + lines * _LINE_IN)
        figure = Figure(figsize=size, layout="constrained")
        axes = figure.subplots(rows, columns, squeeze=False, **options)
        return figure, [list(row) for row in axes]


def policy_grid(
    results: Results,
    load: float | None,
    size: tuple[float, float],
    label: str,
    label_in: float,
    **options: Any,
) -> tuple[Figure, list[list[Axes]], dict[str, float]]:
    """A row of panels per traffic, at one load, and a column per policy.

    Returns:
        The figure, its panels, and the load of each traffic.
    """
    chosen = {traffic: representative_load(results, traffic, load) for traffic in results.traffic}
    titles = [broken(policy, _PANEL_TITLE_IN, TITLE_POINTS) for policy in results.policies]
    names = [at_load(traffic, at, label_in, LABEL_POINTS) for traffic, at in chosen.items()]
    figure, axes = grid(
        *size, len(names), len(titles), lines=lines_of(titles), lines_beside=lines_of(names) + 1, **options
    )
    for panel, title in zip(axes[0], titles, strict=True):
        panel.set_title(title, fontsize=TITLE_POINTS)
    for row, name in zip(axes, names, strict=True):
        row[0].set_ylabel(f"{name}\n{label}")
    return figure, axes, chosen


def broken(label: str, inches: float, points: float) -> str:
    """A policy's label for titles and ticks: its parameters on lines of their own, none wider than it may be."""
    return wrapped(label.replace(":", "\n").replace(",", "\n"), inches, points)


def wrapped(text: str, inches: float, points: float) -> str:
    """A text on as many lines as it needs, but at most `_MOST_LINES`."""
    lines: list[str] = []
    for paragraph in text.split("\n"):
        line = ""
        for word in re.findall(r"[^ :,/_+-]*[ :,/_+-]?", paragraph):
            if line and text_width(line + word.rstrip(), points) > inches:
                lines.append(line.rstrip())
                line = ""
            for character in re.findall(r"\\?.", word):  # an escaped dollar is one
                if text_width(line + character, points) > inches:
                    lines.append(line)
                    line = ""
                line += character
        lines.append(line.rstrip())
    if len(lines) > _MOST_LINES:
        lines = [*lines[: _MOST_LINES - 1], "..."]
    return "\n".join(lines)


def shortened(text: str, inches: float, points: float) -> str:
    """The beginning of a text that is no wider than it may be."""
    first, *more = wrapped(text, inches, points).split("\n")
    return f"{first}..." if more else first


@functools.lru_cache(4096)
def text_width(text: str, points: float) -> float:
    """The width of a line of text in inches."""
    width, _, _ = text_to_path.get_text_width_height_descent(text, FontProperties(size=points), False)
    return _HINTING * float(width) / 72.0


def runs_at(results: Results, traffic: str, load: float) -> pd.DataFrame:
    """The runs of a traffic at a load."""
    table = results.table
    return table[(table["traffic"] == traffic) & np.isclose(table["load"], load)]


def at_load(traffic: str, load: float, inches: float, points: float) -> str:
    """A traffic and its load, for titles and labels."""
    return wrapped(f"{traffic}, load\N{NO-BREAK SPACE}{load:g}", inches, points)


def lines_of(texts: Iterable[str]) -> int:
    """The most lines that one of some texts has."""
    return max((text.count("\n") + 1 for text in texts), default=1)


def plain(text: str) -> str:
    """A text that is drawn as it is: to Matplotlib dollars begin a formula, and what begins with an underscore is
    left out of legends.
    """
    text = text.replace("$", r"\$")
    return f" {text}" if text.startswith("_") else text


def add_title(figure: Figure, title: str) -> None:
    """A title above the panels, for which the figure becomes higher."""
    inches = figure.get_figwidth() - 0.4
    text = wrapped(title, inches, TITLE_POINTS + 1)
    lines = lines_of([text])
    width, height = figure.get_size_inches()
    figure.set_size_inches(width, height + lines * 0.2)
    figure.suptitle(text, fontsize=TITLE_POINTS + 1)


def policy_legend(figure: Figure, axes: Axes, *more: Artist) -> None:
    """Draw a legend for the whole figure, below the panels, from the artists of ``axes`` and ``more``."""
    handles, _ = axes.get_legend_handles_labels()
    fitting_legend(figure, [*handles, *more])


INTERVAL = Patch(
    facecolor="#222222", alpha=0.18, linewidth=0.0, label="shaded: 95 % interval of the mean over seeds"
)
"""The entry of a legend for shaded intervals."""


def curve(axes: Axes, x: FloatArray, curves: FloatArray, color: str, **style: Any) -> None:
    """Draw the mean of (seeds, points) and shade its 95 % interval."""
    mean, half = np.transpose([mean_and_ci95(values.tolist()) for values in curves.T])
    axes.plot(x, mean, color=color, **style)
    axes.fill_between(x, mean - half, mean + half, color=color, alpha=0.18, linewidth=0.0)


def conditions(results: Results) -> str:
    """Seeds and times of the runs, for titles."""
    counts = results.table.groupby(list(KEYS))["seed"].nunique()
    fewest, most = int(counts.min()), int(counts.max())
    seeds = f"{most} seed{'s' * (most > 1)}" if fewest == most else f"{fewest} to {most} seeds"
    loaded = loaded_part(results)
    if loaded is None:
        return f"{seeds}, to the end of the programs"
    measured, warmup = (_span(loaded.table[name]) for name in ("measure_ns", "warmup_ns"))
    return f"{seeds}, {measured} measured after a warm-up of {warmup}"


def _span(times_ns: pd.Series[float]) -> str:
    """The shortest and the longest of some times."""
    least, most = times_ns.min() / 1000.0, times_ns.max() / 1000.0
    return f"{least:,.6g} µs" if least == most else f"{least:,.6g} to {most:,.6g} µs"


def legend_above(panel: Axes, inches: float, *, title: str = "") -> int:
    """A legend above a panel, in as many columns as there is room for, so that it covers no data.

    Returns:
        The number of its lines.
    """
    handles, labels = panel.get_legend_handles_labels()
    entry = (
        max((text_width(label, _LEGEND_POINTS) for label in labels), default=0.0)
        + 5.0 * _LEGEND_POINTS / 72.0
    )
    columns = max(1, min(len(labels), int(inches / entry)))
    with mpl.rc_context(RC):
        panel.legend(
            handles,
            labels,
            fontsize=_LEGEND_POINTS,
            title=title or None,
            title_fontsize=_LEGEND_POINTS + 1,
            loc="lower center",
            bbox_to_anchor=(0.5, 1.0),
            borderaxespad=0.2,
            columnspacing=1.0,
            ncols=columns,
        )
    return -(-len(labels) // columns) + bool(title)


def fitting_legend(figure: Figure, handles: Sequence[Any]) -> Legend:
    """A legend below the panels with as few rows as the figure has room for."""
    rows = 1
    while True:
        columns = max(1, -(-len(handles) // rows))
        with mpl.rc_context(RC):
            legend: Legend = figure.legend(
                handles=handles, loc="outside lower center", ncols=columns, frameon=False
            )
        if columns == 1 or legend.get_window_extent().width <= figure.bbox.width:
            return legend
        legend.remove()
        rows += 1


def save(figure: Figure, folder: Path, name: str, formats: Sequence[str] = ("png", "svg")) -> list[Path]:
    """Write a figure as ``folder/name.<format>`` in every format.

    Args:
        figure: Figure to write.
        folder: Where to; it is made if need be.
        name: Name of the files.
        formats: Some of ``FORMATS``.

    Raises:
        ConfigError: For an unknown format, or if the folder is not writable.

    Example:
        >>> from pathlib import Path
        >>> from dragonfly_env.plots import save
        >>> from matplotlib.figure import Figure
        >>> [file.name for file in save(Figure(), Path("figures"), "empty")]
        ['empty.png', 'empty.svg']
    """
    for kind in formats:
        if kind not in FORMATS:
            raise unknown_name("format", kind, FORMATS)
    paths = [folder / f"{name}.{kind}" for kind in formats]
    with refusing("figure folder", folder, "must be writable"), mpl.rc_context(RC):
        folder.mkdir(parents=True, exist_ok=True)
        for kind, path in zip(formats, paths, strict=True):
            metadata = {"Date": None} if kind == "svg" else None
            with open_output(path) as file:
                figure.savefig(file, dpi=_DPI, metadata=metadata, format=kind)
    return paths


def representative_load(results: Results, traffic: str, load: float | None = None) -> float:
    """The load for a figure of one traffic: high, but not beyond what most policies carry.

    Returns:
        ``load`` itself, or else the highest load that at least half of the policies still carry; if there is none,
        the highest that some policy carries; else the lowest there is.
    """
    part = results.table[results.table["traffic"] == traffic]
    loads = sorted(float(value) for value in part["load"].unique())
    if load is not None:
        for value in loads:
            if abs(value - load) < 1e-6:
                return value
        raise config_error("load", load, f"must be one of {', '.join(f'{x:g}' for x in loads)} for {traffic}")
    table = aggregate(results, ())
    table = table[table["traffic"] == traffic]
    fraction = table.groupby(KEYS[2])["saturated"].mean()
    by_most = [value for value in loads if fraction[value] <= 0.5]
    by_some = [value for value in loads if fraction[value] < 1.0]
    return max(by_most or by_some or loads[:1])

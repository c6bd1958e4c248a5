"""The curve of a training as a picture."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, NullFormatter, ScalarFormatter

from dragonfly_env.plots.style import grid

_ABOUT = ("stage", "number", "geometric_mean", "worst", "within_5_percent")
_COLOURS = 10  # of matplotlib's cycle
_TICKS = (0.8, 0.9, 1.0, 1.25, 1.5, 2.0, 3.0, 4.0)


def curve(file: Path) -> Figure:
    """Latency over that of the best reference, by round: a panel per network, a line per validation scenario.

    Args:
        file: ``curve.csv`` of a training.
    """
    with file.open(encoding="utf-8", newline="") as handle:
        rows = [row for row in csv.DictReader(handle) if row["stage"] == "prediction"]
    names = [name for name in rows[0] if name not in _ABOUT]
    networks = list(dict.fromkeys(_split(name)[1] for name in names))
    rounds = np.array([int(row["number"]) for row in rows])
    worst = max(float(row["worst"]) for row in rows)
    together = np.array([float(row["geometric_mean"]) for row in rows])
    figure, axes = grid(3.6, 4.6, 1, len(networks), sharey=True)
    lines = {}
    scenarios = list(dict.fromkeys(_split(name)[0] for name in names))
    for panel, network in zip(axes[0], networks, strict=True):
        for name in names:
            scenario, of = _split(name)
            if of != network:
                continue
            ratios = [float(row[name]) for row in rows]
            number = scenarios.index(scenario)  # the same look in every panel
            (lines[scenario],) = panel.plot(
                rounds,
                ratios,
                color=f"C{number % _COLOURS}",
                linestyle="-" if number < _COLOURS else "--",
                marker="o",
                markersize=3.5,
                linewidth=1.2,
            )
        (lines[f"all {len(names)}, geometric mean"],) = panel.plot(rounds, together, "k:", linewidth=2)
        panel.axhline(1.0, color="0.5", linewidth=0.8)
        panel.set_yscale("log")
        panel.set_yticks([tick for tick in _TICKS if tick <= worst])
        panel.yaxis.set_major_formatter(ScalarFormatter())
        panel.yaxis.set_minor_formatter(NullFormatter())
        panel.xaxis.set_major_locator(MaxNLocator(integer=True))
        panel.set_title(f"network {network}", fontsize=10)
        panel.set_xlabel("round")
    axes[0][0].set_ylabel("latency / best reference")
    figure.legend(lines.values(), lines.keys(), loc="outside lower center", ncols=4, fontsize=8)
    return figure


def _split(name: str) -> tuple[str, str]:
    """A scenario and its network, from the name of a task."""
    scenario, _, network = name.rpartition(", ")
    return scenario, network

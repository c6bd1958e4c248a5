"""Latency, throughput and hops over offered load: figure 5 of HPDC 2021, one row of panels per traffic."""

from __future__ import annotations

from matplotlib.figure import Figure

from dragonfly_env.plots.loads import load_figure
from dragonfly_env.reproduce.figures.panels import letter
from dragonfly_env.reproduce.findings import Findings

_TITLES = ("packet latency", "system throughput", "packet hops")
_LABELS = ("mean latency (us)", "throughput", "mean hops")


def load_curves(findings: Findings, figure: str) -> Figure:
    """The figure, with the paper's letters.

    Raises:
        NotFoundYetError: If nothing of it was simulated.
    """
    results = findings.results(figure)
    drawn = load_figure(results)
    for index, axes in enumerate(drawn.axes):
        traffic = results.traffic[index // 3]
        axes.set_title(f"({letter(index)}) {traffic}: {_TITLES[index % 3]}", fontsize=9)
        axes.set_ylabel(_LABELS[index % 3])
    return drawn

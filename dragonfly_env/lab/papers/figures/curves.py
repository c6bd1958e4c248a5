"""Latency, throughput and hops over offered load: figure 5 of HPDC 2021, one row of panels per traffic."""

from __future__ import annotations

from matplotlib.figure import Figure

from dragonfly_env.lab.papers.figures.panels import letter
from dragonfly_env.lab.papers.figures.published import Published, legend_handles, mark, published_of
from dragonfly_env.lab.papers.findings import Findings
from dragonfly_env.plots.loads import load_figure
from dragonfly_env.plots.style import fitting_legend, looks

_TITLES = ("packet latency", "system throughput", "packet hops")
_LABELS = ("mean latency (us)", "throughput", "mean hops")
_METRICS = ("latency_mean", "throughput", "hops_mean")


def load_curves(findings: Findings, figure: str) -> Figure:
    """The figure, with the paper's letters and what its text states as points.

    Raises:
        NotFoundYetError: If nothing of it was simulated.
    """
    results = findings.results(figure)
    drawn = load_figure(results)
    colours = {name: look.colour for name, look in looks(results.policies).items()}
    points = [published_of(findings, figure, metric) for metric in _METRICS]
    shown: list[Published] = []
    for index, axes in enumerate(drawn.axes):
        traffic = results.traffic[index // 3]
        axes.set_title(f"({letter(index)}) {traffic}: {_TITLES[index % 3]}", fontsize=9)
        axes.set_ylabel(_LABELS[index % 3])
        own = [point for point in points[index % 3] if point.cell.traffic == traffic]
        if index % 3 == 0:  # latencies far above are cut off
            own = [point for point in own if point.value <= axes.get_ylim()[1]]
        mark(axes, own, {point.cell: point.cell.load for point in own}, colours)
        shown += own
    if shown:
        handles, _ = drawn.axes[1].get_legend_handles_labels()
        for legend in list(drawn.legends):
            legend.remove()
        fitting_legend(drawn, [*handles, *legend_handles(shown)], "outside upper center")
    return drawn

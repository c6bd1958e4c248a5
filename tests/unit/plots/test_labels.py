"""No label of a figure covers another one or data, or leaves the figure, with any names of policies and traffic."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.transforms import Bbox

from dragonfly_env.lab.benchmark import Benchmark, find_suite
from dragonfly_env.lab.benchmark.figures import heat_map
from dragonfly_env.plots import FIGURES
from dragonfly_env.sweeps import Results, Scenario, load_results, run_all

LONG = "a-name-that-is-longer-than-any-panel-is-high-and-than-any-panel-is-wide"
UNBROKEN = "x" * 90
SLACK = 1.0  # pixels, for rounding


@pytest.fixture(scope="module")
def long_names(tmp_path_factory: pytest.TempPathFactory) -> Results:
    path = tmp_path_factory.mktemp("long")
    settings = {
        "name": "long names",
        "topology": "72",
        "policies": [
            "min",
            f"{LONG}=par",
            "ugal-n:bias_packets=2,minimal_candidates=2,nonminimal_candidates=3",
        ],
        "traffic": [
            "adv+1",
            {"label": f"{LONG} {LONG}", "pattern": "uniform"},
            {"label": UNBROKEN, "pattern": "permutation"},
        ],
        "loads": [0.1, 0.3],
        "warmup_ns": 500,
        "measure_ns": 2000,
        "series_bin_ns": 500,
    }
    run_all(Scenario.from_dict(settings), path, workers=1)
    return load_results(path)


def labels_of(figure: Figure) -> list[tuple[Text, Bbox]]:
    """Titles and labels of axes, and where they are."""
    figure.draw_without_rendering()
    texts = [
        text
        for axes in figure.axes
        for text in (axes.title, axes._left_title, axes.xaxis.label, axes.yaxis.label)
        if text.get_text() and axes.get_visible()
    ]
    return [(text, text.get_window_extent()) for text in texts]


def overlap(box: Bbox, other: Bbox) -> bool:
    common = Bbox.intersection(box, other)
    return common is not None and common.width > SLACK and common.height > SLACK


def any_overlap(boxes: list[Bbox]) -> bool:
    """Whether two of the boxes overlap: of thousands, so all pairs at once."""
    x0, y0, x1, y1 = np.array([box.extents for box in boxes]).T
    width = np.minimum.outer(x1, x1) - np.maximum.outer(x0, x0)
    height = np.minimum.outer(y1, y1) - np.maximum.outer(y0, y0)
    return bool(np.triu((width > SLACK) & (height > SLACK), 1).any())


def check(figure: Figure) -> None:
    labels = labels_of(figure)
    for text, box in labels:
        assert box.x0 >= -SLACK, text
        assert box.y0 >= -SLACK, text
        assert box.x1 <= figure.bbox.x1 + SLACK, text
        assert box.y1 <= figure.bbox.y1 + SLACK, text
    for (name, first), (other, second) in itertools.combinations(labels, 2):
        assert not overlap(first, second), (name, other)
    panels = [axes.get_window_extent() for axes in figure.axes if axes.get_visible()]
    legends = [*figure.legends, *(axes.get_legend() for axes in figure.axes)]
    for legend in legends:
        if legend is not None:
            box = legend.get_window_extent()
            assert not any(overlap(box, panel) for panel in panels), "a legend covers data"
            assert not any(overlap(box, label) for _, label in labels), "a legend covers a label"
            assert -SLACK <= box.x0 <= box.x1 <= figure.bbox.x1 + SLACK
    for text, box in labels:
        assert not any(overlap(box, panel) for panel in panels), text


@pytest.mark.parametrize(
    "kind", [kind for kind in FIGURES if kind not in ("jobs", "slowdowns")]
)  # no programs run
def test_labels_of_the_figures_of_a_sweep(long_names: Results, kind: str) -> None:
    check(FIGURES[kind][1](long_names, None))


@pytest.mark.parametrize("tracks", [(), ("transient",)])
def test_every_label_of_the_heat_map_of_a_suite_is_read(tracks: tuple[str, ...]) -> None:
    """All of its cases are in groups with labels of their own, none of which meets another."""
    suite = find_suite("dragonfly-v3")
    scores = Benchmark(
        suite=suite, effort="full", policies=(), folder=Path("nowhere"), tracks=tracks
    ).scores()
    figure = heat_map(scores)
    check(figure)
    shown = 0
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            ticks = [label for label in axis.get_ticklabels() if label.get_text()]
            boxes = [label.get_window_extent() for label in ticks]
            assert not boxes or not any_overlap(boxes)
            assert all(label.get_fontsize() >= 8 for label in ticks)
            assert all(box.x0 >= -SLACK and box.y0 >= -SLACK for box in boxes)
        shown += sum(image.get_array().size for image in axes.collections if image.get_array() is not None)
    cases = len(scores.table.drop_duplicates(["track", "split", "case"]))
    policies = scores.table["policy"].nunique()
    assert shown - 256 == cases * policies  # 256: the key's colours
    assert figure.get_size_inches()[0] < 12.5

"""Points of figures: what a text states, and what follows from it and a reference."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from dragonfly_env.colors import distinct_looks
from dragonfly_env.colors import looks as usual_looks
from dragonfly_env.lab.papers import Paper, find_paper
from dragonfly_env.lab.papers.claims import Metric
from dragonfly_env.lab.papers.figures.boxes import latency_boxes
from dragonfly_env.lab.papers.figures.curves import load_curves
from dragonfly_env.lab.papers.figures.panels import published_of
from dragonfly_env.lab.papers.figures.transients import accepted_over_time
from dragonfly_env.lab.papers.findings import Findings
from dragonfly_env.lab.papers.job_metrics import tile_metric
from dragonfly_env.lab.papers.quantities import HOPS, LATENCY_MEAN, PEAK_THROUGHPUT, THROUGHPUT
from tests.unit.lab.papers.made_up import findings_of

HPDC21 = find_paper("hpdc21")
TACO25 = find_paper("taco25")

MEASURED = {
    "accepted_load": 0.4,
    "latency_mean_ns": 1000.0,
    "latency_p99_ns": 2000.0,
    "hops_mean": 3.0,
    "histogram_latency_ns": np.array([500.0, 1500.0]),
    "histogram_packets": np.array([10, 10]),
}


def made_up(paper: Paper, figure: str, effort: str = "full") -> Findings:
    """Every point has the same outcome."""
    return findings_of(
        paper,
        figure,
        paper.effort(effort),
        lambda point: {**MEASURED, "load": point.load, "saturated": False},
    )


def value_of(
    found: Findings, figure: str, metric: Metric, place: tuple[str, float, str]
) -> tuple[float, bool]:
    (point,) = [
        point
        for point in published_of(found, figure, metric)
        if (point.point.traffic_label, point.point.load, point.point.policy_label) == place
    ]
    return pytest.approx(point.value), point.absolute


@pytest.mark.parametrize(
    ("metric", "place", "expected"),
    [
        (PEAK_THROUGHPUT, ("uniform", 1.0, "q-adaptive"), 0.8825),
        (PEAK_THROUGHPUT, ("uniform", 1.0, "ugal-g"), 0.8825 - 0.0660),
        (PEAK_THROUGHPUT, ("uniform", 1.0, "min"), 0.8825 + 0.0329),
        (THROUGHPUT, ("adv+1", 0.5, "val-n"), 0.4820 / 1.03),
        (LATENCY_MEAN, ("uniform", 0.8, "par"), 0.76 * 5.22),
        (HOPS, ("adv+1", 0.5, "val-n"), 3.06 * 1.80),
    ],
)
def test_what_the_text_states_of_the_reference_makes_a_value(
    metric: Metric, place: tuple[str, float, str], expected: float
) -> None:
    assert value_of(made_up(HPDC21, "fig5"), "fig5", metric, place) == (expected, True)


def test_a_saving_without_a_published_reference_is_relative_to_what_was_measured() -> None:
    found = made_up(TACO25, "fig14")
    assert value_of(found, "fig14", LATENCY_MEAN, ("adv+1", 0.3, "lia")) == (0.7, False)


def test_boxes_show_published_means_and_percentiles() -> None:
    drawn = latency_boxes(made_up(HPDC21, "fig6"), "fig6")
    entries = [text.get_text() for text in drawn.legends[0].get_texts()]
    assert entries[-2:] == ["published mean", "published 99th percentile"]
    marks = [line for panel in drawn.axes[3:] for line in panel.get_lines() if line.get_zorder() == 6]
    assert len(marks) >= 10


@pytest.mark.parametrize(
    ("kind", "what", "of_job"), [("network", "ratio", False), ("processor", "stalls", True)]
)
def test_figures_find_the_quantity_of_a_claim(kind: str, what: str, of_job: bool) -> None:
    assert tile_metric(kind, what, of_job=of_job) is tile_metric(kind, what, of_job)
    assert tile_metric(kind, what) is tile_metric(kind, what, False)


def test_a_maximum_over_loads_has_one_point() -> None:
    found = made_up(HPDC21, "fig5")
    loads = [
        point.point.load
        for point in published_of(found, "fig5", THROUGHPUT)
        if (point.point.traffic_label, point.point.policy_label) == ("adv+1", "ugal-n")
    ]
    assert loads == [0.5]


def test_curves_over_load_do_not_mark_what_is_measured_over_time() -> None:
    made = made_up(HPDC21, "fig5")
    rows = {point: ({**some[0], "seed": 1},) for point, some in made.rows.items()}
    drawn = load_curves(dataclasses.replace(made, rows=rows), "fig5")
    marks = [line.get_ydata()[0] for line in drawn.axes[1].get_lines() if line.get_zorder() == 6]
    assert 0.8825 not in marks  # QA01, which is the maximum over time


def test_every_system_of_a_figure_over_time_has_a_panel() -> None:
    paper = HPDC21
    found = made_up(paper, "overload")
    largest = {point: rows for point, rows in found.rows.items() if point.config.topology.num_hosts == 1056}
    series = {
        "series_time_ns": [0.0, 1e5],
        "series_duration_ns": [1e5, 1e5],
        "series_accepted_load": [0.7, 0.8],
    }
    rows = {point: tuple({**row, **series} for row in some) for point, some in largest.items()}
    drawn = accepted_over_time(dataclasses.replace(found, rows=rows), "overload")
    assert [panel.get_title()[4:] for panel in drawn.axes] == ["72 hosts", "342 hosts", "1,056 hosts"]
    assert [text.get_text() for text in drawn.axes[0].texts] == ["not run"]
    published = [line.get_ydata()[0] for line in drawn.axes[2].get_lines() if line.get_marker() == "D"]
    assert 0.8825 in published


def test_policies_of_one_figure_have_colors_of_their_own() -> None:
    labels = ["vlb-lgl", "vlb-lg", "vlb-gl", "vlb-g", "pb", "ugal-ideal", "tpr", "pb-acor", "lia"]
    looks = distinct_looks(labels)
    assert len({look.color for look in looks.values()}) == len(labels)
    assert looks["lia"] == usual_looks(["lia"])["lia"]

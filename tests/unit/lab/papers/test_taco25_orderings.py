"""Orderings that LIA's paper states of its figures: each holds for made-up results as published, and is reversed by any
single deviation from them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np
import pytest

from dragonfly_env.lab.papers import PAPERS, find_paper
from dragonfly_env.lab.papers.claims import Claim
from dragonfly_env.lab.papers.findings import STATEMENTS, Findings, Measured, NotFoundYetError, steps_of
from dragonfly_env.lab.papers.lia_orderings import offset_of, shares_of
from dragonfly_env.lab.papers.measurements import measure_claim
from dragonfly_env.simulation.path_kinds import PATH_KINDS
from dragonfly_env.sweeps.run import Point

TACO25 = find_paper("taco25")
QUICK = TACO25.effort("quick")

CLAIMS = {claim.id: claim for claim in TACO25.claims()}
VALIANT = ("vlb-lgl", "vlb-lg", "vlb-gl", "vlb-g")
ADAPTIVE = ("pb", "ugal-ideal", "tpr", "pb-acor", "lia")
Row: TypeAlias = Callable[[Point], Mapping[str, Any]]


def measured(claim: Claim, row: Row) -> Measured:
    """As if every point of the claim's figure had been simulated once, with this outcome."""
    points = next(figure for figure in TACO25.figures if figure.name == claim.figure).points(QUICK)
    found = Findings(
        points={claim.figure: points},
        rows={point: (row(point),) for point in points},
        name="made up",
    )
    return measure_claim(claim, found)


def of_policies(column: str, values: Mapping[str, float], other: float) -> Row:
    return lambda point: {column: values.get(point.policy_label, other)}


SLOW = dict.fromkeys(VALIANT, 120.0)
FAST = dict.fromkeys(VALIANT, 80.0)


@pytest.mark.parametrize(
    ("identity", "published", "deviations"),
    [
        ("LI56", {"min": 100.0, **FAST}, [{"vlb-g": 101.0}]),
        ("LI57", {"tpr": 60.0, "pb": 50.0, "pb-acor": 51.0, "lia": 50.5},
         [{"pb": 60.0}, {"lia": 52.0}, {"tpr": 50.4}]),
        ("LI58", {"min": 100.0, **SLOW}, [{"vlb-lgl": 99.0}]),
        ("LI59", {"min": 100.0, **SLOW, "vlb-g": 90.0, **dict.fromkeys(ADAPTIVE, 70.0)},
         [{"vlb-g": 110.0}, {"tpr": 95.0}]),
        ("LI60", {"min": 100.0, **SLOW, **dict.fromkeys(ADAPTIVE, 70.0), "lia": 60.0}, [{"pb": 59.0}]),
    ],
)  # fmt: skip
def test_makespans(identity: str, published: dict[str, float], deviations: list[dict[str, float]]) -> None:
    claim = CLAIMS[f"{identity}-1056"]
    held = measured(claim, of_policies("makespan_ns", published, 100.0))
    assert held.ordering == "holds"
    assert "speed-up over min" in held.details
    for deviation in deviations:
        row = of_policies("makespan_ns", {**published, **deviation}, 100.0)
        assert measured(claim, row).ordering == "reversed", deviation


@pytest.mark.parametrize(
    ("identity", "published", "deviations"),
    [
        ("LI34", {"lia:remote_packets=23": 500.0}, [{"lia:remote_packets=17": 400.0}]),
        ("LI36", {"vlb-g": 500.0, "vlb-lg": 550.0, "vlb-gl": 560.0, "vlb-lgl": 600.0},
         [{"vlb-g": 555.0}, {"vlb-lg": 610.0}]),
        ("LI37", {"min": 400.0}, [{"lia": 390.0}]),
        ("LI38a", {"lia": 500.0}, [{"vlb-g": 470.0}]),
        ("LI43", {"pb-acor": 500.0, "pb": 600.0}, [{"pb": 503.0}]),
        ("LI44a", {"lia": 600.0}, [{"tpr": 500.0}]),
        ("LI33a", {"lia:saturated_groups=2": 600.0}, [{"lia:saturated_groups=4": 620.0}]),
        ("LI55a", {"lia": 610.0}, [{"pb": 570.0}]),
    ],
)  # fmt: skip
def test_latencies(identity: str, published: dict[str, float], deviations: list[dict[str, float]]) -> None:
    claim = CLAIMS[f"{identity}-1056"]

    def row(values: dict[str, float]) -> Row:
        return lambda point: {
            "latency_mean_ns": values.get(point.policy_label, 600.0),
            "accepted_load": min(point.load, 0.5),
        }

    assert measured(claim, row(published)).ordering == "holds"
    for deviation in deviations:
        assert measured(claim, row({**published, **deviation})).ordering == "reversed", deviation


@pytest.mark.parametrize(
    ("identity", "published", "deviations"),
    [
        ("LI22", {"tpr:round-robin": 0.4, "tpr:lrs": 0.4, "tpr:age": 0.4}, [{"tpr:age": 0.5}]),
        ("LI28b", {"tpr:w=0.5": 0.4}, [{"tpr:w=0.5": 0.5}]),
        ("LI39", {"vlb-lg": 0.4}, [{"vlb-lg": 0.5}, {"vlb-g": 0.4}]),
        ("LI44b", {"lia": 0.5}, [{"pb": 0.4}]),
        ("LI46", {"pb": 0.4, "tpr": 0.401}, [{"tpr": 0.45}, {"tpr": 0.35}]),
        ("LI47", {"pb": 0.4}, [{"tpr": 0.39}]),
        ("LI55b", {"lia": 0.5}, [{"lia": 0.45}]),
    ],
)
def test_throughput_past_saturation(
    identity: str, published: dict[str, float], deviations: list[dict[str, float]]
) -> None:
    claim = CLAIMS[f"{identity}-1056"]

    def row(values: dict[str, float]) -> Row:
        return lambda point: {
            "accepted_load": values.get(point.policy_label, 0.5)
            if point.load > 0.7
            else min(point.load, 0.5),
            "latency_mean_ns": 500.0,
        }

    assert measured(claim, row(published)).ordering == "holds"
    for deviation in deviations:
        assert measured(claim, row({**published, **deviation})).ordering == "reversed", deviation


def test_the_peak_is_the_highest_throughput_over_loads() -> None:
    found = measured(
        CLAIMS["LI45a-1056"], lambda point: {"accepted_load": 0.49 - 0.1 * abs(point.load - 0.7)}
    )
    assert found.mean == pytest.approx(0.49)
    assert found.details == "0.460 at the highest load"


def by_router(values: Mapping[str, float]) -> Row:
    """The last router of each group accepts this share of what the others accept, which is what is offered."""

    def row(point: Point) -> Mapping[str, Any]:
        loads = np.full((33, 8), point.load)
        loads[:, 7] *= values.get(point.policy_label, 1.0)
        return {"source_router_load": loads.ravel()}

    return row


@pytest.mark.parametrize(
    ("identity", "published", "deviations"),
    [
        ("LI42", {"vlb-g": 0.8, "vlb-lg": 0.9}, [{"vlb-lg": 0.97}, {"lia": 0.9}]),
        ("LI49", {"pb": 0.7, "pb-acor": 0.8}, [{"pb-acor": 0.97}, {"pb": 0.97}]),
    ],
)
def test_loads_of_routers(
    identity: str, published: dict[str, float], deviations: list[dict[str, float]]
) -> None:
    claim = CLAIMS[f"{identity}-1056"]
    assert measured(claim, by_router(published)).ordering == "holds"
    for deviation in deviations:
        assert measured(claim, by_router({**published, **deviation})).ordering == "reversed", deviation


def test_what_a_router_accepts_least_of_what_is_offered() -> None:
    claim = CLAIMS["LI23a-1056"]
    assert measured(claim, by_router({"vlb-gl": 0.9})).mean == pytest.approx(0.9)
    assert measured(claim, by_router({})).mean == pytest.approx(1.0)


def test_the_router_with_the_minimal_links_takes_the_first_local_hop() -> None:
    claim = CLAIMS["LI50-1056"]

    def row(last: dict[str, float], others: dict[str, float]) -> Row:
        loads = np.zeros((33, 8, len(PATH_KINDS)))
        for kind, load in others.items():
            loads[:, :7, PATH_KINDS.index(kind)] = load
        for kind, load in last.items():
            loads[:, 7, PATH_KINDS.index(kind)] = load
        return lambda point: {"source_router_path_loads": loads.ravel()}

    with_hop = {"minimal": 0.1, "lgl": 0.3, "g": 0.1}
    without = {"minimal": 0.1, "gl": 0.3, "lgl": 0.1}
    found = measured(claim, row(with_hop, without))
    assert found.ordering == "holds"
    assert "with the first hop 0.75, others at most 0.25" in found.details
    assert measured(claim, row(without, without)).ordering == "reversed"
    assert measured(claim, row(with_hop, with_hop)).ordering == "reversed"
    with pytest.raises(NotFoundYetError, match="repeat the run"):
        measured(claim, lambda point: {"source_router_path_loads": None})


def around_change(latencies: Mapping[str, float], before: Mapping[str, float]) -> Row:
    def row(point: Point) -> Mapping[str, Any]:
        starts = np.arange(0.0, 13_500.0, 30.0)
        change = steps_of(point)[-1][0]
        series = np.where(starts < change, before.get(point.policy_label, 400.0), 500.0)
        series[starts == change + 180.0] = latencies.get(point.policy_label, 700.0)
        width = np.where(starts == change + 180.0, latencies.get(point.policy_label, 700.0), 1.0)
        return {
            "series_time_ns": starts,
            "series_duration_ns": np.full(len(starts), 30.0),
            "series_generated_latency_mean_ns": series,
            "series_generated_latency_q1_ns": np.zeros(len(starts)),
            "series_generated_latency_q3_ns": width,
        }

    return row


@pytest.mark.parametrize(
    ("identity", "published", "deviations"),
    [
        ("LI51", {"pb": 900.0, "ugal-ideal": 800.0}, [{"tpr": 850.0}]),
        ("LI53", {"lia": 600.0}, [{"pb-acor": 590.0}]),
        ("LI54", {"pb": 900.0}, [{"tpr": 750.0}]),
    ],
)
def test_after_the_change(
    identity: str, published: dict[str, float], deviations: list[dict[str, float]]
) -> None:
    claim = CLAIMS[f"{identity}-1056"]
    assert measured(claim, around_change(published, {})).ordering == "holds"
    for deviation in deviations:
        assert measured(claim, around_change({**published, **deviation}, {})).ordering == "reversed"


def test_offsets_in_the_middle_accept_most() -> None:
    claim = CLAIMS["LI26-1056"]

    def row(shift: int) -> Row:
        return lambda point: {"accepted_load": 0.25 + 0.05 * abs((offset_of(point) + shift + 2) % 4 - 2)}

    assert measured(claim, row(0)).ordering == "holds"
    assert measured(claim, row(2)).ordering == "reversed"


def test_offsets_up_to_h_accept_less_and_less() -> None:
    claim = CLAIMS["LI30-1056"]

    def row(own: dict[int, float], other: float = 0.49) -> Row:
        return lambda point: {
            "accepted_load": own.get(offset_of(point), 0.2) if point.policy_label == "vlb-g" else other
        }

    published = {1: 0.49, 2: 0.49, 3: 0.33, 4: 0.25}
    assert measured(claim, row(published)).ordering == "holds"
    assert measured(claim, row({**published, 4: 0.34})).ordering == "reversed"
    assert measured(claim, row(published, 0.46)).ordering == "reversed"


def test_the_counter_of_a_mixture_is_that_of_equation_3() -> None:
    """Figure 10 (c) in its h = 4 form, +6 and +7: R_2 = 2/4 G_6 + 3/4 G_7, R_1 = 2/4 G_6 + 1/4 G_7."""
    assert shares_of("weighted:adv+6=0.5,adv+7=0.5") == {6: 0.5, 7: 0.5}
    assert shares_of("adv+3") == {3: 1.0}
    found = measured(CLAIMS["LI31c-1056"], lambda point: {"accepted_load": 0.3})
    packets = 0.3 * 4 * 20
    assert found.mean == pytest.approx(packets * (0.5 * 0.5 + 0.5 * 0.75))
    assert found.details.startswith(f"R_1 {packets * 0.375:.1f}, R_2 {packets * 0.625:.1f}")


def test_every_statement_belongs_to_a_claim() -> None:
    papers = {claim.metric for paper in PAPERS for claim in paper.claims()}
    assert papers >= STATEMENTS.keys()

"""Orderings that LIA's paper states of its figures: each holds for made-up results as published, and is reversed by any
single deviation from them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np
import pytest

from dragonfly_env.lab.papers import find_paper
from dragonfly_env.lab.papers.claims import Claim, Measured, PaperFindings, measure_claim
from dragonfly_env.lab.papers.findings import steps_of
from dragonfly_env.lab.papers.quantities import offset_of, shares_of
from dragonfly_env.simulation.path_kinds import PATH_KINDS
from dragonfly_env.sweeps.point import Point
from tests.unit.lab.papers import made_up
from tests.unit.lab.papers.made_up import Row

TACO25 = find_paper("taco25")
QUICK = TACO25.effort("quick")

CLAIMS = {claim.id: claim for claim in TACO25.claims}
VALIANT = ("vlb-lgl", "vlb-lg", "vlb-gl", "vlb-g")
ADAPTIVE = ("pb", "ugal-ideal", "tpr", "pb-acor", "lia")


def measured(claim: Claim, row: Row) -> Measured:
    return made_up.measured(TACO25, claim, QUICK, row)


def by_latency(values: Mapping[str, float]) -> Row:
    return lambda point: {
        "latency_mean_ns": values.get(point.policy_label, 600.0),
        "accepted_load": min(point.load, 0.5),
    }


def past_saturation(values: Mapping[str, float]) -> Row:
    return lambda point: {
        "accepted_load": values.get(point.policy_label, 0.5) if point.load > 0.7 else min(point.load, 0.5),
        "latency_mean_ns": 500.0,
    }


def by_makespan(values: Mapping[str, float]) -> Row:
    return lambda point: {"makespan_ns": values.get(point.policy_label, 100.0)}


def by_router(values: Mapping[str, float]) -> Row:
    """The last router of each group accepts this share of what the others accept, which is what is offered."""

    def row(point: Point) -> Mapping[str, Any]:
        loads = np.full((33, 8), point.load)
        loads[:, 7] *= values.get(point.policy_label, 1.0)
        return {"source_router_load": loads.ravel()}

    return row


def around_change(latencies: Mapping[str, float]) -> Row:
    def row(point: Point) -> Mapping[str, Any]:
        starts = np.arange(0.0, 13_500.0, 30.0)
        change = steps_of(point)[-1][0]
        just_after = starts == change + 180.0
        latency = latencies.get(point.policy_label, 700.0)
        return {
            "series_time_ns": starts,
            "series_duration_ns": np.full(len(starts), 30.0),
            "series_generated_latency_mean_ns": np.where(
                just_after, latency, np.where(starts < change, 400.0, 500.0)
            ),
            "series_generated_latency_q1_ns": np.zeros(len(starts)),
            "series_generated_latency_q3_ns": np.where(just_after, latency, 1.0),
        }

    return row


SLOW = dict.fromkeys(VALIANT, 120.0)
FAST = dict.fromkeys(VALIANT, 80.0)
OTHERS = dict.fromkeys(ADAPTIVE, 70.0)

Values: TypeAlias = dict[str, float]
# Claim, what is measured by policy, and single deviations from it.
ORDERINGS: list[tuple[Callable[[Mapping[str, float]], Row], str, Values, list[Values]]] = [
    (by_makespan, "LI56", {"min": 100.0, **FAST}, [{"vlb-g": 101.0}]),
    (by_makespan, "LI57", {"tpr": 60.0, "pb": 50.0, "pb-acor": 51.0, "lia": 50.5},
     [{"pb": 60.0}, {"lia": 52.0}, {"tpr": 50.4}]),
    (by_makespan, "LI58", {"min": 100.0, **SLOW}, [{"vlb-lgl": 99.0}]),
    (by_makespan, "LI59", {"min": 100.0, **SLOW, "vlb-g": 90.0, **OTHERS}, [{"vlb-g": 110.0}, {"tpr": 95.0}]),
    (by_makespan, "LI60", {"min": 100.0, **SLOW, **OTHERS, "lia": 60.0}, [{"pb": 59.0}]),
    (by_latency, "LI34", {"lia:remote_packets=23": 500.0}, [{"lia:remote_packets=17": 400.0}]),
    (by_latency, "LI36", {"vlb-g": 500.0, "vlb-lg": 550.0, "vlb-gl": 560.0, "vlb-lgl": 600.0},
     [{"vlb-g": 555.0}, {"vlb-lg": 610.0}]),
    (by_latency, "LI37", {"min": 400.0}, [{"lia": 390.0}]),
    (by_latency, "LI38a", {"lia": 500.0}, [{"vlb-g": 470.0}]),
    (by_latency, "LI43", {"pb-acor": 500.0, "pb": 600.0}, [{"pb": 503.0}]),
    (by_latency, "LI44a", {"lia": 600.0}, [{"tpr": 500.0}]),
    (by_latency, "LI33a", {"lia:saturated_groups=2": 600.0}, [{"lia:saturated_groups=4": 620.0}]),
    (by_latency, "LI55a", {"lia": 610.0}, [{"pb": 570.0}]),
    (past_saturation, "LI11", {"tpr": 0.4}, [{"tpr": 0.5}, {"lia": 0.4}]),
    (past_saturation, "LI21", {"tpr:injected": 0.4}, [{"tpr:injected": 0.5}, {"tpr:w=0.1": 0.4}]),
    (past_saturation, "LI22", {"tpr:round-robin": 0.4, "tpr:lrs": 0.4, "tpr:age": 0.4}, [{"tpr:age": 0.5}]),
    (past_saturation, "LI28b", {"tpr:w=0.5": 0.4}, [{"tpr:w=0.5": 0.5}]),
    (past_saturation, "LI39", {"vlb-lg": 0.4}, [{"vlb-lg": 0.5}, {"vlb-g": 0.4}]),
    (past_saturation, "LI44b", {"lia": 0.5}, [{"pb": 0.4}]),
    (past_saturation, "LI46", {"pb": 0.4, "tpr": 0.401}, [{"tpr": 0.45}, {"tpr": 0.35}]),
    (past_saturation, "LI47", {"pb": 0.4}, [{"tpr": 0.39}]),
    (past_saturation, "LI55b", {"lia": 0.5}, [{"lia": 0.45}]),
    (by_router, "LI12", {"pb": 0.7, "tpr": 0.8, "ugal-ideal": 0.8}, [{"lia": 0.9}, {"tpr": 0.6}, {"pb": 1.0}]),
    (by_router, "LI42", {"vlb-g": 0.8, "vlb-lg": 0.9}, [{"vlb-lg": 0.97}, {"lia": 0.9}]),
    (by_router, "LI49", {"pb": 0.7, "pb-acor": 0.8}, [{"pb-acor": 0.97}, {"pb": 0.97}]),
    (around_change, "LI51", {"pb": 900.0, "ugal-ideal": 800.0}, [{"tpr": 850.0}]),
    (around_change, "LI53", {"lia": 600.0}, [{"pb-acor": 590.0}]),
    (around_change, "LI54", {"pb": 900.0}, [{"tpr": 750.0}]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("row", "identity", "published", "deviations"), ORDERINGS, ids=[ordering[1] for ordering in ORDERINGS]
)
def test_an_ordering_holds_as_published_and_is_reversed_by_any_deviation(
    row: Callable[[Mapping[str, float]], Row], identity: str, published: Values, deviations: list[Values]
) -> None:
    names = [name for name in (f"{identity}-1056", f"{identity}-1056-60us") if name in CLAIMS]
    for claim in map(CLAIMS.__getitem__, names):
        held = measured(claim, row(published))
        assert held.ordering == "holds"
        assert row is not by_makespan or "speed-up over min" in held.details
        for deviation in deviations:
            assert measured(claim, row({**published, **deviation})).ordering == "reversed", deviation


def test_the_peak_is_the_highest_throughput_over_loads() -> None:
    found = measured(
        CLAIMS["LI45a-1056"], lambda point: {"accepted_load": 0.49 - 0.1 * abs(point.load - 0.7)}
    )
    assert found.mean == pytest.approx(0.49)
    assert found.details == "0.460 at the highest load"


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


def test_offsets_in_the_middle_accept_most() -> None:
    claim = CLAIMS["LI26-1056"]

    def row(shift: int) -> Row:
        return lambda point: {"accepted_load": 0.25 + 0.05 * abs((offset_of(point) + shift + 2) % 4 - 2)}

    assert measured(claim, row(0)).ordering == "holds"
    assert measured(claim, row(2)).ordering == "reversed"


def test_offsets_up_to_h_accept_less_and_less() -> None:
    claim = CLAIMS["LI30-1056"]

    def row(loads: dict[int, float], other: float = 0.49) -> Row:
        return lambda point: {
            "accepted_load": loads.get(offset_of(point), 0.2) if point.policy_label == "vlb-g" else other
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


@pytest.mark.parametrize(
    ("last", "expected"),
    [
        ({"vlb-lg": (0.40, 0.41)}, ("holds", False)),
        ({"vlb-lg": (0.40, 0.41), "vlb-g": (0.48, 0.50)}, ("holds", True)),  # -2 +- 25 %
        ({"vlb-lg": (0.40, 0.41), "vlb-g": (0.30, 0.31)}, ("reversed", False)),
        # vlb-g surely falls: what vlb-gl does decides nothing
        ({"vlb-lg": (0.40, 0.41), "vlb-g": (0.30, 0.31), "vlb-gl": (0.48, 0.50)}, ("reversed", False)),
        ({"vlb-lg": (0.40, 0.41), "vlb-gl": (0.46, 0.50)}, ("reversed", True)),
    ],
)
def test_a_clause_that_surely_fails_decides_a_sentence(
    last: Mapping[str, tuple[float, float]], expected: tuple[str, bool]
) -> None:
    """Accepted loads at a load of 1.0 with two seeds; everything else accepts 0.5."""
    claim = CLAIMS["LI39-1056"]
    points = TACO25.choose((claim.figure,))[0].points(QUICK)
    rows = {
        point: tuple(
            {"accepted_load": load}
            for load in (last.get(point.policy_label, (0.5, 0.5)) if point.load == 1.0 else (0.5, 0.5))
        )
        for point in points
    }
    findings = PaperFindings(points={claim.figure: points}, rows=rows, name="made up", claims=TACO25.claims)
    found = measure_claim(claim, findings)
    assert (found.ordering, found.uncertain) == expected
    assert found.values["runs"] == 2

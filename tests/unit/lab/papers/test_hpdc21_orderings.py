"""Orderings that Q-adaptive's paper states without a number: each can hold and can be reversed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from dragonfly_env.lab.papers import find_paper
from dragonfly_env.lab.papers.claims import Measured
from dragonfly_env.lab.papers.paper import Effort
from dragonfly_env.lab.papers.quantities import hop_limit
from dragonfly_env.lab.papers.verdicts import DEVIATES, MET, judge
from dragonfly_env.sweeps.point import Point
from tests.unit.lab.papers import made_up

HPDC21 = find_paper("hpdc21")
QUICK, FULL = HPDC21.efforts

CLAIMS = {found.id: found for found in HPDC21.claims}
Make = Callable[[Point], dict[str, Any]]


def measured(identity: str, make: Make, effort: Effort = FULL) -> Measured:
    return made_up.measured(HPDC21, CLAIMS[identity], effort, make)


def latencies(by_policy: dict[str, float], *, tail: float = 3.0) -> Make:
    def make(point: Point) -> dict[str, Any]:
        mean = 1000.0 * by_policy.get(point.policy_label, 5.0)
        return {
            "latency_mean_ns": mean,
            "latency_p95_ns": mean * (tail - 1.0),
            "latency_p99_ns": mean * tail,
            "load": point.load,
        }

    return make


@pytest.mark.parametrize(
    ("identity", "published", "others"),
    [
        ("QA73", {"q-adaptive": 1.0}, [{"q-adaptive": 1.0, "par": 0.9}, {"q-adaptive": 5.0}]),
        ("QA74", {"q-adaptive": 1.0}, [{"q-adaptive": 1.0, "val-n": 0.9}]),
        (
            "QA75",
            {"q-adaptive": 2.0, "par": 2.4},
            [
                {"q-adaptive": 2.0, "par": 2.6},  # the orderings differ
                {"q-adaptive": 2.0, "par": 2.4, "ugal-g": 2.2},
            ],
        ),
        (
            "QA76",
            {"q-adaptive": 2.0, "par": 1.8},
            [{"q-adaptive": 2.0, "par": 2.1}, {"q-adaptive": 2.0, "par": 1.0}],  # "slightly"
        ),
        ("QA80", {"q-adaptive": 1.0}, [{"q-adaptive": 1.0, "val-n": 0.9}]),
        ("QA81", {"q-adaptive": 1.0}, [{"q-adaptive": 1.0, "min": 0.9}]),
    ],
)
def test_an_ordering_holds_as_published_and_is_reversed_otherwise(
    identity: str, published: dict[str, float], others: list[dict[str, float]]
) -> None:
    assert measured(identity, latencies(published)).ordering == "holds"
    for other in others:
        assert measured(identity, latencies(other)).ordering == "reversed"


def test_up_to_is_the_largest_saving_of_all_loads() -> None:
    def make(point: Point) -> dict[str, Any]:
        saved = 0.75 if point.load == 0.5 else 0.1
        return {"latency_mean_ns": 1000.0 * (1.0 - saved if point.policy_label == "q-adaptive" else 1.0)}

    found = measured("QA72", make)
    assert found.mean == pytest.approx(0.75)
    assert "load 0.5: 75.0%" in found.details
    assert judge(CLAIMS["QA72"], found).verdict == MET
    assert judge(CLAIMS["QA72"], Measured(0.72, float("nan"))).verdict == DEVIATES


def test_convergence_takes_longer_the_more_there_is_to_learn() -> None:
    def make(settled_us: dict[str, float]) -> Make:
        def of(point: Point) -> dict[str, Any]:
            starts = np.arange(0.0, 1_000_000.0, 10_000.0)
            early = starts < 1000.0 * settled_us[point.traffic_label]
            return {
                "series_time_ns": starts,
                "series_duration_ns": np.full(len(starts), 10_000.0),
                "series_latency_mean_ns": np.where(early, 9000.0, 1000.0),
                "series_accepted_load": np.full(len(starts), point.load),
            }

        return of

    as_published = {"uniform": 200.0, "adv+1": 400.0, "adv+4": 500.0}
    assert measured("QA77", make(as_published)).ordering == "holds"
    assert measured("QA77", make({**as_published, "adv+4": 300.0})).ordering == "reversed"
    assert measured("QA77", make({**as_published, "uniform": 450.0})).ordering == "reversed"


@pytest.mark.parametrize("effort", [QUICK, FULL], ids=lambda effort: effort.name)
def test_a_large_limit_of_hops_costs_latency_and_throughput(effort: Effort) -> None:
    def make(latency: float, accepted: float) -> Make:
        def of(point: Point) -> dict[str, Any]:
            largest = hop_limit(point) == 12
            return {
                "latency_mean_ns": 1000.0 * (latency if largest else 1.0),
                "accepted_load": accepted if largest else 0.4,
            }

        return of

    assert measured("QA78", make(2.0, 0.3), effort).ordering == "holds"
    assert measured("QA78", make(2.0, 0.4), effort).ordering == "reversed"
    assert measured("QA78", make(0.9, 0.3), effort).ordering == "reversed"


def test_maximum_throughput_is_that_of_the_best_load() -> None:
    """QA18: past 0.45 the rival collapses, which its maximum does not show."""

    def make(point: Point) -> dict[str, Any]:
        accepted = min(point.load, 0.48)
        return {"accepted_load": 0.2 if point.policy_label == "ugal-n" and point.load > 0.45 else accepted}

    assert measured("QA18", make).mean == pytest.approx(0.48 - 0.45)

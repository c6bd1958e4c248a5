"""Comparisons of pairs of runs, and orderings over several points: each can hold, be reversed, and be uncertain."""

from __future__ import annotations

import csv
import json
import math
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dragonfly_env.lab.papers import find_paper
from dragonfly_env.lab.papers.claims import Measured, every, higher, lower, measure_claim
from dragonfly_env.lab.papers.findings import Findings
from dragonfly_env.lab.papers.job_metrics import PERCENTILES
from dragonfly_env.lab.papers.paired import Comparison, reduction_of, spread_ratio_of, tail_ratio_of
from dragonfly_env.lab.papers.verdicts import (
    DEVIATES,
    EXCLUDED,
    INPUT,
    MET,
    NOT_RUN,
    judge,
    judge_all,
)
from dragonfly_env.sweeps.point import Point
from dragonfly_env.sweeps.results import mean_and_ci95

ARIES = find_paper("aries")
FULL = ARIES.effort("full")

CLAIMS = {found.id: found for found in ARIES.claims}
SEEDS = 6
Row = Mapping[str, Any]


def row(
    run_time_ns: float, *, groups: int = 1, ratio: float = 1.0, latency_ns: float = 500.0, jobs: int = 1
) -> dict[str, Any]:
    """A run as results have it, whose jobs wait for half of their time."""
    job = {
        "endless": False,
        "run_time_ns": run_time_ns,
        "hosts": [0, 1],
        "groups": groups,
        "iterations": 4,
        "iteration_mean_ns": run_time_ns / 2,
        "operations": {
            "wait": {"count": 8, "mean_ns": run_time_ns / 8},
            "allreduce": {"count": 4, "mean_ns": run_time_ns / 8},
        },
        "tiles": tiles(100, ratio),
    }
    hosts = {"nic_latency_ns": latency_ns * np.linspace(1, 2, 50)}
    return {
        "jobs": json.dumps([job] * jobs),
        "tiles": json.dumps(tiles(1000, ratio)),
        "duration_ns": run_time_ns,
        **hosts,
    }


def tiles(flits: int, ratio: float) -> dict[str, dict[str, float]]:
    """Ten of each class."""
    counted = {"tiles": 10, "flits": flits, "stalls": flits * ratio, "most_stalls": flits * ratio**2 / 2}
    return {name: dict(counted) for name in ("host-in", "rank-1", "rank-2", "rank-3")}


def findings(make: Callable[[Point, int], Row]) -> Findings:
    """Made-up results: every point was simulated with some seeds."""
    points = {
        figure.name: tuple(point for point in figure.points(FULL) if isinstance(point, Point))
        for figure in ARIES.figures
        if figure.name != "open"
    }
    every = {point for some in points.values() for point in some}
    rows = {point: tuple(make(point, seed) for seed in range(SEEDS)) for point in every}
    return Findings(points=points, rows=rows, name="made up")


def measured(identity: str, make: Callable[[Point, int], Row]) -> Measured:
    return measure_claim(CLAIMS[identity], findings(make))


def is_ad3(point: Point) -> bool:
    return point.policy_label == "ad3"


def groups_of(seed: int) -> int:
    return 1 if seed % 2 else 6


# ------------------------------------------------------------------------------------------------ pairs


def test_a_reduction_is_the_mean_over_pairs() -> None:
    other = np.array([100.0, 200.0, 400.0])
    found = reduction_of(other * np.array([0.9, 0.8, 0.85]), other)
    mean, half = mean_and_ci95([0.1, 0.2, 0.15])
    assert (found.mean, found.half, found.pairs) == (pytest.approx(mean), pytest.approx(half), 3)
    assert found.sure(0.0, 1.0) == (half < mean)
    assert not found.sure(mean, 1.0)
    assert found.sure(mean + 2 * half, math.inf)
    assert not reduction_of(other[:1], other[:1]).sure(-math.inf, math.inf)


def test_pairs_without_a_ratio_do_not_count() -> None:
    found = reduction_of(np.array([1.0, 90.0, 80.0]), np.array([0.0, 100.0, 100.0]))
    assert (found.mean, found.pairs) == (pytest.approx(0.15), 2)
    assert math.isnan(reduction_of(np.ones(2), np.zeros(2)).mean)


def test_spreads_and_tails_are_resampled_the_same_way_each_time() -> None:
    draws = np.random.default_rng(5)
    other = draws.normal(100.0, 10.0, 400)
    values = draws.normal(90.0, 5.0, 400)
    spread, tail = spread_ratio_of(values, other), tail_ratio_of(values, other)
    assert spread.mean == pytest.approx(values.std(ddof=1) / other.std(ddof=1))
    assert spread.low < spread.mean < spread.high
    assert spread.half < 0.1
    assert spread.sure(-math.inf, 1.0)
    assert tail.mean == pytest.approx(np.percentile(values, 95) / np.percentile(other, 95))
    assert spread_ratio_of(values, other) == spread
    assert math.isnan(spread_ratio_of(values[:2], other[:2]).low)
    assert not spread_ratio_of(values, draws.normal(90.0, 5.0, 400)).sure(-math.inf, 1.0)


def test_a_claim_with_bounds_is_met_inside_them_and_says_how_sure_that_is() -> None:
    def runs(gain: float, noise: float) -> Callable[[Point, int], Row]:
        def make(point: Point, seed: int) -> Row:
            return row(1000.0 * (1 - (gain + noise * (-1) ** seed) * is_ad3(point)))

        return make

    for gain, noise, verdict, uncertain in (
        (0.11, 0.01, MET, False),
        (0.11, 0.1, MET, True),
        (0.3, 0.01, DEVIATES, False),
        (-0.1, 0.01, DEVIATES, False),
        (0.04, 0.1, DEVIATES, True),
    ):
        found = judge(CLAIMS["AR01"], measured("AR01", runs(gain, noise)))
        assert found.measured is not None
        assert found.measured.mean == pytest.approx(gain)
        assert found.deviation == pytest.approx(gain - 0.111)
        assert (found.verdict, found.uncertain) == (verdict, uncertain), gain


def test_inputs_are_shown_and_what_cannot_be_shown_is_named() -> None:
    made = findings(lambda point, seed: row(1000.0, groups=groups_of(seed)))
    verdicts = {
        found.claim.id: found
        for found in judge_all(ARIES.claims, made, decides_all=ARIES.effort("quick").decides)
    }
    share = verdicts["AR45"]
    assert share.verdict == INPUT
    assert share.measured is not None
    assert share.measured.mean == pytest.approx(0.75)
    assert verdicts["AR51"].verdict == INPUT
    assert verdicts["AR37"].verdict == EXCLUDED
    assert not any(found.uncertain for found in verdicts.values() if found.verdict in (INPUT, EXCLUDED))
    # All else is decided, apart from spreads over more seeds than these.
    undecided = {found.reason for found in verdicts.values() if found.verdict == NOT_RUN}
    assert undecided == {"one of its runs has no such value, or there are too few"}
    assert verdicts["AR01"].verdict == DEVIATES


def test_jobs_that_did_not_end_decide_nothing() -> None:
    made = measured("AR01", lambda point, seed: row(math.nan))
    assert judge(CLAIMS["AR01"], made).verdict == NOT_RUN


# ------------------------------------------------------------------------------------------------ orderings


def gains(**by_name: float) -> Callable[[Point, int], Row]:
    """Applications that gain so much under AD3, a little more or less from seed to seed."""

    def make(point: Point, seed: int) -> Row:
        gain = by_name.get(point.traffic_label.split()[0].replace("-", "_"), 0.0) + 0.001 * (-1) ** (
            seed // 2
        )
        return row(1000.0 * (1 - gain * is_ad3(point)), groups=groups_of(seed))

    return make


TABLE2 = {"milc_reorder": 0.12, "milc": 0.11, "qbox": 0.05, "nek5000": 0.02, "rayleigh": 0.0, "hacc": -0.03}


@pytest.mark.parametrize("identity", ["AR23", "AR28", "AR29", "AR30"])
def test_production_orderings_hold(identity: str) -> None:
    found = measured(identity, gains(**TABLE2))
    assert found.ordering == "holds", found.details
    assert not found.uncertain or identity == "AR29"  # rayleigh prefers neither


def test_production_orderings_are_reversed() -> None:
    assert measured("AR23", gains(**{**TABLE2, "qbox": 0.3})).ordering == "reversed"
    assert measured("AR28", gains(milc=-0.05)).ordering == "reversed"
    assert measured("AR30", gains(milc=0.1, milc_reorder=-0.1)).ordering == "reversed"

    def opposite(point: Point, seed: int) -> Row:
        gain = (0.1 if groups_of(seed) == 1 else -0.1) + 0.001 * (-1) ** (seed // 2)
        return row(1000.0 * (1 - gain * is_ad3(point)), groups=groups_of(seed))

    assert measured("AR29", opposite).ordering == "reversed"
    assert measured("AR28", opposite).ordering == "reversed"


def test_all_metrics_of_a_claim_must_be_lower() -> None:
    def calm(point: Point, seed: int) -> Row:
        return row(1000.0 + seed, ratio=0.5 if is_ad3(point) else 1.0)

    def mixed(point: Point, seed: int) -> Row:
        made = dict(calm(point, seed))
        if is_ad3(point):
            changed = tiles(1000, 0.5)
            changed["rank-2"]["stalls"] = 2000.0
            made["tiles"] = json.dumps(changed)
        return made

    assert measured("AR33", calm).ordering == "holds"
    assert not measured("AR33", calm).uncertain
    assert "rank 2 stalls x 2" in measured("AR33", mixed).details
    assert measured("AR33", mixed).ordering == "reversed"
    assert measured("AR34", calm).ordering == "reversed"  # equal numbers of flits are not fewer
    assert measured("AR36", calm).ordering == "reversed"
    assert measured("AR42", calm).ordering == "holds"
    assert judge(CLAIMS["AR07"], measured("AR07", calm)).verdict == MET


@pytest.mark.parametrize(
    ("first", "other", "expected"),
    [
        ((0.7, 0.8), (0.5, 0.6), ("holds", False)),
        ((0.7, 0.8), (0.4, 1.5), ("holds", True)),
        ((0.7, 0.8), (1.3, 1.4), ("reversed", False)),
        (
            (0.4, 1.5),
            (1.3, 1.4),
            ("reversed", False),
        ),  # rank 2 surely fails: what rank 1 does decides nothing
        ((0.7, 0.8), (0.5, 1.6), ("reversed", True)),
        ((0.4, 1.5), (0.5, 1.6), ("reversed", True)),
    ],
)
def test_a_metric_that_surely_fails_decides_a_claim(
    first: tuple[float, float], other: tuple[float, float], expected: tuple[str, bool]
) -> None:
    """Flits under AD3 over those under AD0, in turn, of rank 1 and of rank 2; those of rank 3 surely fall."""

    def make(point: Point, seed: int) -> Row:
        made = dict(row(1000.0))
        if is_ad3(point):
            changed = tiles(1000, 1.0)
            factors = {"rank-1": first[seed % 2], "rank-2": other[seed % 2], "rank-3": 0.5}
            for name, factor in factors.items():
                changed[name]["flits"] *= factor
            made["tiles"] = json.dumps(changed)
        return made

    found = measured("AR34", make)
    assert (found.ordering, found.uncertain) == expected
    assert ("uncertain" in found.details) == expected[1]


@pytest.mark.parametrize(
    ("gain", "expected"),
    [
        ({}, ("holds", False)),
        ({"milc_reorder": 0.1105}, ("holds", True)),  # the intervals of milc-reorder and milc overlap
        ({"milc_reorder": 0.1105, "qbox": 0.3}, ("reversed", False)),
        ({"milc_reorder": 0.1095}, ("reversed", True)),
    ],
)
def test_a_pair_that_is_surely_in_the_wrong_order_decides_a_ranking(
    gain: Mapping[str, float], expected: tuple[str, bool]
) -> None:
    found = measured("AR23", gains(**{**TABLE2, **gain}))
    assert (found.ordering, found.uncertain) == expected


def test_a_table_that_was_written_earlier_is_as_sure_as_its_intervals() -> None:
    """The intervals of each metric are among the committed values, so that the label of a row follows from them."""
    text = (Path(__file__).parents[4] / "docs" / "reproduction" / "aries-claims.csv").read_text(
        encoding="utf-8"
    )
    known = {found["id"]: found for found in csv.DictReader(text.splitlines())}
    judged = 0
    for claim in ARIES.claims:
        if claim.relation not in (lower, higher):
            continue
        clauses = []
        low, high = (-math.inf, 1.0) if claim.relation is lower else (1.0, math.inf)
        for value in (json.loads(known[claim.id]["values"])[metric.name] for metric in claim.metrics):
            mean, *ends = (float(number) for number in re.findall(r"[-+.\w]+", value))
            comparison = Comparison(mean, ends[0], ends[1], 20)
            clauses.append((low < mean < high, comparison.sure(low, high)))
        holds, sure = every(clauses)
        assert known[claim.id]["ordering"] == ("holds" if holds else "reversed"), claim.id
        assert bool(known[claim.id]["uncertain"]) != sure, claim.id
        judged += 1
    assert judged > 15


def test_time_rises_with_the_bias() -> None:
    order = {"ad0": 1.0, "ad1": 1.1, "ad2": 1.2, "ad3": 1.3}
    up = measured("AR08", lambda point, seed: row(order[point.policy_label] * (1000.0 + seed), jobs=16))
    down = measured("AR08", lambda point, seed: row((1000.0 + seed) / order[point.policy_label], jobs=16))
    assert (up.ordering, up.uncertain) == ("holds", False)
    assert (down.ordering, down.uncertain) == ("reversed", False)


def test_modes_are_ranked_by_normalised_times() -> None:
    def make(best: str) -> Callable[[Point, int], Row]:
        places = ["ad3", "ad2", "ad1", "ad0"] if best == "ad3" else ["ad0", "ad1", "ad2", "ad3"]

        def made_row(point: Point, seed: int) -> Row:
            place = 1 + places.index(point.policy_label)
            return row(1000.0 + 100 * place + place * seed)

        return made_row

    assert measured("AR09", make("ad3")).ordering == "holds"
    assert not measured("AR09", make("ad3")).uncertain
    assert measured("AR09", make("ad0")).ordering == "reversed"


def test_production_lies_between_or_above_controlled_runs() -> None:
    def make(production: float) -> Callable[[Point, int], Row]:
        def made_row(point: Point, seed: int) -> Row:
            ratios = {"16 milc, consecutive": 1.0, "16 milc, random-routers": 2.0, "milc alone": 1.5}
            return row(1000.0, ratio=ratios.get(point.traffic_label, production))

        return made_row

    assert measured("AR40", make(1.2)).ordering == "holds"
    assert measured("AR40", make(2.2)).ordering == "reversed"
    assert measured("AR41", make(2.2)).ordering == "holds"
    assert measured("AR41", make(1.2)).ordering == "reversed"


def test_reordering_helps_under_both_modes() -> None:
    def make(slower: str) -> Callable[[Point, int], Row]:
        def made_row(point: Point, seed: int) -> Row:
            reorder = point.traffic_label.startswith("milc-reorder")
            return row(
                (1000.0 + seed) * (0.9 if reorder and point.policy_label != slower else 1.0 + 0.05 * reorder)
            )

        return made_row

    assert measured("AR53", make("")).ordering == "holds"
    assert measured("AR53", make("ad3")).ordering == "reversed"


def test_all_percentiles_of_latency_are_lower_and_the_tail_by_as_much_as_published() -> None:
    def make(factor: float) -> Callable[[Point, int], Row]:
        return lambda point, seed: row(1000.0, latency_ns=(500.0 + seed) * (factor if is_ad3(point) else 1.0))

    assert measured("AR44", make(0.75)).ordering == "holds"
    assert measured("AR44", make(0.97)).ordering == "reversed"
    assert measured("AR44", make(1.2)).ordering == "reversed"
    assert len(PERCENTILES) == measured("AR44", make(0.75)).details.count("p")
    assert judge(CLAIMS["AR10"], measured("AR10", make(0.75))).verdict == MET

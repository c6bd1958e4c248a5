"""Intervals: exact estimates, the same for everybody, and what is known by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dragonfly_env.lab.benchmark.scores import (
    NOTHING,
    geometric_mean,
    improvement,
)
from dragonfly_env.metrics.intervals import interquartile_mean

CASES = [np.array([100.0, 110.0, 120.0]), np.array([300.0, 330.0]), np.array([50.0])]
SCALE = [100.0, 300.0, 40.0]


def test_the_geometric_mean_is_that_of_the_means_over_seeds() -> None:
    mean, low, high = geometric_mean(CASES, SCALE)
    assert mean == pytest.approx((1.1 * 1.05 * 1.25) ** (1 / 3))
    assert 1.0 <= low < mean < high <= 1.25
    inverse, below, above = geometric_mean(CASES, SCALE, inverse=True)
    assert inverse == pytest.approx(1 / mean)
    assert below < inverse < above


def test_intervals_are_the_same_every_time_and_narrow_where_nothing_varies() -> None:
    assert geometric_mean(CASES, SCALE) == geometric_mean(CASES, SCALE)
    same = [np.array([200.0, 200.0])] * 4
    assert geometric_mean(same, [100.0] * 4) == pytest.approx((2.0, 2.0, 2.0))
    assert all(math.isnan(value) for value in (*geometric_mean([], []), *improvement([], []), *NOTHING))


def test_an_interval_covers_the_truth_about_as_often_as_it_says() -> None:
    random = np.random.default_rng(1)
    covered = 0
    for _ in range(200):
        cases = [np.exp(random.normal(0.5, 0.3) + random.normal(0, 0.1, 5)) for _ in range(30)]
        _, low, high = geometric_mean(cases, [math.exp(0.005)] * 30)
        covered += low <= math.exp(0.5) <= high
    assert 175 <= covered <= 199


def test_the_probability_of_improvement_is_that_of_all_pairs_of_seeds() -> None:
    mine, other = [np.array([1.0, 3.0]), np.array([1.0, 1.0])], [np.array([2.0, 3.0]), np.array([5.0, 6.0])]
    assert improvement(mine, other)[0] == pytest.approx(((1 + 1 + 0 + 0.5) / 4 + 1) / 2)
    assert improvement(other, mine)[0] == pytest.approx(1 - improvement(mine, other)[0])
    assert improvement(mine, mine, more_is_better=True)[0] == 0.5
    assert improvement([np.array([2.0])], [np.array([1.0])], more_is_better=True) == (1.0, 1.0, 1.0)


@pytest.mark.parametrize("count", [1, 3, 4, 7, 12])
def test_the_interquartile_mean_is_that_of_scipy(count: int) -> None:
    stats = pytest.importorskip("scipy.stats", reason="needs the extra [bounds]")
    values = np.random.default_rng(count).lognormal(size=count)
    mean, low, high = interquartile_mean(values)
    assert mean == pytest.approx(stats.trim_mean(values, 0.25))
    assert low <= mean <= high

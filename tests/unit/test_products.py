"""Tests of large products: by default every pair of values, on request every case."""

from __future__ import annotations

import itertools
from unittest.mock import Mock

import pytest

from tests.conftest import pytest_collection_modifyitems
from tests.products import chosen_cases

AXES = {"policy": tuple("abcdefg"), "shape": (1, 2, 3, 4), "preset": ("x", "y", "z"), "full": (True, False)}


def pairs(cases: list[tuple[object, ...]]) -> set[tuple[int, object, int, object]]:
    """Every two values that occur in one case, with their axes."""
    return {
        (i, case[i], j, case[j]) for case in cases for i, j in itertools.combinations(range(len(case)), 2)
    }


def test_the_shares_are_every_case_once() -> None:
    shares = [chosen_cases(AXES, f"{k}/20") for k in range(1, 21)]
    assert sorted(itertools.chain(*shares)) == sorted(chosen_cases(AXES, "all"))


@pytest.mark.parametrize(
    ("choice", "arguments", "markers", "expected"),
    [
        ("pairs", ["tests"], "", ["quick"]),
        ("pairs", ["tests/test_a.py::slow 1"], "", ["quick", "slow 1", "slow 2", "slow 3"]),
        ("pairs", ["tests"], "product or slow", ["quick", "slow 1", "slow 2", "slow 3"]),
        ("2/2", ["tests"], "product or slow", ["quick", "slow 2"]),
        ("all", ["tests"], "", ["quick", "slow 1", "slow 2", "slow 3"]),
    ],
)
def test_slow_tests_are_left_out_unless_asked_for(
    choice: str, arguments: list[str], markers: str, expected: list[str]
) -> None:
    slow = [Mock(get_closest_marker=lambda _: True) for _ in range(3)]
    names = dict(zip(slow, ("slow 1", "slow 2", "slow 3"), strict=True))
    items = [quick := Mock(get_closest_marker=lambda _: None), *slow]
    config = Mock(args=arguments, getoption=lambda _: choice, option=Mock(markexpr=markers))
    pytest_collection_modifyitems(config, items)
    assert [{**names, quick: "quick"}[item] for item in items] == expected

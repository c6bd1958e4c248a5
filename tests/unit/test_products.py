"""Tests of large products: by default every pair of values, on request every case."""

from __future__ import annotations

import itertools

import pytest

from tests.products import chosen_cases

AXES = {"policy": tuple("abcdefg"), "shape": (1, 2, 3, 4), "preset": ("x", "y", "z"), "full": (True, False)}


def pairs(cases: list[tuple[object, ...]]) -> set[tuple[int, object, int, object]]:
    """Every two values that occur in one case, with their axes."""
    return {
        (i, case[i], j, case[j]) for case in cases for i, j in itertools.combinations(range(len(case)), 2)
    }


def test_every_pair_of_values_occurs_in_far_fewer_cases() -> None:
    chosen, every = chosen_cases(AXES, "pairs"), chosen_cases(AXES, "all")
    assert len(every) == len(set(every)) == 7 * 4 * 3 * 2
    assert pairs(chosen) == pairs(every)
    assert len(chosen) < len(every) / 4


def test_the_shares_are_every_case_once() -> None:
    shares = [chosen_cases(AXES, f"{k}/20") for k in range(1, 21)]
    assert sorted(itertools.chain(*shares)) == sorted(chosen_cases(AXES, "all"))


@pytest.mark.parametrize("choice", ["", "some", "0/3", "4/3", "1/0", "-1/2", "1/2/3"])
def test_another_choice_is_refused(choice: str) -> None:
    with pytest.raises(pytest.UsageError, match="must be pairs, all, or a share"):
        chosen_cases(AXES, choice)

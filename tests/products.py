"""Choice of the tested cases of a product of parameters."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import pytest

Case = TypeVar("Case")


def chosen_cases(axes: Mapping[str, Sequence[Any]], choice: str) -> list[tuple[Any, ...]]:
    """Cases of a product of parameters.

    Args:
        axes: The values of each parameter.
        choice: ``pairs``, ``all``, or ``k/n`` for the k-th of n shares.

    Raises:
        pytest.UsageError: For another choice.
    """
    values = [list(axis) for axis in axes.values()]
    if choice == "pairs":
        from allpairspy import AllPairs  # needed only if a test of a product is collected

        return [tuple(case) for case in AllPairs(values)]
    return share_of(list(itertools.product(*values)), choice)


def share_of(cases: list[Case], choice: str) -> list[Case]:
    """All cases for ``all``, or the k-th of n shares for ``k/n``.

    Raises:
        pytest.UsageError: For another choice.
    """
    if choice == "all":
        return cases
    share = re.fullmatch(r"([1-9]\d*)/([1-9]\d*)", choice)
    if share is None or int(share[1]) > int(share[2]):
        raise pytest.UsageError(f"--products {choice}: must be pairs, all, or a share such as 3/10")
    return cases[int(share[1]) - 1 :: int(share[2])]


def in_turn(values: Sequence[Any], others: Sequence[Any], each: int = 1) -> list[tuple[Any, Any]]:
    """Every value with one of the others, or with ``each``, which take turns: where not every pair matters."""
    turns = itertools.cycle(others)
    return [(value, next(turns)) for value in values for _ in range(each)]

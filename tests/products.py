"""Which cases of a product of parameters are tested."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from typing import Any

import pytest


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
        from allpairspy import AllPairs  # not needed where no test of a product is collected

        return [tuple(case) for case in AllPairs(values)]
    product = list(itertools.product(*values))
    if choice == "all":
        return product
    share = re.fullmatch(r"([1-9]\d*)/([1-9]\d*)", choice)
    if share is None or int(share[1]) > int(share[2]):
        raise pytest.UsageError(f"--products {choice}: must be pairs, all, or a share such as 3/10")
    return product[int(share[1]) - 1 :: int(share[2])]

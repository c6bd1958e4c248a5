"""Names that move to ``values``."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dragonfly_env.checks.values import as_numbers as as_numbers
from dragonfly_env.checks.values import refuse_first as refuse_first


def as_integers(field: str, value: object, low: int, high: int, **_: Any) -> npt.NDArray[np.int64]:
    """Whole numbers in [low, high]."""
    array = as_numbers(field, value, ndim=1)
    wrong = ~((array >= low) & (array <= high)) | (array != np.floor(array))
    refuse_first(
        lambda index: f"{field}[{index[0]}]", array, wrong, f"must be an integer from {low} to {high}"
    )
    return array.astype(np.int64)


def as_float32(field: str, values: npt.NDArray[np.floating]) -> npt.NDArray[np.float32]:
    """Round to single precision."""
    return values.astype(np.float32, order="C", copy=False)

"""Actions as users pass them, in the form that the core takes."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dragonfly_env.decisions.batch import IntArray
from dragonfly_env.errors import IllegalActionError


def as_actions(actions: npt.ArrayLike) -> IntArray:
    """Integers in the form that the core takes."""
    if isinstance(actions, np.ndarray) and actions.dtype == np.int64 and actions.flags.c_contiguous:
        return actions
    array = np.asarray(actions)
    if array.size == 0 and array.ndim == 1:
        return np.empty(0, dtype=np.int64)
    if array.ndim != 1 or not np.issubdtype(array.dtype, np.integer):
        raise IllegalActionError(f"actions: must be integers of shape (N,), got {array.dtype} {array.shape}")
    return np.ascontiguousarray(array, dtype=np.int64)


def as_index(action: Any, count: int) -> int | None:
    """Return the action if it is in [0, count); None for anything else."""
    value = np.asarray(action)
    if value.ndim or value.dtype.kind not in "iu" or not 0 <= value < count:
        return None
    return int(value)

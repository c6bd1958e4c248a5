"""Reading actions, whatever a user passes as such."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dragonfly_env.checks.outside import reason
from dragonfly_env.decisions.batch import IntArray
from dragonfly_env.errors import IllegalActionError


def as_actions(actions: npt.ArrayLike) -> IntArray:
    """Integers in the form that the core takes."""
    if isinstance(actions, np.ndarray) and actions.dtype == np.int64 and actions.flags.c_contiguous:
        return actions
    try:
        array = np.asarray(actions)
    except Exception as error:  # whatever a user's class raises
        raise IllegalActionError(f"actions: must be integers of shape (N,): {reason(error)}") from None
    if array.size == 0 and array.ndim == 1:
        return np.empty(0, dtype=np.int64)
    if array.ndim != 1 or not np.issubdtype(array.dtype, np.integer):
        raise IllegalActionError(f"actions: must be integers of shape (N,), got {array.dtype} {array.shape}")
    if array.dtype == np.uint64 and array.max(initial=0) > np.iinfo(np.int64).max:
        raise IllegalActionError(f"actions: {array.max()} is no action")
    return np.ascontiguousarray(array, dtype=np.int64)


def as_index(action: Any, count: int) -> int | None:
    """One action in [0, count); None for anything else."""
    try:
        value = np.asarray(action)
    except Exception:  # whatever a user's class raises
        return None
    if value.ndim or value.dtype.kind not in "iu" or not 0 <= value < count:
        return None
    return int(value)

"""Actions of a policy that knows nothing, as fast as NumPy draws them."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

IntArray: TypeAlias = npt.NDArray[np.int64]


def random_legal(mask: npt.NDArray[np.bool_], generator: np.random.Generator) -> IntArray:
    """One legal action per row, each with the same chance.

    Args:
        mask: (N, A) legal actions, at least one per row.
        generator: Of the randomness.

    Returns:
        (N,) actions.
    """
    legal = np.flatnonzero(mask)  # row by row
    count = np.add.reduce(mask.view(np.uint8), axis=1, dtype=np.int32)
    last = np.cumsum(count) - 1
    which = last - (generator.random(len(mask), dtype=np.float32) * count).astype(np.int64)
    return np.asarray(legal[which] % mask.shape[1], np.int64)

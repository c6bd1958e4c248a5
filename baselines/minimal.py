"""``min``: every packet takes a minimal path, at most local, global, local.

Best for uniform traffic; under adversarial traffic one global link carries a whole group.

Source: Kim, Dally, Scott, Abts, ISCA 2008, section 4.1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dragonfly_env.baselines.ugal import columns_of

if TYPE_CHECKING:
    from dragonfly_env.decisions.batch import DecisionBatch, IntArray


def act(batch: DecisionBatch) -> IntArray:
    """(N,) the minimal path, or port, of every packet."""
    if not batch.layout.candidates:  # actions are ports
        return batch.minimal_actions()
    (minimal,) = columns_of(batch, "minimal", 1)
    return np.full(len(batch), minimal, dtype=np.int64)

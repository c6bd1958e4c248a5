"""MIN: always the shortest path."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from dragonfly_env.baselines._choices import MINIMAL, IntArray, columns_of
from dragonfly_env.policies import NamedVariants, Policy

if TYPE_CHECKING:
    from dragonfly_env.decisions.batch import DecisionBatch


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Minimal(Policy):
    """Every packet takes a minimal path: at most local, global, local.

    Best for uniform traffic; under adversarial traffic one global link carries a whole group. No parameters.

    Source: Kim, Dally, Scott, Abts, ISCA 2008, section 4.1.
    """

    variants: ClassVar[NamedVariants] = {"min": {}}
    source: ClassVar[str] = "Kim, Dally, Scott, Abts, ISCA 2008, section 4.1"

    @property
    def name(self) -> str:
        """``"min"``."""
        return "min"

    def act(self, batch: DecisionBatch) -> IntArray:
        """Choose the minimal path for every pending packet.

        Args:
            batch: N decisions of any routers, of an environment with either kind of actions.

        Returns:
            (N,) actions.

        Raises:
            ConfigError: If the environment draws its minimal candidates among several shortest paths.

        Source: Kim, Dally, Scott, Abts, ISCA 2008, section 4.1.
        """
        if not batch.layout.candidates:
            return batch.minimal_actions()
        (column,) = columns_of(batch, MINIMAL, 1)
        return np.full(len(batch), column, dtype=np.int64)

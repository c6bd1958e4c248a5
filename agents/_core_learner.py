"""What the learners that run inside the core share."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np
import numpy.typing as npt

from dragonfly_env.errors import StateError
from dragonfly_env.policies import Policy

if TYPE_CHECKING:
    from dragonfly_env.envs.batch import DecisionBatch


class CoreLearner(Policy):
    """A policy whose tables live in the core (``Simulation.q_table()``)."""

    __slots__ = ()

    learns: ClassVar[bool] = True

    def act(self, batch: DecisionBatch) -> npt.NDArray[np.int64]:
        """Refuse: the tables are in the core, and no NumPy twin keeps its own yet.

        Raises:
            StateError: Always.
        """
        raise StateError(f"act(): policy {self.name!r} learns inside the core; run it with Simulation")

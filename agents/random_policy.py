"""Random legal actions, from given random numbers."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt

from dragonfly_env.config.rows import choice, normalise
from dragonfly_env.decisions.batch import IntArray

if TYPE_CHECKING:
    from dragonfly_env.decisions.batch import DecisionBatch


def any_legal(mask: npt.NDArray[np.bool_], draws: npt.NDArray[np.float64]) -> IntArray:
    """(N,) a legal action per row of a mask (N, A), all equally likely, from (N,) draws in [0, 1)."""
    ranks = np.cumsum(mask, axis=1)
    legal = ranks[:, -1]
    wanted = np.minimum((draws * legal).astype(np.int64), legal - 1) + 1
    return np.asarray((ranks >= wanted[:, None]).argmax(axis=1), dtype=np.int64)


@dataclasses.dataclass(frozen=True, slots=True)
class RandomPolicy:
    """A uniformly random legal action for every packet, from the random numbers of the batch: what a learner must beat.

    Example:
        >>> policy = dfe.agents.RandomPolicy(action="port", scope="every")
        >>> config = dfe.SimulationConfig(topology="72", load=0.1)
        >>> metrics = dfe.agents.evaluate_policy(policy, config, measure_ns=1_000)
        >>> metrics.minimal_fraction < 1
        True
    """

    action: Literal["port", "path"] = choice("path", ("port", "path"), doc="What it chooses.")
    scope: Literal["source", "every", "all"] = choice(
        "source", ("source", "every", "all"), doc="Which decisions it takes."
    )

    def __post_init__(self) -> None:
        normalise(self)

    @property
    def name(self) -> str:
        """``"random"``."""
        return "random"

    def act(self, batch: DecisionBatch) -> IntArray:
        """See ``Policy.act``."""
        return any_legal(batch.mask, batch.draws[:, 0])

"""Any legal action, all equally likely: what a learner must beat."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from dragonfly_env.agents._choice import any_legal
from dragonfly_env.agents.protocol import IntArray
from dragonfly_env.config.rows import choice, normalise

if TYPE_CHECKING:
    from dragonfly_env.decisions.batch import DecisionBatch


@dataclasses.dataclass(frozen=True, slots=True)
class RandomPolicy:
    """A uniformly random legal action for every packet, from the draws of the batch."""

    action: str = choice("path", ("port", "path"), doc="What it answers with.")
    scope: str = choice("source", ("source", "every", "all"), doc="Which decisions it is asked for.")

    def __post_init__(self) -> None:
        normalise(self)

    @property
    def name(self) -> str:
        """``"random"``."""
        return "random"

    def act(self, batch: DecisionBatch) -> IntArray:
        """Choose for every packet; see ``Policy.act``."""
        return any_legal(batch.mask, batch.draws[:, 0])

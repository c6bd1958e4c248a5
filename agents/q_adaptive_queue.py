"""Q-adaptive that also sees its own queues. Runs in the core."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, ClassVar

from dragonfly_env.agents.q_adaptive import QAdaptive
from dragonfly_env.policies import NamedVariants

if TYPE_CHECKING:
    from dragonfly_env.config.topology import Dragonfly


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class QAdaptiveQueue(QAdaptive):
    """``QAdaptive`` with two changes: values start with the time of the whole way without congestion, and where ports
    are compared, what a port's own queues take to send is added to its value.

    A Q-value follows the mean of many packets with a delay; a queue that has just grown is seen at once. Thresholds
    and rates are the paper's. Not for every traffic: under ``many-to-many`` it is much slower than ``QAdaptive``.

    Source: this project (docs/notes/q-adaptive-variants.md), after Kang, Wang, Lan, HPDC 2021, section 4.
    """

    variants: ClassVar[NamedVariants] = {"q-adaptive-queue": {}}

    @classmethod
    def for_system(cls, topology: Dragonfly) -> QAdaptiveQueue:
        """The defaults, with the paper's thresholds for the system."""
        published = QAdaptive.for_system(topology)
        return cls(q_thld1=published.q_thld1, q_thld2=published.q_thld2)

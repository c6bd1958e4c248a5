"""Q-adaptive that also sees its own queues. Runs in the core."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, ClassVar

from dragonfly_env._settings import real
from dragonfly_env.agents.q_adaptive import QAdaptive
from dragonfly_env.policies import NamedVariants

if TYPE_CHECKING:
    from dragonfly_env.topology import Dragonfly


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class QAdaptiveQueue(QAdaptive):
    """``QAdaptive`` that adds to a port's value what its own queues take to send, where it compares ports, and asks for
    a larger advantage before it leaves the minimal port.

    A Q-value follows the mean of many packets with a delay; a queue that has just grown is seen at once. Not
    published: tried and measured here.
    """

    variants: ClassVar[NamedVariants] = {"q-adaptive-queue": {}}
    source: ClassVar[str] = "this project, after Kang, Wang, Lan, HPDC 2021"

    q_thld1: float = real(
        0.35, -1e9, 1e9, doc="Relative gain above which the source router leaves the minimal port."
    )
    queue_weight: float = real(
        1.0,
        0.0,
        1e6,
        unit="packet times",
        doc="Added to a port's value for every packet in its output queues; 1: what it takes to send them.",
    )

    @property
    def name(self) -> str:
        """``"q-adaptive-queue"``."""
        return "q-adaptive-queue"

    @classmethod
    def for_system(cls, topology: Dragonfly) -> QAdaptiveQueue:
        """The defaults: one choice for all systems."""
        return cls()

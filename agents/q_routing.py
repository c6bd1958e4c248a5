"""Q-routing: a Q-table per router with a row per destination router. Runs in the core, and as a twin in NumPy."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, ClassVar

from dragonfly_env import policy_parameters as core
from dragonfly_env.agents._core_learner import CoreLearner
from dragonfly_env.policies import NamedVariants

if TYPE_CHECKING:
    from dragonfly_env.agents.q_routing_twin import QRoutingTwin
    from dragonfly_env.envs.batched import BatchedRoutingEnv


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class QRouting(CoreLearner, core.QRouting):
    """Every router sends a packet where its table expects the shortest time to the destination router, until the
    packet has made ``max_hops`` hops; from then on, and inside the destination group, it goes minimally.

    Source: Boyan and Littman, NIPS 1993; the hop limit maxQ: Kang, Wang, Lan, HPDC 2021, section 2.3.
    """

    variants: ClassVar[NamedVariants] = {"q-routing": {}}

    def env_options(self) -> dict[str, Any]:
        """See ``CoreLearner.env_options``."""
        return {
            "scope": self.scope,
            "action": self.action,
            "feedback": True,
            "max_hops": self.max_hops + 3,
            "num_draws": 2,
        }

    def twin(self, env: BatchedRoutingEnv) -> QRoutingTwin:
        """See ``CoreLearner.twin``."""
        from dragonfly_env.agents.q_routing_twin import QRoutingTwin

        return QRoutingTwin(self, env)

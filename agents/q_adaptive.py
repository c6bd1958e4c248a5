"""Q-adaptive: two-level Q-tables in every router, learnt from reports of the next one; in the core and in NumPy."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, ClassVar

from dragonfly_env import policy_parameters as core
from dragonfly_env.agents._core_learner import CoreLearner
from dragonfly_env.checks.values import check_instance
from dragonfly_env.policies import NamedVariants

if TYPE_CHECKING:
    from dragonfly_env.agents.q_adaptive_twin import QAdaptiveTwin
    from dragonfly_env.config.topology import Dragonfly
    from dragonfly_env.envs.batched import BatchedRoutingEnv

_PAPER = "Kang, Wang, Lan, HPDC 2021"
_MOST_HOPS = 5  # section 4.2


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class QAdaptive(CoreLearner, core.QAdaptive):
    """The source router and the first router of an intermediate group leave the minimal port when their table
    promises a gain above a threshold; a packet makes at most five hops, on five VCs.

    A router's table has a row per destination group and slot of the source host on its router, (g-1) * p rows,
    and a column per port between routers; a value is the time in ns that a packet is expected to need to the
    destination group. The next router reports the travel time plus its own best value; the report travels back with
    the credit. Good news count with ``alpha``, bad news with ``beta`` (hysteretic Q-learning).

    The defaults are those for 1,056 hosts; ``for_system`` knows the paper's other system.

    Source: Kang, Wang, Lan, HPDC 2021, sections 4 and 5.1.
    """

    variants: ClassVar[NamedVariants] = {"q-adaptive": {}}

    def env_options(self) -> dict[str, Any]:
        """See ``CoreLearner.env_options``."""
        return {
            "scope": self.scope,
            "action": self.action,
            "feedback": True,
            "max_hops": _MOST_HOPS,
            "num_draws": 3,
        }

    def twin(self, env: BatchedRoutingEnv) -> QAdaptiveTwin:
        """See ``CoreLearner.twin``."""
        from dragonfly_env.agents.q_adaptive_twin import QAdaptiveTwin

        return QAdaptiveTwin(self, env)

    @classmethod
    def for_system(cls, topology: Dragonfly) -> QAdaptive:
        """The paper's parameters: for 2,550 hosts those of section 6, else those of section 5.1."""
        from dragonfly_env.config.topology import Dragonfly

        if check_instance("topology", topology, Dragonfly).num_hosts == 2550:
            return cls(q_thld1=0.05, q_thld2=0.4)
        return cls()

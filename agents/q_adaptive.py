"""Q-adaptive: two-level Q-tables in every router, learnt from reports of the next one; in the core and in NumPy."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, ClassVar

from dragonfly_env._settings import boolean, choice, real
from dragonfly_env._validate import check_instance
from dragonfly_env.agents._core_learner import CoreLearner
from dragonfly_env.policies import NamedVariants

if TYPE_CHECKING:
    from dragonfly_env.agents.q_adaptive_twin import QAdaptiveTwin
    from dragonfly_env.envs.batched import BatchedRoutingEnv
    from dragonfly_env.topology import Dragonfly

_PAPER = "Kang, Wang, Lan, HPDC 2021"
_MOST_NS = 1e12
_MOST_HOPS = 5  # section 4.2


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class QAdaptive(CoreLearner):
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
    source: ClassVar[str] = f"{_PAPER}, section 4"

    alpha: float = real(0.2, 0.0, 1.0, doc=f"Learning rate of good news. Source: {_PAPER}, equation 3.")
    beta: float = real(0.04, 0.0, 1.0, doc=f"Learning rate of bad news. Source: {_PAPER}, equation 3.")
    epsilon: float = real(
        0.001, 0.0, 1.0, doc=f"Share of random ports at the two deciding routers. {_PAPER}, 5.1."
    )
    q_thld1: float = real(
        0.2,
        -1e9,
        1e9,
        doc=f"Relative gain above which the source router leaves the minimal port. {_PAPER}, 5.1.",
    )
    q_thld2: float = real(
        0.35, -1e9, 1e9, doc=f"The same at the first router of an intermediate group. {_PAPER}, 5.1."
    )
    integer_values: bool = boolean(
        False,
        doc="Whether values are whole nanoseconds, truncated after each update, as in the authors' program: then bad "
        "news below 1/beta ns change nothing and good news always take off at least 1 ns.",
    )
    next_value: str = choice(
        "best",
        ("best", "taken"),
        doc="What the next router reports: its best value (the paper), or that of the port that the packet takes.",
    )
    initial_values: str = choice(
        "latency",
        ("latency", "path-time"),
        doc="Where values start: link latencies to the destination group (the paper), or the whole time of the way "
        "there without congestion, which tells ports apart that the latencies do not.",
    )
    rows: str = choice(
        "group-slot",
        ("group-slot", "group", "router"),
        doc="What a row stands for: destination group and source slot (the two-level table), destination group, or "
        "destination router.",
    )
    exploration: str = choice(
        "uniform",
        ("uniform", "least-occupied"),
        doc="Which port is explored: any with the same probability (the paper), or the one with the fewest packets "
        "in its queues and credits in use, the next one round the router from the drawn port on equality.",
    )
    queue_weight: float = real(
        0.0,
        0.0,
        1e6,
        unit="packet times",
        doc="Added to a port's value for every packet in its output queues, where ports are compared: the table says "
        "what a port is like on average, the queue what it is like now. 0: not (the paper). What is reported to "
        "other routers stays free of it.",
    )
    occupancy_weight: float = real(
        0.0,
        0.0,
        1e6,
        unit="packet times",
        doc="The same for every packet in its queues and every credit in use, of which a long link has many without "
        "any congestion.",
    )
    learn_until_ns: float = real(
        0.0, 0.0, _MOST_NS, unit="ns", doc="Tables are frozen and nothing is explored from then on; 0: never."
    )

    @property
    def name(self) -> str:
        """``"q-adaptive"``."""
        return "q-adaptive"

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
        from dragonfly_env.topology import Dragonfly

        if check_instance("topology", topology, Dragonfly).num_hosts == 2550:
            return cls(q_thld1=0.05, q_thld2=0.4)
        return cls()

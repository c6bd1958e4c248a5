"""The learners of the core: Q-routing, Q-adaptive and its variants. ``reference_learners`` has them in NumPy."""

from __future__ import annotations

import dataclasses
from abc import abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np
import numpy.typing as npt

from dragonfly_env import policy_parameters as core
from dragonfly_env.errors import StateError
from dragonfly_env.policies import NamedVariants, Policy

if TYPE_CHECKING:
    from dragonfly_env.agents.reference_learners import (
        QAdaptiveReference,
        QRoutingReference,
        ReferenceLearner,
    )
    from dragonfly_env.config.topology import Dragonfly
    from dragonfly_env.decisions.batch import DecisionBatch
    from dragonfly_env.envs.batched import BatchedRoutingEnv

_Adaptive = TypeVar("_Adaptive", bound="QAdaptive")

_MESH_DIAMETER = 3
_MOST_HOPS = 5  # of Q-adaptive: Kang, Wang, Lan, HPDC 2021, section 4.2


class CoreLearner(Policy):
    """A policy whose tables live in the core (``Simulation.q_table()``), or in its reference."""

    __slots__ = ()

    learns: ClassVar[bool] = True

    def act(self, batch: DecisionBatch) -> npt.NDArray[np.int64]:
        """Refuse: parameters alone have no tables; ``reference(env)`` has tables of its own, and decides."""
        raise StateError(
            f"act(): policy {self.name!r} learns inside the core: run it with Simulation, or let its "
            "reference(env) decide the batches of an environment"
        )

    def env_options(self) -> dict[str, Any]:
        """The keyword arguments of ``BatchedRoutingEnv`` for its reference, where groups are all-to-all."""
        max_hops, num_random = self._hops_and_draws
        return {
            "scope": self.scope,
            "action": self.action,
            "feedback": True,
            "max_hops": max_hops,
            "num_random": num_random,
        }

    @property
    @abstractmethod
    def _hops_and_draws(self) -> tuple[int, int]:
        """The longest route where groups are all-to-all, and the random numbers of a decision."""

    def env_options_on(self, topology: Dragonfly) -> dict[str, Any]:
        """The keyword arguments on any topology: routes are as much longer as its minimal paths are."""
        options = self.env_options()
        return {**options, "max_hops": options["max_hops"] + topology.diameter - _MESH_DIAMETER}

    @abstractmethod
    def reference(self, env: BatchedRoutingEnv) -> ReferenceLearner:
        """Make the reference implementation in NumPy; its ``trace_hash()`` and tables are equal to the core's."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class QRouting(CoreLearner, core.QRouting):
    """Every router sends a packet where its table expects the shortest time to the destination router, until the
    packet has made ``max_hops`` hops; from then on, and inside the destination group, it goes minimally.

    Source: Boyan and Littman, NIPS 1993; the hop limit maxQ: Kang, Wang, Lan, HPDC 2021, section 2.3.

    Example:
        >>> policy = dfe.agents.QRouting(alpha=0.5, epsilon=0.001)
        >>> config = dfe.SimulationConfig(topology="72", policy=policy)
        >>> sim = dfe.Simulation(config)
        >>> sim.run(2_000)
        >>> sim.q_table().shape
        (36, 36, 5)
    """

    variants: ClassVar[NamedVariants] = {"q-routing": {}}

    @property
    def _hops_and_draws(self) -> tuple[int, int]:
        return self.max_hops + 3, 2

    def reference(self, env: BatchedRoutingEnv) -> QRoutingReference:
        """See ``CoreLearner.reference``."""
        from dragonfly_env.agents.reference_learners import QRoutingReference

        return QRoutingReference(self, env)


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

    Example:
        >>> policy = dfe.agents.QAdaptive(alpha=0.2, q_thld1=0.2)
        >>> config = dfe.SimulationConfig(topology="72", traffic="adv+1", policy=policy)
        >>> dfe.simulate(config, measure_ns=5_000).packets_delivered > 0
        True
    """

    variants: ClassVar[NamedVariants] = {"q-adaptive": {}}

    @property
    def _hops_and_draws(self) -> tuple[int, int]:
        return _MOST_HOPS, 3

    def reference(self, env: BatchedRoutingEnv) -> QAdaptiveReference:
        """See ``CoreLearner.reference``."""
        from dragonfly_env.agents.reference_learners import QAdaptiveReference

        return QAdaptiveReference(self, env)

    @classmethod
    def for_system(cls: type[_Adaptive], topology: Dragonfly) -> _Adaptive:
        """The paper's parameters: for 2,550 hosts those of section 6, else those of section 5.1.

        Args:
            topology: The system.
        """
        if topology.num_hosts == 2550:
            return cls(q_thld1=0.05, q_thld2=0.4)
        return cls()


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class QAdaptiveQueue(QAdaptive):
    """``QAdaptive`` with two changes: values start with the time of the whole path without congestion, and where ports
    are compared, what a port's own queues take to send is added to its value.

    A Q-value follows the mean of many packets with a delay; a queue that has just grown is seen at once. Thresholds
    and rates are the paper's. Not for every traffic: under ``many-to-many`` it is much slower than ``QAdaptive``.

    Source: this project (docs/reports/2026-11-21-q-adaptive-variants.md), after Kang, Wang, Lan, HPDC 2021, section 4.

    Example:
        >>> policy = dfe.agents.QAdaptiveQueue()
        >>> config = dfe.SimulationConfig(topology="72", traffic="adv+1", policy=policy)
        >>> dfe.simulate(config, measure_ns=5_000).packets_delivered > 0
        True
    """

    variants: ClassVar[NamedVariants] = {"q-adaptive-queue": {}}


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class QAdaptiveFast(QAdaptive):
    """``QAdaptive`` for traffic that the minimal paths cannot carry, from an empty table on.

    The published learner collapses before it has learned. By its first values a local port of the source group is the
    next best path; behind it packets go minimally and meet the very link that they were to avoid. No bad news comes
    back, because the next router reports its best port and not the one that they took. Meanwhile a backlog builds up
    that a network near saturation carries for a millisecond. So here

    - the source router weighs the minimal port against global ones only (``source_ports``),
    - the next router reports the value of the port that the packet takes (``next_value``),
    - values start with the time of the whole path without congestion (``initial_values``),
    - a packet in a port's own queues counts two packet times (``queue_weight``): where a queue has grown, ports
      behind it are congested, too, and that is not in the table yet,
    - in an intermediate group a gain of 20 % is enough for a local non-minimal path (``q_thld2``).

    Rates and the other threshold are the paper's. Under uniform traffic it is as ``QAdaptiveQueue``; what that one
    loses under ``many-to-many`` with 2,550 hosts is not mended.

    Source: this project (docs/reports/2026-11-21-q-adaptive-variants.md), after Kang, Wang, Lan, HPDC 2021, section 4.

    Example:
        >>> policy = dfe.agents.QAdaptiveFast()
        >>> config = dfe.SimulationConfig(topology="72", traffic="adv+1", policy=policy)
        >>> dfe.simulate(config, measure_ns=5_000).packets_delivered > 0
        True
    """

    variants: ClassVar[NamedVariants] = {"q-adaptive-fast": {}}

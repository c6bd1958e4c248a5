"""What the learners that run inside the core share: their parameters here, and twins in NumPy."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from dragonfly_env.checks.values import check_instance
from dragonfly_env.errors import StateError
from dragonfly_env.policies import Policy

if TYPE_CHECKING:
    from dragonfly_env.agents.table_twin import TableTwin
    from dragonfly_env.config.topology import Dragonfly
    from dragonfly_env.decisions.batch import DecisionBatch
    from dragonfly_env.envs.batched import BatchedRoutingEnv

_MESH_DIAMETER = 3


class CoreLearner(Policy):
    """A policy whose tables live in the core (``Simulation.q_table()``), or in its twin."""

    __slots__ = ()

    learns: ClassVar[bool] = True

    def act(self, batch: DecisionBatch) -> npt.NDArray[np.int64]:
        """Refuse: parameters alone have no tables.

        Raises:
            StateError: Always. ``twin(env)`` has tables of its own, and answers.
        """
        raise StateError(
            f"act(): policy {self.name!r} learns inside the core: run it with Simulation, or let its "
            "twin(env) answer the batches of an environment"
        )

    @abstractmethod
    def env_options(self) -> dict[str, Any]:
        """The keyword arguments of ``BatchedRoutingEnv`` that its twin needs, where groups are all-to-all."""

    def env_options_on(self, topology: Dragonfly) -> dict[str, Any]:
        """The same on any topology: routes are as much longer as its minimal paths are."""
        from dragonfly_env.config.topology import Dragonfly

        check_instance("topology", topology, Dragonfly)
        options = self.env_options()
        return {**options, "max_hops": options["max_hops"] + topology.diameter - _MESH_DIAMETER}

    @abstractmethod
    def twin(self, env: BatchedRoutingEnv) -> TableTwin:
        """The same learner in NumPy, with tables of its own: the same ``trace_hash()`` and the same tables.

        Args:
            env: Made with ``env_options()``, as ``BatchedRoutingEnv.for_policy`` does.

        Raises:
            ConfigError: If it was not.
        """

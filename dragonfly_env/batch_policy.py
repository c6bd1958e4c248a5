"""A routing policy in Python: an object that decides batches of decisions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from dragonfly_env import _core
    from dragonfly_env.decisions.batch import DecisionBatch

AN_OBJECT = (
    "an object (not a class) with a method act(batch), which returns an action per decision, and with scope and action "
    "that say what it decides: scope = 'source' and action = 'path', for example"
)
"""Requirement in errors about a value that should be the user's own policy."""


@runtime_checkable
class CoreNetwork(Protocol):
    """A neural network that the core evaluates: ``baselines.MlpNetwork``."""

    @property
    def features(self) -> tuple[str, ...]:
        """The features that the network sees."""

    @property
    def scale(self) -> tuple[float, ...] | None:
        """The unit of each feature; 0, or None for all: that of the environment."""

    def to_core(self) -> _core.ScoringNetwork:
        """The network as the core takes it."""


@runtime_checkable
class BatchPolicy(Protocol):
    """A routing rule that decides batches of decisions.

    Example:
        >>> class FirstLegal:
        ...     name, scope, action = "first-legal", "source", "path"
        ...
        ...     def act(self, batch):
        ...         return batch.mask.argmax(axis=1)
        >>> config = dfe.SimulationConfig(topology="72")
        >>> metrics = dfe.agents.evaluate_policy(FirstLegal(), config, measure_ns=1_000)
        >>> metrics.packets_delivered > 0
        True
    """

    @property
    def name(self) -> str:
        """The policy's name in tables and figures."""

    @property
    def scope(self) -> str:
        """Decisions that the policy takes: ``"source"``, ``"every"`` or ``"all"``."""

    @property
    def action(self) -> str:
        """The kind of its actions: ``"port"`` or ``"path"``."""

    def act(self, batch: DecisionBatch) -> npt.NDArray[np.int64]:
        """Choose an action for every pending packet.

        Args:
            batch: N decisions of any routers. Chance comes from ``batch.draws`` only: then a run does not
                depend on how decisions are batched.

        Returns:
            (N,) indices into the actions; each must be legal by its row of ``batch.mask``.

        Example:
            >>> config = dfe.SimulationConfig(topology="72")
            >>> policy = dfe.make_policy("min")
            >>> env = dfe.BatchedRoutingEnv.for_policy(config, policy)
            >>> policy.act(env.reset(seed=1)).dtype
            dtype('int64')
        """

"""Protocols of a routing policy in Python that learns.

Whatever has ``name``, ``scope``, ``action`` and ``act`` routes packets: the dataclasses of
``dragonfly_env.baselines``, the learners here, and a class of yours without any base class. A ``Learner`` can also be
trained by ``dragonfly_env.agents.train``, saved and loaded.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from dragonfly_env.batch_policy import BatchPolicy

if TYPE_CHECKING:
    from dragonfly_env.decisions.batch import Transitions
    from dragonfly_env.envs.batched import BatchedRoutingEnv


@runtime_checkable
class Learner(BatchPolicy, Protocol):
    """A policy that improves from transitions.

    ``end_episode()`` and ``collect(env)`` are optional. ``collect`` replaces ``act`` and ``learn`` in training: it
    calls ``env.rollout``, learns from the transitions, and returns the rollout.

    Example:
        >>> agent = dfe.agents.make_agent("deep-q", seed=1)
        >>> isinstance(agent, dfe.agents.Learner)
        True
        >>> config = dfe.SimulationConfig(topology="72")
        >>> env = dfe.BatchedRoutingEnv(config, **agent.env_options())
        >>> agent.prepare(env)
        >>> agent.set_training(True)
        >>> batch = env.step(agent.act(env.reset(seed=1)))
        >>> agent.learn(env.transitions())
        >>> sorted(agent.statistics())[0]
        'buffer_transitions'
        >>> agent.save("agent.zip")
        >>> type(agent).load("agent.zip").name
        'deep-q'
    """

    metadata: dict[str, Any]
    """Plain values that are saved and loaded with it, e.g. how it was trained; it does not use them."""

    def env_options(self) -> dict[str, Any]:
        """The keyword arguments of ``BatchedRoutingEnv`` that it needs: scope, action, reward, features."""

    def prepare(self, env: BatchedRoutingEnv) -> None:
        """Build what depends on the layout of an environment, or check that the layout is the known one.

        Args:
            env: Where the learner will act.

        Raises:
            ConfigError: If it was trained with another layout or another number of actions.
        """

    def set_training(self, on: bool) -> None:
        """Explore and learn, or act greedily. A new or loaded learner acts greedily.

        Args:
            on: Whether the learner trains from now on.
        """

    def learn(self, transitions: Transitions) -> None:
        """Improve from the transitions that completed since the last call.

        Args:
            transitions: From the environment that the learner was prepared for.
        """

    def statistics(self) -> dict[str, float]:
        """Figures about the learning itself, e.g. ``{"loss": ..., "epsilon": ...}``, for logs."""

    def save(self, path: str | Path) -> None:
        """Write everything needed to act again into one file.

        Args:
            path: The file to write.
        """

    @classmethod
    def load(cls, path: str | Path) -> Learner:
        """Read the file that ``save`` wrote.

        Args:
            path: The file.
        """

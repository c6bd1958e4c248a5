"""Learners: what they can do, which kinds there are, and their files.

A file is a dictionary of plain values and tensors, written by ``torch.save`` and read by
``torch.load(weights_only=True)``. A learner of a user's own may write any file that its ``load`` reads.
"""

from __future__ import annotations

import pickle
import pkgutil
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from dragonfly_env.batch_policy import BatchPolicy
from dragonfly_env.checks.extras import how_to_install
from dragonfly_env.checks.files import open_output, refusing
from dragonfly_env.checks.values import config_error, differences, unknown_name
from dragonfly_env.config.rows import SettingInfo, describe, reject_unknown
from dragonfly_env.errors import ConfigError

if TYPE_CHECKING:
    from dragonfly_env.decisions.batch import Transitions
    from dragonfly_env.envs.batched import BatchedRoutingEnv
    from dragonfly_env.simulation.config import SimulationConfig

AGENTS = {
    "path-times": "dragonfly_env.agents.path_times:PathTimesAgent",
    "deep-q": "dragonfly_env.agents.deep_q:DeepQAgent",
    "ppo": "dragonfly_env.agents.ppo:PpoAgent",
}
"""The kinds of learners, and where their classes are; imported when needed, because they need PyTorch.

Every class has a ``settings_class``, and is called with an instance of it and ``seed``.
"""

_FORMAT = 4
_MOST_SHOWN = 4


@runtime_checkable
class Learner(BatchPolicy, Protocol):
    """A policy that improves from transitions. No base class is needed.

    ``end_episode()``, ``end_training()`` and ``collect(env)`` are optional. ``collect`` replaces ``act`` and ``learn``
    in training: it calls ``env.rollout``, learns from the transitions, and returns the rollout.

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
        """Build what depends on the layout of ``env``; ``ConfigError`` if it was trained with another layout."""

    def set_training(self, on: bool) -> None:
        """Explore and learn if ``on``; act greedily if not. A new or loaded learner acts greedily."""

    def learn(self, transitions: Transitions) -> None:
        """Improve from the ``transitions`` that completed since the last call."""

    def statistics(self) -> dict[str, float]:
        """Figures about the learning itself, e.g. ``{"loss": ..., "epsilon": ...}``, for logs."""

    def save(self, path: str | Path) -> None:
        """Write everything needed to act again into the file ``path``."""

    @classmethod
    def load(cls, path: str | Path) -> Learner:
        """Read the file ``path`` that ``save`` wrote."""


def learners() -> tuple[str, ...]:
    """The kinds of learners that ``make_agent`` makes.

    Example:
        >>> dfe.agents.learners()
        ('path-times', 'deep-q', 'ppo')
    """
    return tuple(AGENTS)


def agent_class(kind: str) -> Any:
    """The class of a kind of ``learners()``; ``ConfigError`` if PyTorch is missing."""
    if kind not in AGENTS:
        raise unknown_name("agent", kind, AGENTS)
    import_torch()
    return pkgutil.resolve_name(AGENTS[kind])


def agent_settings(kind: str) -> tuple[SettingInfo, ...]:
    """The settings of a kind of ``learners()`` with default, unit and meaning.

    Example:
        >>> rows = dfe.agents.agent_settings("ppo")
        >>> rows[0].name, rows[0].default
        ('action', 'path')
    """
    return describe(agent_class(kind).settings_class)


def make_agent(kind: str, *, seed: int = 0, **settings: Any) -> Learner:
    """A new learner.

    Args:
        kind: One of ``learners()``.
        seed: Seed of the initial weights and of learning, 0 to 2^32 - 1.
        **settings: Fields of its settings class.

    Raises:
        ConfigError: For an unknown kind or setting (the nearest one is named), or a value out of range; if PyTorch is
            missing.

    Example:
        >>> agent = dfe.agents.make_agent("ppo", seed=1, hidden_units=(16,))
        >>> agent.scope, agent.action
        ('source', 'path')
    """
    made = agent_class(kind)
    reject_unknown(made.settings_class, settings, f"agent {kind!r}", where=f"'dragonfly-env info {kind}'")
    learner: Learner = made(made.settings_class(**settings), seed=seed)
    return learner


def load_agent(path: str | Path, learner: type[Learner] | None = None) -> Learner:
    """Read a saved agent.

    Args:
        path: The file.
        learner: The class of a learner of your own, whose ``load`` reads the file; None: the file says which kind of
            ``learners()`` it is. (A file never says which class is to be imported: data is not code.)

    Raises:
        ConfigError: If the file is no saved agent, or PyTorch is missing.

    Example:
        >>> config = dfe.SimulationConfig(topology="72")
        >>> agent = dfe.agents.make_agent("ppo", seed=1)
        >>> agent.prepare(dfe.BatchedRoutingEnv(config, **agent.env_options()))
        >>> agent.save("agent.zip")
        >>> dfe.agents.load_agent("agent.zip").name
        'ppo'
    """
    made = learner or agent_class(read_agent(path)["kind"])
    loaded: Learner = made.load(path)
    return loaded


def read_metadata(path: str | Path) -> dict[str, Any]:
    """The ``metadata`` of the agent in the file ``path``, which is not made.

    Example:
        >>> config = dfe.SimulationConfig(topology="72")
        >>> agent = dfe.agents.make_agent("ppo", seed=1)
        >>> agent.prepare(dfe.BatchedRoutingEnv(config, **agent.env_options()))
        >>> agent.metadata = {"note": "untrained"}
        >>> agent.save("agent.zip")
        >>> dfe.agents.read_metadata("agent.zip")
        {'note': 'untrained'}
    """
    metadata: dict[str, Any] = read_agent(path)["metadata"]
    return metadata


def write_agent(path: str | Path, contents: Mapping[str, Any]) -> None:
    """Write plain values and tensors, ``kind`` and ``metadata`` among them; the file appears complete or not at all."""
    torch, target = import_torch(), Path(path)
    with refusing("agent", target, "must be writable"):
        target.parent.mkdir(parents=True, exist_ok=True)
        with open_output(target) as file:
            torch.save({"format": _FORMAT, **contents}, file)


def read_agent(path: str | Path) -> dict[str, Any]:
    """The contents that ``write_agent`` wrote; ``ConfigError`` if the file is missing, damaged or another one."""
    torch = import_torch()
    allowed = f"must be a saved agent of format {_FORMAT}"
    hint = "of a learner of your own name the class: load_agent(path, Class), on the command line file.py:Class@PATH"
    try:
        with refusing("agent", Path(path), f"{allowed}; {hint}"):
            contents: dict[str, Any] = torch.load(path, weights_only=True)
        found = contents["format"]
    except (RuntimeError, ValueError, KeyError, EOFError, TypeError, pickle.UnpicklingError) as error:
        reason = str(error).partition("\n")[0]
        raise config_error("agent", str(path), f"{allowed} ({reason}); {hint}") from None
    if found != _FORMAT:
        raise config_error("agent", str(path), f"{allowed}, not {found}")
    return contents


def import_torch() -> Any:
    """PyTorch; ``ConfigError`` with a hint if it is missing."""
    try:
        import torch
    except ImportError as error:
        raise ConfigError(f"this agent needs PyTorch: {how_to_install('sb3')} ({error})") from error
    return torch


class CongestedTrainingWarning(UserWarning):
    """A training ends with weights that congest the network. The agent acts with its best weights.

    Example:
        >>> import warnings
        >>> warnings.simplefilter("error", dfe.agents.CongestedTrainingWarning)
    """


class NetworkMismatchWarning(UserWarning):
    """A trained agent routes in another network than it was trained in. It may do well there, or badly.

    Example:
        >>> import warnings
        >>> warnings.simplefilter("error", dfe.agents.NetworkMismatchWarning)
    """


def network_of(config: SimulationConfig) -> dict[str, Any]:
    """An agent's record of a network: plain values."""
    return {"topology": config.topology.to_dict(), "network": config.network.to_dict()}


def warn_of_mismatch(trained_on: Mapping[str, Any], config: SimulationConfig, who: str) -> None:
    """Warn of an agent that was trained in another network.

    Args:
        trained_on: As ``network_of`` gives it, or a whole configuration's ``to_dict``; empty: not known.
        config: Where it acts now.
        who: The agent, for the message.
    """
    changed = [
        f"{field} was {was!r} and is {is_now!r}"
        for part, values in network_of(config).items()
        if trained_on.get(part)
        for field, is_now, was in differences(values, trained_on[part], part)
    ]
    if changed:
        more = f" and {len(changed) - _MOST_SHOWN} more" if len(changed) > _MOST_SHOWN else ""
        warnings.warn(
            f"{who} was trained in another network than this one: {', '.join(changed[:_MOST_SHOWN])}{more}",
            NetworkMismatchWarning,
            stacklevel=3,
        )

"""Learners by kind, and saved agents."""

from __future__ import annotations

import pkgutil
from pathlib import Path
from typing import Any

from dragonfly_env.agents.protocol import Learner
from dragonfly_env.agents.settings import DeepQSettings, PpoSettings
from dragonfly_env.agents.storage import read_header
from dragonfly_env.checks.values import config_error, unknown_name
from dragonfly_env.config.rows import SettingInfo, describe, reject_unknown
from dragonfly_env.errors import ConfigError

AGENTS: dict[str, str] = {
    "deep-q": "dragonfly_env.agents.deep_q:DeepQAgent",
    "ppo": "dragonfly_env.agents.ppo:PpoAgent",
}
"""The kinds of agents, and where their classes are; imported when needed, because some need PyTorch.

Every class is called with an instance of its settings class and ``seed``.
"""

_SETTINGS: dict[str, Any] = {
    "deep-q": DeepQSettings,
    "ppo": PpoSettings,
}


MOST_SEED = 2**32 - 1
"""Of an agent: as PyTorch and NumPy's older generators take it."""


def learners() -> tuple[str, ...]:
    """The kinds of learners that ``make_agent`` makes.

    Example:
        >>> dfe.agents.learners()
        ('deep-q', 'ppo')
    """
    return tuple(AGENTS)


def settings_class(kind: str) -> Any:
    """The documented, frozen dataclass of a kind's settings; needs no PyTorch."""
    if kind not in _SETTINGS:
        raise unknown_name("agent", kind, _SETTINGS)
    return _SETTINGS[kind]


def agent_class(kind: str) -> Any:
    """The class of a kind of agent.

    Args:
        kind: One of ``learners()``.

    Raises:
        ConfigError: For an unknown kind; if PyTorch or Stable-Baselines3 are needed and missing.

    Example:
        >>> dfe.agents.agent_class("ppo").__name__
        'PpoAgent'
    """
    if kind not in AGENTS:
        raise unknown_name("agent", kind, AGENTS)
    return pkgutil.resolve_name(AGENTS[kind])


def make_agent(kind: str, *, seed: int = 0, **settings: Any) -> Learner:
    """A new learner.

    Args:
        kind: One of ``learners()``.
        seed: Of its initial weights and its learning, 0 to 2^32 - 1.
        **settings: Fields of its settings class.

    Raises:
        ConfigError: For an unknown kind or setting (the nearest one is named), or a value out of range.

    Example:
        >>> agent = dfe.agents.make_agent("ppo", seed=1, hidden_units=(16,))
        >>> agent.scope, agent.action
        ('source', 'path')
    """
    described = settings_class(kind)
    reject_unknown(described, settings, f"agent {kind!r}", where=f"'dragonfly-env info {kind}'")
    learner: Learner = agent_class(kind)(described(**settings), seed=seed)
    return learner


def agent_settings(kind: str) -> tuple[SettingInfo, ...]:
    """The settings of a kind of agent with default, unit and meaning.

    Args:
        kind: One of ``learners()``.

    Example:
        >>> rows = dfe.agents.agent_settings("ppo")
        >>> rows[0].name, rows[0].default
        ('action', 'path')
    """
    return describe(settings_class(kind))


def load_agent(path: str | Path, learner: type[Learner] | None = None) -> Learner:
    """Read a saved agent.

    Args:
        path: The file.
        learner: The class of a learner of your own, whose ``load`` reads the file; None: the file says which kind of
            ``AGENTS`` it is. (A file never says which class is to be imported: data is not code.)

    Raises:
        ConfigError: If the file is no saved agent, or what its kind needs is not installed.

    Example:
        >>> config = dfe.SimulationConfig(topology="72")
        >>> agent = dfe.agents.make_agent("ppo", seed=1)
        >>> agent.prepare(dfe.BatchedRoutingEnv(config, **agent.env_options()))
        >>> agent.save("agent.zip")
        >>> dfe.agents.load_agent("agent.zip").name
        'ppo'
    """
    if learner is not None:
        return learner.load(path)
    try:
        kind = read_header(path).get("kind")
    except ConfigError as error:
        raise ConfigError(f"{error}; {_OWN}") from error
    if kind not in AGENTS:
        allowed = f"holds an agent of unknown kind {kind!r}, known are {', '.join(AGENTS)}; {_OWN}"
        raise config_error("agent", str(path), allowed)
    agent: Learner = agent_class(kind).load(path)
    return agent


_OWN = (
    "of a learner of your own name the class: load_agent(path, Class), on the command line file.py:Class@PATH"
)


def read_metadata(path: str | Path) -> dict[str, Any]:
    """Read the ``metadata`` of an agent as it was saved, without loading it (and without PyTorch).

    Args:
        path: The file.

    Raises:
        ConfigError: If the file is no saved agent.

    Example:
        >>> config = dfe.SimulationConfig(topology="72")
        >>> agent = dfe.agents.make_agent("ppo", seed=1)
        >>> agent.prepare(dfe.BatchedRoutingEnv(config, **agent.env_options()))
        >>> agent.metadata = {"note": "untrained"}
        >>> agent.save("agent.zip")
        >>> dfe.agents.read_metadata("agent.zip")
        {'note': 'untrained'}
    """
    metadata: dict[str, Any] = read_header(path).get("metadata", {})
    return metadata

"""Learners by kind, and saved agents."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

from dragonfly_env.agents.protocol import Learner
from dragonfly_env.agents.storage import read_header
from dragonfly_env.checks.values import config_error, unknown_name
from dragonfly_env.config.rows import SettingInfo, describe, reject_unknown

AGENTS: dict[str, str] = {
    "deep-q": "dragonfly_env.agents.deep_q:DeepQAgent",
    "masked-ppo": "dragonfly_env.agents.masked_ppo:MaskedPpoAgent",
}
"""The kinds of agents, and where their classes are; imported when needed, because some need PyTorch.

Every class is called with an instance of its settings class and ``seed``.
"""

_SETTINGS: dict[str, str] = {
    "deep-q": "dragonfly_env.agents.deep_q_settings:DeepQSettings",
    "masked-ppo": "dragonfly_env.agents.masked_ppo_settings:MaskedPpoSettings",
}


def settings_class(kind: str) -> Any:
    """The documented, frozen dataclass of a kind's settings; needs no PyTorch.

    Raises:
        ConfigError: For an unknown kind.
    """
    return _imported(kind, _SETTINGS)


def agent_class(kind: str) -> Any:
    """The class of a kind of agent.

    Raises:
        ConfigError: For an unknown kind; if PyTorch or Stable-Baselines3 are needed and missing.
    """
    return _imported(kind, AGENTS)


def _imported(kind: str, table: dict[str, str]) -> Any:
    if not isinstance(kind, str) or kind not in table:
        raise unknown_name("agent", kind, table)
    module, _, name = table[kind].partition(":")
    return getattr(importlib.import_module(module), name)


def make_agent(kind: str, *, seed: int = 0, **settings: Any) -> Learner:
    """A new learner.

    Args:
        kind: One of ``AGENTS``.
        seed: Of its initial weights and its learning, 0 to 2^32 - 1.
        **settings: Fields of its settings class.

    Raises:
        ConfigError: For an unknown kind or setting (the nearest one is named), or a value out of range.
    """
    described = settings_class(kind)
    reject_unknown(described, settings, f"agent {kind!r}")
    learner: Learner = agent_class(kind)(described(**settings), seed=seed)
    return learner


def agent_settings(kind: str) -> tuple[SettingInfo, ...]:
    """The settings of a kind of agent with default, unit and meaning."""
    return describe(settings_class(kind))


def load_agent(path: str | Path) -> Learner:
    """Read a saved agent, whatever its kind.

    Raises:
        ConfigError: If the file is no saved agent, or what its kind needs is not installed.
    """
    kind = read_header(path).get("kind")
    if not isinstance(kind, str) or kind not in AGENTS:
        raise config_error(
            "agent", str(path), f"holds an agent of unknown kind {kind!r}, known are {', '.join(AGENTS)}"
        )
    learner: Learner = agent_class(kind).load(path)
    return learner


def read_metadata(path: str | Path) -> dict[str, Any]:
    """What was in ``metadata`` of an agent when it was saved, without loading it (and without PyTorch).

    Raises:
        ConfigError: If the file is no saved agent.
    """
    metadata = read_header(path).get("metadata", {})
    return metadata if isinstance(metadata, dict) else {}

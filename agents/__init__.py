"""Learning routing agents (installed as ``dragonfly_env.agents``).

``BatchPolicy`` is what decides batches of decisions; ``protocol`` says what else one that learns can do; ``training``
and ``evaluation`` treat all of them alike; ``registry`` finds them by kind, file or class. ``deep_q`` and ``ppo`` need
PyTorch and Stable-Baselines3 (``pip install '.[sb3]'`` in a checkout) and are imported only when they are used.
"""

from __future__ import annotations

import pkgutil
from typing import TYPE_CHECKING, Any

from dragonfly_env.agents._choice import RandomPolicy
from dragonfly_env.agents._trained_on import NetworkMismatchWarning
from dragonfly_env.agents.evaluation import Evaluation, evaluate_over_seeds, evaluate_policy, make_env
from dragonfly_env.agents.protocol import Learner
from dragonfly_env.agents.q_tables import load_q_table, save_q_table
from dragonfly_env.agents.registry import (
    AGENTS,
    agent_class,
    agent_settings,
    learners,
    load_agent,
    make_agent,
    read_metadata,
)
from dragonfly_env.agents.settings import DeepQSettings, PpoSettings
from dragonfly_env.agents.training import Progress, fit, train
from dragonfly_env.batch_policy import BatchPolicy
from dragonfly_env.decisions.batch import IntArray
from dragonfly_env.policies import Policy

if TYPE_CHECKING:
    from dragonfly_env.agents.deep_q import DeepQAgent
    from dragonfly_env.agents.ppo import PpoAgent

__all__ = [
    "BatchPolicy",
    "DeepQAgent",
    "DeepQSettings",
    "Evaluation",
    "IntArray",
    "Learner",
    "NetworkMismatchWarning",
    "PpoAgent",
    "PpoSettings",
    "Progress",
    "QAdaptive",
    "QRouting",
    "RandomPolicy",
    "agent_class",
    "agent_settings",
    "evaluate_over_seeds",
    "evaluate_policy",
    "fit",
    "learners",
    "load_agent",
    "load_q_table",
    "make_agent",
    "make_env",
    "read_metadata",
    "save_q_table",
    "train",
]


def QAdaptive(**parameters: Any) -> Policy:  # noqa: N802  # named as in papers
    """The policy ``q-adaptive``, a learner of the core.

    Example:
        >>> dfe.agents.QAdaptive(alpha=0.3)
        Policy('q-adaptive', {'alpha': 0.3})
    """
    return Policy("q-adaptive", parameters)


def QRouting(**parameters: Any) -> Policy:  # noqa: N802
    """The policy ``q-routing``, a learner of the core.

    Example:
        >>> dfe.agents.QRouting()
        Policy('q-routing')
    """
    return Policy("q-routing", parameters)


_LAZY = {path.rpartition(":")[2]: path for path in AGENTS.values()}


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return pkgutil.resolve_name(_LAZY[name])
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

"""Learning routing agents (installed as ``dragonfly_env.agents``).

``learner`` says what a learner can do, which kinds there are, and how their files are read; ``training`` and
``evaluation`` treat all of them alike. ``deep_q`` and ``ppo`` need PyTorch (``pip install '.[sb3]'`` in a checkout)
and are imported only when they are used. ``q_routing`` and ``q_adaptive`` are the core's learners in NumPy.
"""

from __future__ import annotations

import pkgutil
from typing import TYPE_CHECKING, Any

from dragonfly_env.agents.evaluation import Evaluation, evaluate_over_seeds, evaluate_policy
from dragonfly_env.agents.learner import (
    CongestedTrainingWarning,
    Learner,
    NetworkMismatchWarning,
    agent_settings,
    import_torch,
    learners,
    load_agent,
    make_agent,
    read_metadata,
)
from dragonfly_env.agents.q_tables import load_q_table, save_q_table
from dragonfly_env.agents.random_policy import RandomPolicy
from dragonfly_env.agents.training import Progress, fit, train
from dragonfly_env.batch_policy import BatchPolicy
from dragonfly_env.decisions.batch import IntArray
from dragonfly_env.policy import Policy

if TYPE_CHECKING:
    from dragonfly_env.agents.deep_q import DeepQAgent, DeepQSettings
    from dragonfly_env.agents.path_times import PathTimesAgent, PathTimesSettings
    from dragonfly_env.agents.ppo import PpoAgent, PpoSettings

__all__ = [
    "BatchPolicy",
    "CongestedTrainingWarning",
    "DeepQAgent",
    "DeepQSettings",
    "Evaluation",
    "IntArray",
    "Learner",
    "NetworkMismatchWarning",
    "PathTimesAgent",
    "PathTimesSettings",
    "PpoAgent",
    "PpoSettings",
    "Progress",
    "QAdaptive",
    "QRouting",
    "RandomPolicy",
    "agent_settings",
    "evaluate_over_seeds",
    "evaluate_policy",
    "fit",
    "learners",
    "load_agent",
    "load_q_table",
    "make_agent",
    "read_metadata",
    "save_q_table",
    "train",
]

_NEED_TORCH = {
    "DeepQAgent": "deep_q",
    "DeepQSettings": "deep_q",
    "PathTimesAgent": "path_times",  # its files
    "PathTimesSettings": "path_times",
    "PpoAgent": "ppo",
    "PpoSettings": "ppo",
}


def QAdaptive(**parameters: Any) -> Policy:  # noqa: N802  # named as in papers
    """The policy ``q-adaptive``, a learner of the core, with the ``parameters`` that are given.

    Example:
        >>> dfe.agents.QAdaptive(alpha=0.3)
        Policy('q-adaptive', {'alpha': 0.3})
    """
    return Policy("q-adaptive", parameters)


def QRouting(**parameters: Any) -> Policy:  # noqa: N802
    """The policy ``q-routing``, a learner of the core, with the ``parameters`` that are given.

    Example:
        >>> dfe.agents.QRouting()
        Policy('q-routing')
    """
    return Policy("q-routing", parameters)


def __getattr__(name: str) -> Any:
    if name in _NEED_TORCH:
        import_torch()
        return pkgutil.resolve_name(f"dragonfly_env.agents.{_NEED_TORCH[name]}:{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

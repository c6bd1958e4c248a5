"""The environments: ``BatchedRoutingEnv``, and the views of it that the ecosystems expect."""

from __future__ import annotations

from dragonfly_env.decisions.batch import DecisionBatch, Outcomes, Rollout, Transitions
from dragonfly_env.decisions.feedback import HopFeedback
from dragonfly_env.decisions.layout import Layout
from dragonfly_env.envs.batched import BatchedRoutingEnv

__all__ = [
    "BatchedRoutingEnv",
    "DecisionBatch",
    "HopFeedback",
    "Layout",
    "Outcomes",
    "Rollout",
    "Transitions",
]

"""The environments: ``BatchedRoutingEnv``, and the views of it that the ecosystems expect."""

from __future__ import annotations

from dragonfly_env.envs.batch import DecisionBatch, Transitions
from dragonfly_env.envs.batched import BatchedRoutingEnv
from dragonfly_env.envs.feedback import HopFeedback
from dragonfly_env.envs.layout import Layout

__all__ = ["BatchedRoutingEnv", "DecisionBatch", "HopFeedback", "Layout", "Transitions"]

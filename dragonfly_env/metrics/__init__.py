"""Measurements: ``Metrics`` and its parts."""

from __future__ import annotations

from dragonfly_env.metrics.metrics import Metrics

__all__ = ["Metrics"]

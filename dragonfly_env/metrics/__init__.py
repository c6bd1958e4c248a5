"""What was measured: ``Metrics``, and the parts that it is made of."""

from __future__ import annotations

from dragonfly_env.metrics.metrics import Metrics

__all__ = ["Metrics"]

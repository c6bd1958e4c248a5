"""Bounds of the load and of the latency that any routing can reach, from linear programs.

``most_load`` and ``latency_floor`` need SciPy (the extra ``bounds``); ``docs/bounds.md`` says what the bounds mean.
"""

from __future__ import annotations

from dragonfly_env.bounds.limits import Bounds, ClassUse, latency_floor, most_load
from dragonfly_env.bounds.times import zero_load_latency_ns

__all__ = ["Bounds", "ClassUse", "latency_floor", "most_load", "zero_load_latency_ns"]

"""How good could any routing be? Bounds of load and latency, from linear programs, and the optimal static split.

``most_load`` and ``latency_floor`` need SciPy (the extra ``bounds``); ``docs/bounds.md`` says what the bounds mean.
"""

from __future__ import annotations

from dragonfly_env.bounds.limits import Bounds, ClassUse, latency_floor, most_load
from dragonfly_env.bounds.split import PathSplit, optimal_split
from dragonfly_env.bounds.times import alone_ns

__all__ = ["Bounds", "ClassUse", "PathSplit", "alone_ns", "latency_floor", "most_load", "optimal_split"]

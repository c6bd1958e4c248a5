"""What a run is made of: rows of settings, the topology, the network, and ``SimulationConfig`` over all of it.

``SimulationConfig`` knows policies and traffic, which know topology and network: it is loaded when it is asked for.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dragonfly_env.config.simulation import MAX_SEED, SimulationConfig

__all__ = ["MAX_SEED", "SimulationConfig"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        return getattr(importlib.import_module("dragonfly_env.config.simulation"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

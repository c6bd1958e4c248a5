"""How ``neural-v1`` and ``neural-v2`` are trained: ``python -m dragonfly_env.lab.neural`` (see ``docs/neural.md``).

First a network learns to predict the delivery time of a candidate path, from exact transitions of packets in a
mixture of scenarios, and acts on what it has learned so far; then an evolution strategy changes it so that the
latency itself falls. The result is a file that the core runs (``make_policy("mlp", weights=...)``). Needs PyTorch
(extra ``[sb3]``); the policy itself needs nothing.
"""

from __future__ import annotations

from dragonfly_env.lab.neural.mixture import Mixture, own_mixture
from dragonfly_env.lab.neural.network import FEATURES, NONMINIMAL_KINDS, SCALES
from dragonfly_env.lab.neural.settings import RECIPES, TrainingSettings
from dragonfly_env.lab.neural.training import train_network

__all__ = [
    "FEATURES",
    "NONMINIMAL_KINDS",
    "RECIPES",
    "SCALES",
    "Mixture",
    "TrainingSettings",
    "own_mixture",
    "train_network",
]

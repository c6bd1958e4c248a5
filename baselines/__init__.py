"""The routing heuristics (installed as ``dragonfly_env.baselines``), and policies that are neural networks.

A class explains a policy and has its parameters. The C++ core runs the policy, and says which parameters it has;
``dragonfly_env.policies()`` names them all, and ``dragonfly_env.make_policy(name)`` finds the class here.
"""

from __future__ import annotations

from dragonfly_env.baselines.heuristics import (
    Acor,
    Aries,
    AriesMode,
    Lia,
    Minimal,
    Par,
    Piggyback,
    PiggybackAcor,
    Tpr,
    Ugal,
    UgalIdeal,
    Valiant,
)
from dragonfly_env.baselines.mlp import Mlp, Neural
from dragonfly_env.baselines.mlp_network import MlpNetwork
from dragonfly_env.policies import register_policies

__all__ = [
    "Acor",
    "Aries",
    "AriesMode",
    "Lia",
    "Minimal",
    "Mlp",
    "MlpNetwork",
    "Neural",
    "Par",
    "Piggyback",
    "PiggybackAcor",
    "Tpr",
    "Ugal",
    "UgalIdeal",
    "Valiant",
]

register_policies(
    (
        Minimal,
        Valiant,
        Ugal,
        UgalIdeal,
        Par,
        Piggyback,
        Acor,
        PiggybackAcor,
        Tpr,
        Lia,
        Aries,
        AriesMode,
        Mlp,
        Neural,
    )
)

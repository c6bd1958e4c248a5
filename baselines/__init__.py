"""The routing heuristics (installed as ``dragonfly_env.baselines``): one settings class each, one file each.

A class holds the parameters of a policy with their units and sources. The C++ core runs the policy; which
names exist is decided by its registry (``dragonfly_env.policies()``), and
``dragonfly_env.make_policy(name)`` finds the class here.
"""

from __future__ import annotations

from dragonfly_env.baselines.acor import Acor, PiggybackAcor
from dragonfly_env.baselines.ad import Aries, AriesMode
from dragonfly_env.baselines.lia import Lia
from dragonfly_env.baselines.minimal import Minimal
from dragonfly_env.baselines.mlp import Mlp
from dragonfly_env.baselines.mlp_network import MlpNetwork
from dragonfly_env.baselines.neural import Neural
from dragonfly_env.baselines.par import Par
from dragonfly_env.baselines.pb import Piggyback
from dragonfly_env.baselines.tpr import Tpr
from dragonfly_env.baselines.ugal import Ugal
from dragonfly_env.baselines.ugal_ideal import UgalIdeal
from dragonfly_env.baselines.valiant import Valiant
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

"""The ids of Gymnasium and PettingZoo. Importing this module registers them; ``import dragonfly_env`` does so.

Gymnasium 1.x finds environments by import only; ``gymnasium.make("dragonfly_env:dragonfly_env/PacketRouting-v0")``
imports the package first. PettingZoo has a registry from version 1.27 on.
"""

from __future__ import annotations

import gymnasium

PACKET_ROUTING = "dragonfly_env/PacketRouting-v0"
BIAS_CONTROL = "dragonfly_env/BiasControl-v0"
PETTINGZOO = "dragonfly_env/dragonfly-v0"

_ENTRY_POINTS = {
    PACKET_ROUTING: "dragonfly_env.envs.packet:PacketRouting",
    BIAS_CONTROL: "dragonfly_env.envs.bias:BiasControl",
}


def register() -> None:
    """Register the ids; those that are registered already stay as they are."""
    for name, entry_point in _ENTRY_POINTS.items():
        if name not in gymnasium.registry:
            gymnasium.register(id=name, entry_point=entry_point)
    try:
        from pettingzoo.env_registry import registration as pettingzoo
    except ImportError:
        return
    if PETTINGZOO not in pettingzoo.aec_registry:
        pettingzoo.register("aec", PETTINGZOO, "dragonfly_env.dragonfly_v0:env")
    if PETTINGZOO not in pettingzoo.parallel_registry:
        pettingzoo.register("parallel", PETTINGZOO, "dragonfly_env.dragonfly_v0:parallel_env")


register()

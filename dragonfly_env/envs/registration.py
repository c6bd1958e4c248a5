"""The ids in Gymnasium and PettingZoo. Importing this module registers them; ``import dragonfly_env`` does so.

Gymnasium 1.x finds environments by import only; ``gymnasium.make("dragonfly_env:dragonfly_env/PacketRouting-v0")``
imports the package first. PettingZoo has a registry from version 1.27 on.
"""

from __future__ import annotations

import gymnasium

PACKET_ROUTING = "dragonfly_env/PacketRouting-v0"
PETTINGZOO = "dragonfly_env/dragonfly-v0"


def register() -> None:
    """Register the ids; those that are registered already stay as they are."""
    if PACKET_ROUTING not in gymnasium.registry:
        gymnasium.register(id=PACKET_ROUTING, entry_point="dragonfly_env.envs.packet:PacketRouting")
    try:
        from pettingzoo.env_registry import registration as pettingzoo
    except (ImportError, FileNotFoundError):  # it asks for the working directory, which may have been deleted
        return
    if PETTINGZOO not in pettingzoo.aec_registry:
        pettingzoo.register("aec", PETTINGZOO, "dragonfly_env.dragonfly_v0:env")
    if PETTINGZOO not in pettingzoo.parallel_registry:
        pettingzoo.register("parallel", PETTINGZOO, "dragonfly_env.dragonfly_v0:parallel_env")


register()

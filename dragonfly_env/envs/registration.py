"""The Gymnasium ids. Importing this module registers them; ``import dragonfly_env`` does so.

Gymnasium 1.x finds environments by import only; ``gymnasium.make("dragonfly_env:dragonfly_env/PacketRouting-v0")``
imports the package first.
"""

from __future__ import annotations

import gymnasium

PACKET_ROUTING = "dragonfly_env/PacketRouting-v0"
BIAS_CONTROL = "dragonfly_env/BiasControl-v0"

_ENTRY_POINTS = {
    PACKET_ROUTING: "dragonfly_env.envs.packet:PacketRouting",
    BIAS_CONTROL: "dragonfly_env.envs.bias:BiasControl",
}


def register() -> None:
    """Register the ids with Gymnasium; those that are registered already stay as they are."""
    for name, entry_point in _ENTRY_POINTS.items():
        if name not in gymnasium.registry:
            gymnasium.register(id=name, entry_point=entry_point)


register()

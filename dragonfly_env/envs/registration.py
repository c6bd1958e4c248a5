"""The ids of Gymnasium and PettingZoo. Importing this module registers them; ``import dragonfly_env`` does so.

Gymnasium 1.x finds environments by import only; ``gymnasium.make("dragonfly_env:dragonfly_env/PacketRouting-v0")``
imports the package first. PettingZoo has a registry from version 1.27 on.
"""

from __future__ import annotations

import gymnasium

PACKET_ROUTING = "dragonfly_env/PacketRouting-v0"
BIAS_CONTROL = "dragonfly_env/BiasControl-v0"
PETTINGZOO = "dragonfly_env/dragonfly-v0"
JOB_BIAS = "dragonfly_env/job-bias-v0"

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
    except (ImportError, FileNotFoundError):  # it asks for the working directory, which may have been deleted
        return
    for name, module in ((PETTINGZOO, "dragonfly_v0"), (JOB_BIAS, "job_bias_v0")):
        if name not in pettingzoo.aec_registry:
            pettingzoo.register("aec", name, f"dragonfly_env.{module}:env")
        if name not in pettingzoo.parallel_registry:
            pettingzoo.register("parallel", name, f"dragonfly_env.{module}:parallel_env")


register()

"""The ids in Gymnasium and PettingZoo. ``import dragonfly_env`` registers them.

Gymnasium 1.x finds environments by import only, since 1.0 has removed its entry points. A worker process without the
import needs ``gymnasium.make("dragonfly_env:dragonfly_env/PacketRouting-v0")``, which imports the package first, or
``gymnasium.spec(id)`` instead of the id. PettingZoo has a registry from version 1.27 on.
"""

from __future__ import annotations

from typing import Any

import gymnasium

PACKET_ROUTING = "dragonfly_env/PacketRouting-v0"
PETTINGZOO = "dragonfly_env/dragonfly-v0"
_OF_TASKS = "dragonfly_env.tasks:make_task"


def id_of(task: str) -> str:
    """The id of a task, the same in Gymnasium and PettingZoo."""
    return f"dragonfly_env/{task}-v0"


def register() -> None:
    """Register the ids of the views; those that are registered already stay as they are."""
    _register_gymnasium(PACKET_ROUTING, "dragonfly_env.envs.packet:PacketRouting")
    _register_pettingzoo("aec", PETTINGZOO, "dragonfly_env.dragonfly_v0:env")
    _register_pettingzoo("parallel", PETTINGZOO, "dragonfly_env.dragonfly_v0:parallel_env")


def register_task(name: str) -> None:
    """Register the ids of a task."""
    _register_gymnasium(id_of(name), _OF_TASKS, name=name, view="packet")
    _register_pettingzoo("aec", id_of(name), _OF_TASKS, name=name, view="aec")
    _register_pettingzoo("parallel", id_of(name), _OF_TASKS, name=name, view="parallel")


def _register_gymnasium(own_id: str, entry_point: str, **settings: Any) -> None:
    if own_id not in gymnasium.registry:
        gymnasium.register(id=own_id, entry_point=entry_point, kwargs=settings)


def _register_pettingzoo(kind: str, own_id: str, entry_point: str, **settings: Any) -> None:
    try:
        from pettingzoo.env_registry import registration as pettingzoo
    except (ImportError, FileNotFoundError):  # it reads the working directory, which may have been deleted
        return
    known = pettingzoo.aec_registry if kind == "aec" else pettingzoo.parallel_registry
    if own_id not in known:
        pettingzoo.register(kind, own_id, entry_point, kwargs=settings)


register()

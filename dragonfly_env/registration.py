"""The ids in Gymnasium and PettingZoo. ``import dragonfly_env`` registers them.

Gymnasium 1.x finds environments by import only, since 1.0 has removed its entry points. A worker process without the
import needs ``gymnasium.make("dragonfly_env:dragonfly_env/PacketRouting-v0")``, which imports the package first, or
``gymnasium.spec(id)`` instead of the id. PettingZoo has a registry from version 1.27 on.

A simulation needs neither library. So a library that the program has not imported yet gets its ids when the program
does.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

PACKET_ROUTING = "dragonfly_env/PacketRouting-v0"
PETTINGZOO = "dragonfly_env/dragonfly-v0"
SUITE = "v2"
"""The version of the named tasks and of their ids. Scores of different versions cannot be compared."""
TASKS = (
    "Adversarial-72",
    "Ports-72",
    "Mixed-72",
    "Shifting-72",
    "Overload-72",
    "Jobs-72",
    "Mixed-342",
    "Traffic-342",
    "Sizes-2550",
    "ZeroShot-1056",
    "DragonflyPlus-272",
    "Failures-1056",
    "Ports-1056",
    "MoE-1056",
)
"""The named tasks, the easiest first; `dragonfly_env.named_tasks` makes them."""


def id_of(task: str) -> str:
    """The id of a task, the same in Gymnasium and PettingZoo; its version is that of the suite."""
    return f"dragonfly_env/{task}-{SUITE}"


_MAKER = "dragonfly_env.named_tasks:make_task"
_gymnasium: dict[str, tuple[str, dict[str, Any]]] = {
    PACKET_ROUTING: ("dragonfly_env.envs.packet:PacketRouting", {}),
    **{id_of(name): (_MAKER, {"name": name, "view": "packet"}) for name in TASKS},
}
"""Entry point and settings of every id in Gymnasium."""
_pettingzoo: dict[tuple[str, str], tuple[str, dict[str, Any]]] = {
    ("aec", PETTINGZOO): ("dragonfly_env.dragonfly_v0:env", {}),
    ("parallel", PETTINGZOO): ("dragonfly_env.dragonfly_v0:parallel_env", {}),
    **{
        (view, id_of(name)): (_MAKER, {"name": name, "view": view})
        for view in ("aec", "parallel")
        for name in TASKS
    },
}
"""Entry point and settings of every id in PettingZoo, by the kind of view and the id."""


def register() -> None:
    """Register the ids in the libraries that are imported; those that are registered already stay as they are."""
    for name, register_all in _LIBRARIES.items():
        if name in sys.modules:
            register_all()


def _register_gymnasium() -> None:
    import gymnasium

    for own_id, (entry_point, settings) in _gymnasium.items():
        if own_id not in gymnasium.registry:
            gymnasium.register(id=own_id, entry_point=entry_point, kwargs=settings)


def _register_pettingzoo() -> None:
    try:
        from pettingzoo.env_registry import registration as pettingzoo
    except (ImportError, FileNotFoundError):  # it reads the working directory, which may have been deleted
        return
    for (kind, own_id), (entry_point, settings) in _pettingzoo.items():
        known = pettingzoo.aec_registry if kind == "aec" else pettingzoo.parallel_registry
        if own_id not in known:
            pettingzoo.register(kind, own_id, entry_point, kwargs=settings)


_LIBRARIES: dict[str, Callable[[], None]] = {
    "gymnasium": _register_gymnasium,
    "pettingzoo": _register_pettingzoo,
}


class _RegistersAfterImport(MetaPathFinder):
    """Finds a module as the other finders do, and registers the ids once it has been executed."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name not in _LIBRARIES:
            return None
        others = (finder.find_spec(name, path, target) for finder in sys.meta_path if finder is not self)
        spec = next(filter(None, others), None)
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def execute_and_register(module: ModuleType) -> None:
                execute(module)
                _LIBRARIES[name]()

            spec.loader.exec_module = execute_and_register  # type: ignore[method-assign]
        return spec


sys.meta_path.insert(0, _RegistersAfterImport())

"""A fast packet-level simulator of Dragonfly networks, for comparing routing policies and training routing agents.

Example::

    import dragonfly_env as dfe

    topology = dfe.Dragonfly.preset("1056")
    config = dfe.SimulationConfig(topology=topology, traffic="adv+1", load=0.45, policy="ugal-n")
    metrics = dfe.simulate(config, warmup_ns=100_000, measure_ns=100_000)
    print(metrics.latency_mean_ns, metrics.accepted_load)
"""

from __future__ import annotations

import importlib
import importlib.util
from typing import TYPE_CHECKING, Any

from dragonfly_env import registration

if TYPE_CHECKING:
    from dragonfly_env._library import *  # noqa: F403
    from dragonfly_env._library import __all__ as __all__

registration.register()


def __getattr__(name: str) -> Any:
    """A public name or a module, imported at its first use: an import of the package alone takes no time."""
    if name == "__version__":
        from dragonfly_env._version import installed_version

        found: Any = installed_version()
    elif name == "RouterVecEnv":  # needs Stable-Baselines3, which is an extra
        found = importlib.import_module("dragonfly_env.envs.vec").RouterVecEnv
    elif name.startswith("__") and name != "__all__":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    elif importlib.util.find_spec(f"{__name__}.{name}") is not None:
        found = importlib.import_module(f"{__name__}.{name}")
    else:
        library = importlib.import_module(f"{__name__}._library")
        if name not in ("__all__", *library.__all__):
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        found = getattr(library, name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    """The public names, and nothing that this module needs."""
    return sorted(__getattr__("__all__"))

"""A fast packet-level simulator of Dragonfly networks, for comparing routing policies and training routing agents.

Example::

    import dragonfly_env as dfe

    topology = dfe.Dragonfly.preset("1056")
    config = dfe.SimulationConfig(topology=topology, traffic="adv+1", load=0.45, policy="ugal-n")
    metrics = dfe.simulate(config, warmup_ns=100_000, measure_ns=100_000)
    print(metrics.latency_mean_ns, metrics.accepted_load)
"""

from __future__ import annotations

import os
import sys
from itertools import pairwise
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dragonfly_env._library import *  # noqa: F403
    from dragonfly_env._library import __all__ as __all__


def load_names() -> None:
    """Import the public names, which takes a second; the command line does so when a command needs them."""
    if "__all__" in globals():
        return
    from dragonfly_env import _library

    there = {name: vars(_library)[name] for name in _library.__all__ if name in vars(_library)}
    globals().update(there, __all__=_library.__all__)


def __getattr__(name: str) -> Any:
    if name == "__version__":  # looked up at its first use, so that a simulation alone does not wait for it
        from dragonfly_env._version import installed_version

        globals()[name] = installed_version()
        return globals()[name]
    if name == "RouterVecEnv":  # needs Stable-Baselines3, which is an extra
        from dragonfly_env.envs.vec import RouterVecEnv

        return RouterVecEnv
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """The public names, and nothing that this module needs."""
    load_names()
    return sorted(__all__)


def _is_command_line() -> bool:
    """Whether this process is ``dragonfly-env``, or ``python -m dragonfly_env.cli``: its help needs no names."""
    words = sys.orig_argv  # the arguments of this very process: a worker has its parent's sys.argv
    script = next(iter(getattr(sys, "argv", ())), "")
    as_script = script in words and os.path.basename(script) == "dragonfly-env"  # noqa: PTH119
    return as_script or ("-m", "dragonfly_env.cli") in pairwise(words)


if not _is_command_line():
    load_names()

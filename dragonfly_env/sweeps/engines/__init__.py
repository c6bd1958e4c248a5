"""Who does the runs of a sweep: the processes of this machine, or a cluster that shares a folder with it."""

from __future__ import annotations

from collections.abc import Mapping

from dragonfly_env.checks.values import check_choice, check_text, config_error
from dragonfly_env.sweeps.engines.base import Engine, EngineError
from dragonfly_env.sweeps.engines.dask import Dask
from dragonfly_env.sweeps.engines.ray import Ray
from dragonfly_env.sweeps.engines.slurm import Slurm

__all__ = ["ENGINES", "LOCAL", "Engine", "EngineError", "find_engine"]

LOCAL = "local"
ENGINES = (LOCAL, Ray.name, Dask.name, Slurm.name)


def find_engine(
    name: str, address: str | None = None, settings: Mapping[str, str] | None = None
) -> Engine | None:
    """The engine of that name.

    Args:
        name: One of `ENGINES`.
        address: Where its cluster is: of Ray ``"auto"`` or ``"host:port"``, of Dask ``"tcp://host:port"``, of Slurm
            nothing, or ``"local"`` to try it on this machine without one.
        settings: For Slurm: what every job asks for, such as ``{"partition": "cpu", "timeout_min": "240"}``.

    Returns:
        None for ``"local"``, which needs none.

    Raises:
        ConfigError: If the name is unknown, something does not belong to it, or its extra is not installed.
    """
    check_choice("engine", name, ENGINES)
    if address is not None:
        check_text("address", address)
    if settings and name != Slurm.name:
        raise config_error("slurm", dict(settings), f"must be left out with engine {name!r}")
    if name == Ray.name:
        return Ray(address)
    if name == Dask.name:
        return Dask(address)
    if name == Slurm.name:
        return Slurm(address, settings or {})
    if address is not None:
        raise config_error("address", address, "must be left out with engine 'local', which has none")
    return None

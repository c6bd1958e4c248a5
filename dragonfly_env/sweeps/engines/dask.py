"""Dask, by joblib's registry of backends."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import joblib

from dragonfly_env.checks.values import config_error
from dragonfly_env.sweeps.engines.base import EngineError, Item, load

_PATIENCE_S = 60.0  # for workers that are just being started


class Dask:
    """A Dask cluster.

    Args:
        address: Of its scheduler, ``"tcp://host:8786"``.
    """

    name = "dask"

    def __init__(self, address: str | None) -> None:
        if address is None:
            raise config_error("address", None, "must be that of a Dask scheduler, such as 'tcp://host:8786'")
        self._address = address
        self._distributed: Any = load("distributed", self.name)
        self._client: Any = None

    def start(self, folder: Path, threads: int, jobs: int | None) -> None:
        """Join the cluster; see `Engine`."""
        if jobs is not None:
            allowed = "must be left out with Dask, whose workers say themselves how many calls they take"
            raise config_error("jobs", jobs, allowed)
        try:
            self._client = self._distributed.Client(self._address, timeout=_PATIENCE_S, set_as_default=True)
            self._client.wait_for_workers(1, timeout=_PATIENCE_S)
        except Exception as error:  # of many classes, by what is wrong
            self.stop()
            reason = " ".join(str(error).split())[:200]
            allowed = f"must be that of a Dask scheduler with workers ({reason})"
            raise config_error("address", self._address, allowed) from error

    def call(self, task: Callable[[Item], object], items: Sequence[Item]) -> None:
        """Call a function for every item; see `Engine`. Dask itself gives what is lost to another worker."""
        with joblib.parallel_config(backend="dask", wait_for_workers_timeout=_PATIENCE_S):
            try:
                joblib.Parallel(batch_size=1, pre_dispatch="all")(
                    joblib.delayed(task)(item) for item in items
                )
            except self._distributed.scheduler.KilledWorker as error:
                raise EngineError(" ".join(str(error).split())[:200]) from error
            except (TimeoutError, OSError) as error:
                raise EngineError(f"the cluster cannot be reached: {error}") from error

    def stop(self) -> None:
        """Cancel what is under way and leave the cluster; see `Engine`."""
        client, self._client = self._client, None
        if client is not None:
            with contextlib.suppress(Exception):  # it may be gone
                client.close(timeout=5)

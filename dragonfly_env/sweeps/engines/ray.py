"""Ray, by tasks of its own.

Not by joblib's registry: that makes a pool of actors, which waits for ever for the actors of a node that has died, and
never uses a node that comes later.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from dragonfly_env.checks.values import config_error
from dragonfly_env.sweeps.engines.base import EngineError, Item, load

_LOOK_EVERY_S = 1.0
_PATIENCE_S = 10.0


class Ray:
    """A Ray cluster.

    Args:
        address: ``"auto"`` for the one that this machine belongs to, ``"host:port"`` or ``"ray://host:port"``; None
            is ``"auto"``.
    """

    name = "ray"

    def __init__(self, address: str | None) -> None:
        self._address = address or "auto"
        self._ray: Any = load("ray", self.name)
        self._threads = 1
        self._jobs: int | None = None
        self._stopped = False

    def start(self, folder: Path, threads: int, jobs: int | None) -> None:
        """Join the cluster; see `Engine`."""
        self._threads, self._jobs, self._stopped = threads, jobs, False
        try:
            self._knock()
            self._ray.init(address=self._address, log_to_driver=False, logging_level="ERROR")
        except Exception as error:  # of many classes, by what is wrong
            reason = " ".join(str(error).split())[:200]
            raise config_error(
                "address", self._address, f"must be that of a Ray cluster ({reason})"
            ) from error
        largest = max(
            (node["Resources"].get("CPU", 0) for node in self._ray.nodes() if node["Alive"]), default=0
        )
        if largest < threads:
            allowed = f"must be at most {largest:g}, the processors of the largest node"
            raise config_error("threads", threads, allowed)

    def _knock(self) -> None:
        """Raise OSError if nobody answers: Ray itself would try for minutes."""
        host, colon, port = self._address.removeprefix("ray://").rpartition(":")
        if colon and port.isdigit():
            socket.create_connection((host, int(port)), timeout=_PATIENCE_S).close()

    def call(self, task: Callable[[Item], object], items: Sequence[Item]) -> None:
        """Call a function for every item; see `Engine`."""
        ray = self._ray

        def each(item: Item) -> None:
            task(item)

        # What is lost is begun again by who looks at the folder, and knows how often.
        remote = ray.remote(num_cpus=self._threads, max_retries=0)(each)
        waiting, lost = list(reversed(items)), ""
        under_way: list[Any] = []
        while (waiting or under_way) and not self._stopped:
            while waiting and (self._jobs is None or len(under_way) < self._jobs):
                under_way.append(remote.remote(waiting.pop()))
            ended, under_way = ray.wait(under_way, timeout=_LOOK_EVERY_S)
            for one in ended:
                try:
                    ray.get(one)
                except ray.exceptions.RayTaskError as error:
                    raise (error.cause if isinstance(error.cause, Exception) else error) from None
                except ray.exceptions.RayError as error:
                    lost = " ".join(str(error).split())[:200]
        if lost:
            raise EngineError(lost)

    def stop(self) -> None:
        """Leave the cluster, which ends what is under way; see `Engine`."""
        self._stopped = True
        self._ray.shutdown()

"""Engines: clusters that do the runs of a sweep in the place of this machine's processes. Runs go to workers by a
function, results come by the folder that all share.

Ray has tasks of its own. joblib's registry would make a pool of actors, which waits for ever for the actors of a node
that has died, and never uses a node that comes later. Dask has joblib's registry of backends, Slurm has submitit: job
arrays whose tasks each do some of the runs.
"""

from __future__ import annotations

import contextlib
import importlib
import re
import socket
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeVar

import joblib

from dragonfly_env.checks.extras import how_to_install
from dragonfly_env.checks.files import make_folders
from dragonfly_env.checks.values import check_choice, check_text, config_error

Item = TypeVar("Item")


class EngineError(Exception):
    """Workers were lost, or the cluster cannot be reached; what was not done may be tried again.

    Example:
        >>> from dragonfly_env.sweeps.engines import EngineError
        >>> issubclass(EngineError, Exception)
        True
    """


class Engine(Protocol):
    """Calls a function for many items on other machines.

    Example:
        >>> from dragonfly_env.sweeps.engines import Engine
        >>> class Here:
        ...     name = "here"
        ...
        ...     def start(self, folder, threads, workers):
        ...         pass
        ...
        ...     def call(self, task, items):
        ...         for item in items:
        ...             task(item)
        ...
        ...     def stop(self):
        ...         pass
        >>> engine: Engine = Here()
        >>> engine.start("results", threads=1, workers=None)
        >>> engine.call(print, ["one run"])
        one run
        >>> engine.stop()
    """

    name: str

    def start(self, folder: Path, threads: int, workers: int | None) -> None:
        """Join the cluster.

        Args:
            folder: The results folder, which all machines see under this name.
            threads: Processors that a call needs.
            workers: Calls at a time; None: as many as the cluster has processors for.

        Raises:
            ConfigError: If there is no such cluster.
        """

    def call(self, task: Callable[[Item], object], items: Sequence[Item]) -> None:
        """Call a function for every item, and wait until all are done. Runs in a thread of its own.

        Args:
            task: The function.
            items: What it is called for.

        Raises:
            EngineError: If a call was lost with its worker.
            Exception: Whatever the function raises.
        """

    def stop(self) -> None:
        """Give up what is running, and leave the cluster. May be called twice, and while `call` is at work."""


def load(module: str, extra: str) -> Any:
    """A module that an extra brings.

    Raises:
        ConfigError: If the extra is not installed.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        name = (error.name or module).partition(".")[0]
        allowed = f"needs {name}, which is not installed: {how_to_install(extra)}"
        raise config_error("engine", extra, allowed) from None


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
        self._workers: int | None = None
        self._stopped = False

    def start(self, folder: Path, threads: int, workers: int | None) -> None:
        """Join the cluster; see `Engine`."""
        self._threads, self._workers, self._stopped = threads, workers, False
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
        """Raise OSError if no cluster responds: Ray itself would try for minutes."""
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
            while waiting and (self._workers is None or len(under_way) < self._workers):
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
        """Leave the cluster, which ends what is running; see `Engine`."""
        self._stopped = True
        self._ray.shutdown()


_WORKERS_PATIENCE_S = 60.0  # for workers that are just being started


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

    def start(self, folder: Path, threads: int, workers: int | None) -> None:
        """Join the cluster; see `Engine`."""
        if workers is not None:
            allowed = "must be left out with Dask, whose workers say themselves how many calls they take"
            raise config_error("workers", workers, allowed)
        try:
            self._client = self._distributed.Client(
                self._address, timeout=_WORKERS_PATIENCE_S, set_as_default=True
            )
            self._client.wait_for_workers(1, timeout=_WORKERS_PATIENCE_S)
        except Exception as error:  # of many classes, by what is wrong
            self.stop()
            reason = " ".join(str(error).split())[:200]
            allowed = f"must be that of a Dask scheduler with workers ({reason})"
            raise config_error("address", self._address, allowed) from error

    def call(self, task: Callable[[Item], object], items: Sequence[Item]) -> None:
        """Call a function for every item; see `Engine`. Dask itself gives what is lost to another worker."""
        with joblib.parallel_config(backend="dask", wait_for_workers_timeout=_WORKERS_PATIENCE_S):
            try:
                joblib.Parallel(batch_size=1, pre_dispatch="all")(
                    joblib.delayed(task)(item) for item in items
                )
            except self._distributed.scheduler.KilledWorker as error:
                raise EngineError(" ".join(str(error).split())[:200]) from error
            except (TimeoutError, OSError) as error:
                raise EngineError(f"the cluster cannot be reached: {error}") from error

    def stop(self) -> None:
        """Cancel what is running and leave the cluster; see `Engine`."""
        client, self._client = self._client, None
        if client is not None:
            with contextlib.suppress(Exception):  # it may be gone
                client.close(timeout=5)


_MOST_JOBS = 32
_SHARES_PER_JOB = 4  # smaller ones wait longer in Slurm's queue, larger ones end less evenly
_LOOK_AT_JOBS_EVERY_S = 0.5
_ENDS_TRACE = re.compile(r"^(?!Traceback)[A-Za-z_][\w.]*(Error|Exception)\b")


class Slurm:
    """Jobs of Slurm.

    Args:
        address: None: the Slurm of this machine; ``"local"``: processes of this machine in its place, to try it.
        settings: What every job requests, by Slurm's names (``partition``, ``account``, ``constraint``, ..), and
            ``timeout_min``, ``mem_gb``.
    """

    name = "slurm"

    def __init__(self, address: str | None, settings: Mapping[str, str]) -> None:
        if address not in (None, "local"):
            raise config_error(
                "address", address, "must be left out with Slurm, or 'local' to try it without one"
            )
        self._cluster = address or "slurm"
        self._submitit: Any = load("submitit", self.name)
        self._settings = dict(settings)
        self.jobs: list[Any] = []
        self._most, self._executor = _MOST_JOBS, None

    def start(self, folder: Path, threads: int, workers: int | None) -> None:
        """See whether there is a Slurm here; see `Engine`."""
        self._most = workers or _MOST_JOBS
        try:
            make_folders(folder, folder / "slurm")
            executor = self._submitit.AutoExecutor(folder=folder / "slurm", cluster=self._cluster)
            executor.update_parameters(cpus_per_task=threads, name="dragonfly-env", **self._parameters())
        except (RuntimeError, OSError, TypeError, NameError, ValueError) as error:
            reason = " ".join(str(error).split())[:200]
            raise config_error("engine", self.name, f"cannot be used here ({reason})") from error
        self._executor = executor

    def _parameters(self) -> dict[str, object]:
        """Its own names for what means the same everywhere; Slurm's get a prefix."""
        common = {"timeout_min": int, "mem_gb": float}
        given: dict[str, object] = {}
        for key, value in self._settings.items():
            if key in common:
                try:
                    given[key] = common[key](value)
                except ValueError:
                    raise config_error(f"slurm {key}", value, "must be a number") from None
            elif self._cluster == "slurm":
                given[f"slurm_{key}"] = value
        if self._cluster == "slurm":
            given["slurm_array_parallelism"] = self._most
        return given

    def call(self, task: Callable[[Item], object], items: Sequence[Item]) -> None:
        """Call a function for every item; see `Engine`."""
        if self._executor is None:
            raise EngineError("the engine was stopped")
        # Like cards, so that every job gets its part of the expensive ones; processes of this machine start at once.
        shares = min(len(items), self._most * (_SHARES_PER_JOB if self._cluster == "slurm" else 1))
        try:
            self.jobs = self._executor.map_array(_Each(task), [items[i::shares] for i in range(shares)])
        except self._submitit.core.utils.FailedSubmissionError as error:
            raise EngineError(" ".join(str(error).split())[:200]) from error
        while not all(job.done() for job in self.jobs):
            time.sleep(_LOOK_AT_JOBS_EVERY_S)
        lost = []
        for job in self.jobs:
            if not job.paths.result_pickle.exists():  # submitit would wait for it
                lost.append(f"job {job.job_id}: {job.state}")
            elif (
                error := job.exception()
            ) is not None:  # of the function itself, with the traceback of the job
                lines = [line for line in str(error).splitlines() if line.strip("- ")]
                raise RuntimeError(next((line for line in lines if _ENDS_TRACE.match(line)), lines[0]))
        if lost:
            raise EngineError(f"{len(lost)} of {shares} jobs were lost; {lost[0]}")

    def stop(self) -> None:
        """Cancel what is running; see `Engine`."""
        jobs, self.jobs, self._executor = self.jobs, [], None
        for job in jobs:
            with contextlib.suppress(Exception):  # it may have ended
                if not job.done():
                    job.cancel()


class _Each:
    """Calls a function for each item of a share. A class, because functions inside functions cannot be sent."""

    def __init__(self, task: Callable[[Any], object]) -> None:
        self._task = task

    def __call__(self, share: Sequence[Any]) -> int:
        for item in share:
            self._task(item)
        return len(share)


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
        settings: For Slurm: what every job requests, such as ``{"partition": "cpu", "timeout_min": "240"}``.

    Returns:
        None for ``"local"``, which needs none.

    Raises:
        ConfigError: If the name is unknown, something does not belong to it, or its extra is not installed.

    Example:
        >>> from dragonfly_env.sweeps.engines import ENGINES, find_engine
        >>> find_engine("local") is None, ENGINES
        (True, ('local', 'ray', 'dask', 'slurm'))
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

"""The processes that do runs: those of this machine, of a Ray cluster or of a Dask cluster, through joblib."""

from __future__ import annotations

import importlib
import signal
import socket
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import joblib
from joblib.externals.loky.backend import resource_tracker

from dragonfly_env.checks.extras import how_to_install
from dragonfly_env.checks.values import check_choice, config_error

Item = TypeVar("Item")
Result = TypeVar("Result")

LOKY, RAY, DASK = BACKENDS = ("loky", "ray", "dask")
_PATIENCE_S = 10.0  # for a scheduler
_WORKERS_PATIENCE_S = 60.0  # for workers that are just being started


class BackendError(Exception):
    """A process ended while it was doing a run, or the cluster cannot be used any more."""


class Processes:
    """Processes of this machine or of a cluster, see `processes`. ``cpus`` returns the number of processors that the
    cluster has now, which changes when machines are lost.
    """

    def __init__(self, backend: str, threads: int, workers: int | None, cpus: Callable[[], int]) -> None:
        self._backend = backend
        self._threads = threads
        self._workers = workers
        self._cpus = cpus

    @property
    def are_local(self) -> bool:
        """Whether they are those of this machine."""
        return self._backend == LOKY

    def count(self) -> int:
        """The number of calls at a time."""
        most = max(1, self._cpus() // self._threads)
        return most if self._workers is None else min(self._workers, most)

    def map(self, call: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """Call a function for every item; results in the order in which they arrive.

        At most `count` items are under way. The first ones are taken at once, each further one when a result arrives.
        `BackendError`: a process ended before its call.
        """
        count = self.count()
        options: dict[str, Any] = (
            {"ray_remote_args": {"num_cpus": self._threads}} if self._backend == RAY else {}
        )
        with joblib.parallel_config(backend=self._backend, **options):
            pool = joblib.Parallel(
                n_jobs=count, batch_size=1, pre_dispatch=count, return_as="generator_unordered"
            )
        results: Any = ()
        try:
            with _signals_blocked():
                results = pool(joblib.delayed(call)(item) for item in items)  # starts processes
            yield from results
        except OSError:  # processes cannot be started
            raise
        except Exception as error:  # of a class of the backend: calls raise nothing themselves
            raise BackendError(f"{type(error).__name__}: {' '.join(str(error).split())[:200]}") from error
        finally:
            if results:
                results.close()  # on Ctrl-C this ends the processes


@contextmanager
def _signals_blocked() -> Iterator[None]:
    """Start processes that ignore Ctrl-C and SIGTERM: this process ends them."""
    resource_tracker.ensure_running()  # begun in the block, it would end the blocking
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def processes(backend: str, address: str | None, threads: int, workers: int | None) -> Iterator[Processes]:
    """Join a cluster (see `run_all`), and leave it at the end; `ConfigError` if it cannot be reached.

    A call needs ``threads`` processors. ``workers``: calls at a time; None: as many as there are processors for.
    """
    check_backend(backend, address)
    if backend == RAY:
        with _ray(address or "auto") as cpus:
            yield Processes(backend, threads, workers, cpus)
    elif backend == DASK:
        with _dask(str(address)) as cpus:
            yield Processes(backend, threads, workers, cpus)
    else:
        yield Processes(backend, 1, workers, lambda: workers or joblib.cpu_count() // threads)


def check_backend(backend: str, address: str | None) -> None:
    """Refuse a backend that is unknown or not installed, or an address that does not belong to it."""
    check_choice("backend", backend, BACKENDS)
    if backend == LOKY and address is not None:
        raise config_error("address", address, "must be left out with backend 'loky'")
    if backend == DASK and address is None:
        raise config_error("address", None, "must be that of a Dask scheduler, such as 'tcp://host:8786'")
    if backend != LOKY:
        _load("ray" if backend == RAY else "distributed", backend)


def _load(module: str, extra: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError:
        allowed = f"needs {module}, which is not installed: {how_to_install(extra)}"
        raise config_error("backend", extra, allowed) from None


@contextmanager
def _ray(address: str) -> Iterator[Callable[[], int]]:
    ray = _load("ray", RAY)
    from ray.util.joblib.ray_backend import RayBackend

    class StreamingRayBackend(RayBackend):  # type: ignore[misc]  # Ray has no types
        """Hand over each result when it arrives; joblib allows that to few backends."""

        supports_return_generator = True

    joblib.register_parallel_backend(RAY, StreamingRayBackend)
    try:
        host, _, port = address.rpartition(":")
        if port.isdigit():  # Ray itself would try for minutes
            socket.create_connection((host, int(port)), timeout=_PATIENCE_S).close()
        ray.init(address=address, log_to_driver=False, logging_level="ERROR")
    except (OSError, ValueError, RuntimeError) as error:
        raise config_error("address", address, f"must be that of a Ray cluster ({error})") from error
    try:
        yield lambda: int(ray.cluster_resources().get("CPU", 0))
    finally:
        ray.shutdown()


@contextmanager
def _dask(address: str) -> Iterator[Callable[[], int]]:
    distributed = _load("distributed", DASK)
    try:
        client = distributed.Client(address, timeout=_PATIENCE_S)
    except (OSError, ValueError) as error:
        raise config_error("address", address, f"must be that of a Dask scheduler ({error})") from error
    with client:
        try:
            client.wait_for_workers(1, timeout=_WORKERS_PATIENCE_S)
        except TimeoutError as error:
            raise config_error(
                "address", address, f"must be that of a scheduler with workers ({error})"
            ) from error
        yield lambda: sum(client.ncores().values())

"""Doing runs: each in a process of this machine or of a cluster, saved as it ends, so that an interrupted sweep loses
no finished run.

A run is one file. This process alone writes it, when the row of the run arrives. So a lost process, machine or batch
job costs the runs that were under way, and another start does them.
"""

from __future__ import annotations

import importlib
import itertools
import os
import signal
import socket
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import resource_tracker
from pathlib import Path
from typing import Any

import joblib
from joblib.externals.loky import process_executor
from joblib.externals.loky.backend import resource_tracker as loky_tracker
from joblib.externals.loky.backend import utils as loky_utils

import dragonfly_env as dfe
from dragonfly_env import _core
from dragonfly_env.agents import NetworkMismatchWarning
from dragonfly_env.checks.extras import how_to_install
from dragonfly_env.checks.files import make_folders
from dragonfly_env.checks.values import (
    MAX_RUN_NS,
    check_choice,
    check_integer,
    check_seeds,
    config_error,
    ns_to_ps,
)
from dragonfly_env.errors import ConfigError, DeadlockError, IllegalActionError
from dragonfly_env.metrics.series import check_series
from dragonfly_env.sweeps.measure import measure, simulation_of
from dragonfly_env.sweeps.point import Point, Run
from dragonfly_env.sweeps.progress import Bar
from dragonfly_env.sweeps.results import done_of, merge, take_folder, write_run
from dragonfly_env.sweeps.scenario import Scenario

LOKY, RAY, DASK = BACKENDS = ("loky", "ray", "dask")
MOST_WORKERS = 4096
_WATCH_S = 1.0  # interval at which a worker looks for the process that started it
_PATIENCE_S = 10.0  # time to wait for a scheduler
_WORKERS_PATIENCE_S = 60.0  # time to wait for workers that are being started
PROCESS_BYTES = 200_000_000
"""Memory of Python and the modules that a run imports, without its network."""
_MOST_KEPT_BYTES = (
    64_000_000  # tables of finished runs that are merged from memory; the others are read again
)
_MOST_NAMED = 3
_PACKETS_OF_HOST = 20  # packets under way per host, on average in a network that keeps up
_PACKET_BYTES = 64


@dataclass(frozen=True, slots=True)
class SweepReport:
    """The outcome of a sweep.

    Attributes:
        total: Runs of the sweep.
        finished: Runs done now.
        reused: Runs that were there already.
        missing: Runs that other shares have yet to do. With any, nothing is merged.
        failures: Runs that failed.
    """

    total: int
    finished: int
    reused: int
    missing: int
    failures: tuple[Failure, ...]


@dataclass(frozen=True, slots=True)
class Failure:
    """A run that failed.

    Attributes:
        run: The run; ``run.config`` is complete.
        error: The error's class and message on one line.
        details: The traceback, or an empty string if the error says everything.
    """

    run: Run
    error: str
    details: str


class SweepInterrupted(KeyboardInterrupt):
    """Ctrl-C during a sweep; finished runs are on disk, and the same call resumes. The message counts them."""


class SweepStoppedError(RuntimeError):
    """A sweep that cannot go on (a full disk, no memory for processes); finished runs are on disk, and the same call
    resumes. The message counts them.
    """


def run_all(
    points: Iterable[Point],
    folder: Path,
    *,
    seeds: Sequence[int] | None = None,
    name: str | None = None,
    shared: bool = False,
    workers: int | None = None,
    progress: Bar | None = None,
    force: bool = False,
    share: tuple[int, int] = (1, 1),
    backend: str = LOKY,
    address: str | None = None,
) -> SweepReport:
    """Do every run that the folder does not hold yet, then merge all into ``results.parquet``.

    Expensive runs go first, so that the processes stay busy to the end.

    Args:
        points: A scenario, or at least one point: a `Run` as it is, any other point with each of the seeds. What is
            listed twice is done once.
        folder: The results folder; created if need be. It belongs to one scenario: it is refused if it has runs that
            are not among these. Points may be added.
        seeds: The seeds of points without one, and of a scenario instead of its own; None: seed 1, or the scenario's.
        name: Title of tables and figures; None: the scenario's, or the folder's.
        shared: The folder keeps runs of several scenarios, and only runs: nothing is refused or merged.
        workers: Runs at a time, each in its own process; None for one per processor (divided by the threads of a run),
            or fewer if they would not fit into the memory of this machine.
        progress: A bar that shows the progress.
        force: Do finished runs again, and take over a folder of another scenario: its runs are kept, its table is
            renamed.
        share: ``(i, n)`` does every n-th run, beginning with the i-th, so that n processes share a sweep. The process
            that finds all runs present merges them.
        backend: Where runs are done: ``"loky"`` (processes of this machine), or a cluster: ``"ray"`` or ``"dask"``.
        address: The cluster: for Ray ``"auto"`` or ``"host:port"``, for Dask ``"tcp://host:port"``.

    Returns:
        What was done. Failed runs are in it, not raised: they do not stop the others.

    Raises:
        ConfigError: If the folder is not writable or another scenario's, the cluster cannot be reached, or a run is
            impossible; before anything is run.
        SweepInterrupted: On Ctrl-C.
        SweepStoppedError: If results cannot be written, or processes cannot be started.

    Example:
        >>> from pathlib import Path
        >>> from dragonfly_env.sweeps import Scenario, load_results, run_all
        >>> scenario = Scenario.from_dict(
        ...     {"topology": "72", "policies": ["min"], "traffic": ["uniform"],
        ...      "loads": [0.2], "warmup_ns": 0, "measure_ns": 1_000}
        ... )
        >>> report = run_all(scenario, Path("results"), workers=1)
        >>> len(load_results(Path("results")).table)
        1
    """
    runs = _runs_of(points, seeds)
    if not 1 <= share[0] <= share[1]:
        raise config_error("share", f"{share[0]}/{share[1]}", "must be I/N with I from 1 to N")
    needed = check_runs(runs)
    threads = max(run.config.threads for run in runs)
    if workers is not None:
        check_integer("workers", workers, 1, MOST_WORKERS)
    if backend == LOKY:
        workers = fitting_workers(needed, workers, threads)
    check_backend(backend, address)
    cluster = {RAY: _ray, DASK: _dask}.get(backend, _this_machine)
    of_share = sorted(runs, key=lambda run: -run.work)[share[0] - 1 :: share[1]]
    done = set() if force else done_of(folder, (run.id for run in of_share))
    todo = [run for run in of_share if run.id not in done]
    finished: list[Run] = []
    failures: list[Failure] = []
    kept: dict[str, Any] = {}  # tables of finished runs, by id
    kept_bytes = 0
    try:
        with cluster(address) as processors:
            if shared:
                make_folders(folder, folder / "runs")
            else:
                take_folder(folder, name or str(getattr(points, "name", folder.name)), runs, force=force)
            if progress is not None:
                progress.start(sum(run.work for run in todo), len(todo))
            for run, outcome in _outcomes(todo, backend, processors, workers, threads):
                if isinstance(outcome, Failure):
                    failures.append(outcome)
                else:
                    if (version := outcome["package_version"]) != dfe.__version__:
                        raise OSError(
                            f"a worker has dragonfly-env {version}, and this machine {dfe.__version__}"
                        )
                    table = write_run(folder, outcome)
                    if kept_bytes + table.nbytes <= _MOST_KEPT_BYTES:
                        kept[run.id], kept_bytes = table, kept_bytes + table.nbytes
                    finished.append(run)
                if progress is not None:
                    progress.advance(run.work, run.describe())
        others = {run.id for run in runs} - {run.id for run in of_share}
        missing = len(others - done_of(folder, others))
        if not missing and not shared:
            merge(folder, kept)
    except KeyboardInterrupt:
        done = done_of(folder, (run.id for run in of_share))
        raise SweepInterrupted(
            f"interrupted: {len(done)} of {len(of_share)} runs are kept in {folder}"
        ) from None
    except OSError as error:
        written = len(of_share) - len(todo) + len(finished)
        raise SweepStoppedError(f"{error}; {written} of {len(of_share)} runs are kept in {folder}") from error
    return SweepReport(len(runs), len(finished), len(of_share) - len(todo), missing, tuple(failures))


def _runs_of(points: Iterable[Point], seeds: Sequence[int] | None) -> list[Run]:
    """Every run once."""
    chosen = None if seeds is None else check_seeds("seeds", seeds)
    if chosen is not None and isinstance(points, Scenario):
        points, chosen = points.replace(seeds=chosen), None
    listed = list(points)
    if chosen is not None and all(isinstance(point, Run) for point in listed):
        raise config_error("seeds", chosen, "must be left out: the runs have seeds")
    runs: dict[str, Run] = {}
    for point in listed:
        for run in [point] if isinstance(point, Run) else map(point.run, chosen or (1,)):
            runs.setdefault(run.id, run)
    if not runs:
        raise config_error("points", [], "must hold at least one point")
    return list(runs.values())


def _outcomes(
    runs: Sequence[Run], backend: str, processors: Callable[[], int], workers: int | None, threads: int
) -> Iterator[tuple[Run, dict[str, Any] | Failure]]:
    """Do all runs, yielding the row or the failure of each as it ends. A lost process costs the runs that were under
    way, and the others go on in new processes.
    """
    if backend == LOKY and (workers == 1 or len(runs) <= 1):
        yield from ((run, _attempt(run)[1]) for run in runs)
        return
    left = {run.id: run for run in runs}
    options: dict[str, Any] = {"ray_remote_args": {"num_cpus": threads}} if backend == RAY else {}
    if backend == LOKY:
        options = {"initializer": _end_with, "initargs": (os.getpid(),)}
    while left:
        taken: list[str] = []
        most = max(1, processors() // threads)
        at_a_time = workers if backend == LOKY and workers else min(workers or most, most)
        calls = map(joblib.delayed(_attempt), _noted([*left.values()], taken))
        results: Any = ()
        try:
            with joblib.parallel_config(backend=backend, **options), _signals_blocked():
                results = joblib.Parallel(
                    n_jobs=at_a_time, batch_size=1, pre_dispatch=at_a_time, return_as="generator_unordered"
                )(calls)
            for run_id, outcome in results:
                yield left.pop(run_id), outcome
        except OSError:  # processes cannot be started
            raise
        except Exception as error:  # the backend's error: runs raise nothing themselves
            reason = f"its process was lost: killed, or out of memory ({type(error).__name__}: {error})"
            if not taken:
                raise OSError(reason) from error
            for run_id in left.keys() & taken:
                yield (run := left.pop(run_id)), Failure(run, " ".join(reason.split())[:300], "")
        finally:
            if results:
                results.close()  # ends the processes, also on Ctrl-C


def _noted(runs: Iterable[Run], taken: list[str]) -> Iterator[Run]:
    """Note each run that is taken."""
    for run in runs:
        taken.append(run.id)
        yield run


_TELLING = (ConfigError, DeadlockError, IllegalActionError, MemoryError)
"""Errors that say what was wrong and where; of others the traceback is kept."""


def _attempt(run: Run) -> tuple[str, dict[str, Any] | Failure]:
    """Do a run. Every error is the failure of this run alone, and the others go on."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NetworkMismatchWarning)  # the check of all runs has warned
            return run.id, measure(run)
    except Exception as error:
        message = f"{type(error).__name__}: {' '.join(str(error).split())}"
        return run.id, Failure(run, message, "" if isinstance(error, _TELLING) else traceback.format_exc())


def _end_with(parent: int) -> None:
    """Start a thread that ends this worker after the process that started it has ended, even if that was killed."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(_WATCH_S)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _kill(process: Any) -> None:
    """End a worker, which has no processes of its own. Without psutil, loky calls pgrep, which may be missing, too."""
    os.kill(process.pid, signal.SIGKILL)
    process.join()


if loky_utils.psutil is None:
    process_executor.kill_process_tree = _kill


@contextmanager
def _signals_blocked() -> Iterator[None]:
    """Start processes that ignore Ctrl-C and SIGTERM: this process ends them."""
    for tracker in (resource_tracker, loky_tracker):  # begun in the block, it would end the blocking
        tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def check_backend(backend: str, address: str | None) -> None:
    """Refuse a backend that is unknown or not installed, or an address that does not belong to it."""
    check_choice("backend", backend, BACKENDS)
    if backend == LOKY and address is not None:
        raise config_error("address", address, "must be left out with backend 'loky'")
    if backend == DASK and address is None:
        raise config_error("address", None, "must be that of a Dask scheduler, such as 'tcp://host:8786'")
    try:
        importlib.import_module({LOKY: "joblib", RAY: "ray", DASK: "distributed"}[backend])
    except ImportError:
        raise config_error("backend", backend, f"is not installed: {how_to_install(backend)}") from None


@contextmanager
def _this_machine(address: str | None) -> Iterator[Callable[[], int]]:
    """The processors that there are now: those of a cluster may be lost."""
    yield joblib.cpu_count


@contextmanager
def _ray(address: str | None) -> Iterator[Callable[[], int]]:
    """Join a Ray cluster, and leave it at the end."""
    import ray
    from ray.util.joblib.ray_backend import RayBackend

    class StreamingRayBackend(RayBackend):  # type: ignore[misc]  # Ray has no types
        """Hand over each result when it arrives; joblib allows that to few backends."""

        supports_return_generator = True

    joblib.register_parallel_backend(RAY, StreamingRayBackend)
    address = address or "auto"
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
def _dask(address: str | None) -> Iterator[Callable[[], int]]:
    """Join a Dask cluster, and leave it at the end."""
    import distributed

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


# The requirements of runs, known before the first of them, without building a network.


def check_run(run: Run, known: dict[Hashable, _core.RequirementsOfRun] | None = None) -> int:
    """The memory in bytes of a process that does the run; `ConfigError` if the run is impossible: the policy lacks
    virtual channels, an agent was made for another network, or the run or its time series is too long. ``known`` keeps
    what depends on neither load nor seed.
    """
    config, known = run.config, {} if known is None else known
    routing = (config.topology, config.network, config.policy_object, run.agent)
    sources = (run.traffic_label, config.jobs, config.source_queue_packets)
    key = (*routing, *sources, config.group_latency, config.host_latency)
    if key not in known:
        if run.agent is not None:
            simulation_of(run)
        try:
            known[key] = _core.requirements(config.to_core())
        except ConfigError as error:
            raise ConfigError(f"{error}{_channels_of(run)}" if "vcs" in str(error) else str(error)) from None
    needed = known[key]
    if not run.closed_loop:  # a closed loop hardly ever lasts as long as it may
        end_ns = run.warmup_ns + run.measure_ns
        if end_ns > MAX_RUN_NS:
            raise config_error("measure_ns", run.measure_ns, f"the clock ends at {MAX_RUN_NS:g} ns")
        if config.series_bin_ns is not None:
            check_series(config.series_bin_ns, needed["partitions"], ns_to_ps("measure_ns", end_ns))
    light = config.topology.num_hosts * _PACKETS_OF_HOST * _PACKET_BYTES
    return PROCESS_BYTES + needed["network_bytes"] + min(needed["most_packet_bytes"], light)


def check_runs(runs: Iterable[Run]) -> list[int]:
    """The memory of each run, see `check_run`; `ConfigError` if some are impossible: how many, and for each reason the
    first one.
    """
    known: dict[Hashable, _core.RequirementsOfRun] = {}
    needed: list[int] = []
    refused: dict[str, list[str]] = {}
    for run in runs:
        try:
            needed.append(check_run(run, known))
        except ConfigError as error:
            refused.setdefault(str(error), []).append(run.describe())
    if not refused:
        return needed
    impossible = sum(map(len, refused.values()))
    named = [f"{first}: {reason}" for reason, (first, *_) in [*refused.items()][:_MOST_NAMED]]
    if len(refused) > _MOST_NAMED:
        named.append(f"and {len(refused) - _MOST_NAMED} more reasons")
    raise ConfigError(f"{impossible} of {impossible + len(needed)} runs cannot be done: {'; '.join(named)}")


def _channels_of(run: Run) -> str:
    """Say the virtual channels that the policy of a run needs; empty with jobs, whose policies may need others."""
    if run.config.jobs:
        return ""
    policy, topology, scheme = run.config.policy_object, run.config.topology, run.config.network.vc_scheme
    local, glob = _core.required_vcs(topology.to_core(), policy.name, policy.to_core()["parameters"], scheme)
    return f"; {policy.name} needs local_vcs={local} and global_vcs={glob} here"


def fitting_workers(needed: Sequence[int], workers: int | None, threads: int) -> int:
    """The number of runs at a time: one per ``threads`` processors, or fewer if they would not fit into the memory of
    this machine. ``workers``: the number that the user set instead; `ConfigError` if it does not fit.
    """
    wanted = min(workers or max(1, joblib.cpu_count() // threads), max(1, len(needed)))
    there = machine_bytes()
    sums = list(itertools.accumulate(sorted(needed, reverse=True)[:wanted]))
    fitting = max(1, sum(together <= there for together in sums))
    if workers is not None and fitting < wanted:
        taken = f"{spell_bytes(sums[-1])} of memory, and this machine has {spell_bytes(there)}"
        raise config_error("workers", workers, f"must be at most {fitting}: together they would take {taken}")
    return fitting


def memory_of(needed: Sequence[int], workers: int) -> int:
    """Bytes that so many runs at a time take, if they are the largest."""
    return sum(sorted(needed, reverse=True)[:workers])


def machine_bytes() -> int:
    """The memory of this machine."""
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def spell_bytes(count: float) -> str:
    """``"0.2 GB"``."""
    return f"{count / 1e9:,.0f} GB" if count >= 9.95e9 else f"{count / 1e9:.1f} GB"

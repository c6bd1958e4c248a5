"""Doing runs: each in a process of a pool or on a cluster, saved the moment it ends, so that nothing done is lost.

On other machines an engine spreads the runs, and the shared folder says what came of them: a worker saves a run's row,
or the reason why there is none, before it says that it is done. So nothing depends on how an engine brings results
back, and what a lost worker had finished is not lost with it. What it had not, is done again.
"""

from __future__ import annotations

import functools
import multiprocessing.resource_tracker
import os
import platform
import signal
import threading
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import joblib
from joblib.externals.loky.backend import resource_tracker as loky_resource_tracker
from joblib.externals.loky.process_executor import BrokenProcessPool

import dragonfly_env as dfe
from dragonfly_env.agents import OtherNetworkWarning
from dragonfly_env.checks.documents import read_json
from dragonfly_env.checks.files import open_own
from dragonfly_env.checks.outside import check_items, check_path
from dragonfly_env.checks.values import check_bool, check_instance, check_integer, check_text, config_error
from dragonfly_env.errors import ConfigError, DeadlockError, IllegalActionError
from dragonfly_env.sweeps.engines import Engine, EngineError
from dragonfly_env.sweeps.measure import measure
from dragonfly_env.sweeps.progress import Reporter, Silent
from dragonfly_env.sweeps.requirements import check_runs, fitting_workers
from dragonfly_env.sweeps.run import Point, Run, in_order
from dragonfly_env.sweeps.scenario import Scenario
from dragonfly_env.sweeps.storage import ResultsFolder, check_columns, table_of, write_json


@dataclass(frozen=True, slots=True)
class SweepReport:
    """What a sweep did.

    Attributes:
        folder: The results folder.
        total: Runs that are wanted.
        finished: Runs done by this sweep.
        reused: Runs that were there already.
        outdated: Runs that were there, but made by another package version, and so were done again.
        damaged: Runs whose files were not as they had been written, and so were done again.
        failures: Runs that failed.

    Example:
        >>> from pathlib import Path
        >>> from dragonfly_env.sweeps import Scenario, run_all
        >>> scenario = Scenario.from_dict(
        ...     {"topology": "72", "policies": ["min"], "traffic": ["uniform"],
        ...      "loads": [0.1, 0.2], "warmup_ns": 0, "measure_ns": 1_000}
        ... )
        >>> report = run_all(scenario, Path("results"), workers=1)
        >>> report.total, report.finished, report.reused
        (2, 2, 0)
    """

    folder: Path
    total: int
    finished: int
    reused: int
    outdated: int
    damaged: int
    failures: tuple[Failure, ...]


class SweepInterrupted(KeyboardInterrupt):
    """Ctrl-C during a sweep; finished runs are on disk, and the same call resumes.

    Attributes:
        kept: Wanted runs that are finished and saved.
        total: Wanted runs.

    Example:
        >>> from dragonfly_env.sweeps import SweepInterrupted
        >>> str(SweepInterrupted(kept=3, total=10))
        'interrupted: 3 of 10 runs are finished and kept'
    """

    def __init__(self, kept: int, total: int) -> None:
        super().__init__(f"interrupted: {kept} of {total} runs are finished and kept")
        self.kept = kept
        self.total = total


class SweepStoppedError(RuntimeError):
    """A sweep that cannot go on (a full disk, no memory for processes); finished runs are on disk, and the same call
    resumes.

    Attributes:
        kept: Wanted runs that are finished and saved.
        total: Wanted runs.

    Example:
        >>> from dragonfly_env.sweeps.runner import SweepStoppedError
        >>> str(SweepStoppedError("disk full", kept=3, total=10))
        'disk full'
    """

    def __init__(self, reason: str, kept: int, total: int) -> None:
        super().__init__(reason)
        self.kept = kept
        self.total = total


def run_all(
    wanted: Scenario | Iterable[Point],
    folder: Path,
    *,
    seeds: Sequence[int] = (1,),
    name: str | None = None,
    workers: int | None = None,
    progress: Reporter | None = None,
    redo: bool = False,
    engine: Engine | None = None,
) -> SweepReport:
    """Do every run that the folder does not hold yet, then merge all into ``results.parquet``.

    Expensive runs go first, so that the cores stay busy to the end.

    Args:
        wanted: A scenario, or at least one point: a `Run` as it is, any other point with each of the seeds. What is
            listed twice is done once.
        folder: The results folder; created if need be.
        seeds: Of points without one.
        name: Title of tables and figures; None: the scenario's, or the folder's.
        workers: Runs at a time, each in its own process; None for one per processor (divided by the threads of a run),
            or fewer if they would not fit into the memory.
        progress: Told of the progress.
        redo: Do finished runs again.
        engine: Who does the runs, of `find_engine`; None: processes of this machine. ``workers`` is then the runs at a
            time on the whole cluster, None for as many as it has room for, and all machines see the folder by its name.

    Returns:
        What was done. Failed runs are in it, not raised: they do not stop the others.

    Raises:
        ConfigError: If the folder is not writable or in use, or a run is impossible (`check_runs`); before anything
            is run.
        SweepInterrupted: On Ctrl-C.
        SweepStoppedError: If results cannot be written, or workers die before they begin, again and again.

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
    folder = check_path("folder", folder)
    check_bool("redo", redo)
    if name is None:
        name = wanted.name if isinstance(wanted, Scenario) else folder.name
    check_text("name", name)
    runs = wanted.runs() if isinstance(wanted, Scenario) else _runs_of(wanted, seeds)
    threads = max(run.config.threads for run in runs)
    at_a_time = (
        max(1, joblib.cpu_count() // threads)
        if workers is None
        else check_integer("workers", workers, 1, 4096)
    )
    progress = Silent() if progress is None else progress
    needed = check_runs(runs)
    if engine is None:
        at_a_time = fitting_workers(needed, at_a_time, given=workers is not None)
    files = ResultsFolder(folder)
    files.prepare()
    with files.locked():
        versions = {run.id: None if redo else files.version_of(run.id) for run in runs}
        kept = {run_id for run_id, version in versions.items() if version == dfe.__version__}
        todo = [run for run in runs if run.id not in kept]
        reused, outdated, damaged = len(kept), sum(versions[run.id] is not None for run in todo), 0
        failures: list[Failure] = []
        try:
            if not redo:
                damaged = sum(files.remove_damaged(run.id) for run in todo if versions[run.id] is None)
            files.write_manifest(_manifest(wanted, name, runs))
            progress.start(todo, at_a_time)
            done = (
                _execute_all(todo, files, at_a_time)
                if engine is None
                else execute_remotely(todo, files, engine, threads=threads, workers=workers)
            )
            for run, failure in done:
                if failure is None:
                    kept.add(run.id)
                else:
                    failures.append(failure)
                progress.advance(run, files.seconds_of(run.id) if failure is None else None)
            files.merge(_labels(runs))
        except KeyboardInterrupt:
            raise SweepInterrupted(_count_kept(runs, kept, files), len(runs)) from None
        except (OSError, UnwritableError, BrokenProcessPool, EngineError) as error:
            reason = " ".join(str(error).split())
            raise SweepStoppedError(reason, _count_kept(runs, kept, files), len(runs)) from error
        finally:
            progress.stop()
    return SweepReport(
        folder=folder,
        total=len(runs),
        finished=len(kept) - reused,
        reused=reused,
        outdated=outdated,
        damaged=damaged,
        failures=tuple(failures),
    )


def _count_kept(runs: Sequence[Run], known: Collection[str], files: ResultsFolder) -> int:
    """How many runs are saved: those known to be, and those that a worker ended without being heard."""
    return sum(run.id in known or files.holds(run.id) for run in runs)


def _runs_of(points: Iterable[Point], seeds: Sequence[int]) -> list[Run]:
    """Every run once."""
    runs: dict[str, Run] = {}
    seeds = check_items("seeds", seeds, "must be a list of seeds")
    for point in check_items("wanted", points, "must be a scenario, or a list of points"):
        check_instance("point", point, Point)
        for run in [point] if isinstance(point, Run) else map(point.run, seeds):
            runs.setdefault(run.id, run)
    if not runs:
        raise config_error("wanted", [], "must hold at least one point")
    return list(runs.values())


def _manifest(wanted: Scenario | Iterable[Point], name: str, runs: Sequence[Run]) -> dict[str, Any]:
    return {
        "name": name,
        "package_version": dfe.__version__,
        "policies": list(dict.fromkeys(run.policy_label for run in runs)),
        "traffic": list(dict.fromkeys(run.traffic_label for run in runs)),
        "scenario": wanted.to_dict()
        if isinstance(wanted, Scenario)
        else {"name": name, "runs": [run.configuration for run in runs]},
        "runs": [run.id for run in runs],
        "labels": _labels(runs),
    }


def _labels(runs: Sequence[Run]) -> dict[str, dict[str, str]]:
    return {run.id: {"policy": run.policy_label, "traffic": run.traffic_label} for run in runs}


def _execute_all(
    runs: Sequence[Run], files: ResultsFolder, workers: int
) -> Iterator[tuple[Run, Failure | None]]:
    """Do all runs, yielding each as it ends. A dead worker costs only the runs that were in progress."""
    pending = {run.id: run for run in in_order(runs)}
    while pending:
        try:
            for run_id, failure in _execute(list(pending.values()), files, workers):
                yield pending.pop(run_id), failure
        except BrokenProcessPool:
            in_progress = [run for run in pending.values() if files.marker(run.id).exists()]
            if not in_progress:
                raise
            for run in in_progress:
                files.marker(run.id).unlink(missing_ok=True)
                if files.holds(run.id):
                    yield pending.pop(run.id), None
                    continue
                message = "the worker process died (out of memory, or killed) while this run was in progress"
                yield pending.pop(run.id), Failure(run, message, "")


def _execute(runs: Sequence[Run], files: ResultsFolder, workers: int) -> Iterator[tuple[str, Failure | None]]:
    workers = min(workers, len(runs))
    if workers == 1:
        for run in runs:
            yield execute_one(run, files.path)
        return
    pool = joblib.Parallel(n_jobs=workers, batch_size=1, return_as="generator_unordered")
    folder = files.path.absolute()  # a worker may be elsewhere
    calls = (joblib.delayed(_execute_in_worker)(run, folder, os.getpid()) for run in runs)
    results: Any = ()
    try:
        with _ctrl_c_kept_from_children():
            results = pool(calls)  # begins at once, with the first processes
        yield from results
    finally:
        if results:
            results.close()  # on Ctrl-C this kills the workers; what they had saved stays


@contextmanager
def _ctrl_c_kept_from_children() -> Iterator[None]:
    """Start processes that are deaf to Ctrl-C from their first instruction on: while Python begins and imports, each
    would end with a traceback of its own. Here it is heard when the block ends, for it might leave joblib half begun.
    The same for SIGTERM where this process handles it: a batch system sends it to all of them.
    """
    for tracker in (multiprocessing.resource_tracker, loky_resource_tracker):
        tracker.ensure_running()  # begun in the block, one would end the blocking
    heard: list[int] = []
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    if not callable(handlers[signal.SIGTERM]):
        del handlers[signal.SIGTERM]
    # No handler: not Python's.
    main = None not in handlers.values() and threading.current_thread() is threading.main_thread()
    if main:
        for number in handlers:
            signal.signal(number, lambda number, _: heard.append(number))
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, handlers)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        if main:
            for number, handler in handlers.items():
                signal.signal(number, handler)
    if heard:
        signal.raise_signal(heard[-1])


def _execute_in_worker(run: Run, folder: Path, caller_pid: int) -> tuple[str, Failure | None]:
    """As `execute_one`, but Ctrl-C is left to the parent process, which then ends this one.

    Where joblib has no processes to give (within a worker of its own), it calls this in the caller's
    process, whose signals are not ours to change.
    """
    if os.getpid() != caller_pid:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        warnings.simplefilter("ignore", OtherNetworkWarning)  # the parent has said so
        _end_with_parent()
    return execute_one(run, folder)


@functools.cache
def _end_with_parent() -> None:
    """Let this process end within a second of its parent, however that ended: its results are not needed any more."""
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1.0)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


_TELLING = (ConfigError, DeadlockError, IllegalActionError, MemoryError)
"""Errors that say what was wrong and where; of others the traceback is kept."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A run that failed.

    Attributes:
        run: What was to be done; ``run.config`` is complete.
        error: The error's class and message on one line.
        details: The traceback, or an empty string if the error says everything.

    Example:
        >>> from pathlib import Path
        >>> from dragonfly_env.sweeps import Scenario, run_all
        >>> scenario = Scenario.from_dict(
        ...     {"topology": "72", "policies": ["min"], "traffic": ["uniform"],
        ...      "loads": [0.2], "warmup_ns": 0, "measure_ns": 1_000}
        ... )
        >>> run_all(scenario, Path("results"), workers=1).failures
        ()
    """

    run: Run
    error: str
    details: str


class UnwritableError(Exception):
    """A result that could not be saved: others cannot be either. From a worker to the process that started it."""


def execute_one(run: Run, folder: Path) -> tuple[str, Failure | None]:
    """Do a run and save its row.

    Raises:
        UnwritableError: If that cannot be written; whatever else goes wrong is the failure of this run.
    """
    files = ResultsFolder(folder)
    marker = files.marker(run.id)
    try:
        with _writing():
            os.close(open_own(marker))
        row, provenance = measure(run)
        check_columns(table_of(row), "a new row")  # what is not readable is this run's failure
        with _writing():
            files.write_run(row, provenance)
    except UnwritableError:
        raise
    except Exception as error:  # whatever it is: the other runs shall not suffer
        message = f"{type(error).__name__}: {' '.join(str(error).split())}"
        details = "" if isinstance(error, _TELLING) else traceback.format_exc()
        return run.id, Failure(run, message, details)
    finally:
        marker.unlink(missing_ok=True)
    return run.id, None


@contextmanager
def _writing() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise UnwritableError(f"results cannot be written: {error}") from error


MOST_LOSSES = 4
"""A run whose worker was lost so often while it was in progress is given up: it may be what kills them."""
MOST_ROUNDS_IN_VAIN = 3
_LOOK_EVERY_S = 0.25
_LOOKS_AT_THE_ENGINE, _LAST_LOOKS = 10, 40  # when all is saved, before workers are ended


def execute_remotely(
    runs: Sequence[Run], files: ResultsFolder, engine: Engine, *, threads: int, workers: int | None
) -> Iterator[tuple[Run, Failure | None]]:
    """Do all runs on a cluster, yielding each as its file appears.

    Raises:
        ConfigError: If there is no such cluster.
        EngineError: If workers are lost again and again before they finish anything, or cannot work at all.
    """
    if not runs:
        return
    folder = files.path.absolute()
    pending = {run.id: run for run in in_order(runs)}
    before = {run_id: _stamp(files.run_file(run_id)) for run_id in pending}  # of results that are made again
    task = functools.partial(work, folder=folder, version=dfe.__version__)
    losses: Counter[str] = Counter()
    in_vain = 0
    try:
        engine.start(folder, threads, workers)
        while pending:
            count = len(pending)
            call = _Call(engine, task, list(pending.values()))
            while pending and not call.ended(_LOOK_EVERY_S):
                yield from _arrived(pending, before, files)
            yield from _arrived(pending, before, files)
            if not pending:
                _wait_for_last_words(call, files)
                return
            if call.error is not None and not isinstance(call.error, EngineError):
                raise EngineError(" ".join(str(call.error).split())) from call.error
            for run in list(pending.values()):  # their worker is gone
                marker = files.marker(run.id)
                if marker.exists():
                    marker.unlink(missing_ok=True)
                    losses[run.id] += 1
                    if losses[run.id] >= MOST_LOSSES:
                        message = f"its worker was lost {MOST_LOSSES} times while this run was in progress"
                        yield pending.pop(run.id), Failure(run, message, "")
            in_vain = in_vain + 1 if len(pending) == count else 0
            if in_vain >= MOST_ROUNDS_IN_VAIN:
                raise EngineError(
                    f"workers end without finishing anything: {call.error or 'no reason given'}"
                )
    finally:
        engine.stop()


class _Call(threading.Thread):
    """One call of an engine, in a thread of its own, which a sweep does not wait for when it ends early."""

    def __init__(self, engine: Engine, task: functools.partial[None], runs: list[Run]) -> None:
        super().__init__(daemon=True)
        self._engine, self._task, self._runs = engine, task, runs
        self.error: Exception | None = None
        self.start()

    def run(self) -> None:
        try:
            self._engine.call(self._task, self._runs)
        except Exception as error:  # told to the thread that looks
            self.error = error
        except BaseException as error:  # of a cluster that was left: asyncio's, or an exit
            self.error = EngineError(repr(error))

    def ended(self, patience_s: float) -> bool:
        """Wait a little; whether it has ended."""
        self.join(patience_s)
        return not self.is_alive()


def _wait_for_last_words(call: _Call, files: ResultsFolder) -> None:
    """Let workers that have saved their last run take their marks away, and the engine see that they end."""
    for look in range(_LAST_LOOKS):
        if call.ended(_LOOK_EVERY_S) or (
            look >= _LOOKS_AT_THE_ENGINE and not [*files.runs.glob("*.running")]
        ):
            return


def work(run: Run, *, folder: Path, version: str) -> None:
    """What a worker does: a run, and its file or that of its failure.

    Raises:
        RuntimeError: If no run can be done on this machine.
    """
    if dfe.__version__ != version:
        raise RuntimeError(
            f"{platform.node()} has dragonfly-env {dfe.__version__}, and the sweep was started with {version}"
        )
    files = ResultsFolder(folder)
    try:
        _, failure = execute_one(run, folder)
        if failure is not None:
            write_json({"error": failure.error, "details": failure.details}, files.failure(run.id))
    except (OSError, UnwritableError) as error:
        raise RuntimeError(
            f"{platform.node()}, which must see the results folder {folder}: {error}"
        ) from None


_Stamp = tuple[int, int] | None


def _stamp(file: Path) -> _Stamp:
    """What tells a file from the one that replaces it."""
    try:
        status = file.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_ino


def _arrived(
    pending: dict[str, Run], before: dict[str, _Stamp], files: ResultsFolder
) -> Iterator[tuple[Run, Failure | None]]:
    """Take the runs out of ``pending`` whose files have appeared."""
    there = {path.name for path in files.runs.iterdir()}
    for run_id in [*pending]:
        done, failed = files.run_file(run_id), files.failure(run_id)
        if failed.name in there:
            told = read_json(failed, "failure", allowed="cannot be read")
            failed.unlink()
            run = pending.pop(run_id)
            yield run, Failure(run, str(told["error"]), str(told["details"]))
        elif done.name in there and _stamp(done) != before[run_id] and files.holds(run_id):
            yield pending.pop(run_id), None

"""Doing runs: each in a process of this machine or of a cluster, saved as it ends, so that nothing done is lost.

A run is one file. This process alone writes it, when the row of the run arrives. So a lost process,
machine or batch job costs the runs that were under way, and another start does them.
"""

from __future__ import annotations

import traceback
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import dragonfly_env as dfe
from dragonfly_env.agents import OtherNetworkWarning
from dragonfly_env.checks.values import check_integer, config_error
from dragonfly_env.errors import ConfigError, DeadlockError, IllegalActionError
from dragonfly_env.sweeps.backends import LOKY, BackendError, Processes, processes
from dragonfly_env.sweeps.measure import measure
from dragonfly_env.sweeps.progress import Bar
from dragonfly_env.sweeps.requirements import check_runs, fitting_workers
from dragonfly_env.sweeps.run import Point, Run, in_order
from dragonfly_env.sweeps.scenario import Scenario
from dragonfly_env.sweeps.storage import ResultsFolder

MOST_WORKERS = 4096


@dataclass(frozen=True, slots=True)
class SweepReport:
    """The outcome of a sweep.

    Attributes:
        folder: The results folder.
        total: Runs of the sweep.
        finished: Runs done now.
        reused: Runs that were there already.
        missing: Runs that other shares have yet to do. With any, nothing is merged.
        failures: Runs that failed.
    """

    folder: Path
    total: int
    finished: int
    reused: int
    missing: int
    failures: tuple[Failure, ...]


class SweepInterrupted(KeyboardInterrupt):
    """Ctrl-C during a sweep; finished runs are on disk, and the same call resumes.

    Attributes:
        kept: Runs that are finished and saved.
        total: Runs of this process.
    """

    def __init__(self, kept: int, total: int) -> None:
        super().__init__(f"interrupted: {kept} of {total} runs are finished and kept")
        self.kept = kept
        self.total = total


class SweepStoppedError(RuntimeError):
    """A sweep that cannot go on (a full disk, no memory for processes); finished runs are on disk, and the same call
    resumes.

    Attributes:
        kept: Runs that are finished and saved.
        total: Runs of this process.
    """

    def __init__(self, reason: str, kept: int, total: int) -> None:
        super().__init__(reason)
        self.kept = kept
        self.total = total


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


def run_all(
    wanted: Scenario | Iterable[Point],
    folder: Path,
    *,
    seeds: Sequence[int] = (1,),
    name: str | None = None,
    workers: int | None = None,
    progress: Bar | None = None,
    redo: bool = False,
    share: tuple[int, int] = (1, 1),
    backend: str = LOKY,
    address: str | None = None,
) -> SweepReport:
    """Do every run that the folder does not hold yet, then merge all into ``results.parquet``.

    Expensive runs go first, so that the processes stay busy to the end.

    Args:
        wanted: A scenario, or at least one point: a `Run` as it is, any other point with each of the seeds. What is
            listed twice is done once.
        folder: The results folder; created if need be.
        seeds: The seeds of points without one.
        name: Title of tables and figures; None: the scenario's, or the folder's.
        workers: Runs at a time, each in its own process; None for one per processor (divided by the threads of a run),
            or fewer if they would not fit into the memory of this machine.
        progress: A bar that shows the progress.
        redo: Do finished runs again.
        share: ``(i, n)`` does every n-th run, beginning with the i-th, so that n processes share a sweep. The process
            that finds all runs present merges them.
        backend: Where runs are done: ``"loky"`` (processes of this machine), or a cluster: ``"ray"`` or ``"dask"``.
        address: The cluster: for Ray ``"auto"`` or ``"host:port"``, for Dask ``"tcp://host:port"``.

    Returns:
        What was done. Failed runs are in it, not raised: they do not stop the others.

    Raises:
        ConfigError: If the folder is not writable, the cluster cannot be reached, or a run is impossible; before
            anything is run.
        SweepInterrupted: On Ctrl-C.
        SweepStoppedError: If results cannot be written, or workers are lost again and again.

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
    runs = wanted.runs() if isinstance(wanted, Scenario) else _runs_of(wanted, seeds)
    if name is None:
        name = wanted.name if isinstance(wanted, Scenario) else folder.name
    if not 1 <= share[0] <= share[1]:
        raise config_error("share", f"{share[0]}/{share[1]}", "must be I/N with I from 1 to N")
    needed = check_runs(runs)
    threads = max(run.config.threads for run in runs)
    if workers is not None:
        check_integer("workers", workers, 1, MOST_WORKERS)
    if backend == LOKY:
        workers = fitting_workers(needed, workers, threads)
    files = ResultsFolder(folder)
    own = in_order(runs)[share[0] - 1 :: share[1]]
    there = {run.id for run in own if not redo and files.holds(run.id)}
    todo = [run for run in own if run.id not in there]
    done: list[Run] = []
    failures: list[Failure] = []
    try:
        with processes(backend, address, threads, workers) as pool:
            files.prepare()
            files.write_manifest(_manifest(wanted, name, runs))
            work, ended = 0.0, 0
            if progress is not None:
                progress.start(sum(run.work for run in todo), f"0/{len(todo)} runs")
            for run, outcome in _execute(todo, pool):
                if isinstance(outcome, Failure):
                    failures.append(outcome)
                else:
                    _check_version(outcome.provenance)
                    files.write_run(*outcome)
                    done.append(run)
                work, ended = work + run.work, ended + 1
                if progress is not None:
                    progress.advance(work, f"{ended}/{len(todo)} runs", run.describe())
        others = {run.id for run in runs} - {run.id for run in own}
        missing = sum(not files.holds(run_id) for run_id in others)
        if not missing:
            files.merge(_labels(runs))
    except KeyboardInterrupt:
        raise SweepInterrupted(sum(files.holds(run.id) for run in own), len(own)) from None
    except (OSError, BackendError) as error:
        raise SweepStoppedError(str(error), len(there) + len(done), len(own)) from error
    finally:
        if progress is not None:
            progress.stop()
    return SweepReport(folder, len(runs), len(done), len(there), missing, tuple(failures))


def _runs_of(points: Iterable[Point], seeds: Sequence[int]) -> list[Run]:
    """Every run once."""
    runs: dict[str, Run] = {}
    for point in points:
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


class _Measured(NamedTuple):
    """A finished run."""

    row: dict[str, Any]
    provenance: dict[str, Any]


_MOST_ROUNDS_IN_VAIN = 3


def _execute(runs: Sequence[Run], pool: Processes) -> Iterator[tuple[Run, _Measured | Failure]]:
    """Do all runs, yielding each as it ends. A lost process costs the runs that were under way; `BackendError` if
    processes are lost again and again before one of them finishes a run.
    """
    if pool.are_local and min(pool.count(), len(runs)) <= 1:
        for run in runs:
            yield run, _attempt(run)
        return
    pending = {run.id: run for run in runs}
    in_vain = 0
    while pending:
        in_vain += 1
        under_way: set[str] = set()
        try:
            for run_id, outcome in pool.map(_attempt_by_id, _noted(list(pending.values()), under_way)):
                in_vain = 0
                yield pending.pop(run_id), outcome
        except BackendError as error:
            if in_vain >= _MOST_ROUNDS_IN_VAIN:
                raise
            for run_id in under_way & pending.keys():
                run = pending.pop(run_id)
                yield run, Failure(run, f"its process was lost: killed, or out of memory ({error})", "")


def _noted(runs: Sequence[Run], under_way: set[str]) -> Iterator[Run]:
    """Note each run that is taken."""
    for run in runs:
        under_way.add(run.id)
        yield run


def _check_version(provenance: Mapping[str, Any]) -> None:
    if (version := provenance["package_version"]) != dfe.__version__:
        raise BackendError(
            f"a worker has dragonfly-env {version}, and the sweep was started with {dfe.__version__}"
        )


_TELLING = (ConfigError, DeadlockError, IllegalActionError, MemoryError)
"""Errors that say what was wrong and where; of others the traceback is kept."""


def _attempt_by_id(run: Run) -> tuple[str, _Measured | Failure]:
    return run.id, _attempt(run)


def _attempt(run: Run) -> _Measured | Failure:
    """Do a run. Every error is the failure of this run alone, and the others go on."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", OtherNetworkWarning)  # the check of all runs has warned
            return _Measured(*measure(run))
    except Exception as error:
        message = f"{type(error).__name__}: {' '.join(str(error).split())}"
        return Failure(run, message, "" if isinstance(error, _TELLING) else traceback.format_exc())

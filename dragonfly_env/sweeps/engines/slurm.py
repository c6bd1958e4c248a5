"""Slurm, by submitit: job arrays whose tasks each do some of the runs."""

from __future__ import annotations

import contextlib
import re
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from dragonfly_env.checks.files import make_folders
from dragonfly_env.checks.values import config_error
from dragonfly_env.sweeps.engines.base import EngineError, Item, load

_MOST_JOBS = 32
_SHARES_PER_JOB = 4  # smaller ones wait longer in Slurm's queue, larger ones end less evenly
_LOOK_EVERY_S = 0.5
_ENDS_TRACE = re.compile(r"^(?!Traceback)[A-Za-z_][\w.]*(Error|Exception)\b")


class Slurm:
    """Jobs of Slurm.

    Args:
        address: None: the Slurm of this machine; ``"local"``: processes of this machine in its place, to try it.
        settings: What every job asks for, by Slurm's names (``partition``, ``account``, ``constraint``, ..), and
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

    def start(self, folder: Path, threads: int, jobs: int | None) -> None:
        """See whether there is a Slurm here; see `Engine`."""
        self._most = jobs or _MOST_JOBS
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
            time.sleep(_LOOK_EVERY_S)
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
        """Cancel what is under way; see `Engine`."""
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

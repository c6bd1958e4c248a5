"""Running a program and what it cost."""

from __future__ import annotations

import contextlib
import os
import subprocess
import tempfile
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """CPU time and standard output of a finished process."""

    cpu_s: float
    output: str


def run_process(
    command: Sequence[str], *, folder: Path | None = None, exit_statuses: Collection[int] = (0,)
) -> Cost:
    """Run a program to its end; CPU time is the kernel's account of the process and its own children.

    Raises:
        RuntimeError: If the program cannot be started, or ends with another status; with the end of its output.
    """
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:
        try:
            process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=output, stderr=errors, cwd=folder
            )
        except OSError as error:
            raise RuntimeError(f"cannot run {command[0]}: {error}") from error
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        errors.seek(0)
        text, complaints = output.read(), errors.read()
    if process.returncode not in exit_statuses:
        said = (complaints or text).strip()[-1000:]
        raise RuntimeError(f"{' '.join(command)} failed with exit status {process.returncode}: {said}")
    return Cost(cpu_s=usage.ru_utime + usage.ru_stime, output=text)


def peak_memory_bytes() -> int:
    """The most memory that this process has had resident.

    Not ``getrusage``: there a process starts with what its parent had when it was forked, which for a child of a
    process that has simulated a large system is the parent's memory and not its own.
    """
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    raise RuntimeError("/proc/self/status has no VmHWM")


@contextlib.contextmanager
def on_processor(processor: int) -> Iterator[None]:
    """Run the thread, and processes that it starts, on one processor: the processors of a machine differ in speed."""
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {processor})
    try:
        yield
    finally:
        os.sched_setaffinity(0, allowed)

"""One slice of a search: a worker process, watched from outside, and what became of it."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.fuzz.board import Board
from tests.fuzz.finding import Finding, crash_fingerprint
from tests.fuzz.worker import SHOW_STACKS, Work

ROOT = Path(__file__).parents[2]
PATIENCE_S = 120.0
_DETAIL_CHARACTERS = 6_000


class Slice:
    """Inputs ``first``, ``first`` + 1, ... of one target in a process of their own.

    Args:
        target: Name of the target.
        seed: Of the search.
        first: Number of the first input.
        count: Inputs at most.
        seconds: Time after which no input is begun; None: no limit.
        memory_bytes: Address space of the process; None: no limit.
        patience_s: An input that takes longer is a finding.
    """

    def __init__(
        self,
        target: str,
        *,
        seed: int,
        first: int,
        count: int,
        seconds: float | None = None,
        memory_bytes: int | None = None,
        patience_s: float = PATIENCE_S,
    ) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix=f"fuzz-{target}-"))
        self._work = Work(
            target=target,
            seed=seed,
            first=first,
            count=count,
            seconds=seconds,
            memory_bytes=memory_bytes,
            folder=str(self._folder),
        )
        self._patience_s = patience_s
        self._board = Board(self._folder / "board", create=True)
        self._board.number = first
        self._board.write()
        self._seen = (first, time.monotonic())
        self._stuck = False
        self._output = (self._folder / "output.txt").open("wb")
        # A session of its own: Ctrl-C at the terminal is the driver's affair. One thread for what NumPy and PyTorch do.
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.fuzz.worker", json.dumps(dataclasses.asdict(self._work))],
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=self._output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
        )

    @property
    def target(self) -> str:
        """Name of the target."""
        return self._work.target

    @property
    def tried(self) -> int:
        """Inputs tried so far, without the one that went wrong."""
        return self._board.read().tried

    @property
    def refused(self) -> int:
        """Inputs turned away so far."""
        return self._board.read().refused

    @property
    def run(self) -> int:
        """Inputs that worked so far."""
        return self._board.read().run

    @property
    def next_number(self) -> int:
        """Number of the input with which the search would go on."""
        number = self._work.first + self.tried
        return number + 1 if self._process.poll() is not None and not self._as_planned() else number

    def poll(self) -> bool:
        """Whether it is over. Ends a worker that has been at one input for too long."""
        if self._process.poll() is not None:
            return True
        number = self._board.read().number
        now = time.monotonic()
        if number != self._seen[0]:
            self._seen = (number, now)
        elif now - self._seen[1] > self._patience_s:
            self._stuck = True
            self._process.send_signal(SHOW_STACKS)
            time.sleep(1.0)
            self.stop()
        return self._process.poll() is not None

    def wait(self) -> None:
        """Until it is over."""
        while not self.poll():
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(0.1)

    def stop(self) -> None:
        """End the worker and whatever it started."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def finding(self) -> Finding | None:
        """What went wrong in a slice that is over, if anything did."""
        if self._as_planned():
            return None
        reported = self._folder / "finding.json"
        if reported.exists():
            return Finding(
                target=self.target, seed=self._work.seed, **json.loads(reported.read_text(encoding="utf-8"))
            )
        stacks = self._text("stacks.txt")
        if self._stuck:
            how = f"not done after {self._patience_s:g} s"
        elif (code := self._process.returncode) < 0:
            how = f"killed by {signal.Signals(-code).name}"
        else:
            how = f"the process ended with {code}"
        return Finding(
            target=self.target,
            seed=self._work.seed,
            number=self._board.read().number,
            summary=how,
            detail="\n".join(text for text in (stacks, self._text("output.txt")) if text),
            key=crash_fingerprint(how, stacks),
        )

    def close(self) -> None:
        """Remove what it left behind."""
        if self._process.poll() is None:
            self.stop()
        self._output.close()
        self._board.__exit__(None, None, None)
        shutil.rmtree(self._folder, ignore_errors=True)

    def _as_planned(self) -> bool:
        return bool(self._board.read().finished) and not (self._folder / "finding.json").exists()

    def _text(self, name: str) -> str:
        with contextlib.suppress(OSError):
            return (self._folder / name).read_text(encoding="utf-8", errors="replace")[-_DETAIL_CHARACTERS:]
        return ""

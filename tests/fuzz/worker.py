"""A child process: tries the inputs of one target one after the other, until one is wrong or the slice is over.

Started by ``slices``, as ``python -m tests.fuzz.worker '{...}'``. It leaves its counters in ``board``, and what is
wrong in ``finding.json``; if it dies, the stacks of its threads are in ``stacks.txt``.
"""

from __future__ import annotations

import contextlib
import dataclasses
import faulthandler
import json
import os
import random
import resource
import shutil
import signal
import sys
import time
import traceback
import warnings
from pathlib import Path

from dragonfly_env.errors import IllegalActionWarning
from tests.fuzz.board import Board
from tests.fuzz.finding import fingerprint
from tests.fuzz.outcome import Outcome
from tests.fuzz.registry import target_of

SHOW_STACKS = signal.SIGUSR1
_DETAIL_CHARACTERS = 4_000


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """What a worker is to do.

    Args:
        target: Name of the target.
        seed: Of the whole search.
        first: Number of the first input.
        count: Inputs at most.
        seconds: Time after which no input is begun; None: no limit.
        memory_bytes: Address space of the process; None: no limit (sanitizers need more than there is).
        folder: Where it notes what it finds.
    """

    target: str
    seed: int
    first: int
    count: int
    seconds: float | None
    memory_bytes: int | None
    folder: str


def input_seed(seed: int, target: str, number: int) -> str:
    """What ``random`` is seeded with for one input."""
    return f"{seed}/{target}/{number}"


def main() -> None:
    work = Work(**json.loads(sys.argv[1]))
    folder = Path(work.folder)
    with (folder / "stacks.txt").open("w", encoding="utf-8") as stacks, Board(folder / "board") as board:
        faulthandler.enable(stacks, all_threads=True)
        faulthandler.register(SHOW_STACKS, stacks, all_threads=True)
        if work.memory_bytes is not None:
            resource.setrlimit(resource.RLIMIT_AS, (work.memory_bytes, work.memory_bytes))
        signal.signal(signal.SIGINT, signal.default_int_handler)  # whoever started us may ignore it
        warnings.simplefilter("error")  # as in the tests
        warnings.simplefilter("ignore", IllegalActionWarning)
        try:
            _try_all(work, board, folder)
        except BaseException as error:
            finding = {
                "number": board.number,
                "summary": "".join(traceback.format_exception_only(error)).strip(),
                "detail": traceback.format_exc()[-_DETAIL_CHARACTERS:],
                "key": fingerprint(error),
            }
            (folder / "finding.json").write_text(json.dumps(finding), encoding="utf-8")
        board.finished = 1
        board.write()
        # Threads that an input left behind are not waited for, and what it broke may not die in peace.
        sys.stdout.flush()
        os._exit(0)


def _try_all(work: Work, board: Board, folder: Path) -> None:
    """Try every input of the slice; ``board.number`` is that of the one that is tried."""
    drawn = random.Random()
    files = folder / "files"
    files.mkdir()
    os.chdir(files)
    attempts = target_of(work.target).load()(drawn, files)
    ends = None if work.seconds is None else time.monotonic() + work.seconds
    for number in range(work.first, work.first + work.count):
        board.number = number
        board.write()
        drawn.seed(input_seed(work.seed, work.target, number))
        end = next(attempts)()
        _check_memory(work)
        board.tried += 1
        board.refused += end is Outcome.REFUSED
        board.run += end is Outcome.RUN
        board.write()
        _clear(files)
        if ends is not None and time.monotonic() > ends:
            return


def _check_memory(work: Work) -> None:
    """Half of the address space in use is too much, even if the input was refused for it in the end."""
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    if work.memory_bytes is not None and used > work.memory_bytes // 2:
        raise MemoryError(f"{used / 2**30:.1f} GB were in use")


def _clear(files: Path) -> None:
    """Leave nothing of one input to the next."""
    for entry in os.scandir(files):
        if entry.is_dir(follow_symlinks=False):
            shutil.rmtree(entry.path, ignore_errors=True)
        else:
            with contextlib.suppress(OSError):
                Path(entry.path).unlink()


if __name__ == "__main__":
    main()

"""A sweep that every engine does, and what must come of it. Not a test itself."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from dragonfly_env.sweeps import Scenario, SweepReport, load_results, run_all
from dragonfly_env.sweeps.engines import Engine

NUM_RUNS = 4
_PATIENCE_S = 0.3


def scenario(measure_ns: float = 2000.0, **changes: object) -> Scenario:
    """Four runs; of milliseconds, unless a longer window is asked for."""
    settings = {
        "topology": "72",
        "policies": ["min", "ugal-n"],
        "traffic": ["uniform"],
        "loads": [0.4],
        "seeds": [1, 2],
        "warmup_ns": 1000.0,
        "measure_ns": measure_ns,
        **changes,
    }
    return Scenario.from_dict(settings)


@contextmanager
def while_runs_are_under_way(folder: Path, do: Callable[[], None]) -> Iterator[list[int]]:
    """Does something once next to a sweep with two workers: when both have a run, or one has had for some time.

    Yields:
        What holds, after that, how many runs were under way.
    """
    found: list[int] = []
    over = threading.Event()

    def watch() -> None:
        first_s = None
        while not over.wait(0.01):
            count = len(list((folder / "runs").glob("*.running")))
            first_s = first_s or (time.monotonic() if count else None)
            if count >= 2 or (count and first_s is not None and time.monotonic() > first_s + _PATIENCE_S):
                found.append(count)
                do()
                return

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield found
    finally:
        over.set()
        thread.join()


def hashes(folder: Path) -> dict[str, str]:
    """The history of each run of a folder."""
    table = load_results(folder).table
    return dict(zip(table["run_id"], table["trace_hash"], strict=True))


def check_all_done(report: SweepReport, folder: Path, plan: Scenario, here: Path) -> None:
    """Every run is there once, nothing is left over, and all is as this machine alone makes it."""
    assert (report.finished, report.failures) == (NUM_RUNS, ())
    assert sorted(path.suffix for path in (folder / "runs").iterdir()) == [".parquet"] * NUM_RUNS
    run_all(plan, here, workers=2)
    assert hashes(folder) == hashes(here)


def check_resumes(engine: Engine, tmp_path: Path) -> None:
    """What one engine has done, another need not do again; the folder alone says what that is."""
    folder = tmp_path / "begun"
    assert run_all(scenario(policies=["min"]), folder, workers=1).finished == NUM_RUNS // 2
    report = run_all(scenario(), folder, engine=engine)
    assert (report.finished, report.reused) == (NUM_RUNS // 2, NUM_RUNS // 2)
    again = run_all(scenario(), folder, workers=1)
    assert (again.finished, again.reused) == (0, NUM_RUNS)

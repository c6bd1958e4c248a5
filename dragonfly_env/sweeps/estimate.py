"""Estimate of the time that runs take: a small part of some of them is simulated here and now."""

from __future__ import annotations

import time
from collections.abc import Hashable, Sequence

from dragonfly_env.sweeps.measure import simulation_of
from dragonfly_env.sweeps.point import Run
from dragonfly_env.sweeps.progress import spell_seconds

LONG_S = 60.0
"""Runs that take longer are announced."""
_MOST_TRIED = 8  # kinds of runs
_TRIAL_S = 0.1  # time to try one kind of run
_STEP_NS = 500.0
_LEAST_WORK_PER_S = 1e6  # host-ns of offered traffic that any machine simulates in a second


def estimate_s(runs: Sequence[Run], workers: int) -> float:
    """The wall-clock seconds of runs, so many at a time.

    Runs of one network, system and policy are taken as alike, but for their work.
    """
    kinds: dict[Hashable, list[Run]] = {}
    for run in runs:
        kinds.setdefault((run.config.topology, run.config.network, run.policy_label), []).append(run)
    seconds = work = 0.0
    for alike in [*kinds.values()][:_MOST_TRIED]:
        largest = max(alike, key=lambda run: run.work)
        seconds += _seconds_per_work(largest) * (total := sum(run.work for run in alike))
        work += total
    everything = sum(run.work for run in runs)
    longest = max((run.work for run in runs), default=0.0)
    per_work = seconds / work if work else 0.0
    return per_work * max(everything / workers, longest)


def _seconds_per_work(run: Run) -> float:
    """The seconds per host-ns of offered traffic, from the first part of a run."""
    simulation, whole_ns = simulation_of(run), run.warmup_ns + run.measure_ns
    begin_s = time.perf_counter()
    while (taken_s := time.perf_counter() - begin_s) < _TRIAL_S and simulation.time_ns + _STEP_NS <= whole_ns:
        simulation.run(_STEP_NS)
    share = simulation.time_ns / whole_ns
    return taken_s / (run.work * share) if run.work * share else 0.0


def is_long(runs: Sequence[Run], workers: int) -> bool:
    """Whether runs take more than a minute. Closed-loop runs end when they are complete, which is not known before."""
    if any(run.closed_loop for run in runs):
        return False
    return (
        sum(run.work for run in runs) / workers > LONG_S * _LEAST_WORK_PER_S
        and estimate_s(runs, workers) > LONG_S
    )


def spell_estimate(runs: Sequence[Run], workers: int) -> str:
    """``"about 3 min 20 s"``."""
    if any(run.closed_loop for run in runs):
        return "until the programs are complete"
    return f"about {spell_seconds(max(1.0, estimate_s(runs, workers)))}"

"""A run with a progress bar is cut into parts: at all times it ends at the given picosecond."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragonfly_env.checks.values import ns_to_ps
from dragonfly_env.sweeps import measure as measure_module
from dragonfly_env.sweeps.point import Run
from dragonfly_env.sweeps.scenario import Scenario

LONGEST_PS = 10**15

TIMES_PS = st.integers(0, LONGEST_PS)


def run_of(warmup_ns: float, measure_ns: float) -> Run:
    settings = {"topology": "72", "policies": ["min"], "traffic": ["uniform"], "loads": [0.1]}
    (run,) = Scenario.from_dict({**settings, "warmup_ns": warmup_ns, "measure_ns": measure_ns}).runs()
    return run


class Watch:
    """Stands for a simulation, and only adds up what it is to run."""

    def __init__(self) -> None:
        self.time_ps = 0
        self.calls = 0

    def run(self, duration_ns: float) -> None:
        part_ps = ns_to_ps("duration_ns", duration_ns)
        assert part_ps > 0
        self.time_ps += part_ps
        self.calls += 1


@given(begin_ps=TIMES_PS, duration_ps=TIMES_PS, rest_ps=TIMES_PS, watched=st.booleans())
def test_parts_add_up_to_the_picosecond(begin_ps: int, duration_ps: int, rest_ps: int, watched: bool) -> None:
    watch, seen = Watch(), []
    whole_ps = begin_ps + duration_ps + rest_ps
    end_ps = begin_ps + duration_ps
    measure_module._advance(watch, begin_ps, end_ps, whole_ps, seen.append if watched else None)  # type: ignore[arg-type]
    assert watch.time_ps == duration_ps
    assert watch.calls <= measure_module._PARTS + 2
    assert seen == sorted(seen)
    assert all(0.0 < fraction <= 1.0 for fraction in seen)


@pytest.mark.parametrize(
    ("warmup_ns", "measure_ns"), [(100000.3, 100000.1), (0.001, 1.001), (1000.1, 3000.7)]
)
def test_times_of_any_fraction_end(warmup_ns: float, measure_ns: float) -> None:
    run = run_of(warmup_ns, measure_ns)
    seen: list[float] = []
    row = measure_module.measure(run, progress=seen.append)
    assert seen[-1] == 1.0
    assert row["duration_ns"] == measure_ns
    unwatched = measure_module.measure(replace(run))
    assert unwatched["trace_hash"] == row["trace_hash"]

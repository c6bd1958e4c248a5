"""Computing times of programs that give them the published MPI share."""

from __future__ import annotations

import pytest

from dragonfly_env import jobs
from dragonfly_env.jobs import program
from dragonfly_env.jobs.program import calibrated_gap_ns


def test_a_gap_is_that_of_the_nearest_row_in_proportion_to_what_is_sent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rows = [
        {"program": "milc", "hosts": 32, "bytes_per_host": 4000, "gap_ns": 1000.0},
        {"program": "milc", "hosts": 32, "bytes_per_host": 100, "gap_ns": 30.0},
        {"program": "milc", "hosts": 256, "bytes_per_host": 4000, "gap_ns": 100.0},
    ]
    monkeypatch.setattr(program, "calibrated_gaps", lambda: tuple(rows))
    assert calibrated_gap_ns("milc", 32, 4000) == 1000
    assert calibrated_gap_ns("milc", 40, 200) == 60
    assert calibrated_gap_ns("milc", 512, 2000) == 50
    assert calibrated_gap_ns("hacc", 32, 2000) == 0
    assert jobs.Milc(gap_ns=5).gap(32) == 5

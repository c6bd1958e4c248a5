"""The comparison of Theta with an eighth of it is one of equal load."""

from __future__ import annotations

import pytest

from benchmarks.aries_machines import MACHINES, in_the_mix_of
from dragonfly_env.lab.papers import find_paper
from dragonfly_env.lab.papers.aries_points import in_the_mix

QUICK = find_paper("aries").effort("quick")


def test_hosts_of_both_machines_send_the_same_bytes_and_compute_as_long() -> None:
    cell = in_the_mix(QUICK, "milc")[0]
    eighth, whole = (
        [one.job for one in in_the_mix_of(name, cell, 1).config.placed_jobs()] for name in MACHINES
    )
    assert len(eighth) == len(whole) > 5
    for small, large in zip(eighth, whole, strict=True):
        assert large.num_hosts == 8 * small.num_hosts
        assert (large.start_ns, large.placement, large.iterations) == (
            small.start_ns,
            small.placement,
            small.iterations,
        )
        assert large.program.gap(large.num_hosts) == small.program.gap(small.num_hosts)
        assert large.program.bytes_per_host(large.num_hosts) == pytest.approx(
            small.program.bytes_per_host(small.num_hosts), rel=0.02
        )

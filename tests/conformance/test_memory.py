"""Memory comes back: hundreds of simulations take no more than a few, however they end."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable
from pathlib import Path

import pytest

import dragonfly_env as dfe
from tests.ready import ready

STATM = Path("/proc/self/statm")
MOST_GROWTH_BYTES = 12_000_000

pytestmark = pytest.mark.skipif(not STATM.exists(), reason="needs Linux' /proc")


def resident_bytes() -> int:
    gc.collect()
    return int(STATM.read_text().split()[1]) * os.sysconf("SC_PAGESIZE")


def check_no_growth(action: Callable[[int], None], times: int) -> None:
    """The first calls fill pools and caches; those that follow may add next to nothing."""
    for i in range(times // 4):
        action(i)
    before = resident_bytes()
    for i in range(times):
        action(i)
    assert resident_bytes() - before < MOST_GROWTH_BYTES


def test_finished_simulations_leave_nothing_behind() -> None:
    def simulate(i: int) -> None:
        config = dfe.SimulationConfig(
            topology=dfe.Dragonfly(p=300, a=2, h=1, g=3),
            policy=ready(dfe.policies()[i % len(dfe.policies())]),
            load=0.2,
            seed=i,
            threads=1 + i % 3,
            packet_log=True,
            group_latency=True,
            host_latency=True,
            series_bin_ns=10,
        )
        simulation = dfe.Simulation(config)
        simulation.run(1000)
        simulation.metrics().to_dict()
        simulation.packet_log()

    check_no_growth(simulate, 200)


def test_a_long_run_grows_only_with_what_is_recorded() -> None:
    config = dfe.SimulationConfig(
        topology=dfe.Dragonfly.preset("72"), policy="par", load=1.0, traffic="adv+1", source_queue_packets=4
    )
    simulation = dfe.Simulation(config)

    def advance(_: int) -> None:
        simulation.run(10_000)
        simulation.reset_statistics()

    check_no_growth(advance, 50)

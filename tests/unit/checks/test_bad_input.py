"""Extreme but legal messages, and systems that no machine holds, take neither memory nor time."""

from __future__ import annotations

import resource
from collections.abc import Iterator
from typing import Any

import pytest

import dragonfly_env as dfe
from dragonfly_env.traffic import Trace

SMALL = dfe.Dragonfly.preset("72")

MOST_MEMORY_KB = 1_000_000


def peak_memory_kb() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


@pytest.fixture(autouse=True)
def bounded_memory() -> Iterator[None]:
    """Fail if a test makes the process grow by a gigabyte."""
    before = peak_memory_kb()
    yield
    assert peak_memory_kb() - before < MOST_MEMORY_KB


def trace(**columns: Any) -> Trace:
    good = {"time_ns": [0, 10, 20], "src": [0, 1, 2], "dst": [5, 9, 71], "bytes": [128, 128, 128]}
    return Trace.from_columns(**{**good, **columns})


def test_messages_of_billions_of_packets_take_no_memory() -> None:
    huge = trace(bytes=[2**38, 2**37, 2**36])
    for queue in (None, 1):
        simulation = dfe.Simulation(
            dfe.SimulationConfig(topology=SMALL, traffic=huge, source_queue_packets=queue)
        )
        simulation.run(10_000)
        m = simulation.metrics()
        assert m.packets_injected > 300
        assert m.packets_in_source_queues > 10**9 or queue == 1
        assert simulation.drain(None if queue else 1000) is (queue == 1)
        simulation.check_invariants()


def test_silence_of_years_passes_at_once() -> None:
    late = trace(time_ns=[0, 10, 1e14])
    simulation = dfe.Simulation(dfe.SimulationConfig(topology=SMALL, traffic=late))
    simulation.run(1e14 - 1)
    assert simulation.metrics().packets_delivered == 2
    simulation.run(1e6)
    assert simulation.metrics().packets_delivered == 3
    for injection in ("periodic", "bernoulli", "poisson"):
        config = dfe.SimulationConfig(topology=SMALL, load=1e-300, injection=injection)
        simulation = dfe.Simulation(config)
        simulation.run(9e14)
        assert simulation.metrics().packets_generated <= 72
        assert simulation.drain() is True


def test_a_system_that_no_machine_holds_is_refused_before_it_is_built() -> None:
    config = dfe.SimulationConfig(topology=dfe.Dragonfly(400, 300, 300, g=320), source_queue_packets=10_000)
    with pytest.raises(dfe.ConfigError, match=r" GB of memory, and this machine has \d+ GB"):
        dfe.Simulation(config)


def test_tables_that_no_machine_holds_are_refused_before_they_are_filled() -> None:
    config = dfe.SimulationConfig(topology=dfe.Dragonfly(2, 40, 40), policy="q-routing")  # 64,040^2 rows
    with pytest.raises(dfe.ConfigError, match=r"64040 routers: .* GB of memory, and this machine has \d+ GB"):
        dfe.Simulation(config)

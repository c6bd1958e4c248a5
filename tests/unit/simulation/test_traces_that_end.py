"""A trace has an end: when its last message is delivered, and the next whole microsecond after that."""

from __future__ import annotations

import math

import pytest

import dragonfly_env as dfe

TRACE = dfe.traffic.Trace.from_columns(
    time_ns=[0, 50, 700.5, 4_200], src=[0, 1, 5, 30], dst=[9, 40, 5, 71], bytes=[128, 4_096, 0, 900]
)
PACKETS = 1 + 32 + 1 + 8


def make(**settings: object) -> dfe.Simulation:
    return dfe.Simulation(dfe.SimulationConfig(topology="72", traffic=TRACE, packet_log=True, **settings))  # type: ignore[arg-type]


def test_a_trace_runs_to_its_last_delivery() -> None:
    simulation = make()
    metrics = simulation.run_to_completion()
    assert metrics.packets_delivered == metrics.packets_generated == PACKETS
    assert metrics.makespan_ns == simulation.packet_log()["delivered_ns"].max() > 4_200
    assert simulation.time_ns == math.ceil(metrics.makespan_ns / 1_000) * 1_000
    assert simulation.progress() == 1.0
    assert simulation.run_to_completion() == metrics


@pytest.mark.parametrize("piece_ns", [137.5, 1_000.0, 4_300.0])
def test_the_end_does_not_depend_on_how_the_run_is_cut(piece_ns: float) -> None:
    whole, cut = make(), make(threads=2)
    metrics = whole.run_to_completion()
    shares = []
    while math.isnan(cut.run_to_completion(piece_ns).makespan_ns):
        shares.append(cut.progress())
        cut = cut.fork()
    assert (cut.time_ns, cut.metrics().makespan_ns) == (whole.time_ns, metrics.makespan_ns)
    assert cut.trace_hash() == whole.trace_hash()
    assert shares == sorted(shares)


def test_windows_follow_a_trace_to_its_end() -> None:
    simulation = make()
    windows = simulation.run_in_windows(500)
    assert windows.time_ns[-1] == simulation.time_ns - 500 == 5_500
    assert simulation.metrics().makespan_ns > 5_000


def test_a_trace_without_messages_is_over_at_once() -> None:
    empty = dfe.traffic.Trace.from_columns(time_ns=[], src=[], dst=[], bytes=[])
    simulation = dfe.Simulation(dfe.SimulationConfig(topology="72", traffic=empty))
    assert simulation.run_to_completion().makespan_ns == simulation.time_ns == 0.0


def test_a_trace_that_was_stopped_never_ends() -> None:
    simulation = make()
    simulation.run(1_000)
    simulation.drain()
    assert math.isnan(simulation.metrics().makespan_ns)
    with pytest.raises(dfe.StateError, match="the messages of the trace were stopped by drain"):
        simulation.run_to_completion()

"""Messages of a trace in a packet log, and when each was delivered."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dragonfly_env as dfe
from dragonfly_env.traffic import Trace

HOSTS = 72
MESSAGES = st.lists(
    st.tuples(
        st.integers(0, 3_000), st.integers(0, HOSTS - 1), st.integers(0, HOSTS - 1), st.integers(0, 1_000)
    ),
    min_size=1,
    max_size=30,
)


def make(trace: Trace, **changes: object) -> dfe.Simulation:
    changes = {"policy": "val-n", "packet_log": True, **changes}
    return dfe.Simulation(dfe.SimulationConfig(topology="72", traffic=trace, **changes))  # type: ignore[arg-type]


@settings(max_examples=25)
@given(rows=MESSAGES)
def test_a_message_is_delivered_with_its_last_packet(rows: list[tuple[int, ...]]) -> None:
    rows = sorted(rows, key=lambda row: row[0])
    time_ns, src, dst, sizes = (list(column) for column in zip(*rows, strict=True))
    trace = Trace.from_columns(time_ns=time_ns, src=src, dst=dst, bytes=sizes)
    simulation = make(trace)
    makespan_ns = simulation.run_to_completion().makespan_ns
    log = simulation.packet_log()
    message = log["message"]
    # The columns of the trace, found again in every packet.
    assert np.array_equal(log["src"], np.array(src)[message])
    assert np.array_equal(log["dst"], np.array(dst)[message])
    assert np.array_equal(log["created_ns"], np.array(time_ns, float)[message])
    packet_bytes = simulation.config.network.message_bytes_of_packet
    packets = np.maximum(1, np.ceil(np.array(sizes) / packet_bytes))
    assert np.array_equal(np.bincount(message, minlength=len(rows)), packets)
    assert np.array_equal(log["message_packets"], packets[message])
    delivered = trace.delivered_ns(log)
    assert delivered.tolist() == [log["delivered_ns"][message == row].max() for row in range(len(rows))]
    assert delivered.max() == makespan_ns


def test_a_message_of_which_a_packet_is_under_way_has_no_time_of_delivery() -> None:
    trace = Trace.from_columns(time_ns=[0, 0, 5_000], src=[0, 1, 2], dst=[40, 50, 60], bytes=[128, 12_800, 1])
    simulation = make(trace)
    simulation.run(2_000)
    log = simulation.packet_log()
    assert 0 < np.count_nonzero(log["message"] == 1) < 100
    assert np.isnan(trace.delivered_ns(log)).tolist() == [False, True, True]


@pytest.mark.parametrize(
    "changes", [{"source_queue_packets": 4, "source_queue_full": "lose"}, {"jobs": ["milc:hosts=4"]}]
)
def test_packets_name_no_message_where_their_numbers_are_not_those_of_the_trace(
    changes: dict[str, object],
) -> None:
    trace = Trace.from_columns(time_ns=[0], src=[40], dst=[50], bytes=[128])
    simulation = make(trace, policy="min", **changes)
    simulation.run(1_000)
    log = simulation.packet_log()
    assert "message" not in log
    with pytest.raises(dfe.ConfigError, match="must be the packet log of a run of a trace"):
        trace.delivered_ns(log)


def test_packets_of_a_fork_with_other_traffic_name_no_message() -> None:
    trace = Trace.from_columns(time_ns=[0, 3_000], src=[40, 41], dst=[50, 51], bytes=[128, 128])
    other = Trace.from_columns(time_ns=[4_000], src=[40], dst=[50], bytes=[128])
    simulation = make(trace)
    simulation.run(1_000)
    assert "message" in simulation.packet_log()
    assert "message" not in simulation.fork(traffic=other).packet_log()
    assert "message" in simulation.fork().packet_log()

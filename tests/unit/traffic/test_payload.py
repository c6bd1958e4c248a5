"""Messages become packets by what a packet carries of them, not by its size on the wire."""

from __future__ import annotations

from typing import Any

import pytest

import dragonfly_env as dfe
from dragonfly_env.traffic.trace import Trace

TOPOLOGY = dfe.Dragonfly(p=2, a=4, h=2)
WORK: dict[str, dict[str, Any]] = {
    "pattern": {"traffic": "all-to-all:message_bytes=512"},
    "pattern as a job": {"jobs": [dfe.Job("all-to-all:message_bytes=512", 72)], "traffic": "none"},
    "program": {"jobs": [dfe.Job("rayleigh:scale=0.01,gap_ns=100,piece_bytes=128", 16)], "traffic": "none"},
    "trace": {"traffic": Trace.from_columns(time_ns=[0, 1], src=[0, 1], dst=[9, 8], bytes=[1024, 256])},
}


def packets(work: dict[str, Any], payload_bytes: int | None) -> int:
    network = dfe.NetworkConfig(packet_bytes=128, payload_bytes=payload_bytes)
    simulation = dfe.Simulation(dfe.SimulationConfig(topology=TOPOLOGY, network=network, **work))
    simulation.run(2_000_000)
    simulation.check_invariants()
    metrics = simulation.metrics()
    assert metrics.packets_delivered == metrics.packets_generated
    return metrics.packets_delivered


@pytest.mark.parametrize("name", WORK)
def test_a_message_needs_more_packets_where_each_carries_less_of_it(name: str) -> None:
    whole = packets(WORK[name], None)
    assert whole > 0
    assert packets(WORK[name], 128) == whole
    # Messages of whole packets: exactly twice and eight times as many. Those of rayleigh end in a part of one.
    assert packets(WORK[name], 64) == pytest.approx(2 * whole, rel=0.05 if name == "program" else 0)
    assert packets(WORK[name], 16) == pytest.approx(8 * whole, rel=0.05 if name == "program" else 0)


def test_the_load_of_open_loop_traffic_is_that_of_packets_on_the_wire() -> None:
    def offered(payload_bytes: int | None) -> float:
        network = dfe.NetworkConfig.preset("aries", payload_bytes=payload_bytes)
        config = dfe.SimulationConfig(topology=TOPOLOGY, network=network, policy="min", load=0.2)
        return dfe.simulate(config, measure_ns=5000).offered_load

    assert offered(64) == offered(None)

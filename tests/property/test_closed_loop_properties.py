"""Closed-loop traffic under arbitrary settings: every message arrives once, and the books balance on the way."""

from __future__ import annotations

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st

import dragonfly_env as dfe
from tests.property.configurations import networks, topologies
from tests.ready import ready

PIECES = st.lists(st.sampled_from([0.1, 1.0, 32.0, 333.3, 1000.0]), max_size=6)


@st.composite
def exchanges(draw: st.DrawFn) -> dfe.SimulationConfig:
    """Any all-to-all under any policy on any small network."""
    try:
        config = dfe.SimulationConfig(
            topology=draw(topologies()),
            network=draw(networks()),
            traffic=dfe.AllToAll(
                message_bytes=draw(st.sampled_from([1, 128, 129, 700])),
                in_flight=draw(st.sampled_from([1, 1, 2, 7, 1000])),
                placement=draw(st.sampled_from(["consecutive", "random", "random-routers", "random-groups"])),
            ),
            policy=ready(draw(st.sampled_from(dfe.policies()))),
            source_queue_packets=draw(st.sampled_from([None, None, 1, 2, 9])),
            seed=draw(st.integers(0, 2**64 - 1)),
            packet_log=True,
        )
        dfe.Simulation(config)
    except dfe.ConfigError:
        assume(False)  # too few VCs for the policy, say
        raise
    return config


@given(exchanges(), PIECES)
def test_every_message_arrives_exactly_once_and_the_books_balance_on_the_way(
    config: dfe.SimulationConfig, pieces: list[float]
) -> None:
    hosts, traffic = config.topology.num_hosts, config.traffic
    packets = -(-traffic.message_bytes // (config.network.payload_bytes or config.network.packet_bytes))
    simulation, share = dfe.Simulation(config), 0.0
    for piece in pieces:
        simulation.run(piece)
        simulation.check_invariants()
        m = simulation.metrics()
        assert m.packets_generated == m.packets_delivered + m.packets_in_flight
        assert m.packets_in_source_queues <= hosts * packets * min(traffic.in_flight, hosts - 1)
        assert share <= simulation.progress() <= 1.0
        share = simulation.progress()
    m = simulation.run_to_completion()
    simulation.check_invariants()
    assert simulation.progress() == 1.0
    assert m.messages is not None
    assert m.messages.sent == m.messages.delivered == hosts * (hosts - 1)
    assert m.packets_in_flight == 0
    log = simulation.packet_log()
    pairs, counts = np.unique(log["src"].astype(np.int64) * hosts + log["dst"], return_counts=True)
    assert len(pairs) == hosts * (hosts - 1)
    assert (counts == packets).all()
    assert not (log["src"] == log["dst"]).any()
    assert m.makespan_ns == log["delivered_ns"].max() <= simulation.time_ns

"""Latency of a lone packet: exact to the picosecond, each figure derived here by hand.

Network ``q-adaptive`` (ns). A packet leaves an idle host when the port's timer has run one packet time, 32; wire 10
and input latency 10 take it into the input buffer, 52 after its generation. There it waits for an edge of the
3.2-ns crossbar clock, and one that arrives exactly on an edge waits for the next, a whole 3.2. The crossbar takes no
time; then the idle output port's timer runs 32, and the packet spends 10 in the output, the latency of the link,
and 10 in the next input: 82 from edge to input over a local link, 352 over a global one. The last link has 10 and
10, and no input behind it: 52 from the last edge to delivery.

Edges are whole multiples of 3.2. 82 past an edge the next is at 83.2 (1.2 of waiting), 352 = 110 x 3.2 past an edge
the next is at 355.2 (3.2 of waiting). So a local hop costs 83.2, a global one 355.2, after any other hop.

Network ``lia`` (ns). A packet reaches the router whole, 1 after its generation, on an edge of the 1-ns clock, waits
for the next (1), spends 89 in the crossbar: 90 per router. Its head then travels on at once, 15 or 150 per link. At
the host the tail is waited for, 10.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

import dragonfly_env as dfe
from tests.analytic.replay import (
    LIA,
    PATTERNS,
    PS,
    Q_ADAPTIVE,
    Message,
    deliveries_ps,
    hosts_apart,
    latency_ps,
)


def test_the_first_periodic_message_of_every_host_is_generated_at_one_ns() -> None:
    simulation = dfe.Simulation(
        dfe.SimulationConfig(
            topology=dfe.Dragonfly.preset("72"), network=Q_ADAPTIVE, load=0.5, packet_log=True
        )
    )
    simulation.run(5_000)
    log = simulation.packet_log()
    first = log["number"] == 0
    assert first.sum() == 72
    assert (log["created_ns"][first] == 1.0).all()
    assert (log["created_ns"] == 1.0 + 64.0 * log["number"]).all()


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_packet_of_time_zero_takes_105_ns_and_83_per_local_and_355_per_global_hop(
    pattern: str,
) -> None:
    """Generated at 1: in the first buffer at 53, the next edge is 17 x 3.2 = 54.4, two hosts of one router are
    54.4 + 52 - 1 = 105.4 apart; each hop adds 83.2 or 355.2 (see the module). Local-global-local: 627.0.
    """
    expected = 105_400 + 83_200 * pattern.count("L") + 355_200 * pattern.count("G")
    assert latency_ps(Q_ADAPTIVE, pattern) == expected


@pytest.mark.parametrize(
    ("pattern", "published_ns"), [("", 105), ("L", 188), ("G", 460), ("LG", 543), ("GL", 543), ("LGL", 627)]
)
def test_cut_to_whole_ns_zero_load_latencies_are_the_published_ones(pattern: str, published_ns: int) -> None:
    """The published simulator prints whole ns, cut off: what it prints for lone packets generated at 1."""
    assert latency_ps(Q_ADAPTIVE, pattern) // PS == published_ns


@pytest.mark.parametrize("pattern", ["", "LGL"])
@pytest.mark.parametrize("tenths", [0, 10, 24, 32, 56, 120, 124, 10_002, 123_458])
def test_only_the_wait_for_the_first_clock_edge_depends_on_the_time_of_generation(
    pattern: str, tenths: int
) -> None:
    """In the first buffer 52 after generation; the wait there is 3.2 - (t + 52) mod 3.2, so 3.2 for an arrival on
    an edge, as at t = 2.4 (54.4 = 17 x 3.2) or 5.6. All later waits are counted from an edge.
    """
    wait = 32 - (tenths + 520) % 32
    assert 0 < wait <= 32
    expected = 520 + wait + 520 + 832 * pattern.count("L") + 3552 * pattern.count("G")
    assert latency_ps(Q_ADAPTIVE, pattern, time_ns=tenths / 10) == expected * PS // 10


@pytest.mark.parametrize("pattern", PATTERNS)
def test_decisions_on_arrival_delay_a_packet_by_the_routing_delay_rounded_up_to_clock_edges(
    pattern: str,
) -> None:
    """Default network: 100 ns between arrival and crossbar. At the first router 53 + 100 = 153, next edge 153.6,
    delivered 52 later: latency 204.6. A local hop takes 82 + 100 = 182 from an edge, next edge 182.4; a global
    one 352 + 100 = 452, next edge 454.4.
    """
    expected = 204_600 + 182_400 * pattern.count("L") + 454_400 * pattern.count("G")
    assert latency_ps(dfe.NetworkConfig(), pattern) == expected


@pytest.mark.parametrize(
    ("pattern", "expected_ns"), [("", 101), ("L", 206), ("G", 341), ("LG", 446), ("GL", 446), ("LGL", 551)]
)
def test_lia_takes_1_ns_and_90_per_router_and_the_links_and_10_phits(pattern: str, expected_ns: int) -> None:
    """1 + (hops + 1) * 90 + links + 10. Local-global-local: 1 + 4 * 90 + 15 + 150 + 15 + 10 = 551."""
    links = 15 * pattern.count("L") + 150 * pattern.count("G")
    assert expected_ns == 1 + (len(pattern) + 1) * 90 + links + 10
    for time_ns in (0, 1, 17):
        assert latency_ps(LIA, pattern, time_ns=time_ns) == expected_ns * PS


@pytest.mark.parametrize(
    ("switching", "injection_gbytes_per_s", "packet_bytes", "expected_ns"),
    [
        # Cut-through: only the host waits for the tail, 1 ns per phit of 25 bytes. 1 + 4 * 90 + 180 = 541 for the head.
        ("cut-through", math.inf, 25, 542),
        ("cut-through", math.inf, 250, 551),
        ("cut-through", math.inf, 1000, 581),
        # A host that sends phit by phit delays no head either.
        ("cut-through", None, 1000, 581),
        # Store-and-forward: each of the three links between routers, and the host's if it takes time, adds a packet.
        ("store-and-forward", math.inf, 250, 541 + 3 * 10 + 10),
        ("store-and-forward", None, 250, 541 + 4 * 10 + 10),
        ("store-and-forward", None, 1000, 541 + 4 * 40 + 40),
    ],
)
def test_cut_through_counts_the_serialisation_once_and_store_and_forward_on_every_link(
    switching: str, injection_gbytes_per_s: float | None, packet_bytes: int, expected_ns: int
) -> None:
    network = LIA.replace(
        switching=switching,
        injection_bandwidth_gbytes_per_s=injection_gbytes_per_s,
        packet_bytes=packet_bytes,
    )
    assert latency_ps(network, "LGL") == expected_ns * PS


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize(("network", "packet_ns"), [(Q_ADAPTIVE, 32), (LIA, 10)], ids=["q-adaptive", "lia"])
def test_packets_of_a_message_follow_each_other_at_one_packet_time(
    network: dfe.NetworkConfig, packet_ns: int, pattern: str
) -> None:
    """The slowest stage of an empty path is a link, which takes a packet every 32 (q-adaptive; 10 x the clock, so
    all wait alike for edges) or 10 (lia, where they enter the router together and the crossbar passes one every 5).
    """
    src, dst = hosts_apart(dfe.Dragonfly.preset("72", arrangement="absolute"), pattern)
    delivered = deliveries_ps(network, [Message(src, dst, packets=8)])
    assert delivered[0] == PS + latency_ps(network, pattern)
    assert np.diff(delivered).tolist() == [packet_ns * PS] * 7

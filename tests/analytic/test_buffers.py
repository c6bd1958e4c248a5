"""Buffers and credits: how often a link may send when the buffer behind it is small, derived by hand.

A credit is in use from the moment a packet leaves its output queue (``lia``: enters it) until the packet has left
the input buffer behind the link and the credit has travelled back. With too few credits to cover that time the link
pauses; the pauses, too, are exact.
"""

from __future__ import annotations

import numpy as np
import pytest

import dragonfly_env as dfe
from tests.analytic.replay import LIA, PS, Q_ADAPTIVE, SMALL, Message, deliveries_ps, hosts_apart, latency_ps


def gaps_ps(network: dfe.NetworkConfig, pattern: str, packets: int) -> list[int]:
    """Times between deliveries of one long message; the first packet must come as if alone."""
    src, dst = hosts_apart(SMALL, pattern)
    delivered = deliveries_ps(network, [Message(src, dst, packets=packets)], run_ns=1_000_000)
    assert delivered[0] == PS + latency_ps(network, pattern)
    return [int(gap) for gap in np.diff(delivered)]


@pytest.mark.parametrize(("pattern", "gap_ns"), [("L", 134.4), ("G", 675.2)])
def test_one_credit_allows_one_packet_per_round_trip_and_timer(pattern: str, gap_ns: float) -> None:
    """q-adaptive, one packet of room behind the link. A packet that leaves at T is in the next buffer at T + 50
    (local: 10 + 30 + 10; global 320), leaves it at the next edge, and its credit is back another 50 (320) later.
    The idle port's timer then runs 32. That is 132 (672) and the wait for the edge. The packets enter the second
    router on edges, so the period is the next multiple of 3.2: 134.4 = 42 x 3.2. 672 is itself one, 210 x 3.2, and
    an arrival on an edge waits for the next: 675.2, the 21.1 packet times that the published simulator shows.
    """
    network = Q_ADAPTIVE.replace(local_buffer_packets=1, global_buffer_packets=1)
    assert gaps_ps(network, pattern, 12) == [round(gap_ns * PS)] * 11


def test_the_credit_of_a_host_starts_the_timer_one_nanosecond_after_its_round_trip() -> None:
    """default: a packet leaves the last router at T. Wire and output to the host, and back to the router's input, take
    4 x 10, and the host 1. This credit starts the idle port's timer of 32, and the packet that comes meanwhile leaves
    73 after the first. With link_start="immediate" it leaves when it comes.
    """
    messages = [Message(0, 1, time_ns=0), Message(0, 1, time_ns=80)]
    for link_start, gap_ns in (("timer", 73), ("immediate", 80)):
        network = dfe.NetworkConfig(link_start=link_start)
        assert np.diff(deliveries_ps(network, messages, run_ns=1_000)).tolist() == [gap_ns * PS]


@pytest.mark.parametrize(("pattern", "link_ns"), [("L", 15), ("G", 150)])
def test_lia_has_a_round_trip_of_91_ns_and_the_link_twice(pattern: str, link_ns: int) -> None:
    """The credit is taken when the packet enters the crossbar at an edge T. Its head leaves at T + 89, arrives
    ``link`` later on an edge, goes on at the next (1), and the credit travels ``link``; it arrives on an edge, so
    the next packet enters the crossbar at the one behind it (1): 89 + 1 + 1 + 2 * link.
    """
    network = LIA.replace(local_buffer_packets=1, global_buffer_packets=1)
    assert gaps_ps(network, pattern, 12) == [(91 + 2 * link_ns) * PS] * 11


@pytest.mark.parametrize(
    ("pattern", "buffer", "packets", "period_ns"),
    [
        # Local: the credit is back 50 + 1.2..3.2 + 50 after the packet left. Three credits last 96: a pause.
        ("L", 1, 1, 134.4),
        ("L", 2, 2, 134.4),
        ("L", 3, 3, 134.4),
        # Four last 128: the first is back before the timer of the fourth ends, and there is no pause.
        ("L", 4, 1, 32.0),
        # Global: the credit is back after 643.2. Twenty credits last 640, and miss it by 3.2.
        ("G", 1, 1, 675.2),
        ("G", 10, 10, 675.2),
        ("G", 20, 20, 675.2),
        ("G", 21, 1, 32.0),
    ],
)
def test_a_link_sends_as_many_packets_per_round_trip_as_it_has_credits(
    pattern: str, buffer: int, packets: int, period_ns: float
) -> None:
    """q-adaptive, a long message over one link. With B credits: B packets per round trip and timer (see above) as
    long as B packet times are shorter than the round trip; else a packet per packet time, 32. Credits that come
    back start the timers of the destination's port at different phases, so single gaps vary; whole periods do not.
    """
    network = Q_ADAPTIVE.replace(local_buffer_packets=buffer, global_buffer_packets=buffer)
    gaps = gaps_ps(network, pattern, 400)
    settled = np.cumsum(gaps[200:])
    over_periods = settled[packets:] - settled[:-packets]
    assert over_periods.mean() == pytest.approx(period_ns * PS, rel=2e-3)
    periods = (len(settled) - 1) // packets
    first, last = settled[0], settled[periods * packets]
    assert (last - first) / periods == pytest.approx(period_ns * PS, abs=32 * PS / periods)


def test_a_returned_credit_starts_the_timer_of_an_idle_port() -> None:
    """Two hosts of one router, a buffer for a single packet between host and router.

    The first packet is in that buffer at 53, leaves it at 54.4, and its host at 106.4. Its credit takes 10 + 10, the
    sender's timer 32, then 20 to the buffer: in again at 126.4, out at 128.0, and so on every 73.6 (72 and the wait
    for the next edge, 1.6). But 41 after each packet (20 there, 1 in the host, 20 back) the destination's credit is at
    the ejection port and starts its timer, and a packet that comes while it runs waits for the remainder only: it
    leaves 41 + 32 = 73 after the one before. The second comes 0.6 after the credit, and every packet 0.6 later in the
    timer's run than the one before, until the 55th comes 54 x 0.6 = 32.4 after it, when the timer has ended: it waits
    a whole 32, and follows the 54th after 105.4. On average 73.6, as often as the buffer allows.
    """
    network = Q_ADAPTIVE.replace(host_buffer_packets=1)
    assert gaps_ps(network, "", 109) == 2 * (53 * [73_000] + [105_400])
    assert 53 * 73_000 + 105_400 == 54 * 73_600


def test_a_full_output_queue_holds_packets_back_without_losing_time() -> None:
    """A link that is always busy does not care how many of the waiting packets are in its output queue."""
    network = Q_ADAPTIVE.replace(global_buffer_packets=64)
    for packets in (1, 2, 20):
        small = network.replace(output_buffer_packets=packets)
        assert gaps_ps(small, "LGL", 100) == gaps_ps(network, "LGL", 100) == [32_000] * 99

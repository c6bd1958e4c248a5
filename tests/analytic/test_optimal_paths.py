"""The best joint action, derived by hand, has the highest return, step by step and transition by transition.

Three groups of one router each, 1 or 2 links apart. Links pass a packet of 128 bytes in 32 ns, and idle ones start at
once. The path through the third group has one more hop: 32 ns on the link, 10 each in output, link and input, 10 until
it is decided there, 1 until the next edge of the router's clock: 73 ns more. All packets are generated at once by
different hosts for different hosts, so a packet waits for nothing but the packets before it on a link between groups.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np
import pandas as pd
import pytest

import dragonfly_env as dfe

HOSTS = 12  # hosts per router
PACKET_NS = 32
LONGER_NS = 73
BEFORE_DECISION_NS = 52  # host link 32, wire 10, input 10
CREDIT_NS = 1_000
SENDERS = (0, 2)
NETWORK = dfe.NetworkConfig(
    global_latency_ns=10.0, routing_delay_ns=10.0, router_clock_ns=1.0, link_start="immediate"
)


def waiting_ns(packets: int) -> int:
    """Time that packets wait together that come to a free link at the same time."""
    return PACKET_NS * packets * (packets - 1) // 2


def added_ns(packets: Sequence[int], longer: Sequence[int]) -> int:
    """Time that packets to group 1 take together above as many lone packets on minimal paths.

    Packets that go around come to the link of the other router ``LONGER_NS`` after its own packets and wait until
    those have gone.

    Args:
        packets: Packets from group 0, and packets from group 2.
        longer: Number of each that go through the other of the two groups.
    """
    total = 0
    for packet, (going, coming) in zip(packets, (longer, longer[::-1]), strict=True):
        last_ns = (packet - going) * PACKET_NS
        total += waiting_ns(packet - going) + waiting_ns(coming) + coming * max(LONGER_NS, last_ns)
    return total


class Played:
    """An episode in which so many packets of each sender, the first ones, take the longer path."""

    def __init__(self, packets: Sequence[int], longer: Sequence[int]) -> None:
        sends = [
            (router * HOSTS + host, HOSTS + 4 * router + host)  # different hosts, so no packet waits there
            for router, count in zip(SENDERS, packets, strict=True)
            for host in range(count)
        ]
        messages = pd.DataFrame([(0, src, dst, 128) for src, dst in sends])
        messages.columns = ["time_ns", "src", "dst", "bytes"]
        config = dfe.SimulationConfig(
            topology=dfe.Dragonfly(p=HOSTS, a=1, h=2, g=3), network=NETWORK, traffic=messages, packet_log=True
        )
        env = dfe.BatchedRoutingEnv(
            config, scope="source", action="path", duration_ns=5_000, latency_credit_ns=CREDIT_NS
        )
        left = dict(zip(SENDERS, longer, strict=True))
        self.of_steps = self.of_transitions = 0.0
        batch = env.reset(seed=1)
        while not env.done:
            actions = batch.minimal_actions()
            for row, router in enumerate(batch.agents.tolist()):
                if left[router] > 0:
                    actions[row] = np.flatnonzero(batch.mask[row])[-1]
                    left[router] -= 1
            batch = env.step(actions)
            self.of_steps += env.rewards_by_router().sum() * 1_000
            self.of_transitions += env.transitions().rewards.sum() * 1_000
        log = env.packet_log()
        assert (log["hops"] == 2 - log["minimal"]).all()
        assert np.count_nonzero(log["hops"] == 2) == sum(longer)
        self.latency_ns = float((log["delivered_ns"] - log["created_ns"]).sum())


def check(packets: tuple[int, int], best: tuple[int, int]) -> None:
    """Play every joint action: its latency is that derived by hand, and the best one has the best returns."""
    chosen = list(product(*(range(count + 1) for count in packets)))
    expected = {longer: added_ns(packets, longer) for longer in chosen}
    assert min(expected, key=expected.__getitem__) == best
    assert sorted(expected.values())[1] > expected[best]
    played = {longer: Played(packets, longer) for longer in chosen}
    steps = {longer: play.of_steps for longer, play in played.items()}
    transitions = {longer: play.of_transitions for longer, play in played.items()}
    assert max(steps, key=steps.__getitem__) == max(transitions, key=transitions.__getitem__) == best
    lone_ns = played[best].latency_ns - expected[best]
    for longer, play in played.items():
        assert play.latency_ns - lone_ns == expected[longer]
        assert play.of_steps == pytest.approx(CREDIT_NS * sum(packets) - play.latency_ns, abs=1e-6)
        before_decision_ns = BEFORE_DECISION_NS * sum(packets)
        assert play.of_transitions == pytest.approx(before_decision_ns - play.latency_ns, abs=1e-3)


def test_one_agent_shares_its_packets_between_two_paths() -> None:
    """Three of 8 packets go around: 32 x (10 + 3) + 3 x 73 = 635 ns. With 2 it is 658, with 4 676."""
    check((8, 0), (3, 0))


def test_two_agents_meet_at_one_link() -> None:
    """Two of 7 packets go around: alone 32 x (10 + 1) + 2 x 73 = 498 ns. As router 2 has 3 packets for the link that
    those reach after 73 ns, each waits 23 ns there, and the 3 wait 96: 640. None of the 3 goes around.
    """
    check((7, 3), (2, 0))

"""Time of an all-to-all exchange in which no two packets ever want the same link at the same time: by hand.

Network ``q-adaptive`` (ns); what a lone packet takes is derived in ``test_zero_load_latency.py``. Messages of one
packet: a host sends its k-th when its port has run k packet times, at T k, and never waits for anything but its port.
In step k every host i sends to i + k, so every host sends one packet and every host is sent one: no two go to one host.
"""

from __future__ import annotations

import pytest

import dragonfly_env as dfe
from tests.analytic.replay import Q_ADAPTIVE


@pytest.mark.parametrize("hosts", [2, 8, 20])
def test_on_one_router_steps_follow_each_other_by_a_packet_time_exactly(hosts: int) -> None:
    """T = 32. The first packets are in the buffers at 32 + 20 = 52, cross at the edge 54.4, and leave the idle output
    ports when their timers have run, at 86.4. Each output gets one packet per step, 32 apart, while its timer of 32 is
    running: it leaves when that ends. So the last of the N - 1 leaves at 86.4 + 32 (N - 2), and takes 20 more.
    """
    config = dfe.SimulationConfig(
        topology=dfe.Dragonfly(hosts, 1, 0, 1), network=Q_ADAPTIVE, traffic="all-to-all:message_bytes=128"
    )
    m = dfe.Simulation(config).run_to_completion()
    assert m.makespan_ns == pytest.approx(106.4 + 32 * (hosts - 2), abs=1e-9)
    assert m.packets_delivered == hosts * (hosts - 1)


def test_on_72_hosts_that_inject_slowly_the_exchange_takes_its_71_steps_and_one_journey() -> None:
    """There are 9 groups of 4 routers with 2 hosts and 2 global links each. In step k = 8 q + r the hosts of group G
    send to G + q (8 - r of them) and G + q + 1 (r), over one global link each. So a link carries at most 8 packets per
    step, 8 x 32 = 256 ns. Let injecting a packet take T = 256 ns: what one step sends is through before the next comes.

    The last packets leave at 71 T = 18,176. In step 71 host i sends to i - 1: seven of eight stay in their group, the
    first crosses to the group before. In the palm tree it sits on router 0, which owns the link there, and its partner
    on router 3, where that link ends: one global hop. It is in the first buffer at 18,196, crosses at the edge
    18,198.4, and takes 355.2 and 52 from there: 18,605.6. Nothing else is on its way any more; a credit of an earlier
    packet may have started the timer of an idle port, which saves some ns: within 0.1 %.
    """
    network = Q_ADAPTIVE.replace(injection_bandwidth_gbytes_per_s=0.5)
    config = dfe.SimulationConfig(
        topology=dfe.Dragonfly.preset("72"),
        network=network,
        policy="min",
        traffic="all-to-all:message_bytes=128",
    )
    m = dfe.Simulation(config).run_to_completion()
    assert m.makespan_ns == pytest.approx(18_605.6, rel=0.001)


def test_at_full_speed_72_hosts_need_at_least_what_their_global_links_need() -> None:
    """Between two groups there is one link, and 8 x 8 packets of 32 ns each cross it: 2,048 ns. The link to the group
    before gets its first packet in step 57, at 57 x 32 = 1,824. After it has carried 64 packets the last of them still
    takes at least 352 + 52 from the link to its host: nothing can be faster than 4,276 ns. Links whose turn comes
    earlier, and full buffers in front of them, may hold up the others, but no packet waits for more than all 64 x 8
    packets that leave its group: 512 x 32 = 16,384 more.
    """
    config = dfe.SimulationConfig(
        topology=dfe.Dragonfly.preset("72"),
        network=Q_ADAPTIVE,
        policy="min",
        traffic="all-to-all:message_bytes=128",
    )
    m = dfe.Simulation(config).run_to_completion()
    assert 4_276 <= m.makespan_ns <= 4_276 + 16_384

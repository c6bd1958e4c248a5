"""Degraded links by hand: latency, accepted load, bounds, and what is drawn.

Network ``q-adaptive`` (tests/analytic/test_zero_load_latency.py): 105.4 ns within a router, 83.2 more per local hop and
355.2 per global hop, of which 32 ns are the packet on the link. At a quarter of its rate it takes 96 ns more, which are
30 clocks of 3.2 ns.
"""

from __future__ import annotations

import numpy as np
import pytest

import dragonfly_env as dfe

QUARTER = "degraded_links=0:5:0.25"
"""The link between routers 0 and 35 of 72 hosts, the only one of their groups, 0 and 8."""


def latency_ns(failed: str | None, source: int, target: int, **network: object) -> float:
    trace = dfe.traffic.Trace.from_columns(time_ns=[1.0], src=[source], dst=[target], bytes=[64])
    simulation = dfe.Simulation(
        dfe.SimulationConfig(
            topology=dfe.Dragonfly.preset("72", failed=failed),
            network=dfe.NetworkConfig.preset("q-adaptive", **network),
            traffic=trace,
            packet_log=True,
        )
    )
    simulation.run_to_completion()
    log = simulation.packet_log()
    return float(log["delivered_ns"][0] - log["created_ns"][0])


@pytest.mark.parametrize("ends", [(0, 70), (70, 0)])
def test_a_packet_takes_longer_on_a_degraded_link_in_both_directions(ends: tuple[int, int]) -> None:
    assert latency_ns(None, *ends) == pytest.approx(105.4 + 355.2, abs=1e-9)
    assert latency_ns(QUARTER, *ends) == pytest.approx(105.4 + 355.2 + 96.0, abs=1e-9)


@pytest.mark.parametrize(
    "network",
    [{"link_start": "immediate"}, {"link_start": "immediate", "switching": "cut-through"}],
)
def test_every_kind_of_router_waits_for_the_whole_packet(network: dict[str, str]) -> None:
    more = latency_ns(QUARTER, 0, 70, **network) - latency_ns(None, 0, 70, **network)
    assert more == pytest.approx(96.0, abs=1e-9)


def test_other_links_keep_their_rate() -> None:
    assert latency_ns(QUARTER, 0, 6) == latency_ns(None, 0, 6)
    assert latency_ns(QUARTER, 0, 40) == latency_ns(None, 0, 40)


def test_minimal_paths_accept_what_the_degraded_link_carries() -> None:
    """Under adv+8 all eight hosts of a group send over one link to group i+8, group 0 over the degraded one to group 8.
    A packet takes 32 ns, and 128 ns on that link: each of the eight hosts gets 1/32 of its load through.
    """
    config = dfe.SimulationConfig(
        topology=dfe.Dragonfly.preset("72", failed=QUARTER), traffic="adv+8", load=0.2
    )
    result = dfe.simulate(config, warmup_ns=20_000, measure_ns=51_200)
    ports = result.ports
    (out,) = np.flatnonzero((ports.router == 0) & (ports.port == 5) & (ports.direction == "out"))
    assert ports.packets[out] == pytest.approx(51_200 / 128, abs=1)
    assert ports.utilisation[out] == pytest.approx(1.0, abs=0.003)
    to_hosts = ports.of(kind="host", direction="out")
    accepted = to_hosts.packets[to_hosts.group == 8].sum() / 8
    assert accepted * 32 / 51_200 == pytest.approx(1 / 32, rel=0.01)


def test_bounds_read_the_capacity_of_each_link() -> None:
    """Two routers with one host each: the link between them is all that there is."""
    pair = dfe.Dragonfly(p=1, a=1, h=1, failed={"degraded_links": [[1, 1, 0.3]]})
    assert dfe.most_load(pair, "adv+1") == pytest.approx(0.3, abs=1e-6)


def test_a_share_of_the_links_is_drawn_and_lists_come_first() -> None:
    failed = dfe.Failures(degraded_global_links=0.25, degraded_rate=0.75, degraded_links={(35, 6): 0.5})
    rates = dfe.Dragonfly.preset("72", failed=failed).link_rates()
    degraded = rates[rates < 1]
    assert np.count_nonzero(degraded == 0.5) == 2
    assert np.count_nonzero(degraded == 0.75) in (16, 18)
    assert (dfe.Dragonfly.preset("72", failed=failed).link_rates() == rates).all()
    other = dfe.Dragonfly.preset("72", failed=dfe.Failures(degraded_global_links=0.25, seed=2))
    assert (other.link_rates() != rates).any()

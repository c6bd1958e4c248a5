"""``arbitration``: who gets the crossbar, the router's own hosts or packets from other routers."""

from __future__ import annotations

import numpy as np
import pytest

import dragonfly_env as dfe

TOPOLOGY = dfe.Dragonfly.preset("72")


def share_of_own_hosts(arbitration: str) -> float:
    """Share of the router's own hosts in the traffic on the one link that all packets need."""
    network = dfe.NetworkConfig.preset("lia", arbitration=arbitration)
    simulation = dfe.Simulation(
        dfe.SimulationConfig(
            topology=TOPOLOGY, network=network, policy="min", traffic="adv+1", load=0.9, packet_log=True
        )
    )
    simulation.run(20_000)
    simulation.reset_statistics()
    simulation.run(20_000)
    routers = simulation.packet_log()["src"] // TOPOLOGY.p
    gateways = {
        near
        for near, _, far, _ in TOPOLOGY.links().tolist()
        if far // TOPOLOGY.a == (near // TOPOLOGY.a + 1) % TOPOLOGY.num_groups
    }
    return float(np.isin(routers, list(gateways)).mean())


@pytest.mark.parametrize("arbitration", ["round-robin", "least-recently-served"])
def test_own_hosts_are_served_as_other_inputs_are(arbitration: str) -> None:
    """Two hosts and three routers request the link."""
    assert share_of_own_hosts(arbitration) == pytest.approx(2 / 5, abs=0.02)


@pytest.mark.parametrize("arbitration", ["round-robin", "age", "least-recently-served"])
def test_transit_comes_first(arbitration: str) -> None:
    """Three routers fill the link, so the hosts of the fourth get what they let through: nothing."""
    assert share_of_own_hosts(f"transit-first-{arbitration}") < 0.02

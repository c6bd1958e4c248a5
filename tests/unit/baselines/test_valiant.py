"""Valiant: the paths of packets to their own group."""

from __future__ import annotations

import itertools

import pytest

import dragonfly_env as dfe
from tests.routes import routes_of

TOPOLOGY = dfe.Dragonfly.preset("72")
FAMILY = ("val-g", "val-n", "vlb-lg", "vlb-gl", "vlb-g")


def routes(policy: dfe.Policy, **changes: object) -> list[list[int]]:
    """The routers that the packets passed which stayed in their group, uniform traffic."""
    config = dfe.SimulationConfig(
        topology=TOPOLOGY, network="lia", policy=policy, traffic="uniform", load=0.5, packet_log=True, seed=3
    ).replace(**changes)
    simulation = dfe.Simulation(config)
    simulation.run(6000)
    assert simulation.drain()
    passed = routes_of(simulation.packet_log())
    return [route for route in passed if route[0] // TOPOLOGY.a == route[-1] // TOPOLOGY.a]


@pytest.mark.parametrize("name", FAMILY)
def test_packets_to_their_own_group_go_minimally_by_default(name: str) -> None:
    assert {len(route) for route in routes(dfe.make_policy(name))} == {1, 2}


@pytest.mark.parametrize("name", FAMILY)
def test_local_is_a_visit_to_each_other_router_of_the_group(name: str) -> None:
    """Source: LIA, TACO 2025, section 3.2."""
    passed = routes(dfe.make_policy(name, own_group="local"))
    assert {len(route) for route in passed} == {1, 3}  # 1: to another host of the router
    three = [route for route in passed if len(route) == 3]
    assert all(len({router // TOPOLOGY.a for router in route}) == 1 for route in three)
    between = [route for route in three if (route[0], route[2]) == (0, 1)]
    assert {route[1] for route in between} == {2, 3}


@pytest.mark.parametrize("name", FAMILY)
def test_global_is_a_nonminimal_path_by_another_group(name: str) -> None:
    passed = [route for route in routes(dfe.make_policy(name, own_group="global")) if len(route) > 1]
    assert passed
    most_routers = {"vlb-g": 5, "val-n": 7}.get(name, 6)
    for route in passed:
        groups = [group for group, _ in itertools.groupby(router // TOPOLOGY.a for router in route)]
        assert len(groups) == 3
        assert groups[0] == groups[2]
        assert len(route) <= most_routers
    by_own_link = [route for route in passed if route[0] // TOPOLOGY.a != route[1] // TOPOLOGY.a]
    assert (len(by_own_link) == len(passed)) == (name in ("vlb-g", "vlb-gl"))


@pytest.mark.parametrize("own_group", ["local", "global"])
def test_the_vcs_of_the_paper_are_enough(own_group: str) -> None:
    """Four local and two global ones. Source: LIA, TACO 2025, table 1."""
    network = dfe.NetworkConfig.preset("lia", local_vcs=4, global_vcs=2)
    assert routes(dfe.make_policy("val-n", own_group=own_group), network=network)


@pytest.mark.parametrize("own_group", ["local", "global"])
def test_without_another_router_or_group_packets_go_minimally(own_group: str) -> None:
    g = 9 if own_group == "local" else 1
    topology = dfe.Dragonfly(p=2, a=2, h=4, g=g)
    config = dfe.SimulationConfig(
        topology=topology,
        policy=dfe.make_policy("val-n", own_group=own_group),
        traffic="permutation" if g == 1 else "uniform",
        load=0.5,
        packet_log=True,
    )
    simulation = dfe.Simulation(config)
    simulation.run(3000)
    assert simulation.drain()
    passed = routes_of(simulation.packet_log())
    inside = [route for route in passed if route[0] // topology.a == route[-1] // topology.a]
    assert inside
    assert {len(route) for route in inside} <= {1, 2}

"""Routes that a run has logged can be prescribed to another one, on buffers of one packet, without a deadlock."""

from __future__ import annotations

import pytest

import dragonfly_env as dfe
from dragonfly_env.traffic import Trace
from tests.ready import ready
from tests.routes import routes_of
from tests.topologies import SHAPES, topology_of

SMALL = dfe.Dragonfly.preset("72")

Routes = dict[tuple[int, int], list[int]]


def logged(simulation: dfe.Simulation) -> tuple[Trace, Routes]:
    """Delivered packets as a trace with their routes, and the routes by source and packet number."""
    log = simulation.packet_log()
    order = log["created_ns"].argsort(kind="stable")
    routes = routes_of(log)
    trace = Trace.from_columns(
        time_ns=log["created_ns"][order],
        src=log["src"][order],
        dst=log["dst"][order],
        bytes=[128] * len(order),
        routers=[routes[i] for i in order.tolist()],
    )
    keys = zip(log["src"].tolist(), log["number"].tolist(), strict=True)
    return trace, dict(zip(keys, routes, strict=True))


def followed(topology: dfe.Dragonfly, trace: Trace, background: str, scheme: str) -> Routes:
    """The routes of a run of the trace on buffers of one packet."""
    tiny = dfe.NetworkConfig(
        vc_scheme=scheme,
        host_buffer_packets=1,
        local_buffer_packets=1,
        global_buffer_packets=1,
        output_buffer_packets=1,
    )
    simulation = dfe.Simulation(
        dfe.SimulationConfig(
            topology=topology, network=tiny, policy=background, traffic=trace, packet_log=True
        )
    )
    simulation.run(2500)
    simulation.check_invariants()
    assert simulation.drain()
    simulation.check_invariants()
    return logged(simulation)[1]


# The network of LIA lets a path pass a router of its last group, too.
@pytest.mark.product(
    policy=list(dfe.policies()),
    network=("default", "lia"),
    scheme=("stage", "ladder", "hop"),
    background=("min", "par"),
)
def test_logged_routes_can_be_followed_again(policy: str, network: str, scheme: str, background: str) -> None:
    traffic = "advc" if network == "lia" else "adv+1"
    first = dfe.Simulation(
        dfe.SimulationConfig(
            topology=SMALL, network=network, policy=ready(policy), traffic=traffic, load=1.0, packet_log=True
        )
    )
    first.run(1000)
    assert first.drain()
    trace, routes = logged(first)
    assert followed(SMALL, trace, background, scheme) == routes


@pytest.mark.product(
    policy=("min", "val-n", "ad0", "q-routing"), shape=tuple(SHAPES), scheme=("stage", "ladder")
)
def test_logged_routes_of_every_shape_can_be_followed_again(policy: str, shape: str, scheme: str) -> None:
    topology = topology_of(SHAPES[shape])
    first = dfe.Simulation(
        dfe.SimulationConfig(
            topology=topology, policy=ready(policy), traffic="uniform", load=0.5, packet_log=True
        )
    )
    first.run(1000)
    assert first.drain()
    trace, routes = logged(first)
    assert followed(topology, trace, "min", scheme) == routes


def test_par_leaves_some_groups_late() -> None:
    """So the test above has routes with two local hops in the first group."""
    simulation = dfe.Simulation(
        dfe.SimulationConfig(topology=SMALL, policy="par", traffic="adv+1", load=1.0, packet_log=True)
    )
    simulation.run(4000)
    groups = [[router // SMALL.a for router in route] for route in logged(simulation)[1].values()]
    assert any(len(route) > 3 and route[0] == route[1] == route[2] != route[-1] for route in groups)

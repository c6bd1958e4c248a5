"""Routes that a run has logged can be prescribed to another one, on buffers of one packet, without a deadlock."""

from __future__ import annotations

import pytest

import dragonfly_env as dfe
from dragonfly_env.traffic import Trace
from tests.ready import ready
from tests.routes import routes_of

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


# Routes that are chosen port by port may pass more groups than a trace can prescribe; those with a non-minimal path
# inside the last group (kind l) have a local hop more.
@pytest.mark.product(
    policy=[
        name
        for name in dfe.policies()
        if not ready(name).learns and "l" not in ready(name).env_options().get("nonminimal_kinds", ())
    ],
    scheme=("stage", "ladder", "hop"),
    background=("min", "par"),
)
def test_logged_routes_can_be_followed_again(policy: str, scheme: str, background: str) -> None:
    first = dfe.Simulation(
        dfe.SimulationConfig(topology=SMALL, policy=ready(policy), traffic="adv+1", load=1.0, packet_log=True)
    )
    first.run(1000)
    assert first.drain()
    trace, routes = logged(first)
    tiny = dfe.NetworkConfig(
        vc_scheme=scheme,
        host_buffer_packets=1,
        local_buffer_packets=1,
        global_buffer_packets=1,
        output_buffer_packets=1,
    )
    second = dfe.Simulation(
        dfe.SimulationConfig(topology=SMALL, network=tiny, policy=background, traffic=trace, packet_log=True)
    )
    second.run(2500)
    second.check_invariants()
    assert second.drain()
    second.check_invariants()
    assert logged(second)[1] == routes


def test_par_leaves_some_groups_late() -> None:
    """So the test above has routes with two local hops in the first group."""
    simulation = dfe.Simulation(
        dfe.SimulationConfig(topology=SMALL, policy="par", traffic="adv+1", load=1.0, packet_log=True)
    )
    simulation.run(4000)
    groups = [[router // SMALL.a for router in route] for route in logged(simulation)[1].values()]
    assert any(len(route) > 3 and route[0] == route[1] == route[2] != route[-1] for route in groups)

"""Infinite values in Q-tables: closed ports. With any table the core neither crashes nor loses a packet."""

from __future__ import annotations

import numpy as np
import pytest

import dragonfly_env as dfe

LEARNERS = ("q-routing", "q-adaptive", "q-adaptive-queue", "q-adaptive-fast")
WHOLE = dfe.Dragonfly.preset("72")
PARTIAL = dfe.Dragonfly(2, 4, 2, g=5)  # half of the global ports have no link


def learning(learner: str, topology: dfe.Dragonfly = WHOLE, **parameters: object) -> dfe.Simulation:
    policy = dfe.make_policy(learner, **parameters)
    return dfe.Simulation(
        dfe.SimulationConfig(
            topology=topology, network="q-adaptive", traffic="adv+1", load=0.4, policy=policy, packet_log=True
        )
    )


def check_books(simulation: dfe.Simulation) -> None:
    simulation.check_invariants()
    assert simulation.drain()
    simulation.check_invariants()
    metrics = simulation.metrics()
    assert metrics.packets_generated == metrics.packets_delivered > 0


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("topology", [WHOLE, PARTIAL], ids=["whole", "partial"])
@pytest.mark.parametrize(
    "value", [np.inf, 0.0, -0.0, 1.0, -1.0, 3.4e38, -3.4e38, 1e-45], ids=lambda value: f"{value:g}"
)
def test_a_table_of_one_value_delivers_every_packet(
    learner: str, topology: dfe.Dragonfly, value: float
) -> None:
    simulation = learning(learner, topology, epsilon=0.1)
    simulation.load_q_table(np.full_like(simulation.q_table(), value))
    simulation.run(5_000)
    check_books(simulation)


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("options", [{}, {"integer_values": True, "next_value": "taken"}], ids=str)
def test_tables_with_closed_ports_at_random_stay_free_of_nan_and_their_closed_ports_closed(
    learner: str, options: dict[str, object]
) -> None:
    if learner == "q-routing" and options:
        options = {"alpha": 1.0}
    rng = np.random.default_rng(7)
    for topology in (WHOLE, PARTIAL):
        simulation = learning(learner, topology, epsilon=0.05, **options)
        table = simulation.q_table().copy()
        closed = rng.random(table.shape) < 0.5
        closed[::5] = True  # routers without any open port
        table[closed] = np.inf
        simulation.load_q_table(table)
        simulation.run(20_000)
        after = simulation.q_table()
        assert not np.isnan(after).any()
        assert np.isposinf(after[closed]).all()
        assert np.isfinite(after[~closed & np.isfinite(table)]).all()
        check_books(simulation)


@pytest.mark.parametrize("learner", LEARNERS)
def test_source_routers_take_no_closed_port_while_another_is_open(learner: str) -> None:
    """Only the last global port is open: all that leaves a group leaves through it, exploring or not."""
    simulation = learning(learner, epsilon=0.5)
    table = np.full_like(simulation.q_table(), np.inf)
    only = table.shape[2] - 1
    table[:, :, only] = 100.0
    simulation.load_q_table(table)
    simulation.run(5_000)
    simulation.drain()
    log = simulation.packet_log()
    routes = np.split(log["routers"], log["route_offsets"][1:-1])
    checked = 0
    for src, dst, route in zip(log["src"], log["dst"], routes, strict=True):
        source = int(src) // WHOLE.p
        if WHOLE.group_of(source) == WHOLE.group_of(int(dst) // WHOLE.p):
            continue
        far = WHOLE.neighbor(source, WHOLE.p + only)
        assert far is not None
        assert route[1] == far[0]
        checked += 1
    assert checked > 100


@pytest.mark.parametrize("learner", LEARNERS)
def test_a_report_of_a_router_without_open_ports_teaches_nothing(learner: str) -> None:
    simulation = learning(learner, epsilon=0.0)
    table = simulation.q_table().copy()
    table[WHOLE.a :] = np.inf  # every router outside group 0
    simulation.load_q_table(table)
    simulation.run(10_000)
    assert not np.isinf(simulation.q_table()[: WHOLE.a][np.isfinite(table[: WHOLE.a])]).any()

"""A port that a Q-table closes is never taken while another one is open, and stays closed; in the core as in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dragonfly_env as dfe
from tests.parity.cases import play

# Groups fewer than there could be: some global ports lead nowhere.
TOPOLOGY = dfe.Dragonfly(2, 4, 2, g=5)
LEARNERS = [
    dfe.make_policy("q-routing", epsilon=0.2),
    dfe.make_policy("q-adaptive", epsilon=0.2),
    dfe.make_policy("q-adaptive", epsilon=0.5, exploration="least-occupied", next_value="taken"),
    dfe.make_policy("q-adaptive-queue", epsilon=0.2),
    dfe.make_policy("q-adaptive-fast", epsilon=0.2),
]
CLOSED = ["some", "all", "all of a router", "none"]


def tables(simulation: dfe.Simulation, closed: str) -> np.ndarray[Any, Any]:
    table = simulation.q_table().copy()
    if closed == "some":
        table[np.random.default_rng(1).random(table.shape) < 0.4] = np.inf
    elif closed == "all":
        table[:] = np.inf
    elif closed == "all of a router":
        table[3] = np.inf
    return table


@pytest.mark.parametrize("closed", CLOSED)
@pytest.mark.parametrize(
    "learner", LEARNERS, ids=lambda learner: f"{learner.name}-{learner.parameters['epsilon']}"
)
def test_core_and_reference_treat_closed_ports_alike(learner: Any, closed: str) -> None:
    config = dfe.SimulationConfig(topology=TOPOLOGY, policy=learner, load=0.8, traffic="adv+1")
    alone = dfe.Simulation(config)
    loaded = tables(alone, closed)
    alone.load_q_table(loaded)
    alone.run(4_000)
    alone.check_invariants()
    env = dfe.BatchedRoutingEnv.for_policy(config, learner, duration_ns=4_000, transitions=False)
    reference = learner.reference(env)
    reference.load_table(loaded)
    play(env, reference)
    assert alone.metrics().packets_delivered > 0
    assert env.trace_hash() == alone.trace_hash()
    np.testing.assert_array_equal(reference.table, alone.q_table())
    assert np.isinf(alone.q_table()[np.isinf(loaded)]).all()


@pytest.mark.parametrize("learner", LEARNERS[:2], ids=lambda learner: learner.name)
def test_no_packet_takes_a_closed_port_that_is_not_minimal(learner: Any) -> None:
    config = dfe.SimulationConfig(topology=TOPOLOGY, policy=learner.name, load=0.5, packet_log=True)
    free, shut = dfe.Simulation(config), dfe.Simulation(config)
    table = shut.q_table().copy()
    router = 3
    only = TOPOLOGY.minimal_port(router, 0) - TOPOLOGY.p  # all but one port of a router
    table[router, :, np.arange(table.shape[2]) != only] = np.inf
    shut.load_q_table(table)
    for simulation in (free, shut):
        simulation.run(20_000)
    assert shut.trace_hash() != free.trace_hash()
    assert np.isfinite(shut.q_table()[router]).sum(axis=1).max() == 1


@pytest.mark.parametrize("anything", [np.inf, -np.inf, np.nan, 0.0, 1.0, 3e38, 1e300])
@pytest.mark.parametrize("policy", ["q-routing", "q-adaptive", "q-adaptive-queue", "q-adaptive-fast"])
def test_what_is_where_no_link_is_does_not_matter(policy: str, anything: float) -> None:
    config = dfe.SimulationConfig(topology=TOPOLOGY, policy=policy, load=0.5)
    simulation = dfe.Simulation(config)
    before = simulation.q_table().copy()
    table = np.where(np.isinf(before), anything, before.astype(np.float64))
    simulation.load_q_table(table)
    np.testing.assert_array_equal(simulation.q_table(), before)
    simulation.run(5_000)
    same = dfe.Simulation(config)
    same.run(5_000)
    assert simulation.trace_hash() == same.trace_hash()
    np.testing.assert_array_equal(simulation.q_table(), same.q_table())

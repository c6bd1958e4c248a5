"""The tabular learners of the core: their tables, their first steps, and what they are refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import dragonfly_env as dfe
from dragonfly_env.agents import load_q_table, save_q_table
from dragonfly_env.traffic import Trace

TOPOLOGY = dfe.Dragonfly.preset("72", arrangement="absolute")


def simulate(policy: object, *, topology: dfe.Dragonfly = TOPOLOGY, **changes: object) -> dfe.Simulation:
    settings: dict[str, object] = {
        "topology": topology,
        "network": "q-adaptive",
        "traffic": "adv+1",
        "load": 0.4,
        "policy": policy,
        "source_queue_packets": 20,
        **changes,
    }
    return dfe.Simulation(dfe.SimulationConfig(**settings))


def one_packet(source: int, destination: int) -> object:
    return Trace.from_columns(time_ns=[1_000.0], src=[source], dst=[destination], bytes=[128])


def test_the_two_level_table_has_a_row_per_other_group_and_slot() -> None:
    for hosts in ("72", "1056"):
        topology = dfe.Dragonfly.preset(hosts)
        table = simulate("q-adaptive", topology=topology).q_table()
        g, p = topology.num_groups, topology.p
        assert table.shape == (topology.num_routers, (g - 1) * p, topology.radix - p)
        plain = simulate("q-routing", topology=topology).q_table()
        assert plain.shape == (topology.num_routers, topology.num_routers, topology.radix - p)
        # Claim QA71: half the memory, but for the router's own group, which has no rows.
        assert table.nbytes / plain.nbytes == pytest.approx(0.5 * (g - 1) / g)


def test_values_start_with_the_latencies_of_the_links() -> None:
    table = simulate("q-adaptive").q_table()
    for router in (0, 17, 35):
        home = TOPOLOGY.group_of(router)
        others = [group for group in range(TOPOLOGY.num_groups) if group != home]
        for row, group in enumerate(others):
            for port in range(TOPOLOGY.radix - TOPOLOGY.p):
                far = TOPOLOGY.neighbor(router, TOPOLOGY.p + port)
                assert far is not None
                direct = TOPOLOGY.group_of(far[0]) == group
                expected = 300.0 if direct else 330.0
                assert table[router, row * TOPOLOGY.p, port] == expected
                assert table[router, row * TOPOLOGY.p + 1, port] == expected


def test_values_may_start_with_the_time_of_the_whole_way() -> None:
    table = simulate(dfe.make_policy("q-adaptive", initial_values="path-time")).q_table()
    local_ns, global_ns = 32.0 + 10.0 + 30.0 + 10.0, 32.0 + 10.0 + 300.0 + 10.0
    for router in (0, 17, 35):
        home = TOPOLOGY.group_of(router)
        others = [group for group in range(TOPOLOGY.num_groups) if group != home]
        for row, group in enumerate(others):
            for port in range(TOPOLOGY.radix - TOPOLOGY.p):
                far = TOPOLOGY.neighbor(router, TOPOLOGY.p + port)
                assert far is not None
                expected = global_ns if TOPOLOGY.port_kind(TOPOLOGY.p + port) == "global" else local_ns
                # From there: nothing, through an own link, or through that of another router of its group.
                hops = min(TOPOLOGY.minimal_hops(far[0], group * TOPOLOGY.a + i) for i in range(TOPOLOGY.a))
                expected += {0: 0.0, 1: global_ns, 2: local_ns + global_ns}[hops]
                assert table[router, row * TOPOLOGY.p, port] == expected


def test_one_packet_changes_one_value_by_beta_times_the_error() -> None:
    """Host 0 to another group over two hops in an empty network: both hops are reported, bad news count beta."""
    config_of = {"epsilon": 0.0, "alpha": 0.5, "beta": 0.25}
    target_router = next(
        r
        for r in range(TOPOLOGY.num_routers)
        if TOPOLOGY.minimal_hops(0, r) == 2
        and TOPOLOGY.group_of(TOPOLOGY.neighbor(0, TOPOLOGY.minimal_port(0, r))[0]) == 0
    )
    simulation = simulate(
        dfe.make_policy("q-adaptive", **config_of), traffic=one_packet(0, target_router * TOPOLOGY.p)
    )
    before = simulation.q_table().copy()
    simulation.run(50_000)
    after = simulation.q_table()
    changed = np.argwhere(before != after)
    group = TOPOLOGY.group_of(target_router)
    row = (group - 1) * TOPOLOGY.p  # slot 0; groups above the own one move down
    first = TOPOLOGY.minimal_port(0, target_router)
    second_router = TOPOLOGY.neighbor(0, first)[0]
    second = TOPOLOGY.minimal_port(second_router, target_router)
    assert changed.tolist() == [[0, row, first - TOPOLOGY.p], [second_router, row, second - TOPOLOGY.p]]
    # The local hop takes 82 to 85.2 ns (the crossbar's clock), the next router expects 300: 382 to 385 against 330.
    assert 330 + 0.25 * (82.0 + 300 - 330) <= after[tuple(changed[0])] <= 330 + 0.25 * (85.2 + 300 - 330)
    # The global hop takes 352 to 355.2 ns against 300, and nothing is left.
    assert 300 + 0.25 * (352.0 - 300) <= after[tuple(changed[1])] <= 300 + 0.25 * (355.2 - 300)


def test_tables_freeze_when_learning_ends() -> None:
    simulation = simulate(dfe.make_policy("q-adaptive", learn_until_ns=10_000.0))
    simulation.run(5_000)
    early = simulation.q_table().copy()
    simulation.run(5_000)
    at_the_end = simulation.q_table().copy()
    simulation.run(10_000)
    assert (early != at_the_end).any()
    np.testing.assert_array_equal(simulation.q_table(), at_the_end)


def test_tables_are_saved_and_loaded_with_their_topology_and_policy(tmp_path: Path) -> None:
    first = simulate("q-adaptive")
    first.run(30_000)
    path = save_q_table(first, tmp_path / "table")
    assert path.suffix == ".npz"
    second = simulate(dfe.make_policy("q-adaptive", alpha=0.1), seed=9)
    about = load_q_table(second, path)
    assert about["policy"]["name"] == "q-adaptive"
    np.testing.assert_array_equal(second.q_table(), first.q_table())
    for other in (
        simulate("q-adaptive", topology=dfe.Dragonfly.preset("72")),
        simulate("q-routing"),
        simulate(dfe.make_policy("q-adaptive", rows="group")),
    ):
        with pytest.raises(dfe.ConfigError, match="was learnt"):
            load_q_table(other, path)


def test_tables_of_policies_without_any_and_wrong_shapes_are_refused() -> None:
    heuristic = simulate("ugal-n")
    with pytest.raises(dfe.StateError, match="no tables"):
        heuristic.q_table()
    learner = simulate("q-adaptive")
    for bad in (np.zeros((36, 16, 4)), np.full(learner.q_table().shape, np.nan)):
        with pytest.raises(dfe.ConfigError, match="values"):
            learner.load_q_table(bad)
    with pytest.raises(ValueError, match="read-only"):
        learner.q_table()[0, 0, 0] = 1.0


def test_a_learner_cannot_be_replaced_in_the_middle_of_a_run() -> None:
    for before, after in (("q-adaptive", "q-adaptive"), ("ugal-n", "q-adaptive"), ("q-routing", "min")):
        with pytest.raises(dfe.ConfigError, match="policy"):
            simulate(before).set_policy(dfe.make_policy(after))

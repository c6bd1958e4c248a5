"""The policies of the LIA paper: LIA's reference implementation, what observations show of them, bad input."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

import dragonfly_env as dfe
from dragonfly_env import _core
from dragonfly_env.decisions.layout import FEATURES, KINDS, VC_QUEUES, Layout

TOPOLOGY = dfe.Dragonfly.preset("72")
CONFIG = dfe.SimulationConfig(topology=TOPOLOGY, traffic="adv+1", load=0.6, seed=3)
PATHS = ("minimal", "lgl", "lg", "gl", "g")


def batch_of(rows: list[dict[str, float]], missing: tuple[str, ...] = ()) -> dfe.DecisionBatch:
    """Decisions with one path of each kind, each on a port of its own; ``missing`` kinds do not exist.

    A row gives ``q_<kind>``, the packets queued for that path's VC (10 where none are given), and features by name.
    """
    features = sorted({VC_QUEUES, *(name for row in rows for name in row if not name.startswith("q_"))})
    candidates = np.zeros((len(rows), len(PATHS)), dtype=_core.candidate_dtype)
    obs = np.zeros((len(rows), len(features)), dtype=np.float32)
    for i, row in enumerate(rows):
        obs[i] = [row.get(name, 0.0) for name in features]
        for k, kind in enumerate(PATHS):
            candidates[i, k]["kind"] = -1 if kind in missing else KINDS[kind]
            candidates[i, k]["port"] = k
            candidates[i, k]["vc_queued"] = row.get(f"q_{kind}", 10)
            candidates[i, k]["vc_occupancy"] = row.get(f"q_{kind}", 10)
            candidates[i, k]["occupancy"] = 99  # other packets of the ports do not count
    blocks = [
        {"name": name, "per": "decision", "offset": i, "width": 1, "unit": 1.0, "half": 0.0, "low": 0.0}
        | {"high": 1.0, "doc": ""}
        for i, name in enumerate(features)
    ]
    return dfe.DecisionBatch(
        layout=Layout(blocks, TOPOLOGY, PATHS, len(PATHS)),
        obs=obs,
        mask=candidates["kind"] >= 0,
        agents=np.zeros(len(rows), dtype=np.int32),
        decision_ids=np.arange(len(rows)),
        packets=np.zeros(len(rows), dtype=_core.packet_dtype),
        time_ns=np.zeros(len(rows)),
        candidates=candidates,
    )


def chosen(policy: Any, rows: list[dict[str, float]], missing: tuple[str, ...] = ()) -> list[str]:
    return [PATHS[action] for action in policy.act(batch_of(rows, missing))]


def test_the_level_of_traffic_compares_the_counter_with_both_thresholds() -> None:
    shown = ("destination_traffic_level", "destination_offered_packets")
    given = {"offered-traffic": {"low_packets": 3, "high_packets": 5, "stored_weight": 0.5}}
    config = dataclasses.replace(CONFIG, load=1.0)
    env = dfe.BatchedRoutingEnv(config, duration_ns=3000.0, features=shown, trackers=given)
    batch, seen = env.reset(seed=1), set()
    while batch is not None and len(batch):
        level, offered = (batch.layout.quantities(batch.obs, name)[:, 0] for name in shown)
        np.testing.assert_array_equal(level, np.where(offered < 3, 0, np.where(offered > 5, 2, 1)))
        seen.update(level.tolist())
        batch = env.step(batch.mask.argmax(axis=1))
    assert seen == {0, 1, 2}


@pytest.mark.parametrize(
    ("hosts", "low", "high"), [(72, 7, 10), (342, 5, 8), (1056, 4, 6), (5256, 3, 5), (16512, 2, 4)]
)
def test_thresholds_follow_the_network_unless_they_are_set(hosts: int, low: int, high: int) -> None:
    """Table 1 for 5,256 hosts; elsewhere as many standard deviations above a full uniform load."""

    def trace(**given: float) -> str:
        config = dfe.SimulationConfig(
            topology=dfe.Dragonfly.preset(str(hosts)),
            network="lia",
            traffic="advc",
            load=0.4,
            policy=dfe.make_policy("lia", **given),
            seed=3,
        )
        simulation = dfe.Simulation(config)
        simulation.run(1_200 if hosts < 5_000 else 450)
        return simulation.trace_hash()

    there = {"low_packets": low, "high_packets": high, "saturated_packets": high}
    assert trace() == trace(**there)
    assert trace() != trace(**there | {"low_packets": low - 1})
    assert trace() != trace(**there | {"high_packets": high + 1})


def lia_row(**given: float) -> dict[str, float]:
    usual = {"destination_traffic_level": 2, "saturated_links": 0, "own_links": 4, "q_minimal": 50}
    return {**usual, "destination_remote_packets": 0, **given}


def test_lia_adds_each_local_hop_only_where_its_counters_say_so() -> None:
    rows = [
        lia_row(),
        lia_row(saturated_links=2),
        lia_row(saturated_links=3),
        lia_row(destination_remote_packets=20),
        lia_row(destination_remote_packets=20.1),
        lia_row(saturated_links=4, destination_remote_packets=30),
        lia_row(saturated_links=2, own_links=2),  # fewer links than "several"
        lia_row(own_links=0),
    ]
    assert chosen(dfe.make_policy("lia"), rows) == ["g", "g", "lg", "g", "gl", "lgl", "lg", "lg"]


def test_lia_weighs_the_nonminimal_path_that_it_would_take() -> None:
    rows = [
        lia_row(q_minimal=6, q_g=10, q_gl=99),
        lia_row(q_minimal=6, q_g=99, q_gl=10, destination_remote_packets=21),
        lia_row(q_minimal=5, q_g=10),
        lia_row(q_minimal=36, destination_traffic_level=0),
        lia_row(q_minimal=35, destination_traffic_level=0),
    ]
    assert chosen(dfe.make_policy("lia"), rows) == ["g", "gl", "minimal", "g", "minimal"]


def test_where_no_own_link_will_do_the_nonminimal_path_begins_with_a_local_hop() -> None:
    assert chosen(
        dfe.make_policy("lia"), [lia_row(), lia_row(destination_remote_packets=21)], ("g", "gl")
    ) == ["lg", "lgl"]
    assert chosen(dfe.make_policy("lia"), [lia_row()], ("g", "gl", "lg", "lgl")) == ["minimal"]


def test_an_environment_without_the_counters_is_refused() -> None:
    env = dfe.BatchedRoutingEnv(CONFIG, scope="source", action="path", duration_ns=1000.0)
    with pytest.raises(dfe.ConfigError, match="observes only"):
        dfe.make_policy("lia").act(env.reset())


@pytest.mark.parametrize("name", ["tpr", "lia"])
def test_thresholds_in_the_wrong_order_are_refused(name: str) -> None:
    with pytest.raises(dfe.ConfigError, match="at most high_packets, 5"):
        dfe.make_policy(name, low_packets=6, high_packets=5)


def test_the_counter_of_the_destination_is_that_of_its_group() -> None:
    """Under adv+1 everything goes to the next group, so this counter sees all packets."""
    names = ("offered_packets", "destination_offered_packets", *FEATURES)
    env = dfe.BatchedRoutingEnv(
        CONFIG,
        scope="source",
        action="path",
        features=names,
        trackers={"offered-traffic": {"stored_weight": 0}},
        duration_ns=3000.0,
    )
    batch, most = env.reset(), 0.0
    while not env.done:
        groups = env.layout.quantities(batch.obs, "offered_packets")
        there = env.layout.quantities(batch.obs, "destination_offered_packets")
        np.testing.assert_array_equal(groups[:, 0], there[:, 0])
        assert not groups[:, 1:].any()
        most = max(most, float(there.max(initial=0)))
        batch = env.step(batch.minimal_actions())
    # 2 hosts send a packet every 32 / 0.6 ns: 200 ns hold 2 * 3.75 of them.
    assert 6 <= most <= 10


def test_counters_go_on_while_another_policy_routes() -> None:
    simulation = dfe.Simulation(CONFIG.replace(policy="lia"))
    simulation.run(2000)
    simulation.set_policy("ugal-n")
    simulation.run(1000)
    simulation.set_policy(dfe.make_policy("lia", remote_packets=5))
    with pytest.raises(dfe.ConfigError, match="must need no tracker"):
        simulation.set_policy(dfe.make_policy("lia", window_ns=100))

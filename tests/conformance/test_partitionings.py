"""A network cut into partitions in different ways: runs and environments have the same results."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dragonfly_env as dfe
from tests.partitions import cut_into
from tests.products import in_turn
from tests.ready import NETWORKS, ready, weights_file

CUTS = (1, 20, 1_000)
"""Hosts per partition, of 72 in nine groups: a partition per group, per one or two groups, and for all of them."""

POLICIES = {
    **{name: ready(name) for name in dfe.policies()},
    "mlp that sees traffic": dfe.make_policy(
        "mlp",
        weights=weights_file(
            seed=5,
            scope="every",
            nonminimal_kinds=("lgl", "lg"),
            features=("traffic", "candidate_packets", "waiting"),
        ),
    ),
    "mlp that reads messages": dfe.make_policy(
        "mlp",
        weights=weights_file(
            seed=6,
            scope="source",
            nonminimal_kinds=("lgl", "g"),
            features=(
                "candidate_link_packets_delayed",
                "group_demand_delayed",
                "candidate_between_demand_delayed",
            ),
        ),
    ),
}


def config_of(**changes: Any) -> dfe.SimulationConfig:
    return dfe.SimulationConfig(
        **{"topology": dfe.Dragonfly.preset("72"), "traffic": "uniform", "load": 0.7, "seed": 3, **changes}
    )


@pytest.mark.parametrize(("policy", "preset"), in_turn([*POLICIES], NETWORKS))
def test_a_run_of_the_core_does_not_depend_on_partitions(policy: str, preset: str) -> None:
    config = config_of(network=preset, policy=POLICIES[policy])
    partitions, runs = [], []
    for hosts in CUTS:
        with cut_into(hosts):
            simulation = dfe.Simulation(config)
        simulation.run(2_000.0)
        partitions.append(simulation.num_partitions)
        runs.append((simulation.trace_hash(), simulation.metrics().to_dict()))
    assert partitions == [9, 5, 1]
    assert runs[0] == runs[1] == runs[2]


class Recorded:
    """All that an episode hands out, row by row; actions follow from the decisions alone."""

    def __init__(self, config: dfe.SimulationConfig, **options: Any) -> None:
        env = dfe.BatchedRoutingEnv(config, duration_ns=1_500.0, feedback=True, **options)
        batch = env.reset()
        rows = []
        while not env.done:
            assert np.all(np.diff(batch.decision_ids) > 0), "rows are ordered by decision id"
            rows.append(batch.copy())
            batch = env.step(legal_actions(batch))
        self.hash = env.trace_hash()
        self.rewards = np.zeros(0) if env.reward == "delivery" else env.rewards_by_router()
        self.transitions = env.transitions()
        self.feedback = env.feedback()
        names = ("decision_ids", "obs", "mask", "agents", "packets", "time_ns", "candidates", "draws")
        columns = {
            name: np.concatenate([getattr(row, name) for row in rows])
            for name in names
            if getattr(rows[0], name) is not None
        }
        order = np.argsort(columns["decision_ids"])
        self.rows = {name: column[order] for name, column in columns.items()}

    def check_equal(self, other: Recorded) -> None:
        assert self.hash == other.hash
        for name, column in self.rows.items():
            assert column.tobytes() == other.rows[name].tobytes(), name
        for name in dfe.Transitions.__slots__:
            mine, theirs = getattr(self.transitions, name), getattr(other.transitions, name)
            assert mine.tobytes() == theirs.tobytes(), name
        assert np.all(np.diff(self.transitions.decision_ids) > 0)
        assert self.feedback.decision_ids.tolist() == other.feedback.decision_ids.tolist()


def legal_actions(batch: dfe.DecisionBatch) -> np.ndarray:
    """(N,) one of the legal actions, chosen by the id of the decision."""
    count = batch.mask.sum(axis=1)
    choice = (batch.decision_ids >> 8) * 7 % count
    return np.argsort(~batch.mask, axis=1, kind="stable")[np.arange(len(batch)), choice]


OPTIONS: dict[str, dict[str, Any]] = {
    "ports": {"action": "port", "scope": "every"},
    "ports, forced hops too": {"action": "port", "scope": "all"},
    "paths": {"action": "path", "scope": "every"},
    "paths, delivery": {"action": "path", "scope": "source", "reward": "delivery"},
}


@pytest.mark.product(options=[*OPTIONS], routing_delay_ns=(0.0, 100.0, 400.0), decide_at=("arrival", "head"))
def test_rows_and_transitions_depend_neither_on_partitions_nor_on_threads(
    options: str, routing_delay_ns: float, decide_at: str
) -> None:
    config = config_of(network=dfe.NetworkConfig(routing_delay_ns=routing_delay_ns, decide_at=decide_at))
    recorded = []
    for hosts, threads in ((1, 1), (1, 3), (20, 2), (1_000, 1)):
        with cut_into(hosts):
            recorded.append(Recorded(config.replace(threads=threads), **OPTIONS[options]))
    assert len(recorded[0].rows["decision_ids"]) > 200
    for other in recorded[1:]:
        recorded[0].check_equal(other)
    first, same_cut = recorded[:2]
    assert np.array_equal(first.rewards, same_cut.rewards)


@settings(max_examples=12)
@given(
    traffic=st.sampled_from(["uniform", "adv+1", "hotspot:fraction=0.5", "all-to-all:message_bytes=256"]),
    load=st.floats(0.1, 1.0),
    seed=st.integers(0, 2**32),
    options=st.sampled_from(sorted(OPTIONS)),
    hosts=st.integers(1, 40),
    injection=st.sampled_from(["bernoulli", "poisson", "periodic"]),
)
def test_random_runs_hand_out_the_same_however_they_are_cut(
    traffic: str, load: float, seed: int, options: str, hosts: int, injection: str
) -> None:
    injection = "auto" if traffic.startswith("all-to-all") else injection  # closed loop
    config = config_of(traffic=traffic, load=load, seed=seed, injection=injection)
    recorded = []
    for per_partition in (hosts, 1_000):
        with cut_into(per_partition):
            recorded.append(Recorded(config, **OPTIONS[options]))
    recorded[0].check_equal(recorded[1])

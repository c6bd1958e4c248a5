"""Piggyback: the features that it reads, and what routers tell each other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dragonfly_env as dfe
from dragonfly_env.decisions.layout import FEATURES

TOPOLOGY = dfe.Dragonfly.preset("72")
CONFIG = dfe.SimulationConfig(topology=TOPOLOGY, traffic="adv+1", load=0.6, seed=3)
FLAGS = ("candidate_congested", "congested_links")


def test_flags_stand_behind_the_usual_features_and_have_names() -> None:
    env = dfe.BatchedRoutingEnv(CONFIG, action="path", features=[*FLAGS, *FEATURES], duration_ns=1000.0)
    assert set(env.layout.features) == {*FEATURES, *FLAGS}
    assert tuple(env.layout.features)[: len(FEATURES)] == FEATURES
    links = env.layout["congested_links"]
    assert links.per == "link"
    names = env.layout.names[links.columns]
    assert len(names) == TOPOLOGY.a * TOPOLOGY.h
    assert names[:3] == (
        "congested_links[router 0 port 5]",
        "congested_links[router 0 port 6]",
        "congested_links[router 1 port 5]",
    )
    assert env.layout["candidate_congested"].per == "candidate"
    assert dfe.BatchedRoutingEnv(CONFIG, features=["congested_links"]).num_features == len(names)


@pytest.mark.parametrize("trunking", [1, 2])
def test_the_flag_of_a_path_is_that_of_the_link_by_which_it_leaves_the_group(trunking: int) -> None:
    topology = dfe.Dragonfly(p=2, a=4, h=2, g=5, trunking=trunking)
    env = dfe.BatchedRoutingEnv(
        CONFIG.replace(topology=topology, load=0.9),
        action="path",
        scope="all",
        features=FLAGS,
        trackers={"congested-links": {"congestion_offset_packets": 1}},
        duration_ns=4000.0,
    )
    batch = env.reset()
    first_global, seen = topology.p + topology.a - 1, 0
    while not env.done:
        flags = env.layout.counts(batch.obs, "candidate_congested")
        links = env.layout.counts(batch.obs, "congested_links")
        paths = batch.candidates
        assert paths is not None
        assert not flags[paths["kind"] < 0].any()
        # Paths that start with a global link of the deciding router itself.
        rows, columns = np.nonzero((paths["kind"] >= 0) & (paths["port"] >= first_global))
        q = batch.agents[rows] % topology.a * topology.h + paths["port"][rows, columns] - first_global
        np.testing.assert_array_equal(flags[rows, columns], links[rows, q])
        # Non-minimal paths over a local link; without trunking one link leads to each group.
        if trunking == 1:
            for row, column in np.argwhere(
                (paths["intermediate_group"] >= 0) & (paths["port"] < first_global)
            ):
                group = batch.agents[row] // topology.a
                (link,) = [
                    i * topology.h + j
                    for i in range(topology.a)
                    for j in range(topology.h)
                    if (far := topology.neighbor(group * topology.a + i, first_global + j)) is not None
                    and far[0] // topology.a == paths["intermediate_group"][row, column]
                ]
                assert flags[row, column] == links[row, link]
        seen += int(flags.any())
        batch = env.step(batch.minimal_actions())
    assert seen > 0


def test_the_parameters_of_a_tracker_are_those_given_then_those_of_the_policy() -> None:
    def flags(policy: Any, trackers: Any = None, warmup_ns: float = 0.0) -> float:
        env = dfe.BatchedRoutingEnv(
            CONFIG.replace(policy=policy, load=0.9),
            features=["congested_links"],
            trackers=trackers,
            warmup_ns=warmup_ns,
            duration_ns=3000.0,
        )
        batch, up = env.reset(), 0.0
        while not env.done:
            up += float(batch.obs.sum())
            batch = env.step(batch.minimal_actions())
        return up

    eager = {"congestion_factor": 1.0, "congestion_offset_packets": 0.0}
    by_default, by_hand = flags("min"), flags("min", {"congested-links": eager})
    assert by_hand > by_default > 0
    assert flags(dfe.make_policy("pb", **eager)) == by_hand
    assert flags(dfe.make_policy("pb"), {"congested-links": eager}) == by_hand
    assert flags(dfe.make_policy("pb", **eager), {"congested-links": eager}, 500.0) > 0
    with pytest.raises(dfe.ConfigError, match=r"^trackers = 'congested-links': .*warm-up"):
        flags(dfe.make_policy("pb"), {"congested-links": eager}, 500.0)


@pytest.mark.parametrize(
    ("features", "trackers", "message"),
    [
        (["congested_link"], None, "did you mean 'congested_links'"),
        (["hops"], {"congested-links": {}}, r"^trackers = 'congested-links': .*a feature shows"),
        (["congested_links"], {"congested": {}}, "^trackers = 'congested'"),
        (["congested_links"], {3: {}}, "^trackers = 3"),
        (["congested_links"], [], r"^trackers = \[\]"),
        (["congested_links"], {"congested-links": None}, "^trackers.congested-links = None"),
        (["congested_links"], {"congested-links": {1: 1}}, "^trackers.congested-links = "),
        (["congested_links"], {"congested-links": {"factor": 1}}, r"^congested-links\.factor"),
        (
            ["congested_links"],
            {"congested-links": {"congestion_factor": -1}},
            r"^congested-links\.congestion_factor",
        ),
        (["congested_links"], {"congested-links": {"congestion_factor": "1"}}, "congestion_factor"),
        (["congested_links"], {"congested-links": {"congestion_factor": None}}, "congestion_factor"),
        (["congested_links"], {"congested-links": {"congestion_factor": float("nan")}}, "congestion_factor"),
    ],
)
def test_an_impossible_tracker_is_refused(features: list[str], trackers: Any, message: str) -> None:
    with pytest.raises(dfe.ConfigError, match=message):
        dfe.BatchedRoutingEnv(CONFIG, features=features, trackers=trackers)


def test_a_policy_that_needs_what_no_router_remembers_cannot_take_over() -> None:
    simulation = dfe.Simulation(CONFIG.replace(policy="ugal-n"))
    with pytest.raises(dfe.ConfigError, match=r"^policy = 'pb': must need no tracker"):
        simulation.set_policy("pb")
    simulation.run(1000)

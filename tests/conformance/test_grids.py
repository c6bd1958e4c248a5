"""Systems of grids behave as all others: the same bits for every number of threads, and every environment works."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import dragonfly_env as dfe
from dragonfly_env.plots import draw
from dragonfly_env.sweeps import Scenario, run_all
from dragonfly_env.sweeps.results import load_results
from tests.ready import ready
from tests.routes import routes_of

SMALL = dfe.Dragonfly(p=1, group=dfe.Grid(rows=2, columns=3), g=4, links_between_groups=4, arrangement="xc")


def config(**changes: Any) -> dfe.SimulationConfig:
    settings: dict[str, Any] = {"topology": SMALL, "traffic": "adv+1", "load": 0.5, "seed": 3}
    return dfe.SimulationConfig(**{**settings, **changes})


@pytest.mark.parametrize("policy", dfe.policies())
def test_threads_and_splits_change_nothing(policy: str) -> None:
    large = config(
        topology=dfe.Dragonfly.preset("cori-m8"), policy=ready(policy), traffic="uniform", load=0.2
    )
    hashes = set()
    for threads, parts in ((1, 1), (2, 3), (8, 1)):
        simulation = dfe.Simulation(large.replace(threads=threads))
        assert simulation.num_partitions > 1
        for _ in range(parts):
            simulation.run(1200 / parts)
        simulation.check_invariants()
        hashes.add(simulation.trace_hash())
    assert len(hashes) == 1


@pytest.mark.parametrize("action", ["port", "path"])
@pytest.mark.parametrize("scope", ["source", "every", "all"])
def test_random_actions_are_carried_out_and_everything_arrives(scope: str, action: str) -> None:
    """Any legal action: nothing gets stuck, and no route is longer than promised."""
    env = dfe.BatchedRoutingEnv(
        config(load=1.0, packet_log=True), scope=scope, action=action, duration_ns=3000, minimal_candidates=2
    )
    rng = np.random.default_rng(1)
    batch = env.reset()
    seen = 0
    while not env.done:
        seen += len(batch)
        noise = np.where(batch.mask, rng.random(batch.mask.shape), -1.0)
        batch = env.step(noise.argmax(axis=1))
    assert seen > 100
    env.drain()
    m = env.metrics()
    assert m.packets_in_flight == 0
    longest = 7 if action == "port" else 10 + (scope != "source")
    assert m.hop_histogram.nonzero()[0].max() <= longest
    linked = {(router, peer) for router, _, peer, _ in SMALL.links().tolist()}
    for route in routes_of(env.packet_log()):
        assert all(step in linked for step in itertools.pairwise(route))


@pytest.mark.parametrize(
    ("scope", "longest"),
    [
        ("source-all", 8),
        ("source-around", 8),
        ("minimal-path", 10),
        ("progressive", 14),
        ("progressive-busy", 14),
    ],
)
@pytest.mark.parametrize("mesh", [False, True])
def test_random_paths_with_nonminimal_paths_inside_groups_all_end(
    scope: str, longest: int, mesh: bool
) -> None:
    """Any legal action where Aries decides: nothing gets stuck, and no route is longer than its stages are together."""
    topology = dfe.Dragonfly.preset("72") if mesh else SMALL
    env = dfe.BatchedRoutingEnv(
        config(topology=topology, traffic="uniform", load=1.0, seed=3),
        scope=scope,
        action="path",
        nonminimal_kinds=("lg", "l") if scope != "minimal-path" else ("lg",),
        duration_ns=3000,
    )
    rng = np.random.default_rng(1)
    batch = env.reset()
    seen: set[str] = set()
    while not env.done:
        noise = np.where(batch.mask, rng.random(batch.mask.shape), -1.0)
        actions = noise.argmax(axis=1)
        seen |= {env.layout.candidates[action] for action in actions}
        batch = env.step(actions)
    assert seen == ({"minimal", "lg"} if scope == "minimal-path" else {"minimal", "lg", "l"})
    env.drain()
    m = env.metrics()
    assert m.packets_in_flight == 0
    most = m.hop_histogram.nonzero()[0].max()
    assert most <= (
        longest
        if not mesh
        else {
            "source-all": 5,
            "source-around": 5,
            "minimal-path": 6,
            "progressive": 8,
            "progressive-busy": 8,
        }[scope]
    )


def test_a_route_with_few_vcs_is_only_masked_more() -> None:
    env = dfe.BatchedRoutingEnv(config(load=1.0), max_hops=5, duration_ns=1000)
    batch = env.reset()
    while not env.done:
        assert batch.mask.any(axis=1).all()
        batch = env.step(batch.minimal_actions())
    env.drain()
    assert env.metrics().hop_histogram.nonzero()[0].max() <= 5
    with pytest.raises(dfe.ConfigError, match=r"^max_hops = 4: .* at least 5 VCs"):
        dfe.BatchedRoutingEnv(config(), max_hops=4)


def test_a_sweep_has_columns_and_figures_by_the_names_of_the_links(tmp_path: Any) -> None:
    plan = Scenario.from_dict(
        {
            "name": "grid",
            "topology": SMALL.to_dict(),
            "policies": ["min", "par"],
            "traffic": ["adv+1"],
            "loads": [0.3],
            "warmup_ns": 500,
            "measure_ns": 1000,
        }
    )
    assert run_all(plan, tmp_path, workers=1).failures == ()
    results = load_results(tmp_path)
    assert {"rank_1_link_packets", "rank_2_link_packets", "rank_3_link_packets"} <= set(results.table.columns)
    drawn = {file.stem for file in draw(results, tmp_path / "figures").files}
    assert {"loads", "global-links", "ports"} <= drawn

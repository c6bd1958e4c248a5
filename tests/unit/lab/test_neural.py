"""Training of the shipped networks: their scenarios, their penalty, and that the recipes train networks that run."""

from __future__ import annotations

import dataclasses
import functools
from pathlib import Path

import joblib
import numpy as np
import pytest

import dragonfly_env as dfe
from dragonfly_env.baselines import MlpNetwork
from dragonfly_env.decisions.layout import knowledge_of
from dragonfly_env.lab.knowledge import SETS
from dragonfly_env.lab.neural import (
    AGE,
    DIRECT_DEMAND,
    GROUP_DEMAND,
    HALF_AGE_NS,
    HALF_DEMAND,
    HALF_SHARE,
    KIND,
    OWN_DEMAND,
    SHIPPED,
    WAIT_FEATURE,
    Recipe,
    Teacher,
    collect,
    collect_choices,
    fit,
    read_recipe,
    rounds_of,
    scores_of,
    taught_by,
    train_network,
    untrained,
    with_nonminimal_penalty,
)

WITH_PENALTY = ("neural-v1", "neural-v2")
NAMES = (*WITH_PENALTY, "neural-v3")
shipped_recipe = functools.cache(read_recipe)
RECIPES = SHIPPED.read_text(encoding="utf-8").split("\n[[mixtures", 1)[0]
SCENARIOS = """
[[mixtures.steady.{part}]]
network = "default"
topology = {{ preset = "72" }}
duration_ns = 1_500
traffic = ["adv+1 0.4"]

[[mixtures.machines.{part}]]
network = "default"
topology = {{ preset = "72", failed = {{ local_links = 0.05 }} }}
duration_ns = 1_500
traffic = ["adv+1 0.4", "uniform 0.5"]

[[mixtures.large.{part}]]
network = "default"
topology = {{ preset = "72" }}
duration_ns = 1_500
message_packets = 4
traffic = ["uniform 0.3"]

[[mixtures.beginnings.{part}]]
network = "default"
topology = {{ preset = "72" }}
duration_ns = 1_500
traffic = ["uniform 1"]

[[mixtures.bursts.{part}]]
network = "default"
topology = {{ preset = "72" }}
duration_ns = 1_500
traffic = ["uniform 1"]

[[mixtures.applications.{part}]]
network = "default"
topology = {{ preset = "{hosts}" }}
duration_ns = 100_000
traffic = ["{traffic}"]
"""


def recipes(folder: Path, traffic: str = "halo3d:iterations=1", hosts: int = 72) -> Path:
    """The shipped recipes with few scenarios and short trainings; the second scenario is given."""
    text = RECIPES
    short = {"rounds": "2", "scenario_transitions": "500", "batch_transitions": "256", "passes": "1"}
    for name, value in (short | {"second_stage_candidates": "[2]"}).items():
        lines = (f"{name} = {value}" if line.startswith(f"{name} =") else line for line in text.splitlines())
        text = "\n".join(lines)
    parts = (SCENARIOS.format(part=part, traffic=traffic, hosts=hosts) for part in ("training", "validation"))
    file = folder / "recipes.toml"
    file.write_text(text + "".join(parts).replace("adv+1 0.4", "adv+3 0.37", 1), encoding="utf-8")
    return file


def recipe_of(name: str, folder: Path) -> Recipe:
    return read_recipe(name, recipes(folder))


@pytest.mark.parametrize("name", NAMES)
def test_a_recipe_trains_a_network_that_the_core_runs(name: str, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    file = train_network(recipe_of(name, tmp_path), tmp_path / "out")
    network, shipped = MlpNetwork.load(file), dfe.make_policy(name).network
    assert set(network.features) <= set(shipped.features)
    assert (network.scope, network.nonminimal_kinds) == (shipped.scope, shipped.nonminimal_kinds)
    config = dfe.SimulationConfig(topology="72", traffic="adv+1", load=0.3)
    policy = dfe.make_policy("mlp", weights=str(file))
    assert dfe.simulate(config.replace(policy=policy), warmup_ns=1_000, measure_ns=2_000).latency_mean_ns > 0


def test_training_with_the_same_seed_gives_the_same_file_for_any_number_of_workers(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    recipe = dataclasses.replace(recipe_of("neural-v1", tmp_path), rounds=1)
    files = [train_network(recipe, tmp_path / str(workers), workers) for workers in (1, 2)]
    assert files[0].read_bytes() == files[1].read_bytes()
    other = train_network(dataclasses.replace(recipe, seed=1), tmp_path / "other")
    assert other.read_bytes() != files[0].read_bytes()


@pytest.mark.parametrize(
    ("traffic", "hosts", "reason"),
    [
        ("tornado 0.2", 1056, "test split"),
        ("matched:16/1 0.2", 1056, "test split"),
        ("adv+1 0.2", 2550, "2550 hosts in its test split only"),
        ("graph500:scale=12", 342, "a program of the test split"),
        ("all-to-all:placement=random,message_bytes=2048", 72, "a case of the test split"),
    ],
)
def test_a_scenario_of_the_test_split_is_refused(
    traffic: str, hosts: int, reason: str, tmp_path: Path
) -> None:
    with pytest.raises(dfe.ConfigError, match=reason):
        read_recipe("neural-v2", recipes(tmp_path, traffic, hosts))


def test_samples_are_paths_taken_with_their_times_to_delivery(tmp_path: Path) -> None:
    recipe = recipe_of("neural-v1", tmp_path)
    x, y, weights = collect(recipe.training[0], untrained(recipe), recipe, 0)
    assert float(weights.sum()) == pytest.approx(1, rel=1e-5)
    assert 100 < len(y) <= recipe.scenario_transitions
    features = list(recipe.features)
    kinds = x[:, features.index(KIND)] * recipe.features[KIND]
    assert set(np.round(kinds)) == {0, 1, 2, 3, 4}
    idle = x[:, features.index(WAIT_FEATURE)] * recipe.features[WAIT_FEATURE]
    assert (np.exp(y) > 0.5 * idle).all()  # no packet is much faster than on idle links


@pytest.mark.parametrize(
    ("weight", "square", "expected"), [(0.0, 0.0, 20.0), (1.5, 0.0, 38.0), (1.5, 0.25, 74.0)]
)
def test_waiting_counts_more_than_time_on_links(
    weight: float, square: float, expected: float, tmp_path: Path
) -> None:
    """All packets take 20 on paths of 8: with a weight of 1.5 that is 20 + 1.5 * 12, with squares 0.25 * 144 more."""
    pytest.importorskip("torch")
    recipe = dataclasses.replace(
        recipe_of("neural-v1", tmp_path),
        batch_transitions=128, learning_rate=0.05, passes=4, wait_weights=[9.0, weight], wait_squares=[square],
    )  # fmt: skip
    features = list(recipe.features)
    x = np.zeros((20_000, len(features)), dtype=np.float32)
    x[:, features.index(WAIT_FEATURE)] = 8 / recipe.features[WAIT_FEATURE]
    y, ones = np.full(len(x), np.log(20), dtype=np.float32), np.ones(len(x), dtype=np.float32)
    network = fit(untrained(recipe), (x, y, ones), recipe, 3)
    assert np.exp(-scores_of(network.layers, x[:1])[0]) == pytest.approx(expected, rel=0.05)


def test_the_penalty_reads_features_in_the_form_in_which_environments_show_them() -> None:
    config = dfe.SimulationConfig(topology=dfe.Dragonfly.preset("72"), traffic="adv+1", load=0.2)
    names = (DIRECT_DEMAND, OWN_DEMAND, GROUP_DEMAND, AGE)
    env = dfe.BatchedRoutingEnv(config, features=names, duration_ns=100)
    env.reset(seed=1)
    halves = {block.name: block.half for block in env.layout.blocks}
    assert [halves[name] for name in names] == [HALF_DEMAND, HALF_DEMAND, HALF_SHARE, HALF_AGE_NS]


def test_a_recipe_may_name_one_part_of_a_mixture(tmp_path: Path) -> None:
    file = recipes(tmp_path)
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace('["machines"]', '["machines", "steady.validation"]'), encoding="utf-8")
    recipe = read_recipe("knowledge", file)
    assert [len(recipe.training), len(recipe.validation)] == [2, 3]


def test_a_scenario_may_have_bursts(tmp_path: Path) -> None:
    *_, burst, _ = recipe_of("neural-v3", tmp_path).training
    assert burst.config.message_packets == 4
    assert burst.label == "uniform 0.3, 72 hosts, default, messages of 4 packets"


def test_each_set_of_features_has_more_knowledge_than_the_set_before_it() -> None:
    assert [knowledge_of(tuple(features)) for features in SETS.values()] == [
        *3 * ["local"],
        "delayed",
        "ideal",
    ]
    queues, demand, acknowledged, delayed, ideal = (set(features) for features in SETS.values())
    assert queues < demand < acknowledged < delayed
    assert {name.removesuffix("_delayed") for name in delayed} == ideal
    assert delayed | {"hops"} == set(shipped_recipe("neural-v3").features)


def test_the_teachers_label_all_legal_paths(tmp_path: Path) -> None:
    """The cost of a path is the sum of the teachers' scores, with their weights at the kind of router, negated."""
    silent, other = (dfe.make_policy(name).network for name in ("neural-v2", "neural-v3"))
    recipe = dataclasses.replace(
        recipe_of("neural-v3", tmp_path),
        scenario_transitions=50,
        features=dict(zip(other.features, other.scale or (), strict=True)),
    )
    teachers, scenarios = [Teacher(other, 2.0, 1.0), Teacher(silent, 0.0, 0.0)], recipe.training[:2]
    for round_ in (0, 1):
        x, costs, weights = collect_choices(scenarios, other, teachers, recipe, round_)
        legal, at_source = np.isfinite(costs), x[..., other.features.index("hops")] == 0
        assert x.shape == (len(weights), 6, len(other.features))
        assert legal.any(axis=1).all()
        assert 0 < at_source[legal].mean() < 1
        expected = -scores_of(other.layers, x[legal]) * np.where(at_source[legal], 2, 1)
        np.testing.assert_allclose(costs[legal], expected, rtol=1e-4)
        assert float(weights.sum()) == pytest.approx(len(scenarios), rel=1e-5)


def test_teachers_that_do_not_come_with_the_package_are_trained_first(tmp_path: Path) -> None:
    """Twice each, with seeds that no other training has; the mean of their scores counts."""
    pytest.importorskip("torch")
    recipe = dataclasses.replace(recipe_of("neural-v3", tmp_path), seed=3)
    teachers = taught_by(recipe, joblib.Parallel(1))
    assert [teacher.network.scope for teacher in teachers] == [*2 * ["source"], *2 * [recipe.scope]]
    assert [(teacher.source_weight, teacher.later_weight) for teacher in teachers] == [
        *2 * [(0.5, 0.5)],
        *2 * [(0.15, 0.5)],
    ]
    for seed, later in zip((6, 7), teachers[2:], strict=True):
        its_recipe = dataclasses.replace(recipe_of("neural-v3-later", tmp_path), seed=seed)
        *_, trained = rounds_of(its_recipe, joblib.Parallel(1))
        np.testing.assert_array_equal(later.network.layers[0][0], trained.layers[0][0])


def test_a_network_learns_to_choose_without_knowing_the_times(tmp_path: Path) -> None:
    """The time of all paths of a decision is random; the shorter path is that with the lower feature."""
    pytest.importorskip("torch")
    recipe = dataclasses.replace(
        recipe_of("neural-v3", tmp_path), features={"candidate_packets": 1.0}, learning_rate=0.02, passes=4
    )
    draws = np.random.default_rng(0)
    x = draws.random((5_000, 5, 1)).astype(np.float32)
    times = (x[..., 0] + 3 * draws.standard_normal((5_000, 1))).astype(np.float32)
    times[:2_500, 4] = np.inf
    network = fit(untrained(recipe), (x, times, np.ones(5_000, dtype=np.float32)), recipe, 0)
    scores = np.where(np.isfinite(times), scores_of(network.layers, x.reshape(-1, 1)).reshape(-1, 5), -np.inf)
    regret = np.take_along_axis(times, scores.argmax(axis=1)[:, None], axis=1)[:, 0] - times.min(axis=1)
    assert regret.mean() < 0.02


@pytest.mark.parametrize("name", WITH_PENALTY)
def test_the_shipped_networks_have_the_penalty_of_their_recipes(name: str) -> None:
    """Remove the units of the penalty and add them again: the same network."""
    shipped, recipe = dfe.make_policy(name).network, shipped_recipe(name)
    (first, first_bias), (second, second_bias), (last, bias) = shipped.layers
    seen, units = len(recipe.features), 6 + ("l" in shipped.nonminimal_kinds)
    without = dataclasses.replace(
        shipped,
        features=tuple(recipe.features),
        scale=tuple(recipe.features.values()),
        layers=(
            (first[:seen, :-units], first_bias[:-units]),
            (second[:-units, :-3], second_bias[:-3]),
            (last[:-3], bias),
        ),
    )
    again = with_nonminimal_penalty(without, recipe.penalty)
    assert again.features == shipped.features
    for ours, theirs in zip(again.layers, shipped.layers, strict=True):
        np.testing.assert_array_equal(ours[0], theirs[0])
        np.testing.assert_array_equal(ours[1], theirs[1])
    assert shipped.nonminimal_candidates in recipe.second_stage_candidates

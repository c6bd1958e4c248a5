"""Training of the shipped networks: their scenarios, their penalty, and that the recipes train networks that run."""

from __future__ import annotations

import dataclasses
import functools
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import dragonfly_env as dfe
from dragonfly_env.baselines import MlpNetwork
from dragonfly_env.lab.benchmark import find_suite
from dragonfly_env.lab.neural import (
    AGE,
    DIRECT_DEMAND,
    GROUP_DEMAND,
    HALF_AGE_NS,
    HALF_DEMAND,
    HALF_SHARE,
    KIND,
    OLD_NS,
    OWN_DEMAND,
    SHIPPED,
    WAIT_FEATURE,
    YOUNG_NS,
    Floats,
    Recipe,
    collect,
    fit,
    matched_routers,
    random_demands,
    read_recipe,
    scores_of,
    train_network,
    untrained,
    with_nonminimal_penalty,
)

NAMES = ("neural-v1", "neural-v2")
shipped_recipe = functools.cache(read_recipe)
RECIPES = SHIPPED.read_text(encoding="utf-8").split("\n[[mixtures", 1)[0]
SCENARIOS = """
[[mixtures.steady.{part}]]
network = "default"
topology = {{ preset = "72" }}
duration_ns = 1_500
traffic = ["adv+1 0.4"]

[[mixtures.applications.{part}]]
network = "default"
topology = {{ preset = "{hosts}" }}
duration_ns = 100_000
traffic = ["{traffic}"]
"""


def recipes(folder: Path, traffic: str = "halo3d:iterations=1", hosts: int = 72, **changed: str) -> Path:
    """The shipped recipes with few scenarios and short trainings; the second scenario is given."""
    text = RECIPES
    short = {"rounds": "2", "scenario_transitions": "500", "batch_transitions": "256", "passes": "1"}
    for name, value in (short | {"second_stage_candidates": "[2]"} | changed).items():
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


@pytest.mark.parametrize("name", NAMES)
def test_the_shipped_recipes_have_the_scenarios_of_the_model_card(name: str) -> None:
    recipe = shipped_recipe(name)
    assert (len(recipe.training), len(recipe.validation)) == ((81, 52) if name == "neural-v1" else (102, 82))
    labels = [scenario.label for scenario in (*recipe.training, *recipe.validation)]
    assert len(set(labels)) == len(labels)


def test_no_scenario_of_the_mixtures_is_in_the_test_split() -> None:
    (track,) = find_suite("dragonfly-v1").choose(("steady",))
    cases = [case for listed in track.cases.values() for case in listed]
    held_out = [case for case in cases if case.split == "test"]
    trained = {case.traffic.label for case in cases if case.split == "train"}
    recipe = shipped_recipe("neural-v1")
    for scenario in (*recipe.training, *recipe.validation):
        label = scenario.label.split(" ")[0]
        assert label not in {case.traffic.label for case in held_out} - trained
        assert scenario.config.topology.num_hosts not in (2550, 5256, 16512)
        assert (label, scenario.config.load) not in {(case.traffic.label, case.load) for case in held_out}


@pytest.mark.parametrize(
    ("traffic", "hosts", "reason"),
    [
        ("tornado 0.2", 1056, "test split"),
        ("adv+16 0.2", 1056, "test split"),  # tornado on 33 groups
        ("matched:16/1 0.2", 1056, "test split"),
        ("adv+21 0.2", 342, "test split"),  # adv+2 on 19 groups
        ("permutation 0.4", 342, "test split"),
        ("uniform 0.6", 342, "a case of the test split"),
        ("adv+1 0.2", 2550, "2550 hosts in its test split only"),
        ("graph500:scale=12", 342, "a program of the test split"),
        ("all-to-all:placement=random,message_bytes=2048", 72, "a case of the test split"),
        ("halo3d", 1056, "on 1056 hosts in its test split only"),
    ],
)
def test_a_scenario_of_the_test_split_is_refused(
    traffic: str, hosts: int, reason: str, tmp_path: Path
) -> None:
    with pytest.raises(dfe.ConfigError, match=reason):
        read_recipe("neural-v2", recipes(tmp_path, traffic, hosts))


def test_a_mistake_in_a_recipe_is_named(tmp_path: Path) -> None:
    file = recipes(tmp_path)
    text = file.read_text(encoding="utf-8")
    for mistake, message in (
        (("rounds =", "round ="), "rounds"),
        (('"steady"', '"stead"'), "stead"),
        (("adv+1 0.4", "adv+1 much"), "load"),
        ((f"{WAIT_FEATURE} = 16.0", ""), WAIT_FEATURE),
        (("seed = 0", "seed = 0\nsede = 1"), "sede"),
    ):
        file.write_text(text.replace(*mistake), encoding="utf-8")
        with pytest.raises(dfe.ConfigError, match=message):
            read_recipe("neural-v1", file)
    with pytest.raises(dfe.ConfigError, match="neural-v9"):
        read_recipe("neural-v9")


def test_the_command_reads_recipes_from_a_file(tmp_path: Path) -> None:
    from typer import Typer

    from dragonfly_env.lab.neural import main

    app = Typer()
    app.command()(main)
    result = CliRunner().invoke(
        app, ["--recipes", str(recipes(tmp_path, "tornado 0.2")), "--recipe", "neural-v2"]
    )
    assert result.exit_code == 2
    assert "test split" in " ".join(result.output.replace("│", " ").split())


def test_random_demands_and_matched_routers_send_and_receive_equally() -> None:
    topology = dfe.Dragonfly.preset("342")
    group = np.arange(topology.num_routers) // (topology.num_routers // topology.num_groups)
    for kind, count in (("groups", topology.num_groups), ("routers", topology.num_routers)):
        matrix = np.asarray(random_demands(kind, topology, 3, 1).matrix)
        assert matrix.shape == (count, count)
        assert (matrix.sum(axis=0) == 3).all()
        assert (matrix.sum(axis=1) == 3).all()
        inside = (
            np.arange(count)[:, None] == np.arange(count) if kind == "groups" else group[:, None] == group
        )
        assert matrix[inside].sum() == 0
    matrix = np.asarray(matched_routers(topology, 6, 1).matrix)
    assert (matrix.sum(axis=0) == 1).all()
    assert (((group[matrix.argmax(axis=1)] - group) % topology.num_groups) == 6).all()


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


PENALTY = {
    "crowded": 2.0, "overload": 3.0, "light": 1.5,
    "free_share": 0.5, "free_demand": 4.0, "light_demand": 0.8, "own_demand": 2.5,
}  # fmt: skip
SHARES = (0.0, 0.5, 0.6, 0.8, 1.0)


def penalties(
    network: MlpNetwork, kind: int, *, age_ns: float = 0.0, demanded: float = 1.0, own: float = 1.0
) -> Floats:
    """By how much the penalty lowers the scores of paths of a kind, by the share that the group's packets take."""
    after = with_nonminimal_penalty(network, PENALTY)
    share = np.array(SHARES, dtype=np.float32)
    x = np.random.default_rng(0).random((len(share), len(after.features)), dtype=np.float32)
    place = after.features.index
    x[:, place(KIND)] = kind / 2.0
    for name, quantity, half in (
        (GROUP_DEMAND, share, HALF_SHARE),
        (AGE, age_ns, HALF_AGE_NS),
        (DIRECT_DEMAND, demanded, HALF_DEMAND),
        (OWN_DEMAND, own, HALF_DEMAND),
    ):
        x[:, place(name)] = quantity / (quantity + np.float32(half))
    seen = [place(name) for name in network.features]
    return scores_of(network.layers, x[:, seen]) - scores_of(after.layers, x)


@pytest.mark.parametrize("hidden", [[16, 16], [4, 3, 5]])
@pytest.mark.parametrize("kind", range(1, 5))
def test_a_nonminimal_path_costs_more_the_fuller_the_global_links_of_the_group_are(
    kind: int, hidden: list[int]
) -> None:
    network = untrained(dataclasses.replace(shipped_recipe("neural-v1"), hidden_units=hidden))
    share = np.array(SHARES) / (1 + np.array(SHARES))
    part = np.maximum(share - share[1], 0) / (share[-1] - share[1])
    np.testing.assert_allclose(
        penalties(network, kind, age_ns=YOUNG_NS), PENALTY["crowded"] * part, atol=1e-5
    )
    expected = (PENALTY["crowded"] + PENALTY["overload"]) * part
    np.testing.assert_allclose(penalties(network, kind, age_ns=OLD_NS), expected, atol=1e-5)


def test_a_nonminimal_path_costs_more_the_less_the_group_demands_of_the_direct_links() -> None:
    network = untrained(shipped_recipe("neural-v1"))
    crowded = penalties(network, 2)
    limit = PENALTY["light_demand"]
    for demanded in (0.0, 0.2, 0.6, 0.8, 2.0):
        part = max(1 - demanded / (demanded + HALF_DEMAND) * (limit + HALF_DEMAND) / limit, 0)
        expected = crowded + PENALTY["light"] * part
        np.testing.assert_allclose(penalties(network, 2, demanded=demanded), expected, atol=1e-5)
    np.testing.assert_allclose(penalties(network, 2, demanded=0.0, own=4.0), crowded, atol=1e-5)
    needed = penalties(network, 2, age_ns=1e6, demanded=6.0)
    assert np.abs(needed).max() < 1e-5


@pytest.mark.parametrize(("name", "kind"), [("neural-v1", 0), ("neural-v2", 0), ("neural-v2", 5)])
def test_shortest_paths_and_paths_inside_a_group_have_no_penalty(name: str, kind: int) -> None:
    network = untrained(shipped_recipe(name))
    for age_ns, demanded in ((0.0, 1.0), (1e6, 1.0), (0.0, 0.0), (1e6, 0.0)):
        assert np.abs(penalties(network, kind, age_ns=age_ns, demanded=demanded)).max() < 1e-5


def test_the_penalty_reads_features_in_the_form_in_which_environments_show_them() -> None:
    config = dfe.SimulationConfig(topology=dfe.Dragonfly.preset("72"), traffic="adv+1", load=0.2)
    names = (DIRECT_DEMAND, OWN_DEMAND, GROUP_DEMAND, AGE)
    env = dfe.BatchedRoutingEnv(config, features=names, duration_ns=100)
    env.reset(seed=1)
    halves = {block.name: block.half for block in env.layout.blocks}
    assert [halves[name] for name in names] == [HALF_DEMAND, HALF_DEMAND, HALF_SHARE, HALF_AGE_NS]


@pytest.mark.parametrize("name", NAMES)
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

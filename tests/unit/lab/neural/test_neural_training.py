"""How the networks of the package are trained: on what, that it learns, and that it goes on where it stopped."""

from __future__ import annotations

import csv
import dataclasses
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dragonfly_env as dfe
from dragonfly_env.baselines import MlpNetwork
from dragonfly_env.lab.benchmark import find_suite
from dragonfly_env.lab.benchmark.training import trained_on_test_split
from dragonfly_env.lab.neural import (
    FEATURES,
    RECIPES,
    SCALES,
    Mixture,
    TrainingSettings,
    own_mixture,
    train_network,
)
from dragonfly_env.lab.neural.evolution import changed, num_changes
from dragonfly_env.lab.neural.mixture import matched_routers, random_demands
from dragonfly_env.lab.neural.network import scores_of, untrained
from dragonfly_env.lab.neural.prediction import chosen, collect, fit
from dragonfly_env.lab.neural.tasks import cost
from dragonfly_env.lab.neural.training import curve

SUITE = find_suite("dragonfly-v1")
MIXTURE = own_mixture(SUITE, applications=True)
SMALL = TrainingSettings(
    hosts=(72,),
    patterns=("adv+1",),
    window_share=0.15,
    rounds=1,
    case_transitions=2000,
    batch_transitions=256,
    passes=1,
    second_stage_candidates=(2, 4),
    generations=1,
    pairs=1,
    generation_cases=1,
)


def alike(one: MlpNetwork, other: MlpNetwork) -> bool:
    """Whether all weights are the same."""
    return all(
        np.array_equal(a, b)
        for first, second in zip(one.layers, other.layers, strict=True)
        for a, b in zip(first, second, strict=True)
    )


def row(pattern: str, load: float, hosts: int = 1056, **more: int) -> dict[str, Any]:
    """A mixture of one scenario, as TOML gives it."""
    traffic = [{"pattern": pattern, "loads": [load], **more}]
    return {"training": [{"network": "lia", "hosts": hosts, "duration_ns": 3000, "traffic": traffic}]}


def test_no_scenario_of_the_mixture_is_in_the_test_split() -> None:
    (track,) = SUITE.choose(("steady",))
    held_out = [case for listed in track.cases.values() for case in listed if case.split == "test"]
    trained = {
        case.traffic.label for listed in track.cases.values() for case in listed if case.split == "train"
    }
    for task in (*MIXTURE.training, *MIXTURE.validation):
        if task.closed_loop:
            continue  # below
        label = task.traffic_label.split(" ")[0]
        assert label not in {case.traffic.label for case in held_out} - trained
        assert task.config.topology.num_hosts not in (2550, 5256, 16512)
        assert (label, task.config.load) not in {(case.traffic.label, case.load) for case in held_out}
    names = [task.traffic_label for task in (*MIXTURE.training, *MIXTURE.validation)]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize(
    ("pattern", "load", "hosts"),
    [
        ("tornado", 0.2, 1056),
        ("adv+16", 0.2, 1056),  # tornado on 33 groups
        ("adv-17", 0.2, 1056),
        ("adv+9", 0.2, 342),
        ("adv+2", 0.2, 72),
        ("adv+21", 0.2, 342),  # adv+2 on 19 groups
        ("permutation", 0.4, 342),
        ("advc", 0.2, 72),
        ("uniform", 0.6, 342),
        ("adv+1", 0.2, 2550),
    ],
)
def test_a_scenario_of_the_test_split_is_refused_by_any_name(pattern: str, load: float, hosts: int) -> None:
    with pytest.raises(dfe.ConfigError, match="test split"):
        Mixture.from_dict(row(pattern, load, hosts), SUITE)


def of_workloads(*workloads: str, hosts: int = 342) -> dict[str, Any]:
    """A mixture of them, as TOML gives it."""
    block = {"network": "lia", "hosts": hosts, "duration_ns": 100_000, "workloads": list(workloads)}
    return {"training": [block]}


@pytest.mark.parametrize(
    ("workload", "hosts", "reason"),
    [
        ("graph500:scale=12", 342, "a program of the test split"),
        ("all-to-all:placement=random,message_bytes=2048", 72, "a case of the test split"),
        ("halo3d", 1056, "on 1056 hosts in its test split only"),
    ],
)
def test_a_workload_of_the_test_split_is_refused(workload: str, hosts: int, reason: str) -> None:
    with pytest.raises(dfe.ConfigError, match=reason):
        Mixture.from_dict(of_workloads(workload, hosts=hosts), SUITE)
    config = dfe.SimulationConfig(topology=str(hosts), traffic=workload)
    assert reason in trained_on_test_split(SUITE, [config])


def test_a_workload_of_the_train_split_may_be_trained_on() -> None:
    tasks = Mixture.from_dict(of_workloads("all-to-all:message_bytes=512", "halo3d"), SUITE).training
    assert [task.traffic_label for task in tasks] == [
        "all-to-all:message_bytes=512, 342 hosts, lia",
        "halo3d, 342 hosts, lia",
    ]
    assert all(task.closed_loop and task.warmup_ns == 0 for task in tasks)
    assert {task.traffic_label for task in MIXTURE.only((342,), ("halo3d",), 0.1).training} >= {
        tasks[1].traffic_label
    }
    config = dfe.SimulationConfig(topology="342", traffic="halo3d")
    assert trained_on_test_split(SUITE, [config]) == ""
    with pytest.raises(dfe.ConfigError, match=r"workloads = 'uniform'.*to their end"):
        Mixture.from_dict(of_workloads("uniform"), SUITE)


def test_what_counts_is_latency_accepted_load_or_makespan() -> None:
    (workload,) = Mixture.from_dict(of_workloads("halo3d", hosts=72), SUITE).training
    steady, overload = (
        Mixture.from_dict(row("adv+3", load, hosts=72), SUITE).training[0] for load in (0.3, 1.0)
    )
    policy = dfe.make_policy("min")
    costs = [cost(task, policy, 7) for task in (steady, overload, workload)]
    runs = [
        dfe.simulate(task.config.replace(seed=7), warmup_ns=task.warmup_ns, measure_ns=task.measure_ns)
        for task in (steady, overload, workload)
    ]
    assert costs == [runs[0].latency_mean_ns, 1 / runs[1].accepted_load, runs[2].makespan_ns]
    short = dataclasses.replace(workload, measure_ns=1000.0)
    assert cost(short, policy, 7) == np.inf  # not complete


def test_a_system_may_be_described_by_its_shape() -> None:
    described = row("matched", 0.2, offset=3, seed=1)
    del described["training"][0]["hosts"]
    described["training"][0]["topology"] = {"p": 3, "a": 4, "h": 3}
    (task,) = Mixture.from_dict(described, SUITE).training
    assert task.config.topology == dfe.Dragonfly(p=3, a=4, h=3)
    assert task.traffic_label == "matched:3/1 0.2, 156 hosts, lia"
    described["training"][0]["traffic"][0]["offset"] = 6  # tornado on 13 groups
    with pytest.raises(dfe.ConfigError, match="test split"):
        Mixture.from_dict(described, SUITE)
    described["training"][0]["topology"] = {"p": 5, "a": 10, "h": 5}
    with pytest.raises(dfe.ConfigError, match="2550 hosts in its test split only"):
        Mixture.from_dict(described, SUITE)
    for wrong in ({"topology": {"p": 3}}, {"topology": {"p": 3, "a": 4, "h": 3}, "hosts": 72}, {}):
        described["training"][0] = {
            k: v for k, v in described["training"][0].items() if k not in ("topology", "hosts")
        } | wrong
        with pytest.raises(dfe.ConfigError, match=r"topology"):
            Mixture.from_dict(described, SUITE)


@pytest.mark.parametrize(("kind", "targets"), [("groups", 3), ("routers", 2)])
def test_random_demands_are_as_much_sent_as_heard_and_leave_every_group(kind: str, targets: int) -> None:
    topology = dfe.Dragonfly.preset("342")
    matrix = random_demands(kind, topology, targets, 5).matrix
    np.testing.assert_array_equal(matrix.sum(axis=0), targets)
    np.testing.assert_array_equal(matrix.sum(axis=1), targets)
    group = np.arange(len(matrix)) // (len(matrix) // topology.num_groups)
    assert not matrix[group[:, None] == group[None, :]].any()
    assert not np.array_equal(matrix, random_demands(kind, topology, targets, 6).matrix)


def test_matched_routers_send_to_one_and_hear_from_one_so_many_groups_away() -> None:
    topology = dfe.Dragonfly.preset("342")
    matrix = matched_routers(topology, 5, 1).matrix
    np.testing.assert_array_equal(matrix.sum(axis=0), 1)
    np.testing.assert_array_equal(matrix.sum(axis=1), 1)
    one, other = np.nonzero(matrix)
    groups, size = topology.num_groups, topology.num_routers // topology.num_groups
    np.testing.assert_array_equal((other // size - one // size) % groups, 5)
    assert not np.array_equal(other % size, one % size)
    assert not np.array_equal(matrix, matched_routers(topology, 5, 2).matrix)
    for wrong in (0, groups):
        with pytest.raises(dfe.ConfigError, match=r"offset.*1 to 18"):
            matched_routers(topology, wrong, 1)


@pytest.mark.parametrize(
    ("changed_field", "value", "told"),
    [
        ("network", "liar", "lia"),
        ("hosts", 73, "73"),
        ("duration_ns", 0, "duration_ns"),
        ("traffics", [], "traffic"),
    ],
)
def test_a_mistake_in_a_mixture_is_named(changed_field: str, value: Any, told: str) -> None:
    wrong = row("uniform", 0.3)
    wrong["training"][0][changed_field] = value
    with pytest.raises(dfe.ConfigError, match=told):
        Mixture.from_dict(wrong, SUITE)
    twice = row("uniform", 0.3)
    twice["validation"] = twice["training"]
    with pytest.raises(dfe.ConfigError, match="only once"):
        Mixture.from_dict(twice, SUITE)


def test_a_part_of_the_mixture_is_named_by_size_and_pattern() -> None:
    part = MIXTURE.only((342,), ("uniform",), 0.5)
    assert {task.traffic_label.split(",")[1] for task in part.training} == {" 342 hosts"}
    assert {task.traffic_label.split(" ")[0] for task in part.training} == {"uniform"}
    assert part.training[0].measure_ns == 3000.0
    for task in MIXTURE.only((), (), 0.37).training:  # whole picoseconds, whatever the share
        assert round(task.warmup_ns * 1000) == pytest.approx(task.warmup_ns * 1000, abs=1e-6)
    with pytest.raises(dfe.ConfigError, match="mixture"):
        MIXTURE.only((342,), ("tornado",), 1.0)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("features", ("candidate_kinds",)),
        ("features", ()),
        ("features", ("candidate_kind", "candidate_kind")),
        *(("hosts", ("72",)), ("rounds", 0), ("window_share", 0.0), ("temperatures", ())),
        *(("temperatures", (0.1, 0.0)), ("explored_share", 1.5), ("loss", "huber")),
        *(("wait_weights", (-1.0,)), ("wait_squares", (-1.0,)), ("nonminimal_penalty", -1.0)),
        *(("overload_price", -1.0), ("free_share", 1.0), ("free_demand", 0.0), ("light_price", -1.0)),
        *(("light_demand", 0.0), ("own_demand", 0.0), ("hidden_units", ()), ("hidden_units", (16,))),
        *(("seed", -1), ("nonminimal_candidates", 0)),
        ("second_stage_candidates", (2, 1)),
        ("second_stage_candidates", (17,)),
    ],
)
def test_a_setting_out_of_range_is_refused(field: str, value: Any) -> None:
    with pytest.raises(dfe.ConfigError, match=field):
        TrainingSettings(**{field: value})


def test_no_change_changes_nothing_and_a_gain_is_an_exponent() -> None:
    network = untrained(FEATURES, (8, 4), 3)
    assert num_changes(network) == len(FEATURES) + 2 * (8 + 4)
    assert alike(changed(network, np.zeros(num_changes(network))), network)
    doubled = np.zeros(num_changes(network))
    doubled[0] = np.log(2.0)
    weights = changed(network, doubled).layers[0][0]
    np.testing.assert_allclose(weights[0], 2 * network.layers[0][0][0], rtol=1e-6)
    np.testing.assert_array_equal(weights[1:], network.layers[0][0][1:])


def test_further_paths_are_tried_only_where_the_first_stage_found_a_nonminimal_one() -> None:
    """A shortest path and non-minimal paths 1, 1' and 2, 2'; what is best in the first stage and what behind it."""
    shape = dataclasses.replace(
        untrained(FEATURES, (4,), 0, nonminimal_candidates=2), nonminimal_kinds=("g", "lgl")
    )
    assert shape.second_stage
    mask = np.ones((4, 5), dtype=np.bool_)
    mask[3, 2] = False
    scores = np.array([[3, 0, 9, 0, 0], [3, 4, 9, 0, 0], [3, 4, 0, 0, 0], [3, 4, 9, 0, 5]], dtype=np.float64)
    scores = np.where(mask, scores * 1e3, -np.inf)
    draws = np.full((4, 2), 0.5)
    assert chosen(shape, scores, mask, draws, 0.0).tolist() == [0, 2, 1, 4]
    once = dataclasses.replace(shape, second_stage=False)
    assert chosen(once, scores, mask, draws, 0.0).tolist() == [2, 2, 1, 4]


def test_what_a_packet_waits_counts_more_than_its_way() -> None:
    """All packets take 20 on ways of 8: with a weight of 1.5 that is 20 + 1.5 * 12, with squares 0.25 * 144 more."""
    pytest.importorskip("torch")
    x = np.zeros((20_000, len(FEATURES)), dtype=np.float32)
    x[:, FEATURES.index("candidate_time_packets")] = 8 / SCALES["candidate_time_packets"]
    y, ones = np.full(len(x), np.log(20), dtype=np.float32), np.ones(len(x), dtype=np.float32)
    for weights, squares, expected in (
        ((1.5,), (0.0,), 38.0),
        ((0.0,), (0.0,), 20.0),
        ((5.0, 1.0), (0.0,), 32.0),
        ((1.5,), (9.0, 0.25), 74.0),
    ):
        settings = TrainingSettings(
            batch_transitions=128, learning_rate=0.05, wait_weights=weights, wait_squares=squares
        )
        network, _ = fit(untrained(FEATURES, (16, 16), 0), (x, y, ones), settings, 3)
        assert np.exp(-scores_of(network.layers, x[:1])[0]) == pytest.approx(expected, rel=0.05)


def test_the_curve_has_a_panel_per_network_and_a_line_per_scenario(tmp_path: Path) -> None:
    file = tmp_path / "curve.csv"
    file.write_text(
        "stage,number,geometric_mean,worst,within_5_percent,"
        '"adv+3 0.3, 342 hosts, default","uniform 0.7, 342 hosts, default","uniform 0.7, 342 hosts, lia"\n'
        "prediction,0,1.2,2.0,0.0,1.1,1.2,2.0\n"
        "prediction,1,1.0,1.1,0.67,1.0,0.9,1.1\n"
        "evolution,5,0.9,1.0,1.0,0.9,0.9,1.0\n",
        encoding="utf-8",
    )
    default, lia = curve(file).axes
    assert (default.get_title(), lia.get_title()) == ("network default", "network lia")
    assert [np.asarray(line.get_ydata()).tolist() for line in lia.get_lines()[:2]] == [[2.0, 1.1], [1.2, 1.0]]
    assert len(default.get_lines()) == len(lia.get_lines()) + 1
    assert (
        default.get_lines()[1].get_color()
        == lia.get_lines()[0].get_color()
        != default.get_lines()[0].get_color()
    )


def test_transitions_are_paths_taken_with_their_times_to_delivery() -> None:
    task = MIXTURE.only((72,), ("adv+1",), 0.15).training[0]
    x, y, weights = collect(task, None, SMALL, 0)
    assert float(weights.sum()) == pytest.approx(1, rel=1e-5)
    assert 100 < len(y) <= SMALL.case_transitions
    kinds = x[:, FEATURES.index("candidate_kind")] * SCALES["candidate_kind"]
    assert set(np.round(kinds)) == {0, 1, 2, 3, 4}
    # Nothing is faster than the links that it takes: less than the path on idle links is impossible.
    idle = x[:, FEATURES.index("candidate_time_packets")] * SCALES["candidate_time_packets"]
    assert (np.exp(y) > 0.5 * idle).all()


def test_recipes_say_how_the_networks_of_the_package_were_trained() -> None:
    for name, recipe in RECIPES.items():
        network = dfe.make_policy(name).network
        assert network.scope == recipe.scope
        assert set(recipe.features) <= set(network.features) <= set(SCALES)
        assert len(own_mixture(SUITE, applications=recipe.applications).training) == (
            len(MIXTURE.training) if recipe.applications else 81
        )


def test_training_with_two_workers_gives_the_same_weights(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    settings = dataclasses.replace(SMALL, generations=0, patterns=("adv+1", "halo3d"))
    one, two = (
        MlpNetwork.load(train_network(MIXTURE, tmp_path / str(workers), settings, str, workers))
        for workers in (1, 2)
    )
    assert alike(one, two)
    ended = [(tmp_path / str(workers) / "curve.csv").read_text(encoding="utf-8") for workers in (1, 2)]
    assert ended[0] == ended[1]


def test_training_goes_on_where_it_stopped_and_gives_the_same_weights(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    quiet: list[str] = []
    whole = MlpNetwork.load(train_network(MIXTURE, tmp_path / "whole", SMALL, quiet.append))
    first = dataclasses.replace(SMALL, generations=0)
    (tmp_path / "parts").mkdir()
    for known in ("references.json", "transitions-00.npz"):  # they cost most, and are the same
        shutil.copy(tmp_path / "whole" / known, tmp_path / "parts" / known)
    train_network(MIXTURE, tmp_path / "parts", first, quiet.append)
    before = len(quiet)
    parts = MlpNetwork.load(train_network(MIXTURE, tmp_path / "parts", SMALL, quiet.append))
    assert alike(whole, parts)
    assert not any("round" in line for line in quiet[before:])
    again = len(quiet)
    assert alike(MlpNetwork.load(train_network(MIXTURE, tmp_path / "parts", SMALL, quiet.append)), whole)
    assert not any("generations" in line for line in quiet[again:])
    with (tmp_path / "whole" / "curve.csv").open(encoding="utf-8", newline="") as handle:
        rows = list(csv.DictReader(handle))
    assert (tmp_path / "whole" / "curve.png").read_bytes().startswith(b"\x89PNG")
    stages = ["prediction", "evolution", "non-minimal penalty", "second stage", "second stage"]
    assert [row["stage"] for row in rows] == stages
    ratios = [float(row["geometric_mean"]) for row in rows]
    best = ("round 0", "generation 1")[ratios[1] < ratios[0]]
    names = ["0", "1", f"{best}, penalty 0.7"]
    is_penalised = ratios[2] < min(ratios[:2])
    names += [f"{names[2] if is_penalised else best}, {count} of each kind" for count in (2, 4)]
    assert [row["number"] for row in rows] == names
    assert whole.nonminimal_candidates == (1, 1, 1, 2, 4)[ratios.index(min(ratios))]
    assert whole.second_stage == (whole.nonminimal_candidates > 1)
    assert whole.layers[0][0].shape[1] == 16 + 6 * is_penalised
    with pytest.raises(dfe.ConfigError, match="other seed"):
        train_network(MIXTURE, tmp_path / "parts", dataclasses.replace(SMALL, seed=1), quiet.append)

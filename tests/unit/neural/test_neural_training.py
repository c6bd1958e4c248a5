"""How ``neural-v1`` is trained: on what, that it learns, and that it goes on where it stopped."""

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
from dragonfly_env.benchmark import find_suite
from dragonfly_env.neural import FEATURES, TrainingSettings, train_network, training_tasks
from dragonfly_env.neural.evolution import changed, num_changes
from dragonfly_env.neural.foretelling import collect, fit
from dragonfly_env.neural.network import scores_of, untrained

SUITE = find_suite("dragonfly-v1")
SMALL = TrainingSettings(
    hosts=(72,),
    patterns=("adv+1",),
    window_share=0.02,
    rounds=1,
    cell_transitions=2000,
    batch_transitions=256,
    passes=1,
    generations=1,
    pairs=1,
    generation_cells=1,
)


def alike(one: MlpNetwork, other: MlpNetwork) -> bool:
    """Whether all weights are the same."""
    return all(
        np.array_equal(a, b)
        for first, second in zip(one.layers, other.layers, strict=True)
        for a, b in zip(first, second, strict=True)
    )


def test_only_cells_of_the_training_part_are_trained_on() -> None:
    (board,) = SUITE.choose(("steady",))
    cells = [cell for listed in board.cells.values() for cell in listed]
    unseen = {cell.name for cell in cells if cell.part == "unseen"}
    tasks = training_tasks(SUITE, (72, 342, 1056, 2550), (), 1.0)
    assert {task.name for task in tasks} == {cell.name for cell in cells if cell.part == "train"}
    assert unseen
    assert not unseen & {task.name for task in tasks}


def test_a_task_is_its_cell_with_shorter_windows() -> None:
    (task,) = (
        task
        for task in training_tasks(SUITE, (342,), ("uniform",), 0.25)
        if task.name == "uniform 0.8, 342 hosts, lia"
    )
    assert (task.warmup_ns, task.measure_ns) == (5000.0, 5000.0)
    assert task.config.topology == dfe.Dragonfly.preset("342")
    assert task.packet_ns == 10.0
    assert task.seed(1) == task.seed(1) != task.seed(2)


def test_what_is_no_training_cell_is_refused() -> None:
    with pytest.raises(dfe.ConfigError, match="training cells"):
        training_tasks(SUITE, (2550,), (), 1.0)
    with pytest.raises(dfe.ConfigError, match="training cells"):
        training_tasks(SUITE, (1056,), ("tornado",), 1.0)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("features", ("candidate_kinds",)),
        ("features", ()),
        ("hosts", ("72",)),
        ("rounds", 0),
        ("window_share", 0.0),
        ("hidden_units", ()),
        ("seed", -1),
    ],
)
def test_a_setting_out_of_range_is_refused(field: str, value: Any) -> None:
    with pytest.raises(dfe.ConfigError, match=field):
        TrainingSettings(**{field: value})


def test_no_change_changes_nothing_and_a_gain_is_an_exponent() -> None:
    network = untrained(tuple(FEATURES), (8, 4), 3)
    assert num_changes(network) == len(FEATURES) + 2 * (8 + 4)
    assert alike(changed(network, np.zeros(num_changes(network))), network)
    doubled = np.zeros(num_changes(network))
    doubled[0] = np.log(2.0)
    weights = changed(network, doubled).layers[0][0]
    np.testing.assert_allclose(weights[0], 2 * network.layers[0][0][0], rtol=1e-6)
    np.testing.assert_array_equal(weights[1:], network.layers[0][0][1:])


def test_a_network_learns_to_foretell() -> None:
    pytest.importorskip("torch")
    generator = np.random.default_rng(0)
    x = generator.random((20_000, len(FEATURES)), dtype=np.float32)
    y = np.log(1 + 3 * x[:, 0] + 5 * np.maximum(x[:, 1] - 0.5, 0)).astype(np.float32)
    settings = TrainingSettings(batch_transitions=128, passes=10)
    network, error = fit(untrained(tuple(FEATURES), (16, 16), 0), (x, y), settings, 0)
    assert error < 0.05 * float(y.var())
    assert float(np.mean((scores_of(network.layers, x) + y) ** 2)) < 0.05 * float(y.var())


def test_transitions_are_paths_taken_with_their_times_to_delivery() -> None:
    task = training_tasks(SUITE, (72,), ("adv+1",), 0.02)[0]
    x, y = collect(task, None, SMALL, 0)
    assert 100 < len(y) <= SMALL.cell_transitions
    kinds = x[:, list(FEATURES).index("candidate_kind")] * FEATURES["candidate_kind"]
    assert set(np.round(kinds)) == {0, 1, 2, 3, 4}
    # Nothing is faster than the links that it takes: less than the path on idle links is impossible.
    idle = x[:, list(FEATURES).index("candidate_time_packets")] * FEATURES["candidate_time_packets"]
    assert (np.exp(y) > 0.5 * idle).all()


@pytest.mark.slow
def test_training_goes_on_where_it_stopped_and_gives_the_same_weights(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    quiet: list[str] = []
    whole = MlpNetwork.load(train_network(SUITE, tmp_path / "whole", SMALL, quiet.append))
    first = dataclasses.replace(SMALL, generations=0)
    (tmp_path / "parts").mkdir()
    for known in ("references.json", "transitions-00.npz"):  # they cost most, and are the same
        shutil.copy(tmp_path / "whole" / known, tmp_path / "parts" / known)
    train_network(SUITE, tmp_path / "parts", first, quiet.append)
    before = len(quiet)
    parts = MlpNetwork.load(train_network(SUITE, tmp_path / "parts", SMALL, quiet.append))
    assert alike(whole, parts)
    assert not any("round" in line for line in quiet[before:])
    again = len(quiet)
    assert alike(MlpNetwork.load(train_network(SUITE, tmp_path / "parts", SMALL, quiet.append)), whole)
    assert not any("generations" in line for line in quiet[again:])
    rows = list(csv.DictReader((tmp_path / "whole" / "curve.csv").read_text(encoding="utf-8").splitlines()))
    assert [(row["stage"], row["number"]) for row in rows] == [
        ("foretelling", "0"),
        ("evolution", "1"),
    ]
    with pytest.raises(dfe.ConfigError, match="other seed"):
        train_network(SUITE, tmp_path / "parts", dataclasses.replace(SMALL, seed=1), quiet.append)

"""Neural networks as policies: their files, and what is refused."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dragonfly_env as dfe
from dragonfly_env.baselines import Mlp, MlpNetwork
from dragonfly_env.baselines._mlp_arithmetic import best_legal, drawn_legal, forward, tanh

CONFIG = dfe.SimulationConfig(topology=dfe.Dragonfly.preset("72"), traffic="adv+1", load=0.4)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A network of 5 x 32 x 32 x 1 that chooses among paths."""
    return MlpNetwork.random(seed=1).save(tmp_path / "net")


def changed(file: Path, **arrays: Any) -> Path:
    """A copy with other arrays; ``header`` is a dictionary of what differs. None: left out."""
    with np.load(file) as old:
        content = dict(old)
    header = json.loads(str(content["header"]))
    header |= arrays.pop("header", {})
    content["header"] = np.array(json.dumps({k: v for k, v in header.items() if v != "-"}))
    content |= arrays
    target = file.with_name("changed.npz")
    np.savez(target, **{name: array for name, array in content.items() if array is not None})
    return target


def test_a_name_alone_is_not_enough_and_the_message_says_how_to_get_weights() -> None:
    for make in (
        lambda: dfe.make_policy("mlp"),
        lambda: dfe.SimulationConfig(topology=CONFIG.topology, policy="mlp"),
        Mlp,
    ):
        with pytest.raises(dfe.ConfigError, match=r"^weights = None: .*export_mlp.*MlpNetwork"):
            make()


def test_a_file_gives_back_the_network_and_equal_networks_give_equal_files(tmp_path: Path) -> None:
    network = MlpNetwork.random(
        action="port", scope="every", activation="tanh", output="softmax", temperature=0.1, max_hops=6
    )
    first, second = network.save(tmp_path / "a"), network.save(str(tmp_path / "b.npz"))
    assert first == tmp_path / "a.npz"
    assert first.read_bytes() == second.read_bytes()
    loaded = MlpNetwork.load(first)
    assert loaded.to_dict() == network.to_dict()
    for ours, theirs in zip(loaded.layers, network.layers, strict=True):
        for mine, other in zip(ours, theirs, strict=True):
            np.testing.assert_array_equal(mine, other)
            assert not mine.flags.writeable
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.npz", "b.npz"]


def test_the_policy_survives_dictionaries_files_and_pickling(file: Path) -> None:
    policy = dfe.make_policy("mlp", weights=file)
    config = CONFIG.replace(policy=policy)
    for copy in (
        pickle.loads(pickle.dumps(policy)),
        dfe.SimulationConfig.from_toml(config.to_toml()).policy_object,
        dfe.SimulationConfig.from_json(config.to_json()).policy_object,
    ):
        assert copy == policy
        assert copy.network.to_dict() == policy.network.to_dict()  # type: ignore[attr-defined]
    assert policy.to_dict()["sha256"] == policy.sha256  # type: ignore[attr-defined]


BAD: dict[str, tuple[Callable[[Path], Any], str]] = {
    "another kind": (lambda f: changed(f, header={"kind": "cnn"}), "format 1"),
    "a later format": (lambda f: changed(f, header={"format": 2}), "format 1"),
    "no format": (lambda f: changed(f, header={"format": "-"}), "format 1"),
    "no layers": (
        lambda f: changed(f, header={"layers": "-"}),
        "layers = None: must be an integer from 1 to 9",
    ),
    "too many layers": (lambda f: changed(f, header={"layers": 10}), "layers = 10"),
    "one layer too many": (lambda f: changed(f, header={"layers": 4}), "weights_3"),
    "a missing array": (lambda f: changed(f, bias_1=None), "bias_1"),
    "double precision": (lambda f: changed(f, bias_2=np.zeros(1)), "bias_2 = 'float64': must be float32"),
    "objects": (lambda f: changed(f, bias_2=np.array([None])), "allow_pickle=False"),
    "other shapes": (lambda f: changed(f, weights_1=np.zeros((31, 32), np.float32)), "must have 32 rows"),
    "a long bias": (lambda f: changed(f, bias_1=np.zeros(33, np.float32)), "must have 32 numbers"),
    "three dimensions": (lambda f: changed(f, weights_0=np.zeros((5, 32, 1), np.float32)), "2 dimensions"),
    "NaN": (
        lambda f: changed(f, bias_2=np.array([np.nan], np.float32)),
        r"bias_2\[0\] = nan: must be finite",
    ),
    "infinity": (lambda f: changed(f, bias_2=np.array([np.inf], np.float32)), r"bias_2\[0\] = inf: must be"),
    "too few inputs": (
        lambda f: changed(f, header={"features": ["hops"]}),
        "must have 1 rows, one per feature",
    ),
    "an unknown feature": (
        lambda f: changed(f, header={"features": ["hopps", "vc", "age", "traffic", "waiting"]}),
        "did you mean 'hops'",
    ),
    "a feature twice": (lambda f: changed(f, header={"features": ["hops"] * 5}), "must be named once"),
    "a feature of ports": (
        lambda f: changed(f, header={"features": ["queue_packets", "vc", "age", "traffic", "hops"]}),
        "queue_packets.*is per port",
    ),
    "two scores": (
        lambda f: changed(f, weights_2=np.zeros((32, 2), np.float32), bias_2=np.zeros(2, np.float32)),
        "must be one number",
    ),
    "an unknown action": (lambda f: changed(f, header={"action": "turn"}), "action = 'turn'"),
    "an unknown scope": (lambda f: changed(f, header={"scope": "all"}), "scope = 'all'"),
    "an unknown activation": (lambda f: changed(f, header={"activation": "gelu"}), "activation = 'gelu'"),
    "a cold softmax": (lambda f: changed(f, header={"temperature": 0}), "temperature = 0"),
    "an endless temperature": (lambda f: changed(f, header={"temperature": 1e400}), "temperature = inf"),
    "a negative scale": (lambda f: changed(f, header={"scale": [-1, 0, 0, 0, 0]}), "scale = -1"),
    "few scales": (lambda f: changed(f, header={"scale": [1]}), "must have 5 numbers"),
    "no non-minimal path of that name": (
        lambda f: changed(f, header={"nonminimal_kinds": ["llg"]}),
        "nonminimal_kinds = 'llg'",
    ),
    "many candidates": (
        lambda f: changed(f, header={"nonminimal_candidates": 17}),
        "nonminimal_candidates = 17",
    ),
    "a second stage at ports": (
        lambda f: changed(
            f,
            header={
                "second_stage": True,
                "nonminimal_candidates": 2,
                "action": "port",
                "features": ["vc", "hops", "age", "traffic", "waiting"],
            },
        ),
        "second_stage = True",
    ),
    "a second stage at nothing new": (
        lambda f: changed(f, header={"second_stage": True}),
        "second_stage = True",
    ),
    "a second stage by lot": (
        lambda f: changed(f, header={"second_stage": True, "nonminimal_candidates": 2, "output": "softmax"}),
        "second_stage = True",
    ),
    "a second stage that is no truth": (lambda f: changed(f, header={"second_stage": 2}), "second_stage = 2"),
    "few hops": (lambda f: changed(f, header={"max_hops": 2}), "max_hops = 2"),
    "a field that nobody knows": (lambda f: changed(f, header={"dropout": 0.1}), "dropout = 0.1"),
    "no archive": (lambda f: Path(__file__), "must be a file of MlpNetwork.save"),
    "no file": (lambda f: f.with_name("absent.npz"), "No such file"),
    "a folder": (lambda f: f.parent, "directory"),
}


@pytest.mark.parametrize("case", BAD)
def test_what_is_wrong_with_a_file_is_said(case: str, file: Path) -> None:
    spoil, message = BAD[case]
    with pytest.raises(dfe.ConfigError, match=message):
        Mlp(weights=str(spoil(file)))


def test_a_file_that_is_cut_off_is_refused_wherever_it_ends(file: Path) -> None:
    content = file.read_bytes()
    for length in range(0, len(content), 211):
        file.write_bytes(content[:length])
        with pytest.raises(dfe.ConfigError, match=r"^weights = "):
            MlpNetwork.load(file)


def test_a_network_of_another_size_is_refused_by_the_core_and_by_the_reference(tmp_path: Path) -> None:
    env = dfe.BatchedRoutingEnv(CONFIG, duration_ns=500.0)
    network = MlpNetwork.random(action="port", scoring="all", scope="every", env=env)
    policy = Mlp(weights=str(network.save(tmp_path / "net")))
    larger = CONFIG.replace(topology=dfe.Dragonfly.preset("342"))
    with pytest.raises(dfe.ConfigError, match=r"weights_0.*21 rows.*must be 33 in this network"):
        dfe.Simulation(larger.replace(policy=policy))
    other = dfe.BatchedRoutingEnv.for_policy(larger, policy, duration_ns=500.0)
    with pytest.raises(dfe.ConfigError, match=r"weights_0 = 21: must be 33"):
        policy.act(other.reset())
    with pytest.raises(dfe.ConfigError, match=r"feature = "):
        policy.act(dfe.BatchedRoutingEnv(CONFIG, features=["hops"], duration_ns=500.0).reset())


def test_another_network_may_take_over_in_the_middle_of_a_run(tmp_path: Path) -> None:
    files = [str(MlpNetwork.random(seed=i).save(tmp_path / f"{i}")) for i in (1, 2)]
    busy = MlpNetwork.random(seed=3, features=("candidate_hops", "traffic", "age")).save(tmp_path / "3")
    simulation = dfe.Simulation(CONFIG.replace(policy=Mlp(weights=files[0])))
    for file in (files[1], str(busy), files[0]):
        simulation.run(1000)
        simulation.set_policy(Mlp(weights=file))
    simulation.run(1000)
    simulation.check_invariants()
    tracked = MlpNetwork.random(features=("candidate_congested", "hops")).save(tmp_path / "4")
    with pytest.raises(dfe.ConfigError, match="tracker"):
        simulation.set_policy(Mlp(weights=str(tracked)))


def test_a_scale_makes_up_for_buffers_of_another_size(tmp_path: Path) -> None:
    """What was learnt in packets is meant in packets."""
    weights = (np.array([[-1.0], [-4.0]], np.float32), np.zeros(1, np.float32))
    seen = {}
    for scale in (None, (1.0, 0.0)):
        network = MlpNetwork(features=("candidate_packets", "candidate_kind"), layers=(weights,), scale=scale)
        policy = Mlp(weights=str(network.save(tmp_path / "net")))
        for packets in (20, 200):
            small = CONFIG.replace(
                network=dfe.NetworkConfig(local_buffer_packets=packets, global_buffer_packets=packets)
            )
            env = dfe.BatchedRoutingEnv.for_policy(small, policy, duration_ns=3000.0)
            batch = env.reset()
            while not env.done and batch.candidates["occupancy"].max() < 2:  # type: ignore[index]
                batch = env.step(policy.act(batch))
            assert batch.candidates is not None
            expected = -batch.candidates["occupancy"] - 4 * batch.candidates["kind"] / 8
            seen[scale, packets] = bool(np.allclose(policy.scores(batch), expected))
    assert seen == {(None, 20): False, (None, 200): False, ((1.0, 0.0), 20): True, ((1.0, 0.0), 200): True}


def test_the_reference_adds_up_as_a_naive_loop_does() -> None:
    generator = np.random.default_rng(1)
    layers = [
        (
            generator.standard_normal(shape).astype(np.float32),
            generator.standard_normal(shape[1]).astype("f4"),
        )
        for shape in ((3, 4), (4, 2))
    ]
    x = generator.standard_normal((5, 3)).astype(np.float32)
    got = forward(layers, "tanh", x)
    for row in range(5):
        values = list(x[row])
        for i, (weights, bias) in enumerate(layers):
            if i:
                values = [tanh(np.array([value]))[0] for value in values]
            sums = []
            for j in range(weights.shape[1]):
                total = bias[j]
                for k, value in enumerate(values):
                    total = np.float32(total + value * weights[k, j])
                sums.append(total)
            values = sums
        assert got[row].tolist() == [float(value) for value in values]


def test_choices_are_legal_and_ties_go_to_the_lowest() -> None:
    scores = np.array([[3, 5, 5, 9], [-3e38, 0, 0, 0]], np.float32)
    mask = np.array([[1, 1, 1, 0], [1, 0, 0, 0]], bool)
    assert best_legal(scores, mask).tolist() == [1, 0]
    draws = np.random.default_rng(1).random((4000, 2))
    drawn = np.array([drawn_legal(scores, mask, 1.0, pair) for pair in draws])
    assert set(drawn[:, 0].tolist()) == {0, 1, 2}
    assert set(drawn[:, 1].tolist()) == {0}
    share = np.exp(-2.0) / (np.exp(-2.0) + 2)
    assert abs((drawn[:, 0] == 0).mean() - share) < 0.02

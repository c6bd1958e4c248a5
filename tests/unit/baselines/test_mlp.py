"""Neural networks as policies: their files, and what is refused."""

from __future__ import annotations

import hashlib
import pickle
from pathlib import Path

import numpy as np
import pytest

import dragonfly_env as dfe
from dragonfly_env.baselines import MlpNetwork
from dragonfly_env.baselines.mlp import scores
from dragonfly_env.baselines.mlp_arithmetic import best_legal, drawn_legal, forward, tanh

CONFIG = dfe.SimulationConfig(topology=dfe.Dragonfly.preset("72"), traffic="adv+1", load=0.4)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A network of 5 x 32 x 32 x 1 that chooses among paths."""
    return MlpNetwork.random(seed=1).save(tmp_path / "net")


def test_a_name_alone_is_not_enough_and_the_message_says_how_to_get_weights() -> None:
    for make in (
        lambda: dfe.make_policy("mlp"),
        lambda: dfe.SimulationConfig(topology=CONFIG.topology, policy="mlp"),
    ):
        with pytest.raises(dfe.ConfigError, match=r"^mlp.weights = None: .*export_mlp.*MlpNetwork"):
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
        assert copy.network.to_dict() == policy.network.to_dict()
    assert policy.to_dict()["sha256"] == hashlib.sha256(file.read_bytes()).hexdigest()


def test_a_file_that_is_cut_off_is_refused(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-100])
    with pytest.raises(dfe.ConfigError, match=r"^weights = "):
        MlpNetwork.load(file)


def test_a_network_of_another_size_is_refused_by_the_core_and_by_the_reference(tmp_path: Path) -> None:
    env = dfe.BatchedRoutingEnv(CONFIG, duration_ns=500.0)
    network = MlpNetwork.random(action="port", scoring="all", scope="every", env=env)
    policy = dfe.make_policy("mlp", weights=str(network.save(tmp_path / "net")))
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
    simulation = dfe.Simulation(CONFIG.replace(policy=dfe.make_policy("mlp", weights=files[0])))
    for file in (files[1], str(busy), files[0]):
        simulation.run(1000)
        simulation.set_policy(dfe.make_policy("mlp", weights=file))
    simulation.run(1000)
    simulation.check_invariants()
    tracked = MlpNetwork.random(features=("candidate_congested", "hops")).save(tmp_path / "4")
    with pytest.raises(dfe.ConfigError, match="tracker"):
        simulation.set_policy(dfe.make_policy("mlp", weights=str(tracked)))


def test_a_scale_makes_up_for_buffers_of_another_size(tmp_path: Path) -> None:
    """Weights that were learnt in packets read packets."""
    weights = (np.array([[-1.0], [-4.0]], np.float32), np.zeros(1, np.float32))
    seen = {}
    for scale in (None, (1.0, 0.0)):
        network = MlpNetwork(features=("candidate_packets", "candidate_kind"), layers=(weights,), scale=scale)
        policy = dfe.make_policy("mlp", weights=str(network.save(tmp_path / "net")))
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
            seen[scale, packets] = bool(np.allclose(scores(network, batch), expected))
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
    given = np.array([[3, 5, 5, 9], [-3e38, 0, 0, 0]], np.float32)
    mask = np.array([[1, 1, 1, 0], [1, 0, 0, 0]], bool)
    assert best_legal(given, mask).tolist() == [1, 0]
    draws = np.random.default_rng(1).random((4000, 2))
    drawn = np.array([drawn_legal(given, mask, 1.0, pair) for pair in draws])
    assert set(drawn[:, 0].tolist()) == {0, 1, 2}
    assert set(drawn[:, 1].tolist()) == {0}
    share = np.exp(-2.0) / (np.exp(-2.0) + 2)
    assert abs((drawn[:, 0] == 0).mean() - share) < 0.02

"""The optimal static split, and the policy that plays it."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dragonfly_env as dfe
from dragonfly_env import _core
from dragonfly_env.baselines import StaticOptimum
from dragonfly_env.bounds import PathSplit, optimal_split
from dragonfly_env.bounds.split import SHORTEST
from dragonfly_env.bounds.times import alone_times

SMALL = dfe.Dragonfly.preset("72")
LIA = dfe.NetworkConfig.preset("lia")


def config_of(**settings: Any) -> dfe.SimulationConfig:
    settings = {"topology": SMALL, "injection": "poisson", "policy": "static-optimum", **settings}
    return dfe.SimulationConfig(**settings)


@pytest.mark.parametrize("network", ["default", "lia"])
@pytest.mark.parametrize(
    "traffic", ["uniform", "adv+1", "adv+2", "advc", "permutation", "hotspot:fraction=0.05"]
)
def test_at_half_of_the_most_load_the_latency_is_at_most_3_percent_above_the_prediction(
    network: str, traffic: str
) -> None:
    pytest.importorskip("scipy", reason="needs the extra [bounds]")
    half = dfe.most_load(SMALL, traffic) / 2
    config = config_of(network=network, traffic=traffic, load=half)
    metrics = dfe.simulate(config, warmup_ns=10_000, measure_ns=40_000)
    predicted = optimal_split(config).predicted_latency_ns
    assert dfe.latency_floor(config) < metrics.latency_mean_ns < 1.03 * predicted
    if network == "lia":  # whose links start at once, as the model's do
        assert metrics.latency_mean_ns > 0.97 * predicted


def test_links_carry_what_the_split_says() -> None:
    """Every packet's path is drawn with the probabilities of its pair of routers."""
    config = config_of(network="lia", traffic="adv+1", load=0.3, packet_log=True)
    split = optimal_split(config)
    simulation = dfe.Simulation(config)
    simulation.run(200_000)
    log = simulation.packet_log()
    taken = dict[tuple[int, int, int], int]()
    pairs = dict[tuple[int, int], int]()
    for i in range(len(log["src"])):
        passed = log["routers"][log["route_offsets"][i] : log["route_offsets"][i + 1]].tolist()
        groups = [router // SMALL.a for router in passed]
        between = next((group for group in groups if group not in (groups[0], groups[-1])), SHORTEST)
        pair = int(log["src"][i]) // SMALL.p, int(log["dst"][i]) // SMALL.p
        pairs[pair] = pairs.get(pair, 0) + 1
        path = (*pair, between)
        taken[path] = taken.get(path, 0) + 1
    wanted = dict[tuple[int, int, int], float]()
    columns = (split.sources, split.destinations, split.intermediates, split.probabilities)
    for source, destination, router, share in zip(*(column.tolist() for column in columns), strict=True):
        key = source, destination, router if router == SHORTEST else router // SMALL.a
        wanted[key] = wanted.get(key, 0.0) + share
    for source, destination, group in taken:
        if (source, destination) not in {key[:2] for key in wanted}:
            assert group == SHORTEST
        else:
            assert (source, destination, group) in wanted
    for (source, destination, group), share in wanted.items():
        count = pairs[source, destination]
        deviation = math.sqrt(max(share * (1 - share), 1 / count) * count)
        assert abs(taken.get((source, destination, group), 0) - share * count) < 5 * deviation


def test_light_traffic_takes_the_shortest_paths_alone() -> None:
    config = config_of(traffic="uniform", load=0.05)
    split = optimal_split(config)
    assert not len(split.sources)
    least = dfe.simulate(config.replace(policy="min"), warmup_ns=5_000, measure_ns=20_000)
    static = dfe.simulate(config, warmup_ns=5_000, measure_ns=20_000)
    assert static.hops_mean == least.hops_mean
    assert static.minimal_fraction == 1.0


def test_the_split_of_adversarial_traffic_uses_every_intermediate_group() -> None:
    split = optimal_split(config_of(network="lia", traffic="adv+1", load=0.4))
    carried = np.zeros((9, 9, 9))
    direct = split.intermediates == SHORTEST
    groups = [column // SMALL.a for column in (split.sources, split.destinations, split.intermediates)]
    np.add.at(carried, tuple(column[~direct] for column in groups), split.probabilities[~direct] / 16)
    through = carried[0, 1, 2:]
    assert carried[0, 1, :2] == pytest.approx(0.0)
    # 0.4 of 8 hosts: what one direct link takes at most is less than a third.
    assert 1 - through.sum() < 1 / 3.2
    assert (through > 0.05).all()
    rotated = np.array([carried[g, (g + 1) % 9].sum() for g in range(9)])
    assert rotated == pytest.approx(rotated[0])


@pytest.mark.parametrize("traffic", ["adv+1", "advc", "uniform"])
def test_no_single_change_of_a_share_lowers_the_predicted_latency(traffic: str) -> None:
    """The optimum is between the fluid bound, which never waits, and the best oblivious policy."""
    pytest.importorskip("scipy", reason="needs the extra [bounds]")
    from dragonfly_env.bounds import Bounds

    load = 0.45
    config = config_of(network="lia", traffic=traffic, load=load)
    predicted = optimal_split(config).predicted_latency_ns
    assert Bounds.of(config).latency_of(load, *alone_times(LIA, SMALL)) < predicted
    for policy in ("min", "val-n", "val-g"):
        other = dfe.simulate(config.replace(policy=policy), warmup_ns=20_000, measure_ns=50_000)
        assert predicted < 1.01 * other.latency_mean_ns


def test_it_beats_every_mixture_of_minimal_and_valiant_paths() -> None:
    config = config_of(network="lia", traffic="adv+1", load=0.35)
    static = dfe.simulate(config, warmup_ns=20_000, measure_ns=50_000)
    for policy in ("val-g", "val-n", "vlb-gl"):
        other = dfe.simulate(config.replace(policy=policy), warmup_ns=20_000, measure_ns=50_000)
        assert static.latency_mean_ns < 0.9 * other.latency_mean_ns


def test_a_split_survives_its_file_and_gives_the_same_run(tmp_path: Path) -> None:
    config = config_of(traffic="adv+1", load=0.3)
    file = optimal_split(config).save(tmp_path / "split")
    assert file.name == "split.npz"
    again = PathSplit.load(file)
    assert np.array_equal(again.probabilities, optimal_split(config).probabilities)
    from_file = config.replace(policy=StaticOptimum(split=str(file)))
    assert dfe.SimulationConfig.from_json(from_file.to_json()) == from_file
    hashes = []
    for one in (config, from_file):
        simulation = dfe.Simulation(one)
        simulation.run(5_000)
        hashes.append(simulation.trace_hash())
    assert hashes[0] == hashes[1]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {"traffic": "all-to-all", "injection": "auto"},
            r"^traffic = 'all-to-all': must have a demand matrix",
        ),
        (
            {"topology": dfe.Dragonfly(p=1, a=4, h=2, g=5, trunking=2)},
            r"^topology = .*one link between any two",
        ),
        ({"topology": dfe.Dragonfly.preset("theta-m8")}, r"^topology = .*must have all-to-all groups"),
    ],
)
def test_what_it_cannot_split_is_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(dfe.ConfigError, match=message):
        dfe.Simulation(config_of(**settings))


def test_only_the_policy_of_a_whole_run_knows_the_traffic(tmp_path: Path) -> None:
    with pytest.raises(
        dfe.ConfigError, match=r"^policy = 'static-optimum': must be the policy of a whole run"
    ):
        StaticOptimum().to_core()
    other = optimal_split(config_of(topology=dfe.Dragonfly(p=1, a=2, h=1), traffic="adv+1", load=0.9))
    file = str(other.save(tmp_path / "other.npz"))
    with pytest.raises(
        dfe.ConfigError, match=r"^split = .*must be made for this topology, which has 36 routers, not"
    ):
        dfe.Simulation(config_of(policy=StaticOptimum(split=file)))
    (tmp_path / "text.npz").write_text("nothing")
    with pytest.raises(dfe.ConfigError, match=r"^split = .*must be a file that bounds.PathSplit.save wrote"):
        dfe.Simulation(config_of(policy=StaticOptimum(split=str(tmp_path / "text.npz"))))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"sources": [9]}, r"^split = router 9: must be routers below 9|^split = router 9: routers below 9"),
        ({"destinations": [9]}, r"^split = router 9: "),
        ({"intermediates": [9]}, r"^split.intermediate = 9: "),
        ({"intermediates": [-2]}, r"^split.intermediate = -2: "),
        ({"probabilities": [0.0]}, r"^split.probability = 0"),
        ({"probabilities": [math.nan]}, r"^split.probability = "),
        ({"probabilities": [1.0, 1.0]}, r"^split = 2 entries: "),
    ],
)
def test_the_core_refuses_impossible_splits(change: dict[str, list[float]], message: str) -> None:
    types = {
        "sources": np.uint32,
        "destinations": np.uint32,
        "intermediates": np.int64,
        "probabilities": float,
    }
    given = {"sources": [0], "destinations": [1], "intermediates": [-1], "probabilities": [1.0], **change}
    with pytest.raises(dfe.ConfigError, match=message):
        _core.PathSplit(9, **{name: np.array(given[name], dtype=kind) for name, kind in types.items()})

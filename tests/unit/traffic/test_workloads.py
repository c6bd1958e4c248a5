"""The HPC workloads of the HPDC'21 paper: who the neighbours are, when rounds start, what is refused."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest

import dragonfly_env as dfe
from dragonfly_env import _core
from dragonfly_env.traffic import HostMixture, parse_traffic

WORKLOADS = ("stencil3d", "many-to-many", "random-neighbors")
PAPER = dfe.Dragonfly.preset("2550")
SMALL = dfe.Dragonfly.preset("72")
SEED = 3


@functools.cache
def pattern_of(spec: str, topology: dfe.Dragonfly, seed: int = SEED) -> _core.Pattern:
    traffic = parse_traffic(spec)
    assert isinstance(traffic, dfe.traffic.Pattern)
    return traffic.build(topology.to_core(), seed)


def targets(spec: str, topology: dfe.Dragonfly, host: int, count: int) -> list[int]:
    """The destinations of the first ``count`` messages of a host."""
    pattern = pattern_of(spec, topology)
    return [pattern.destination(host, message, SEED) for message in range(count)]


def schedule(
    spec: str, topology: dfe.Dragonfly, host: int, count: int, load: float = 0.8
) -> tuple[np.ndarray, np.ndarray]:
    """Times (ns) and destinations of a host's first messages: 32 ns packets, periodic."""
    core = topology.to_core()
    built = [(0, pattern_of(spec, topology), load)]
    source = _core.synthetic_source(core, built, "periodic", SEED, 1, 32_000, 32_000, 1_000)
    times, destinations = _core.source_schedule(source, host, count)
    return times / 1000, destinations


def place(host: int, lengths: tuple[int, int, int]) -> np.ndarray:
    x, y, _ = lengths
    return np.array([host % x, host // x % y, host // (x * y)])


@pytest.mark.parametrize("spec", ["stencil3d", "stencil3d:grid=5;10;51"])
def test_stencil_neighbors_of_the_paper_differ_by_one_step_along_one_axis_of_a_torus(spec: str) -> None:
    lengths = (5, 10, 51)
    for host in (0, 4, 49, 50, 1234, 2500, 2549):
        steps = [place(target, lengths) - place(host, lengths) for target in targets(spec, PAPER, host, 6)]
        wrapped = [(step + 1) % lengths - 1 for step in steps]  # -1, 0 or 1
        expected = [sign * axis for axis in np.eye(3, dtype=int) for sign in (-1, 1)]
        assert np.array_equal(wrapped, expected)


def test_stencil_neighbors_share_a_router_a_group_or_are_in_adjacent_groups() -> None:
    for host in range(0, 2550, 97):
        near = targets("stencil3d", PAPER, host, 6)
        assert [target // 5 for target in near[:2]] == [host // 5] * 2
        assert [target // 50 for target in near[2:4]] == [host // 50] * 2
        assert [target // 50 for target in near[4:]] == [(host // 50 - 1) % 51, (host // 50 + 1) % 51]


@pytest.mark.parametrize("spec", ["stencil3d", "stencil3d:grid=3;4;6", "stencil3d:grid=3;4;6,wrap=false"])
def test_stencil_neighbors_are_mutual_and_an_open_grid_has_fewer_at_its_faces(spec: str) -> None:
    neighbors = {}
    for host in range(72):
        times, destinations = schedule(spec, SMALL, host, 6)
        neighbors[host] = set(destinations[times == times[0]].tolist())
    for host, near in neighbors.items():
        assert all(host in neighbors[other] for other in near)
    degrees = np.bincount([len(near) for near in neighbors.values()], minlength=7)
    if "false" in spec:
        assert degrees[3:].tolist() == [
            8,
            4 * (1 + 2 + 4),
            2 * (2 + 4 + 8),
            8,
        ]  # corners, edges, faces, inner
    else:
        assert degrees[5 if spec == "stencil3d" else 6] == 72  # both sides of the two hosts of a router


def test_a_communicator_has_one_host_of_every_group_and_each_sends_to_all_others() -> None:
    for host in (0, 777, 2549):
        others = [other for other in range(host % 50, 2550, 50) if other != host]
        assert targets("many-to-many", PAPER, host, 100) == others * 2


@pytest.mark.parametrize("fixed", [False, True])
def test_random_neighbors_are_6_to_20_others(fixed: bool) -> None:
    spec = f"random-neighbors:fixed={str(fixed).lower()}"
    sizes = []
    for host in range(0, 2550, 5):
        times, destinations = schedule(spec, PAPER, host, 21)
        sizes.append(int((times == times[0]).sum()))
        near = destinations[: sizes[-1]].tolist()
        assert host not in near
        if fixed:
            assert len(set(near)) == sizes[-1]
            assert targets(spec, PAPER, host, 2 * sizes[-1]) == near * 2
    counts = np.bincount(sizes, minlength=22)
    assert counts[6:21].all()
    assert counts.sum() == counts[6:21].sum()
    assert abs(float(np.mean(sizes)) - 13) < 5 * np.sqrt(56 / 3 / len(sizes))


@pytest.mark.parametrize("spec", WORKLOADS)
def test_rounds_offer_the_load_and_single_messages_too(spec: str) -> None:
    times, destinations = schedule(spec, PAPER, 321, 2000)
    assert np.unique(times, return_counts=True)[1][0] == len(destinations[times == 1.0]) > 1
    assert 2000 * 32 / (times[-1] - times[0]) == pytest.approx(0.8, rel=0.03)
    single, _ = schedule(f"{spec}:rounds=false", PAPER, 321, 2000)
    assert np.array_equal(np.diff(single), np.full(1999, 40.0))


@pytest.mark.parametrize("spec", WORKLOADS)
def test_targets_depend_on_neither_policy_nor_threads_nor_load(spec: str) -> None:
    def sent(**changes: Any) -> dict[tuple[int, int], int]:
        settings: dict[str, Any] = {"policy": "min", "load": 0.2, "threads": 1} | changes
        simulation = dfe.Simulation(
            dfe.SimulationConfig(topology=SMALL, traffic=spec, packet_log=True, seed=7, **settings)
        )
        simulation.run(8_000)
        simulation.drain()
        log = simulation.packet_log()
        return dict(
            zip(
                zip(log["src"].tolist(), log["number"].tolist(), strict=True),
                log["dst"].tolist(),
                strict=True,
            )
        )

    plain = sent()
    assert {src for src, _ in plain} == set(range(72))
    assert sent(threads=2) == plain
    assert sent(policy="val-n") == plain
    faster = sent(load=0.4)
    assert len(faster) > len(plain)
    assert all(faster[key] == dst for key, dst in plain.items())


@pytest.mark.parametrize(
    ("traffic", "message"),
    [
        ("stencil3d:grid=5;10;51", r"^stencil3d\.grid = '5;10;51': must be three lengths .* = 72,"),
        ("many-to-many:grid=9;8", r"^many-to-many\.grid = '9;8': must be three lengths"),
        ("stencil3d:grid=72", r"^grid = 72: must be a list of integers"),
        ({"pattern": "stencil3d", "grid": [2.0, 4.0, 9.0]}, "integers"),
        ("many-to-many:grid=8;9;1", r"^many-to-many\.grid = z = 1: .* at least two hosts"),
        ("stencil3d:wrap=2", "^wrap = 2: must be true or false"),
        ("random-neighbors:max=100", r"^random-neighbors\.max = 100: must be 1 to 71"),
        ("random-neighbors:min=30", r"^random-neighbors\.min = 30: must be 1 to max, 20"),
        ("random-neighbors:targets=6", "no argument 'targets'"),
        ("stencil", "did you mean 'stencil3d'"),
        (
            HostMixture(((range(8), "stencil3d"),), confined=True),
            r"^stencil3d\.grid = \(missing\): must be given",
        ),
    ],
)
def test_impossible_workloads_are_refused_with_field_value_and_what_is_allowed(
    traffic: object, message: str
) -> None:
    with pytest.raises(dfe.ConfigError, match=message):
        dfe.SimulationConfig(topology=SMALL, traffic=traffic)

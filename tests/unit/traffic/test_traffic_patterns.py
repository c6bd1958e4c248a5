"""Destinations of messages: frequencies of every pattern against its definition, on the core itself."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from dragonfly_env import _core
from dragonfly_env.errors import ConfigError

SEED = 11
P, A, H, G = 2, 4, 2, 9
HOSTS = P * A * G
PER_GROUP = P * A


@pytest.fixture(scope="module")
def topology() -> _core.Topology:
    return _core.Topology(P, A, H, 0, "palmtree", 1)


def draws(pattern: _core.Pattern, host: int, count: int) -> np.ndarray:
    """The destinations of the first ``count`` messages of a host."""
    return np.array([pattern.destination(host, message, SEED) for message in range(count)])


def assert_distribution(observed: np.ndarray, probabilities: np.ndarray) -> None:
    """Pearson's chi-square within five standard deviations of its mean; nothing where the probability is 0."""
    counts = np.bincount(observed, minlength=len(probabilities))
    possible = probabilities > 0
    assert not counts[~possible].any()
    expected = probabilities[possible] * len(observed)
    statistic = float(((counts[possible] - expected) ** 2 / expected).sum())
    freedom = int(possible.sum()) - 1
    assert abs(statistic - freedom) <= 5 * math.sqrt(2 * max(freedom, 1))


def uniform_over(hosts: list[int]) -> np.ndarray:
    probabilities = np.zeros(HOSTS)
    probabilities[hosts] = 1 / len(hosts)
    return probabilities


def group(index: int) -> list[int]:
    first = index % G * PER_GROUP
    return list(range(first, first + PER_GROUP))


EXPECTED: dict[str, Callable[[int], np.ndarray]] = {
    "uniform": lambda _: uniform_over(list(range(HOSTS))),
    "uniform:exclude_self=true": lambda host: uniform_over(
        [other for other in range(HOSTS) if other != host]
    ),
    "adv+1": lambda host: uniform_over(group(host // PER_GROUP + 1)),
    "adv+8": lambda host: uniform_over(group(host // PER_GROUP - 1)),
    "adv-1": lambda host: uniform_over(group(host // PER_GROUP - 1)),
    "adv:offset=-12": lambda host: uniform_over(group(host // PER_GROUP - 3)),
    "advc": lambda host: uniform_over(group(host // PER_GROUP + 1) + group(host // PER_GROUP + 2)),
    "tornado": lambda host: uniform_over([(host + G // 2 * PER_GROUP) % HOSTS]),
    "hotspot:hosts=3;40,fraction=0.25": lambda _: 0.75 / HOSTS + 0.25 * uniform_over([3, 40]),
    "hotspot:hosts=5;,fraction=1": lambda _: uniform_over([5]),
    "lia-c2": lambda host: uniform_over(group(host // PER_GROUP + (1 if host % 2 else H))[host % 2 :: 2]),
    "weighted:uniform=0.7,adv+1=0.3": lambda host: (
        0.7 / HOSTS + 0.3 * uniform_over(group(host // PER_GROUP + 1))
    ),
}


@pytest.mark.parametrize("spec", EXPECTED)
@pytest.mark.parametrize("host", [0, 37, HOSTS - 1])
def test_destinations_have_the_frequencies_of_the_definition(
    topology: _core.Topology, spec: str, host: int
) -> None:
    pattern = _core.make_pattern(topology, SEED, spec, {})
    assert_distribution(draws(pattern, host, 20_000), EXPECTED[spec](host))


@pytest.mark.parametrize(("rows", "per_row"), [(HOSTS, 1), (G * A, P), (G, PER_GROUP)])
def test_demand_matrix_rows_are_the_distribution_of_destinations(
    topology: _core.Topology, rows: int, per_row: int
) -> None:
    demands = np.random.default_rng(3).exponential(size=(rows, rows))
    demands[demands < 0.5] = 0.0
    demands[1] = 0.0
    pattern = _core.make_pattern(topology, SEED, "demand", {"matrix": demands})
    for host in (0, HOSTS - 1):
        row = demands[host // per_row]
        assert_distribution(draws(pattern, host, 20_000), np.repeat(row / row.sum() / per_row, per_row))
    assert not pattern.sends(per_row)


def test_demand_scale_does_not_matter(topology: _core.Topology) -> None:
    demands = np.random.default_rng(4).integers(1, 9, size=(G, G)).astype(float)
    pattern = _core.make_pattern(topology, SEED, "demand", {"matrix": demands})
    other = _core.make_pattern(topology, SEED, "demand", {"matrix": demands * 1024.0})
    assert np.array_equal(draws(pattern, 5, 500), draws(other, 5, 500))


def test_permutation_is_a_derangement_that_only_the_seed_changes(topology: _core.Topology) -> None:
    def partners(seed: int) -> list[int]:
        pattern = _core.make_pattern(topology, seed, "permutation", {})
        return [pattern.destination(host, 5, SEED) for host in range(HOSTS)]

    assert sorted(partners(1)) == list(range(HOSTS))
    assert all(partner != host for host, partner in enumerate(partners(1)))
    assert partners(1) == partners(1) != partners(2)


def test_hot_hosts_are_drawn_by_the_seed(topology: _core.Topology) -> None:
    def hot(seed: int) -> set[int]:
        pattern = _core.make_pattern(topology, seed, "hotspot", {"hosts": 3, "fraction": 1.0})
        return set(draws(pattern, 0, 200).tolist())

    assert len(hot(1)) == 3
    assert hot(1) == hot(1) != hot(2)


def test_lia_c1_is_four_areas_of_consecutive_hosts(topology: _core.Topology) -> None:
    pattern = _core.make_pattern(topology, SEED, "lia-c1", {})
    # Areas of 18 hosts: 0-17 uniform; 18-35 adv+1; 36-53 adv+2; 54-71 advc, in groups of 8.
    assert_distribution(draws(pattern, 17, 5_000), uniform_over(list(range(18))))
    assert_distribution(draws(pattern, 20, 5_000), uniform_over(list(range(24, 32))))  # group 2 to 3
    assert_distribution(draws(pattern, 36, 5_000), uniform_over(list(range(48, 54))))  # 4 to 6
    assert_distribution(draws(pattern, 70, 5_000), uniform_over([54, 55, *range(56, 64)]) * 0 + advc_of_8())


def advc_of_8() -> np.ndarray:
    """The last area has the groups 6 (two hosts), 7 and 8: group 8 draws 6 and 7 equally often."""
    return 0.5 * uniform_over([54, 55]) + 0.5 * uniform_over(list(range(56, 64)))


def test_host_mixture_silences_hosts_in_no_set(topology: _core.Topology) -> None:
    parts = [{"pattern": "adv+1", "hosts": [0, 1]}, {"pattern": "adv+2", "hosts": np.array([2])}]
    pattern = _core.make_pattern(topology, SEED, "mixture", {"parts": parts})
    assert [pattern.sends(host) for host in range(4)] == [True, True, True, False]
    assert_distribution(draws(pattern, 1, 2_000), uniform_over(group(1)))
    assert_distribution(draws(pattern, 2, 2_000), uniform_over(group(2)))


def test_consecutive_groups_must_be_as_many_as_global_ports() -> None:
    _core.make_pattern(_core.Topology(1, 1, 1, 2, "palmtree", 1), SEED, "advc", {})
    with pytest.raises(ConfigError, match="advc"):
        _core.make_pattern(_core.Topology(1, 2, 3, 2, "palmtree", 1), SEED, "advc", {})


def test_destinations_depend_on_seed_host_and_message_only(topology: _core.Topology) -> None:
    pattern = _core.make_pattern(topology, SEED, "uniform", {})
    again = _core.make_pattern(topology, SEED + 1, "uniform", {})
    forwards = [pattern.destination(3, message, 7) for message in range(50)]
    backwards = [again.destination(3, message, 7) for message in reversed(range(50))]
    assert forwards == backwards[::-1]
    assert forwards != [pattern.destination(4, message, 7) for message in range(50)]
    assert forwards != [pattern.destination(3, message, 8) for message in range(50)]

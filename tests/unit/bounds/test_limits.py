"""Bounds: the check values, forms worked out by hand, and simulations that none of them may contradict."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np
import pytest

import dragonfly_env as dfe
from dragonfly_env.bounds import Bounds, fluid
from dragonfly_env.bounds.times import least_times
from dragonfly_env.traffic import DemandMatrix, Hotspot
from tests.products import in_turn
from tests.ready import ready

pytest.importorskip("scipy", reason="needs the extra [bounds]")

SMALL = dfe.Dragonfly.preset("72")
CHECKED_TIMES = 188.3, np.array([0.0, 159.4, 459.4])
"""ns of a packet without hops, and of a local and a global hop, of the check values for latencies."""


@pytest.mark.parametrize(
    ("hosts", "traffic", "expected"),
    [
        # Among the g - 1 global links of a group one leads straight to the destination, packets by the others cross
        # two: (1 + (g - 2) / 2) / (g - 1) of a load of 1.
        ("72", "adv+1", (1 + 7 / 2) / 8),
        ("342", "adv+1", (1 + 17 / 2) / 18),
        ("342", "adv+4", (1 + 17 / 2) / 18),
        ("1056", "adv+1", (1 + 31 / 2) / 32),
        ("1056", "adv+4", (1 + 31 / 2) / 32),
        ("72", "uniform", 1.0),
        ("1056", "uniform", 1.0),
    ],
)
def test_the_most_load_is_the_one_worked_out_by_hand(hosts: str, traffic: str, expected: float) -> None:
    assert dfe.most_load(dfe.Dragonfly.preset(hosts), traffic) == pytest.approx(expected, abs=1e-4)


def test_consecutive_adversarial_traffic_is_limited_by_links_between_groups_alone() -> None:
    """Local links of any rate change nothing, and groups of a single router give the same."""
    system = dfe.Dragonfly.preset("1056")
    assert dfe.most_load(system, "advc") == pytest.approx(0.5410, abs=1e-4)
    fast = dfe.NetworkConfig(local_bandwidth_gbytes_per_s=40.0)
    assert dfe.most_load(system, "advc", network=fast) == pytest.approx(33 / 61, abs=1e-4)
    between_groups = sum(np.roll(np.eye(33), offset, axis=1) for offset in (1, 2, 3, 4))
    single = dfe.Dragonfly(p=32, a=1, h=32)
    assert dfe.most_load(single, between_groups) == pytest.approx(33 / 61, abs=1e-4)


@functools.cache
def bounds_on_1056_hosts(traffic: str) -> Bounds:
    return Bounds(dfe.Dragonfly.preset("1056"), traffic)


@pytest.mark.parametrize(
    ("traffic", "load", "expected_ns"),
    [
        *(("adv+1", 0.20, 1172), ("adv+1", 0.45, 1212), ("adv+2", 0.40, 1238), ("adv+4", 0.45, 1442)),
        *(("advc", 0.45, 1165), ("uniform", 0.80, 909)),
    ],
)
def test_the_least_latency_is_that_of_an_independent_solution(
    traffic: str, load: float, expected_ns: float
) -> None:
    """1,056 hosts, with the times of hops of that solution."""
    assert bounds_on_1056_hosts(traffic).latency_of(load, *CHECKED_TIMES) == pytest.approx(
        expected_ns, abs=1.0
    )


def test_below_the_capacity_of_the_direct_link_the_floor_is_minimal_routing() -> None:
    """adv+1 on 72 hosts: 8 hosts share a direct link; 3 of 4 routers are not its ends."""
    constant, (_, local, far) = least_times(dfe.NetworkConfig(), SMALL)
    config = dfe.SimulationConfig(topology=SMALL, traffic="adv+1", load=1 / 8)
    assert dfe.latency_floor(config) == pytest.approx(constant + 2 * 3 / 4 * local + far)
    assert dfe.latency_floor(config.replace(load=0.2)) > constant + 2 * 3 / 4 * local + far + 10


def test_the_floor_of_light_uniform_traffic_is_the_mean_of_shortest_paths() -> None:
    constant, (_, local, far) = least_times(dfe.NetworkConfig.preset("lia"), SMALL)
    config = dfe.SimulationConfig(topology=SMALL, network="lia", traffic="uniform", load=0.2)
    # Among 71 other hosts one is at the own router, 6 in the own group; of 64 a path crosses 2 * 3/4 local links.
    expected = constant + (6 * local + 64 * (2 * 3 / 4 * local + far)) / 71
    assert dfe.latency_floor(config) == pytest.approx(expected)


@pytest.mark.parametrize("traffic", ["uniform", "adv+1"])
def test_two_groups_have_the_link_between_them(traffic: str) -> None:
    """Minimal routing is all there is: what the 8 hosts of a group send to the other one shares one link."""
    topology = dfe.Dragonfly(p=2, a=4, h=1, g=2)
    leaving = 8 * (0.5 if traffic == "uniform" else 1.0)
    assert dfe.most_load(topology, traffic) == pytest.approx(1 / leaving, abs=1e-5)
    trunked = dfe.Dragonfly(p=2, a=4, h=1, g=2, trunking=2)
    assert dfe.most_load(trunked, traffic) == pytest.approx(2 / leaving, abs=1e-5)


def test_on_a_grid_rows_and_bundled_columns_have_their_own_capacity() -> None:
    """Four routers in a square, each sends to the one across: every path has a link of a row and one of a column."""
    across = DemandMatrix(np.eye(4)[[3, 2, 1, 0]])

    def most(row_links: int, column_links: int, **network: Any) -> float:
        grid = dfe.Grid(rows=2, columns=2, row_links=row_links, column_links=column_links)
        topology = dfe.Dragonfly(p=4, group=grid, h=1, g=1)
        given = dfe.NetworkConfig.preset("aries", **network) if network else None
        return dfe.most_load(topology, across, network=given)

    assert most(1, 3) == pytest.approx(1 / 4)
    assert most(3, 1) == pytest.approx(1 / 4)
    assert most(3, 3) == pytest.approx(3 / 4)
    rate = 5.25 / 13.44  # rate of a link of either class, relative to a host's
    links = dict(dfe.NetworkConfig.preset("aries").links)
    assert most(1, 3, links=links) == pytest.approx(rate / 4, rel=1e-3)
    doubled = {**links, "rank-1": {"bandwidth_gbytes_per_s": 10.5}}
    assert most(1, 3, links=doubled) == pytest.approx(2 * rate / 4, rel=1e-3)
    assert most(1, 1, links=doubled) == pytest.approx(rate / 4, rel=1e-3)


def test_a_hot_host_limits_the_load_by_its_own_link() -> None:
    bounds = Bounds(SMALL, Hotspot((5,), 0.5))
    assert bounds.limited_by_hosts
    assert bounds.most_load == pytest.approx(1 / (72 * 0.5 + 0.5))
    assert not Bounds(SMALL, "adv+1").limited_by_hosts


@pytest.mark.parametrize(
    ("traffic", "topology"),
    in_turn(["adv+1", "advc", "uniform", "tornado"], [SMALL, dfe.Dragonfly(p=1, a=4, h=2, g=5, trunking=2)]),
    ids=str,
)
def test_the_rotation_changes_no_value(
    traffic: str, topology: dfe.Dragonfly, monkeypatch: pytest.MonkeyPatch
) -> None:
    network = dfe.NetworkConfig()
    by_rotation = Bounds(topology, traffic, network=network)
    copies = by_rotation.model.rotation.copies
    rotation_of = fluid.rotation_of

    def whole_turn(topology: dfe.Dragonfly, arcs: fluid.Arcs, demand: fluid.Floats) -> fluid.Rotation:
        uneven = demand.copy()
        uneven[0, 0] += 1.0
        return rotation_of(topology, arcs, uneven)

    monkeypatch.setattr(fluid, "rotation_of", whole_turn)
    whole = Bounds(topology, traffic, network=network)
    assert whole.model.rotation.copies == 1
    assert len(whole.model.destinations) == copies * len(by_rotation.model.destinations)
    assert by_rotation.most_load == pytest.approx(whole.most_load, abs=1e-6)
    load = 0.8 * whole.most_load
    assert by_rotation.latency_floor_ns(load) == pytest.approx(whole.latency_floor_ns(load), rel=1e-6)
    assert by_rotation.most_accepted(1.0) == pytest.approx(whole.most_accepted(1.0), abs=1e-6)


def test_a_rotation_is_used_only_where_links_and_demands_have_it() -> None:
    def copies(topology: dfe.Dragonfly, traffic: object) -> int:
        return Bounds(topology, traffic).model.rotation.copies

    assert copies(SMALL, "adv+2") == 9
    assert copies(dfe.Dragonfly.preset("72", arrangement="absolute"), "adv+2") == 1
    assert copies(SMALL, "permutation") == 1
    every_third = np.ones((9, 9))
    every_third[::3] = 2.0
    assert copies(SMALL, every_third) == 3
    every_third[0, 1] += 1e-3
    assert copies(SMALL, every_third) == 1


def test_demands_that_stay_at_their_routers_need_no_links() -> None:
    bounds = Bounds(SMALL, np.eye(36), network=dfe.NetworkConfig())
    assert bounds.most_load == 1.0
    assert bounds.most_accepted(0.4) == pytest.approx(0.4)
    assert bounds.latency_floor_ns(0.4) == least_times(dfe.NetworkConfig(), SMALL)[0]


def test_unequal_service_may_accept_more_than_the_most_load() -> None:
    """A group that sends to one other alone holds up the others if all are to accept alike."""
    demands = np.zeros((9, 9))
    demands[0, 1] = 1.0
    demands[2:, 2:] = 1 / 7
    bounds = Bounds(SMALL, demands)
    offered = 8 / 9  # group 1 is silent
    alike = bounds.most_load * offered
    accepted = bounds.most_accepted(1.0)
    assert alike + 0.02 < accepted < offered
    assert bounds.most_accepted(0.2) == pytest.approx(0.2 * offered)


def test_hosts_of_a_router_with_different_destinations_are_limited_apart() -> None:
    """A host of each router sends within its group, the other over the only link to the other group."""
    topology = dfe.Dragonfly(p=2, a=2, h=1, g=2)
    demands = np.zeros((8, 8))
    demands[[0, 2, 4, 6], [3, 1, 7, 5]] = 1.0
    demands[[1, 3, 5, 7], [4, 6, 0, 2]] = 1.0
    bounds = Bounds(topology, DemandMatrix(demands))
    assert bounds.most_load == pytest.approx(1 / 2)
    assert bounds.most_accepted(1.0) == pytest.approx((4 + 4 / 2) / 8)
    assert bounds.most_accepted(0.4) == pytest.approx(0.4)


def test_hosts_that_send_less_are_not_held_to_the_rate_of_the_others() -> None:
    """Half of the hosts send half: a slow link from the host limits the others alone."""
    slow = dfe.NetworkConfig(injection_bandwidth_gbytes_per_s=2.0)
    demands = np.diag(np.tile([1.0, 0.5], 36))
    assert Bounds(SMALL, DemandMatrix(demands), network=slow).most_accepted(1.0) == pytest.approx(0.5)


def test_what_hosts_receive_limits_what_is_accepted() -> None:
    """All send to the two hosts of one router."""
    demands = np.zeros((36, 36))
    demands[:, 7] = 1.0
    bounds = Bounds(SMALL, demands)
    assert bounds.most_load == pytest.approx(2 / 72)
    assert bounds.most_accepted(1.0) == pytest.approx(2 / 72)


@pytest.mark.parametrize("network", ["default", "lia"])
@pytest.mark.parametrize(("traffic", "load"), [("adv+1", 0.3), ("uniform", 0.5), ("advc", 0.7)])
def test_no_policy_passes_a_bound(network: str, traffic: str, load: float) -> None:
    config = dfe.SimulationConfig(topology=SMALL, network=network, traffic=traffic, load=load)
    bounds = Bounds.of(config)
    floor, most = bounds.latency_floor_ns(load), bounds.most_accepted(load)
    for policy in ("min", "val-n", "ugal-n", "par", "lia", "neural-v1", "neural-v2", "neural-v3"):
        metrics = dfe.simulate(config.replace(policy=ready(policy)), warmup_ns=5_000, measure_ns=8_000)
        assert metrics.accepted_load < most * 1.01, policy
        if load < bounds.most_load:
            assert metrics.latency_mean_ns > floor, policy


def test_too_large_programs_are_refused_with_their_size() -> None:
    topology = dfe.Dragonfly.preset("1056", arrangement="absolute")
    with pytest.raises(
        dfe.ConfigError, match=r"^topology = '1,056 hosts, 766,656 flows': must be smaller: .* 400,000"
    ):
        dfe.most_load(topology, "uniform")


def test_without_scipy_the_message_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "scipy.optimize", None)
    with pytest.raises(dfe.ConfigError, match=r"needs the extra \[bounds\], which is not installed"):
        dfe.most_load(SMALL, "uniform")


def test_rates_of_a_demand_matrix_say_the_load() -> None:
    """In GB/s: 2 of the 4 of a host's link are a load of one half."""
    matrix = DemandMatrix(np.full((9, 9), 2 * 8 / 9), "GB/s")
    absolute = dfe.SimulationConfig(topology=SMALL, traffic=matrix)
    relative = dfe.SimulationConfig(topology=SMALL, traffic=DemandMatrix(np.ones((9, 9))), load=0.5)
    assert dfe.latency_floor(absolute) == pytest.approx(dfe.latency_floor(relative))


def test_above_the_most_load_the_floor_is_infinite() -> None:
    config = dfe.SimulationConfig(topology=SMALL, traffic="adv+1", load=0.55)
    assert math.isfinite(dfe.latency_floor(config))
    assert dfe.latency_floor(config.replace(load=0.57)) == math.inf
    hot = config.replace(traffic=Hotspot((5,), 1.0), load=0.5)
    assert dfe.latency_floor(hot) == math.inf

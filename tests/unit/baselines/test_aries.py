"""Aries' modes: the paths that packets take, the routers that decide, and the effect of the parameters."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import dragonfly_env as dfe
from tests.parity.rules import act
from tests.routes import routes_of

GRID = dfe.Dragonfly.preset("theta-m8")
MODES = ("ad0", "ad1", "ad2", "ad3")


@pytest.mark.parametrize("mode", MODES)
def test_a_mode_is_ad_with_these_numbers(mode: str) -> None:
    shifts = {"ad1": (0, 1, 2), "ad3": (2, 2, 2)}.get(mode, (0, 0, 0))
    adds = (4, 4, 4) if mode == "ad2" else (0, 0, 0)
    by_numbers = dfe.make_policy(
        "ad",
        **{
            f"nonminimal_shift_{hops}": n
            for hops, n in zip(("first", "second", "later"), shifts, strict=True)
        },
        **{f"nonminimal_add_{hops}": n for hops, n in zip(("first", "second", "later"), adds, strict=True)},
    )
    hashes = set()
    for policy in (by_numbers, dfe.make_policy(mode)):
        simulation = dfe.Simulation(
            dfe.SimulationConfig(
                topology=GRID, network="aries", policy=policy, traffic="adv+1", load=0.3, seed=5
            )
        )
        simulation.run(3000)
        hashes.add(simulation.trace_hash())
    assert len(hashes) == 1


def routes(policy: dfe.Policy, traffic: str, load: float, *, run_ns: float = 2_000.0) -> list[list[int]]:
    simulation = dfe.Simulation(
        dfe.SimulationConfig(
            topology=GRID, network="aries", policy=policy, traffic=traffic, load=load, packet_log=True, seed=2
        )
    )
    simulation.run(run_ns)
    return routes_of(simulation.packet_log())


def groups_of(route: list[int]) -> list[int]:
    return [group for group, _ in itertools.groupby(router // GRID.a for router in route)]


def stays(route: list[int]) -> list[list[int]]:
    """The routers of the route, group by group."""
    return [list(routers) for _, routers in itertools.groupby(route, key=lambda router: router // GRID.a)]


def is_long(stay: list[int]) -> bool:
    """Whether a stay in a group took more hops than it had to, between its ends."""
    return len(stay) - 1 > GRID.minimal_hops(stay[0], stay[-1])


def test_no_path_is_longer_than_ten_hops() -> None:
    """2 + 1 + 4 + 1 + 2, as on Cray XC; of minimal ones 2 + 1 + 2."""
    taken = routes(dfe.make_policy("ad0"), "uniform", 0.8)
    around = [stays(route) for route in taken if len(groups_of(route)) == 3]
    straight = [stays(route) for route in taken if len(groups_of(route)) == 2]
    assert len(around) > 500 < len(straight)
    assert all(len(route[0]) <= 3 and len(route[-1]) <= 3 for route in (*around, *straight))
    assert any(is_long(route[1]) for route in around), "a router of the intermediate group on purpose"
    assert not any(is_long(route[-1]) for route in (*around, *straight))
    assert any(len(groups_of(route)) == 1 and is_long(route) for route in taken), "inside one group"
    # A router that the minimal path has led to may still leave it, by a global link of its own.
    assert any(len(route[0]) == 2 for route in around)
    assert max(map(len, taken)) - 1 <= 10


def test_where_all_is_allowed_packets_go_around_in_the_source_the_intermediate_and_the_last_group() -> None:
    policy = dfe.make_policy("ad0", later_nonminimal="any", in_destination_group=True)
    taken = routes(policy, "uniform", 0.8)
    around = [route for route in taken if len(groups_of(route)) == 3]
    straight = [route for route in taken if len(groups_of(route)) <= 2]
    assert len(around) > 500 < len(straight)
    assert max(len(groups_of(route)) for route in taken) == 3, "one other group at most"
    assert any(is_long(stays(route)[1]) for route in around), "a router of the intermediate group on purpose"
    assert any(is_long(stays(route)[-1]) for route in straight), (
        "a router of the destination group on purpose"
    )
    assert any(len(groups_of(route)) == 1 and is_long(route) for route in taken), "inside one group"
    # Every row has a gateway to every group, so no packet needs two hops to leave one, unless its router chooses again.
    assert any(len(stays(route)[0]) == 3 for route in around)
    assert max(map(len, taken)) - 1 <= 14


def test_without_in_group_a_packet_goes_the_shortest_way_inside_its_groups() -> None:
    for decide in ("progressive", "source"):
        taken = routes(dfe.make_policy("ad0", in_group=False, decide=decide), "uniform", 0.8)
        assert any(len(groups_of(route)) == 3 for route in taken)
        assert not any(is_long(stay) for route in taken for stay in stays(route)[1:])


def test_behind_the_first_hop_a_packet_leaves_the_minimal_path_where_it_stands() -> None:
    """Its next hop is global, so local dimensions are never crossed twice in the source group."""
    reached = {}
    for later in ("own-links", "any"):
        taken = routes(dfe.make_policy("ad0", later_nonminimal=later), "uniform", 0.8)
        reached[later] = max(len(stays(route)[0]) for route in taken if len(groups_of(route)) > 1)
    assert reached == {"own-links": 2, "any": 3}


def test_with_any_gateway_all_links_to_a_group_are_used_alike() -> None:
    """By the nearest, a router that has a link to the group takes it; by any, all three rows of the group do."""
    shares = {}
    for gateways in ("nearest", "any"):
        taken = routes(dfe.make_policy("ad3", gateways=gateways), "uniform", 0.05, run_ns=8_000.0)
        straight = [stays(route) for route in taken if len(groups_of(route)) == 2]
        assert len(straight) > 2000
        assert max(len(hop) - 1 for route in straight for hop in route) == 2
        rows = [[router % GRID.a // 8 for router in (route[0][0], route[0][-1])] for route in straight]
        shares[gateways] = sum(first == last for first, last in rows) / len(rows)
    assert shares["nearest"] > 0.9  # every row has a gateway to every group
    assert shares["any"] == pytest.approx(1 / 3, abs=0.03)


@pytest.mark.parametrize(
    ("decide", "in_group", "scope"),
    [
        ("progressive", True, "progressive"),
        ("progressive", False, "minimal-path"),
        ("source", True, "source-all"),
        ("source", False, "source"),
    ],
)
def test_an_environment_raises_decisions_where_the_policy_decides(
    decide: str, in_group: bool, scope: str
) -> None:
    policy = dfe.make_policy("ad3", decide=decide, in_group=in_group)
    assert policy.scope == policy.env_options()["scope"] == scope
    config = dfe.SimulationConfig(topology=GRID, network="aries", traffic="uniform", load=0.5, seed=1)
    env = dfe.BatchedRoutingEnv.for_policy(config, policy, duration_ns=1500.0)
    batch = env.reset()
    inside = late = 0
    while not env.done:
        at = batch.agents // GRID.a
        inside += int((at == batch.packets["destination_group"]).sum())
        late += int((batch.packets["hops"] > 0).sum())
        local = np.array([kind == "l" for kind in env.layout.candidates])
        out_of_group = at != batch.packets["destination_group"]
        first = batch.packets["hops"] == 0
        assert not batch.mask[np.ix_(out_of_group & first, local)].any(), (
            "no non-minimal path inside the source group"
        )
        batch = env.step(act(policy, batch))
    assert (inside > 0) == in_group
    assert (late > 0) == (decide == "progressive")


def test_any_gateway_is_one_of_several_candidates() -> None:
    for call in (
        lambda: dfe.make_policy("ad3", gateways="any", minimal_candidates=1),
        lambda: dfe.BatchedRoutingEnv(
            dfe.SimulationConfig(topology=GRID, network="aries"), action="path", gateways="any"
        ),
    ):
        with pytest.raises(dfe.ConfigError, match=r"^gateways = 'any': .*minimal_candidates=1"):
            call()


def test_a_level_is_a_sixteenth_of_a_tiles_buffer_in_every_bundle() -> None:
    """A tile holds 64 packets: with 64 levels for a full one, packets count one by one on single links, and in
    threes on bundles of three.
    """
    config = dfe.SimulationConfig(topology=GRID, network="aries", traffic="adv+1", load=0.8, seed=4)
    env = dfe.BatchedRoutingEnv(
        config,
        scope="source",
        action="path",
        nonminimal_kinds=("lg",),
        features=["queue_packets", "load_level"],
        trackers={"load-levels": {"levels_near": 64, "levels_far": 0, "level_empty": 0}},
        duration_ns=3000.0,
    )
    links = np.array([GRID.port_links(port) for port in range(GRID.p, GRID.radix)])
    batch = env.reset()
    seen: set[int] = set()
    while not env.done:
        queued = batch.layout.counts(batch.obs, "queue_packets")
        level = batch.layout.counts(batch.obs, "load_level")
        assert np.array_equal(level, np.minimum(queued // links, 15))
        seen |= set(level.ravel().tolist())
        batch = env.step(np.zeros(len(batch), dtype=np.int64))
    assert len(seen) > 5

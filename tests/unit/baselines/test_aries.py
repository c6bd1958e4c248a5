"""Aries' modes: the rule row by row, who is asked, and what the parameters change."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import dragonfly_env as dfe
from dragonfly_env import _core
from dragonfly_env.baselines import Aries, AriesMode
from dragonfly_env.decisions.layout import KINDS, Layout
from tests.parity.rules import act
from tests.routes import routes_of

GRID = dfe.Dragonfly.preset("theta-m8")
MESH = dfe.Dragonfly.preset("72")
KINDS_OF_PATHS = ("minimal", "minimal", "lg", "lg", "l", "l", "g", "g")
BY_OWN_LINKS = {2: 6, 3: 7}
"""The path of kind g that has the first hop of a path of kind lg."""
FIRST = MESH.p
NUM_PORTS = MESH.radix - FIRST
MODES = ("ad0", "ad1", "ad2", "ad3")

Loads = tuple[int | None, ...]


def batch_of(*rows: Loads, hops: int = 0, draw: float = 0.0) -> dfe.DecisionBatch:
    """Decisions in which path k leaves by the port p + k, whose load level is given; None: there is no such path. Paths
    of kind g are those of kind lg again.
    """
    n, k = len(rows), len(KINDS_OF_PATHS)
    candidates = np.zeros((n, k), dtype=_core.candidate_dtype)
    blocks: list[dict[str, Any]] = [
        {"name": "hops", "per": "decision", "offset": 0, "width": 1, "unit": 8.0},
        {"name": "load_level", "per": "port", "offset": 1, "width": NUM_PORTS, "unit": 16.0},
        {"name": "group_offset", "per": "decision", "offset": 1 + NUM_PORTS, "width": 1, "unit": 8.0},
    ]
    for block in blocks:
        block |= {"half": 0.0, "low": 0.0, "high": 1.0, "doc": ""}
    assert k - len(BY_OWN_LINKS) <= NUM_PORTS + 1
    candidates["kind"] = -1
    obs = np.zeros((n, 2 + NUM_PORTS), dtype=np.float32)
    obs[:, 0] = hops / 8
    for i, row in enumerate(rows):
        for path, load in enumerate(row):
            port = path % NUM_PORTS
            candidates[i, path]["kind"] = -1 if load is None else KINDS[KINDS_OF_PATHS[path]]
            candidates[i, path]["port"] = FIRST + port
            if load is not None:
                obs[i, 1 + port] = load / 16
        for path, again in BY_OWN_LINKS.items():
            candidates[i, again]["port"] = candidates[i, path]["port"]
            if row[path] is not None:
                candidates[i, again]["kind"] = KINDS["g"]
    return dfe.DecisionBatch(
        layout=Layout(blocks, MESH, KINDS_OF_PATHS, k),
        obs=obs,
        mask=candidates["kind"] >= 0,
        agents=np.zeros(n, dtype=np.int32),
        decision_ids=np.arange(n),
        packets=np.zeros(n, dtype=_core.packet_dtype),
        time_ns=np.zeros(n),
        draws=np.full((n, 2), draw),
        candidates=candidates,
    )


def leaves(policy: dfe.Policy, minimal: int, detour: int, *, hops: int = 0) -> bool:
    """Whether the non-minimal path is taken from equal pairs of candidates."""
    (action,) = act(policy, batch_of((minimal, 15, detour, 15, None, None), hops=hops))
    assert action in (0, 6 if hops else 2)
    return bool(action != 0)


def test_a_nonminimal_path_is_taken_if_its_biased_load_is_lower() -> None:
    """Section II-D: AD0 compares loads, AD2 adds 4, AD3 multiplies by 4; ties go minimal. All pairs of levels."""
    pairs = list(itertools.product(range(16), repeat=2))

    def choices(mode: str, hops: int = 0) -> list[bool]:
        batch = batch_of(*((minimal, 15, detour, 15, None, None) for minimal, detour in pairs), hops=hops)
        actions = act(AriesMode(mode=mode), batch)
        assert set(actions) <= {0, 6 if hops else 2}
        return [bool(action != 0) for action in actions]

    assert choices("ad0") == [detour < minimal for minimal, detour in pairs]
    assert choices("ad2") == [detour + 4 < minimal for minimal, detour in pairs]
    assert choices("ad3") == [4 * detour < minimal for minimal, detour in pairs]
    for hops, factor in ((0, 1), (1, 2), (2, 4), (5, 4)):
        assert choices("ad1", hops) == [factor * detour < minimal for minimal, detour in pairs]


def test_of_each_side_the_least_loaded_is_weighed_and_the_first_of_equals() -> None:
    batch = batch_of((3, 2, 1, 0, None, None), (3, 3, 2, 2, None, None), (0, 0, 0, 0, None, None))
    assert act(AriesMode(mode="ad0"), batch).tolist() == [3, 2, 0]


def test_inside_a_group_nonminimal_paths_by_its_routers_are_weighed() -> None:
    batch = batch_of((3, 4, None, None, 2, None), (1, 4, None, None, 2, None), (5, 4, None, None, None, None))
    assert act(AriesMode(mode="ad0"), batch).tolist() == [4, 0, 1]


def test_behind_the_first_hop_only_own_links_lead_around() -> None:
    row: Loads = (3, 3, 1, 1, None, None)
    assert act(AriesMode(mode="ad0"), batch_of(row)).tolist() == [2]
    assert act(AriesMode(mode="ad0"), batch_of(row, hops=1)).tolist() == [6]
    assert act(AriesMode(mode="ad0", later_nonminimal="any"), batch_of(row, hops=1)).tolist() == [2]


def test_where_it_has_arrived_a_packet_goes_straight() -> None:
    row: Loads = (3, 3, None, None, 1, None)  # in its destination group
    assert act(AriesMode(mode="ad0"), batch_of(row)).tolist() == [4], "it started here"
    assert act(AriesMode(mode="ad0"), batch_of(row, hops=2)).tolist() == [0]
    assert act(AriesMode(mode="ad0", in_destination_group=True), batch_of(row, hops=2)).tolist() == [4]


def test_ties_go_where_they_are_told() -> None:
    tie = (2, 2, 2, 2, None, None)
    assert act(AriesMode(mode="ad0", ties="nonminimal"), batch_of(tie)).tolist() == [2]
    assert act(AriesMode(mode="ad0", ties="random"), batch_of(tie, draw=0.4)).tolist() == [0]
    assert act(AriesMode(mode="ad0", ties="random"), batch_of(tie, draw=0.6)).tolist() == [2]


@pytest.mark.parametrize("mode", MODES)
def test_a_mode_is_ad_with_these_numbers(mode: str) -> None:
    shifts = {"ad1": (0, 1, 2), "ad3": (2, 2, 2)}.get(mode, (0, 0, 0))
    adds = (4, 4, 4) if mode == "ad2" else (0, 0, 0)
    own = Aries(
        **{
            f"nonminimal_shift_{hops}": n
            for hops, n in zip(("first", "second", "later"), shifts, strict=True)
        },
        **{f"nonminimal_add_{hops}": n for hops, n in zip(("first", "second", "later"), adds, strict=True)},
    )
    hashes = set()
    for policy in (own, dfe.make_policy(mode)):
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
    taken = routes(AriesMode(mode="ad0"), "uniform", 0.8)
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
    policy = AriesMode(mode="ad0", later_nonminimal="any", in_destination_group=True)
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
    # Every row has a gateway to every group, so nobody needs two hops to leave one, unless he changes his mind.
    assert any(len(stays(route)[0]) == 3 for route in around)
    assert max(map(len, taken)) - 1 <= 14


def test_without_in_group_a_packet_goes_the_shortest_way_inside_its_groups() -> None:
    for decide in ("progressive", "source"):
        taken = routes(AriesMode(mode="ad0", in_group=False, decide=decide), "uniform", 0.8)
        assert any(len(groups_of(route)) == 3 for route in taken)
        assert not any(is_long(stay) for route in taken for stay in stays(route)[1:])


def test_behind_the_first_hop_a_packet_leaves_the_minimal_path_where_it_stands() -> None:
    """Its next hop is global, so local dimensions are never crossed twice in the source group."""
    reached = {}
    for later in ("own-links", "any"):
        taken = routes(AriesMode(mode="ad0", later_nonminimal=later), "uniform", 0.8)
        reached[later] = max(len(stays(route)[0]) for route in taken if len(groups_of(route)) > 1)
    assert reached == {"own-links": 2, "any": 3}


def test_with_any_gateway_all_links_to_a_group_are_used_alike() -> None:
    """By the nearest, a router that has a link to the group takes it; by any, all three rows of the group do."""
    shares = {}
    for gateways in ("nearest", "any"):
        taken = routes(AriesMode(mode="ad3", gateways=gateways), "uniform", 0.05, run_ns=8_000.0)
        straight = [stays(route) for route in taken if len(groups_of(route)) == 2]
        assert len(straight) > 2000
        assert max(len(one) - 1 for route in straight for one in route) == 2
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
def test_an_environment_asks_where_the_policy_is_asked(decide: str, in_group: bool, scope: str) -> None:
    policy = AriesMode(mode="ad3", decide=decide, in_group=in_group)
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
        lambda: AriesMode(mode="ad3", gateways="any", minimal_candidates=1),
        lambda: dfe.BatchedRoutingEnv(
            dfe.SimulationConfig(topology=GRID, network="aries"), action="path", gateways="any"
        ),
    ):
        with pytest.raises(dfe.ConfigError, match=r"^gateways = 'any': .*minimal_candidates=1"):
            call()


@pytest.mark.parametrize(
    ("field", "value"),
    [
        *(("ties", "minimum"), ("gateways", "all"), ("decide", "every"), ("in_group", 2)),
        *(("minimal_candidates", 0), ("nonminimal_candidates", 17), ("levels_near", -1)),
        *(("levels_far", float("nan")), ("wire_share", "1"), ("nonminimal_shift_first", 3)),
        *(("minimal_add_later", 64), ("minimal_add_second", 0.5)),
    ],
)
def test_a_bad_parameter_is_refused(field: str, value: Any) -> None:
    with pytest.raises(dfe.ConfigError, match=f"^{field} = "):
        Aries(**{field: value})


def test_a_level_is_a_sixteenth_of_a_tiles_buffer_whatever_the_bundle() -> None:
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

"""Facts of every Dragonfly, with any shape, number of groups, trunking and arrangement."""

from __future__ import annotations

from collections import Counter, deque
from typing import Any

import networkx as nx
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dragonfly_env.config.topology import Dragonfly
from dragonfly_env.errors import ConfigError

PACKED = ("palmtree", "palmtree-plus", "absolute", "relative", "circulant")
ARRANGEMENTS = (*PACKED, "spread")


@st.composite
def dragonflies(
    draw: st.DrawFn, max_positions: int = 24, arrangements: tuple[str, ...] = ARRANGEMENTS
) -> Dragonfly:
    """Any small Dragonfly: at most 25 groups of 6 routers."""
    a = draw(st.integers(1, 6), label="a")
    h = draw(st.integers(0, max_positions // a), label="h")
    divisors = [t for t in range(1, max(1, a * h) + 1) if a * h % t == 0]
    trunking = draw(st.sampled_from(divisors), label="trunking")
    g = draw(st.none() | st.integers(1, a * h // trunking + 1), label="g")
    return Dragonfly(
        p=draw(st.integers(1, 4), label="p"),
        a=a,
        h=h,
        g=g,
        trunking=trunking,
        arrangement=draw(st.sampled_from(arrangements), label="arrangement"),
    )


def is_global(topo: Dragonfly, port: int) -> bool:
    return topo.port_kind(port) == "global"


@given(dragonflies())
def test_every_link_is_its_own_reverse_and_never_a_loop(topo: Dragonfly) -> None:
    links = [tuple(row) for row in topo.links().tolist()]
    assert {(peer, peer_port, router, port) for router, port, peer, peer_port in links} == set(links)
    assert all(router != peer for router, _, peer, _ in links)
    for router, port, peer, peer_port in links:
        assert topo.port_kind(port) == topo.port_kind(peer_port)
        assert is_global(topo, port) == (topo.group_of(router) != topo.group_of(peer))


@given(dragonflies())
def test_every_pair_of_groups_has_exactly_trunking_links(topo: Dragonfly) -> None:
    pairs = Counter(
        (topo.group_of(router), topo.group_of(peer))
        for router, port, peer, _ in topo.links().tolist()
        if is_global(topo, port)
    )
    assert len(pairs) == topo.g * (topo.g - 1)
    assert set(pairs.values()) <= {topo.trunking}


@given(dragonflies())
def test_routers_have_one_local_link_to_each_in_the_group_and_at_most_h_global_ones(topo: Dragonfly) -> None:
    graph: Any = nx.MultiGraph(topo.to_networkx())
    full = topo.g == topo.a * topo.h // topo.trunking + 1
    for router in graph:
        kinds = Counter(kind for _, _, kind in graph.edges(router, data="kind"))
        assert kinds["local"] == topo.a - 1
        assert kinds["global"] == topo.h if full else kinds["global"] <= topo.h
    assert nx.is_connected(graph)
    assert nx.diameter(graph) <= 3


def distances_with_one_global_link(topo: Dragonfly, source: int) -> dict[int, int]:
    """Breadth-first search over (router, whether a global link has been used)."""
    peers: dict[int, list[tuple[int, bool]]] = {router: [] for router in range(topo.num_routers)}
    for router, port, peer, _ in topo.links().tolist():
        peers[router].append((peer, is_global(topo, port)))
    seen = {(source, False): 0}
    queue = deque(seen)
    while queue:
        router, used = queue.popleft()
        for peer, crosses in peers[router]:
            state = (peer, used or crosses)
            if not (used and crosses) and state not in seen:
                seen[state] = seen[router, used] + 1
                queue.append(state)
    return {
        router: min(seen.get((router, used), 99) for used in (False, True))
        for router in range(topo.num_routers)
    }


@given(dragonflies(), st.data())
def test_minimal_hops_is_the_shortest_with_at_most_one_global_link(
    topo: Dragonfly, data: st.DataObject
) -> None:
    source = data.draw(st.integers(0, topo.num_routers - 1), label="source")
    for destination, distance in distances_with_one_global_link(topo, source).items():
        assert topo.minimal_hops(source, destination) == distance


@given(dragonflies(), st.data())
def test_following_minimal_ports_arrives_after_minimal_hops(topo: Dragonfly, data: st.DataObject) -> None:
    destination = data.draw(st.integers(0, topo.num_routers - 1), label="destination")
    for source in range(topo.num_routers):
        router = source
        crossed = 0
        for left in range(topo.minimal_hops(source, destination), 0, -1):
            assert topo.minimal_hops(router, destination) == left
            port = topo.minimal_port(router, destination)
            crossed += is_global(topo, port)
            far = topo.neighbor(router, port)
            assert far is not None
            router = far[0]
        assert router == destination
        assert crossed == (topo.group_of(source) != topo.group_of(destination))


@given(dragonflies(arrangements=PACKED))
def test_exactly_the_slots_below_the_number_of_groups_are_connected(topo: Dragonfly) -> None:
    slots = topo.a * topo.h // topo.trunking
    for router in range(topo.num_routers):
        for j in range(topo.h):
            slot = (router % topo.a * topo.h + j) % slots
            connected = topo.neighbor(router, topo.p + topo.a - 1 + j) is not None
            assert connected == (slot < topo.g - 1)


@given(dragonflies(arrangements=("spread",)))
def test_spread_links_fill_the_first_ports_of_all_routers_alike(topo: Dragonfly) -> None:
    connected = np.array(
        [
            [topo.neighbor(router, topo.p + topo.a - 1 + j) is not None for j in range(topo.h)]
            for router in range(topo.num_routers)
        ]
    )
    links = connected.sum(axis=1)
    assert links.sum() == topo.g * (topo.g - 1) * topo.trunking
    assert links.max() - links.min() <= 1
    assert (connected == (np.arange(topo.h) < links[:, None])).all()
    assert (links.reshape(topo.g, topo.a) == links[: topo.a]).all()


@given(dragonflies(arrangements=("spread",)))
def test_spread_is_the_palm_tree_where_every_port_is_connected(topo: Dragonfly) -> None:
    full = topo.replace(g=None)
    if topo.a * topo.h == (full.g - 1) * topo.trunking:
        assert (full.links() == full.replace(arrangement="palmtree").links()).all()


@given(
    parameters=st.fixed_dictionaries(
        {
            name: st.integers(-(2**70), 2**70) | st.integers(-2, 12)
            for name in ("p", "a", "h", "g", "trunking")
        }
    )
)
def test_any_integers_make_a_topology_or_a_config_error(parameters: dict[str, Any]) -> None:
    try:
        topo = Dragonfly(**parameters)
    except ConfigError:
        return  # any other exception is a failure
    assert topo.num_hosts == topo.p * topo.a * topo.g

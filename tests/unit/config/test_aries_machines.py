"""The Cray XC machines: the wiring by the public rules, and how long its paths are."""

from __future__ import annotations

import collections

import numpy as np
import pytest

import dragonfly_env as dfe

THETA = dfe.Dragonfly.preset("theta")


def grid_hops(u: int, v: int) -> int:
    """Hops between two routers of one of Theta's groups: one along the row, one along the column."""
    return (u // 16 != v // 16) + (u % 16 != v % 16)


def test_the_graph_of_theta_has_the_public_links() -> None:
    """15 neighbours in the row by one link each, 5 in the column by three, 48 links for every pair of groups."""
    graph = THETA.to_networkx()
    per_router: dict[tuple[int, str], list[int]] = collections.defaultdict(list)
    per_pair: collections.Counter[tuple[int, int]] = collections.Counter()
    for u, v, edge in graph.edges(data=True):
        assert isinstance(u, int)
        assert isinstance(v, int)
        if edge["kind"] == "rank-3":
            per_pair[min(u // 96, v // 96), max(u // 96, v // 96)] += edge["links"]
            continue
        assert u // 96 == v // 96
        for router in (u, v):
            per_router[router, edge["kind"]].append(edge["links"])
    for router in range(THETA.num_routers):
        assert per_router[router, "rank-1"] == [1] * 15
        assert per_router[router, "rank-2"] == [3] * 5
    assert len(per_pair) == 12 * 11 // 2
    assert set(per_pair.values()) == {48}


@pytest.mark.parametrize(
    ("rows", "columns", "groups", "links", "block"),
    [
        *((6, 16, 12, 48, 4), (6, 16, 15, 24, 2), (6, 16, 34, 24, 2), (3, 8, 12, 6, 1)),
        *((3, 8, 12, 12, 2), (2, 4, 5, 8, 2)),
    ],
)
def test_peer_k_uses_column_block_k_modulo_the_blocks(
    rows: int, columns: int, groups: int, links: int, block: int
) -> None:
    """All rows of the block, a bundle of two links per router; a link keeps its row and its place in the block."""
    t = dfe.Dragonfly(
        p=1,
        group=dfe.Grid(rows=rows, columns=columns),
        g=groups,
        links_between_groups=links,
        arrangement="xc",
    )
    used: dict[tuple[int, int], set[int]] = collections.defaultdict(set)
    for router, port, peer, _ in t.links().tolist():
        here, there = router // t.a, peer // t.a
        if here == there:
            continue
        assert t.port_kind(port) == "rank-3"
        assert t.port_links(port) == 2
        k = there - (there > here)
        index, far = router % t.a, peer % t.a
        assert index % columns // block == k % (columns // block)
        assert (index // columns, index % block) == (far // columns, far % block)
        used[here, there].add(index)
    assert {len(routers) for routers in used.values()} == {rows * block}


def test_cori_has_four_cables_a_pair_or_six() -> None:
    """A cable holds four links."""
    four, six = dfe.Dragonfly.preset("cori"), dfe.Dragonfly.preset("cori", links_between_groups=24)
    assert (four.num_groups, four.links_between_groups, four.h) == (34, 16, 3)
    assert (six.num_groups, six.links_between_groups, six.h) == (34, 24, 5)
    assert (dfe.Dragonfly.preset("cori-m8").num_hosts, dfe.Dragonfly.preset("edison").num_groups) == (
        1632,
        15,
    )


def test_paths_of_theta_are_as_long_as_counted() -> None:
    """Inside a group (15 + 5 + 2 * 75) / 96 = 1.77 hops on average, over all pairs. Between groups a random gateway
    would take 2 * 1.77 + 1 = 4.54; that of the shortest path takes 3.37 (sampled; standard error below 0.01), and 5 at
    most.
    """
    inside = [[THETA.minimal_hops(u, v) for v in range(96)] for u in range(96)]
    assert inside == [[grid_hops(u, v) for v in range(96)] for u in range(96)]
    assert np.mean(inside) == pytest.approx(170 / 96)

    rng = np.random.default_rng(1)
    ends: dict[tuple[int, int], list[tuple[int, int]]] = collections.defaultdict(list)
    for router, _, peer, _ in THETA.links().tolist():
        if router // 96 != peer // 96:
            ends[router // 96, peer // 96].append((router % 96, peer % 96))
    shortest, by_any = [], []
    for _ in range(10_000):
        u, v = (int(router) for router in rng.integers(0, THETA.num_routers, 2))
        if u // 96 == v // 96:
            continue
        ways = [grid_hops(u % 96, near) + 1 + grid_hops(far, v % 96) for near, far in ends[u // 96, v // 96]]
        shortest.append(THETA.minimal_hops(u, v))
        assert shortest[-1] == min(ways)
        by_any.append(np.mean(ways))
    assert np.mean(shortest) == pytest.approx(3.37, abs=0.03)
    assert np.mean(by_any) == pytest.approx(2 * 170 / 96 + 1, abs=0.03)
    assert max(shortest) <= 5 == THETA.diameter


def test_ports_have_kinds_and_several_lead_the_shortest_way() -> None:
    kinds = [THETA.port_kind(port) for port in range(THETA.radix)]
    assert kinds == ["host"] * 4 + ["rank-1"] * 15 + ["rank-2"] * 5 + ["rank-3"] * 3
    assert THETA.minimal_ports(0, 17) == (4, 19)  # along the row to column 1, or along the column to row 1
    assert THETA.minimal_ports(0, 0) == ()

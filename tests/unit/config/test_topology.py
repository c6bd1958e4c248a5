"""Facts about ``Dragonfly``: known systems, the arrangements' rules, and what is refused."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

from dragonfly_env.config.groups import LeafSpine
from dragonfly_env.config.topology import Dragonfly, topologies
from dragonfly_env.errors import ConfigError


def group_behind(topo: Dragonfly, group: int, position: int) -> int:
    """The group that global position q of a group leads to."""
    index, j = divmod(position, topo.h)
    far = topo.neighbor(group * topo.a + index, topo.p + topo.a - 1 + j)
    assert far is not None
    return topo.group_of(far[0])


@pytest.mark.parametrize("name", [name for name in topologies() if name.isdigit()])
def test_preset_has_the_number_of_hosts_that_names_it(name: str) -> None:
    topo = Dragonfly.preset(name)
    assert topo.num_hosts == int(name)
    assert topo.num_groups == topo.a * topo.h + 1
    assert topo.num_routers == topo.a * topo.num_groups
    assert Dragonfly.preset(int(name)) == topo


def test_sizes_of_the_1056_host_system() -> None:
    topo = Dragonfly(p=4, a=8, h=4)
    assert (topo.num_hosts, topo.num_routers, topo.num_groups, topo.radix) == (1056, 264, 33, 15)
    assert [topo.port_kind(port) for port in (0, 3, 4, 10, 11, 14)] == [
        *("host", "host", "local", "local", "global", "global"),
    ]
    assert (topo.router_of(1055), topo.group_of(263)) == (263, 32)


def test_palmtree_leads_backwards_and_its_last_router_owns_the_next_h_groups() -> None:
    topo = Dragonfly(p=4, a=8, h=4, arrangement="palmtree")
    for group in range(33):
        for q in range(32):
            assert group_behind(topo, group, q) == (group - (q + 1)) % 33
    # The bottleneck router of consecutive adversarial traffic in the LIA paper's figures is S_(a-1).
    last = {group_behind(topo, 0, (topo.a - 1) * topo.h + j) for j in range(topo.h)}
    assert last == {1, 2, 3, 4}


@pytest.mark.parametrize("arrangement", ["palmtree-plus", "relative"])
def test_palmtree_plus_and_relative_lead_forwards(arrangement: str) -> None:
    topo = Dragonfly(p=4, a=8, h=4, arrangement=arrangement)
    for group in range(33):
        for q in range(32):
            assert group_behind(topo, group, q) == (group + q + 1) % 33


@pytest.mark.parametrize("g", [32, 33])
def test_circulant_alternates_ahead_and_back(g: int) -> None:
    topo = Dragonfly(p=4, a=8, h=4, g=g, arrangement="circulant")
    for group in range(g):
        for q in range(g - 1):
            step = q // 2 + 1
            assert group_behind(topo, group, q) == (group + (step if q % 2 == 0 else -step)) % g


def test_spread_leads_to_the_groups_of_the_palm_tree_and_leaves_no_router_without_links() -> None:
    packed, spread = (Dragonfly(6, 12, 6, 40, name) for name in ("palmtree", "spread"))
    counts = []
    for topo in (packed, spread):
        links = topo.links()
        leading = links[
            (links[:, 1] >= 17) & (links[:, 0] < 12)
        ]  # global links of group 0, by router and port
        assert (topo.group_of_routers()[leading[:, 2]] == np.arange(39, 0, -1)).all()
        counts.append(np.bincount(leading[:, 0], minlength=12).tolist())
    assert counts == [[6, 6, 6, 6, 6, 6, 3, 0, 0, 0, 0, 0], [4, 3, 3, 3, 4, 3, 3, 3, 4, 3, 3, 3]]


def test_spread_gives_links_to_every_spine() -> None:
    topo = Dragonfly(p=2, h=4, g=7, arrangement="spread", group=LeafSpine(leaves=3, spines=4))
    kinds = [topo.port_kind(port) for port in range(topo.radix)]
    of_router = Counter(router for router, port, *_ in topo.links().tolist() if kinds[port] == "global")
    assert sorted(of_router.values()) == [1] * 14 + [2] * 14


def test_relative_and_palmtree_plus_differ_with_trunking() -> None:
    plus, relative = (Dragonfly(2, 4, 3, trunking=2, arrangement=n) for n in ("palmtree-plus", "relative"))
    assert not np.array_equal(plus.links(), relative.links())


def test_single_router_single_group_and_lonely_routers_work() -> None:
    alone = Dragonfly(p=3, a=1, h=0)
    assert (alone.num_hosts, alone.num_routers, alone.num_groups) == (3, 1, 1)
    assert alone.links().shape == (0, 4)
    group = Dragonfly(p=3, a=5, h=2, g=1)
    assert group.links().shape == (20, 4)
    clique = Dragonfly(p=3, a=1, h=6)
    assert {clique.minimal_hops(0, router) for router in range(1, 7)} == {1}


def test_graph_has_routers_and_links_with_their_attributes() -> None:
    topo = Dragonfly(p=2, a=4, h=2)
    graph: Any = topo.to_networkx()
    assert not graph.is_multigraph()
    assert graph.number_of_nodes() == 36
    assert Counter(kind for _, _, kind in graph.edges(data="kind")) == {"local": 9 * 6, "global": 9 * 4}
    assert graph.nodes[35] == {"kind": "router", "group": 8}
    for u, v, ports in graph.edges(data="ports"):
        assert topo.neighbor(u, ports[u]) == (v, ports[v])


def test_graph_with_hosts_attaches_each_to_its_router() -> None:
    topo = Dragonfly(p=2, a=4, h=2)
    graph = topo.to_networkx(hosts=True)
    assert graph.number_of_nodes() == 36 + 72
    assert list(graph["host_71"]) == [35]
    assert graph.edges["host_71", 35] == {"kind": "host", "links": 1, "ports": {35: 1}}
    assert graph.nodes["host_71"] == {"kind": "host", "group": 8, "host": 71}


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"p": 0}, r"^p = 0: .*1 to 1024"),
        ({"p": -1}, r"^p = -1: "),
        ({"p": 4.0}, r"^p = 4\.0: must be an integer"),
        ({"p": True}, r"^p = True: must be an integer"),
        ({"p": "4"}, r"^p = '4': must be an integer"),
        ({"p": None}, r"^p = None: must be an integer"),
        ({"p": 10**30}, r"^p = 10+: "),
        ({"a": 0}, r"^a = 0: "),
        ({"h": -1}, r"^h = -1: "),
        ({"h": 0, "g": 2}, r"^g = 2: .*1 to 1"),
        ({"g": 0}, r"^g = 0: .*1 to 33"),
        ({"g": 34}, r"^g = 34: .*1 to 33"),
        ({"g": 33.0}, r"^g = 33\.0: "),
        ({"trunking": 0}, r"^trunking = 0: "),
        ({"trunking": 3}, r"^trunking = 3: must divide a\*h, which is 32"),
        ({"trunking": 64}, r"^trunking = 64: .*1 to 32"),
        ({"trunking": 4, "g": 10}, r"^g = 10: .*1 to 9"),
        ({"arrangement": "palmtre"}, r"^arrangement = 'palmtre': .*did you mean 'palmtree'"),
        ({"arrangement": None}, r"^arrangement = None: "),
        ({"group": "2d"}, r"^group = '2d': must be one of 'all-to-all', 'grid'"),
        ({"group": "all2all"}, r"^group = 'all2all': .*did you mean 'all-to-all'"),
        ({"p": 1000, "a": 100}, r"^radix .* = 1103: "),
        ({"p": 340, "a": 342, "h": 342}, r"^num_hosts .*: must lie in \[1, 2147483647\]"),
        ({"p": 1, "a": 500, "h": 400}, r"^number of links "),
    ],
)
def test_impossible_topology_is_refused_by_field_value_and_range(
    parameters: dict[str, Any], message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        Dragonfly(**{"p": 4, "a": 8, "h": 4, **parameters})


def test_absolute_counts_groups_without_its_own() -> None:
    topo = Dragonfly(p=4, a=8, h=4, arrangement="absolute")
    for group in range(33):
        for q in range(32):
            assert group_behind(topo, group, q) == (q + 1 if q >= group else q)

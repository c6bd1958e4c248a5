"""Groups of leaves and spines: the wiring, its settings in every form, presets, and what bad input says."""

from __future__ import annotations

from collections import Counter
from typing import Any

import networkx as nx
import numpy as np
import pytest

import dragonfly_env as dfe
from dragonfly_env.cli.info import draw_group
from dragonfly_env.config.topology import read_topology
from tests.topologies import PLUS, topology_of

SYSTEM = dfe.Dragonfly.preset("dfp-272", arrangement="absolute")


def test_leaves_have_the_hosts_and_spines_the_global_links() -> None:
    assert (SYSTEM.num_hosts, SYSTEM.num_routers, SYSTEM.num_groups) == (272, 136, 17)
    assert len(SYSTEM.links()) == 2 * 408
    place = SYSTEM.place_of_routers()
    assert SYSTEM.hosts_of_routers().tolist() == np.where(place < 4, 4, 0).tolist()
    assert set(place[SYSTEM.router_of_hosts()].tolist()) == {0, 1, 2, 3}
    for router, _, peer, _ in SYSTEM.links().tolist():
        inside = SYSTEM.group_of(router) == SYSTEM.group_of(peer)
        leaves = [int(place[end]) < 4 for end in (router, peer)]
        assert leaves.count(True) == (1 if inside else 0)
    assert SYSTEM.router_of(17) == 8
    assert SYSTEM.group_of(8) == 1


def test_minimal_paths_between_leaves_have_two_hops_in_a_group_and_three_between_groups() -> None:
    leaves = np.flatnonzero(SYSTEM.hosts_of_routers()).tolist()
    hops = Counter(SYSTEM.minimal_hops(leaf, other) for leaf in leaves for other in leaves if leaf != other)
    assert hops == {2: 204, 3: 4352}


@pytest.mark.parametrize("shape", [*PLUS, "272 hosts"])
def test_distances_between_leaves_are_those_of_the_graph(shape: str) -> None:
    topology = SYSTEM if shape == "272 hosts" else topology_of(PLUS[shape])
    distances = dict(nx.all_pairs_shortest_path_length(topology.to_networkx()))
    leaves = np.flatnonzero(topology.hosts_of_routers()).tolist()
    assert all(
        topology.minimal_hops(leaf, other) == distances[leaf][other] for leaf in leaves for other in leaves
    )


def test_leaves_and_spines_may_differ_in_number() -> None:
    topology = dfe.Dragonfly(p=3, h=2, g=4, group=dfe.LeafSpine(leaves=2, spines=5, links=3))
    assert (topology.num_hosts, topology.num_routers, topology.a) == (24, 28, 7)
    assert (topology.hosts_per_group, topology.global_ports_per_group) == (6, 10)
    assert topology.replace(g=None).num_groups == 11
    graph = topology.to_networkx(hosts=True)
    degrees = Counter(
        (
            graph.nodes[node]["kind"],
            sum(graph.nodes[peer]["group"] == graph.nodes[node]["group"] for peer in graph[node]),
        )
        for node in graph
    )
    # Leaves have 5 spines and 3 hosts, spines have 2 leaves.
    assert degrees == {("router", 8): 8, ("router", 2): 20, ("host", 1): 24}
    assert {data["links"] for _, _, data in graph.edges(data=True) if data["kind"] == "local"} == {3}


@pytest.mark.parametrize(
    "text",
    [
        "p=4,h=4,group=leaf-spine:leaves=4,spines=3,links=2",
        "p=4,h=4,group=leaf-spine:spines=3,leaves=4,links=2",
        "p=4,h=4,leaves=4,spines=3,links=2",
        "links=2,group=leaf-spine:leaves=4,p=4,spines=3,h=4",
    ],
)
def test_a_system_is_typed_with_its_leaves_and_spines(text: str) -> None:
    expected = dfe.Dragonfly(p=4, h=4, group=dfe.LeafSpine(leaves=4, spines=3, links=2))
    assert dfe.Dragonfly.from_dict(read_topology("topology", text)) == expected
    assert dfe.Dragonfly.from_dict(expected.to_dict()) == expected
    assert eval(repr(expected), {"Dragonfly": dfe.Dragonfly, "LeafSpine": dfe.LeafSpine}) == expected
    changed = expected.replace(group=dfe.LeafSpine(leaves=2, spines=2), g=None)
    assert (changed.a, changed.num_groups) == (4, 9)


def test_a_grid_that_is_typed_as_a_group_keeps_its_rows() -> None:
    typed = read_topology("topology", "p=1,h=1,g=3,group=grid:rows=2,columns=3")
    assert typed["group"] == dfe.Grid(rows=2, columns=3)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"group": dfe.LeafSpine(leaves=2, spines=2), "h": 1, "a": 5}, "^a = 5: must be 4"),
        (
            {"group": "leaf-spine:leafs=2", "h": 1},
            "^leafs = 2: a leaf-spine group has no such setting.*leaves",
        ),
        ({"group": "leaf-spine:leaves=0", "h": 1}, "^leaves = 0: must be an integer from 1"),
        ({"group": "leaf-spine:leaves=1000,spines=25", "h": 1}, "^spines = 25: must be at most 24"),
        (
            {"group": dfe.LeafSpine(leaves=4, spines=2), "h": 1, "g": 4},
            "^g = 4: must be an integer from 1 to 3",
        ),
        (
            {"group": dfe.LeafSpine(leaves=4, spines=3), "h": 1, "trunking": 2},
            "^trunking = 2: must divide spines.h, which is 3",
        ),
        ({"group": 3, "h": 1}, "^group = 3: must be 'all-to-all', a Grid or a LeafSpine"),
    ],
)
def test_a_wrong_group_is_refused_with_what_is_allowed(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(dfe.ConfigError, match=message):
        dfe.Dragonfly(p=1, **arguments)


def test_the_presets_are_those_that_are_published() -> None:
    """CODES' dfp_1k.conf: 7 groups, 12 leaves, 12 spines, 12 hosts per leaf, 12 global links per spine. Booster of
    JUPITER: 25 groups, 240 nodes with four adapters per group, 15 leaves, 16 spines.
    """
    codes = dfe.Dragonfly.preset("dfp-1008")
    assert (codes.num_hosts, codes.num_groups, codes.a) == (1008, 7, 24)
    assert codes.global_ports_per_group * codes.num_groups == len(
        [row for row in codes.links().tolist() if codes.group_of(row[0]) != codes.group_of(row[2])]
    )
    booster = dfe.Dragonfly.preset("jupiter")
    assert (booster.num_hosts, booster.num_groups) == (25 * 240 * 4, 25)
    assert booster.group == dfe.LeafSpine(leaves=15, spines=16, links=4)
    links = booster.links()
    groups = booster.group_of_routers()[links[:, [0, 2]]]
    between = Counter(map(tuple, links[(groups[:, 0] == 0) & (groups[:, 1] == 7)][:, [0]].tolist()))
    assert set(between.values()) == {2}  # two links of 200 Gbit/s from each spine to every other group
    assert len(between) == 16


def test_the_drawing_names_leaves_spines_and_the_groups_behind_them() -> None:
    lines = draw_group(SYSTEM).splitlines()
    assert lines[0].split() == ["spines", "4", "5", "6", "7"]
    assert lines[2].split() == ["leaves", "0", "1", "2", "3"]
    assert "spine 4        groups 1 (1), 2 (1), 3 (1), 4 (1)" in lines[-4]

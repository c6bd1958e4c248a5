"""Lists of links between groups: rows, CSV files and graphs, and what is refused."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import networkx as nx
import pytest

import dragonfly_env as dfe
from dragonfly_env.cli.info import draw_pairs
from dragonfly_env.config.topology import read_topology
from dragonfly_env.sweeps import Point

ROWS = [(0, 0, 1, 0), (0, 1, 1, 1), (0, 1, 2, 0), (1, 0, 2, 1)]


def written(path: Path, *lines: str) -> str:
    path.write_text("\n".join(lines))
    return str(path)


def test_rows_take_the_ports_of_routers_in_turn() -> None:
    topology = dfe.Dragonfly(p=1, a=2, wiring=ROWS)
    assert (topology.g, topology.h, topology.trunking, topology.arrangement) == (3, 2, 2, "listed")
    assert [topology.neighbor(router, 2) for router in range(6)] == [
        (2, 2),
        (3, 2),
        (0, 2),
        (1, 2),
        (1, 3),
        (2, 3),
    ]
    assert topology.neighbor(0, 3) is None


def test_the_order_of_links_and_of_their_ends_does_not_matter_if_ports_are_named() -> None:
    links = dfe.Wiring(ROWS).links
    assert dfe.Wiring(ROWS) == dfe.Wiring([(*link[3:], *link[:3]) for link in reversed(links)])
    assert dfe.Wiring(ROWS) != dfe.Wiring(ROWS[1:])


def test_a_file_with_counts_or_ports_is_a_list_of_rows(tmp_path: Path) -> None:
    counted = written(
        tmp_path / "counted.csv",
        "group_a,router_a,group_b,router_b,count",
        "0,0,1,0,2",
        "1,1,2,0,1",
        "0,1,2,1,1",
    )
    wiring = dfe.Dragonfly(p=1, a=2, wiring=counted).wiring
    assert wiring == dfe.Wiring([(0, 0, 1, 0), (0, 0, 1, 0), (1, 1, 2, 0), (0, 1, 2, 1)])
    wiring.write(tmp_path / "ports.csv")
    assert dfe.Dragonfly(p=1, a=2, wiring=tmp_path / "ports.csv").wiring == wiring


def test_a_run_is_known_by_the_links_not_by_their_file(tmp_path: Path) -> None:
    def run_id(wiring: Any) -> str:
        config = dfe.SimulationConfig(topology={"p": 1, "a": 2, "wiring": wiring}, load=0.1)
        return (
            Point(config=config, policy_label="min", traffic_label="uniform", warmup_ns=100, measure_ns=100)
            .run(1)
            .id
        )

    for name in ("one", "other"):
        dfe.Wiring(ROWS).write(tmp_path / f"{name}.csv")
    dfe.Wiring(ROWS[1:]).write(tmp_path / "changed.csv")
    ids = [run_id(tmp_path / f"{name}.csv") for name in ("one", "other", "changed")]
    assert ids[0] == ids[1] != ids[2]


def test_tables_texts_and_copies_have_all_of_it(tmp_path: Path) -> None:
    dfe.Wiring(ROWS).write(tmp_path / "links.csv")
    topology = dfe.Dragonfly(p=1, a=2, wiring=tmp_path / "links.csv")
    typed = read_topology("topology", f"p=1,a=2,wiring={tmp_path / 'links.csv'}")
    assert dfe.Dragonfly.from_dict(typed) == topology == pickle.loads(pickle.dumps(topology))
    config = dfe.SimulationConfig(topology=topology, load=0.1)
    assert dfe.SimulationConfig.from_toml(config.to_toml()).topology == topology
    dfe.Wiring(ROWS[1:]).write(tmp_path / "links.csv")
    with pytest.raises(dfe.ConfigError, match="must be the file with sha256"):
        dfe.Dragonfly.from_dict(topology.to_dict())


def test_an_arrangement_replaces_a_list_and_a_list_an_arrangement() -> None:
    palmtree = dfe.Dragonfly.preset("72")
    listed = palmtree.replace(wiring=ROWS)
    assert (listed.p, listed.a, listed.g, listed.arrangement) == (2, 4, 3, "listed")
    assert listed.replace(p=1).wiring == listed.wiring
    assert listed.replace(arrangement="palmtree", g=None) == palmtree
    assert listed.replace(wiring=None) == palmtree


def graph_of(topology: dfe.Dragonfly) -> nx.Graph[str]:
    """The routers by names, without numbers of ports, in groups by names."""
    graph: nx.Graph[str] = nx.Graph()
    for node, group in enumerate(topology.group_of_routers().tolist()):
        graph.add_node(f"r{node}", group=f"cabinet {group}")
    graph.add_edges_from((f"r{router}", f"r{peer}") for router, peer in topology.to_networkx().edges())
    return graph


def test_a_graph_with_names_is_read_in_the_order_of_its_nodes() -> None:
    topology = dfe.Dragonfly(p=1, a=2, wiring=ROWS)
    made = dfe.Dragonfly(p=1, wiring=graph_of(topology))
    ends = [sorted({(row[0], row[2]) for row in machine.links().tolist()}) for machine in (topology, made)]
    assert ends[0] == ends[1]


def test_a_graph_whose_groups_have_other_links_is_refused_by_the_first_that_differs() -> None:
    graph = graph_of(dfe.Dragonfly.preset("72"))
    graph.remove_edge("r4", "r6")
    with pytest.raises(dfe.ConfigError, match=r"r4.*r6.*must have the link that all-to-all says"):
        dfe.Dragonfly(p=2, wiring=graph)
    grid = dfe.Grid(rows=2, columns=2, column_links=1)
    with pytest.raises(dfe.ConfigError, match=r"r0.*r3.*must have no link that grid"):
        dfe.Dragonfly(p=2, group=grid, wiring=graph_of(dfe.Dragonfly.preset("72")))


def test_a_graph_without_groups_is_refused() -> None:
    with pytest.raises(dfe.ConfigError, match="must have the attribute group"):
        dfe.Dragonfly(p=1, wiring=nx.complete_graph(4))


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"wiring": []}, "must list a link"),
        ({"wiring": [(0, 0, 0, 1)]}, "must join two groups"),
        ({"wiring": [(0, 2, 1, 0)]}, "router 2 of group 0.*from 0 to 1"),
        ({"wiring": [(0, 0, 0, 1, 0, 0), (0, 0, 0, 2, 0, 0)]}, "port 0 of router 0 in group 0.*one link"),
        ({"wiring": [(0, 0, 1)]}, "must have 4 numbers"),
        ({"wiring": [(0, 0, 1, 0), (2, 0, 3, 0)]}, "groups 0 and 2.*must have a link, or a third group"),
        ({"wiring": ROWS, "h": 1}, "h = 1"),
        ({"wiring": ROWS, "g": 4}, "g = 4"),
        ({"wiring": ROWS, "arrangement": "absolute"}, "arrangement"),
        ({"wiring": ROWS, "trunking": 1}, "must be left out with wiring"),
        ({"wiring": 7}, "must be rows, a CSV file"),
        ({"wiring": "nowhere.csv"}, "must be a CSV file that can be read"),
    ],
)
def test_a_mistake_is_an_error_that_names_it(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(dfe.ConfigError, match=message):
        dfe.Dragonfly(p=1, a=2, **fields)


def test_only_spines_have_links_of_a_list() -> None:
    group = dfe.LeafSpine(leaves=2, spines=2)
    assert dfe.Dragonfly(p=1, group=group, wiring=[(0, 2, 1, 3)]).neighbor(2, 3) == (7, 3)
    with pytest.raises(dfe.ConfigError, match="from 2 to 3"):
        dfe.Dragonfly(p=1, group=group, wiring=[(0, 1, 1, 3)])


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (("a,b", "0,1"), "must begin with the columns group_a"),
        (
            ("group_a,router_a,group_b,router_b", "0,0,1,0", "0,x,1,0"),
            "line 3.*a whole number in each column",
        ),
        (("group_a,router_a,group_b,router_b", "0,0,1"), "line 2.*a whole number in each column"),
    ],
)
def test_a_file_that_is_no_list_is_refused(tmp_path: Path, lines: tuple[str, ...], message: str) -> None:
    with pytest.raises(dfe.ConfigError, match=message):
        dfe.Dragonfly(p=1, a=2, wiring=written(tmp_path / "links.csv", *lines))


def test_info_draws_the_links_of_each_pair_of_groups() -> None:
    topology = dfe.Dragonfly(p=1, a=2, wiring=[(0, 0, 1, 0), (0, 1, 1, 1), (1, 0, 2, 1)])
    assert draw_pairs(topology).splitlines()[1:] == [
        "group   0   1   2",
        "0       .   2   .",
        "1       2   .   1",
        "2       .   1   .",
    ]
    assert draw_pairs(dfe.Dragonfly.preset("72")) == ""

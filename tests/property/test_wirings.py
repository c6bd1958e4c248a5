"""Machines whose pairs of groups have different numbers of links: distances, channels and delivery."""

from __future__ import annotations

import itertools
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

import dragonfly_env as dfe
from dragonfly_env import _core
from tests.ready import ready
from tests.topologies import UNEVEN, topology_of

SHAPES: tuple[dict[str, Any], ...] = (
    {"a": 3},
    {"group": dfe.Grid(rows=2, columns=2, column_links=1)},
    {"group": dfe.LeafSpine(leaves=2, spines=3)},
)


@st.composite
def listed(draw: st.DrawFn) -> dfe.Dragonfly:
    """A machine with up to three links per pair of groups, all of which reach each other by a third at most."""
    shape = draw(st.sampled_from(SHAPES))
    whole = dfe.Dragonfly(p=1, h=1, g=1, **shape)
    group = shape.get("group")
    first = group.leaves if isinstance(group, dfe.LeafSpine) else 0
    groups = draw(st.integers(2, 5))
    routers = st.integers(first, whole.a - 1)
    rows = []
    for low in range(groups):
        for high in range(low + 1, groups):
            rows += draw(
                st.lists(
                    st.tuples(st.just(low), routers, st.just(high), routers), min_size=low == 0, max_size=3
                )
            )
    return dfe.Dragonfly(p=1, wiring=rows, **shape)  # group 0 joins all others


def distance(topology: dfe.Dragonfly, graph: nx.Graph[int | str], source: int, target: int) -> int:
    """Hops over one link between the groups or, where there is none, by one group between them."""
    group = topology.group_of_routers().tolist()
    first, last = group[source], group[target]
    pairs = {
        frozenset((group[a], group[b])) for a, b in graph.edges()
    }  # both ends in a group: that group alone
    if first == last:
        ways = [[]]
    elif frozenset((first, last)) in pairs:
        ways = [[first, last]]
    else:
        ways = [
            [first, by, last]
            for by in range(topology.num_groups)
            if {frozenset((first, by)), frozenset((by, last))} <= pairs and by not in (first, last)
        ]
    hops = []
    for way in ways:
        steps = set(itertools.pairwise(way))
        kept = nx.DiGraph()
        for edge in graph.edges():
            for a, b in (edge[:2], edge[1::-1]):
                if group[a] == group[b] or (group[a], group[b]) in steps:
                    kept.add_edge(a, b)
        hops.append(int(nx.shortest_path_length(kept, source, target)))
    return min(hops)


@given(topology=listed(), data=st.data())
@settings(max_examples=60, deadline=None)
def test_distances_are_those_of_networkx(topology: dfe.Dragonfly, data: st.DataObject) -> None:
    graph = topology.to_networkx()
    pairs = st.tuples(*[st.integers(0, topology.num_routers - 1)] * 2).filter(lambda pair: pair[0] != pair[1])
    for source, target in data.draw(st.lists(pairs, max_size=8)):
        hops = topology.minimal_hops(source, target)
        assert hops == distance(topology, graph, source, target) <= topology.diameter
        ends = [topology.neighbor(source, port) for port in topology.minimal_ports(source, target)]
        assert topology.minimal_port(source, target) in topology.minimal_ports(source, target)
        assert [topology.minimal_hops(end[0], target) for end in ends if end] == [hops - 1] * len(ends)


@given(topology=listed())
@settings(max_examples=60, deadline=None)
def test_rows_graphs_and_tables_give_the_machine_again(topology: dfe.Dragonfly) -> None:
    fields = {"p": 1, "group": topology.group}
    assert topology == dfe.Dragonfly(wiring=topology.to_networkx(hosts=True), **fields)
    assert topology == dfe.Dragonfly.from_dict(topology.to_dict())
    assert topology.wiring == topology.to_wiring()


@given(
    topology=listed(),
    policy=st.sampled_from(dfe.policies()),
    scheme=st.sampled_from(("stage", "ladder", "hop")),
)
@settings(max_examples=60, deadline=None)
def test_channel_dependencies_are_acyclic(topology: dfe.Dragonfly, policy: str, scheme: str) -> None:
    assume(
        not isinstance(topology.group, dfe.LeafSpine) or policy not in ("vlb-gl", "vlb-g")
    )  # refused there
    chosen = ready(policy)
    rows, _ = _core.channel_dependencies(
        topology.to_core(), chosen.name, chosen.to_core()["parameters"], scheme
    )
    if not len(rows):
        return
    channels, numbers = np.unique(rows.reshape(-1, 3), axis=0, return_inverse=True)
    held, wanted = numbers.reshape(-1, 2).T
    graph = coo_array((np.ones(len(rows)), (held, wanted)), shape=(len(channels),) * 2)
    assert connected_components(graph, connection="strong")[0] == len(channels)
    assert (held != wanted).all()


@pytest.mark.parametrize("policy", dfe.policies())
@pytest.mark.parametrize("machine", UNEVEN)
def test_every_policy_delivers_everything_after_full_load(machine: str, policy: str) -> None:
    network = dfe.NetworkConfig(local_buffer_packets=2, global_buffer_packets=2, output_buffer_packets=1)
    topology = topology_of(UNEVEN[machine])
    for traffic in ("uniform", "adv+1"):
        simulation = dfe.Simulation(
            dfe.SimulationConfig(
                topology=topology,
                network=network,
                policy=ready(policy),
                traffic=traffic,
                load=1.0,
                packet_log=True,
            )
        )
        simulation.run(3_000)
        assert simulation.drain()
        hosts = set(topology.live_hosts().tolist())
        assert set(simulation.packet_log()["src"].tolist()) == hosts


@pytest.mark.parametrize("policy", dfe.policies())
@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"arrangement": "absolute"},
        {"trunking": 2, "g": 5},
        {"failed": "global_links=0.05+local_links=0.05"},
    ],
    ids=str,
)
def test_an_arrangement_as_a_list_gives_the_same_bits(fields: dict[str, Any], policy: str) -> None:
    arranged = dfe.Dragonfly(p=2, a=4, h=2, **fields)
    whole = arranged.replace(failed=None)
    listed = whole.replace(wiring=whole.to_wiring(), failed=arranged.failed)
    assert listed.links().tolist() == arranged.links().tolist()
    traces = []
    for topology in (arranged, listed):
        simulation = dfe.Simulation(
            dfe.SimulationConfig(topology=topology, policy=ready(policy), traffic="adv+1", load=0.4)
        )
        simulation.run(2_000)
        traces.append(simulation.trace_hash())
    assert traces[0] == traces[1]

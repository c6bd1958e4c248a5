"""Machines with any dead links and routers: distances, channels, and delivery."""

from __future__ import annotations

import itertools
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

import dragonfly_env as dfe
from benchmarks.failures import delivers_all_pairs, drains
from dragonfly_env import _core
from tests.partitions import cut_into
from tests.ready import ready
from tests.routes import routes_of

WHOLE: tuple[dict[str, Any], ...] = (
    {"p": 2, "a": 4, "h": 2},
    {"p": 1, "a": 4, "h": 2, "g": 5, "trunking": 2},
    {"p": 1, "h": 2, "g": 5, "group": dfe.Grid(rows=2, columns=3, column_links=1)},
    {"p": 1, "h": 2, "g": 5, "group": dfe.LeafSpine(leaves=3, spines=3)},
)


RATES = st.sampled_from((0.1, 0.25, 0.7))
REFUSALS = ("no router with hosts has a global link of its own", "at most 16: dead local links")
"""Policies that a machine has no paths for, or no virtual channels."""


@st.composite
def damaged(draw: st.DrawFn) -> dfe.Dragonfly:
    """A machine with up to six dead links, four degraded ones and two dead routers, or a whole one where these are
    refused.
    """
    whole = dfe.Dragonfly(**draw(st.sampled_from(WHOLE)))
    ends = st.sampled_from(whole.links()[:, :2].tolist())
    failed = dfe.Failures(
        links=draw(st.lists(ends, max_size=6)),
        router_numbers=draw(st.lists(st.integers(0, whole.num_routers - 1), max_size=2)),
        degraded_links=[(*end, rate) for end, rate in draw(st.lists(st.tuples(ends, RATES), max_size=4))],
    )
    try:
        return whole.replace(failed=failed)
    except dfe.ConfigError as error:
        if "cannot reach each other" in str(error) or "of leaves and spines" in str(error):
            return whole
        raise


def live_pairs(topology: dfe.Dragonfly) -> list[tuple[int, int]]:
    """Pairs of different live routers."""
    alive = np.setdiff1d(np.arange(topology.num_routers), topology.dead_routers()).tolist()
    return [(a, b) for a in alive for b in alive if a != b]


def distance(topology: dfe.Dragonfly, graph: nx.Graph[int | str], source: int, target: int) -> int:
    """Hops over one link between the groups or, where there is none, by one group between them."""
    group = topology.group_of_routers()
    first, last = group[source], group[target]
    edges = [(a, b) for a, b in graph.edges() if group[a] != group[b]]
    linked = {frozenset((group[a], group[b])) for a, b in edges}

    def allowed(a: int, b: int) -> bool:
        ends = {group[a], group[b]}
        if len(ends) == 1:
            return True
        if frozenset((first, last)) in linked or first == last:
            return ends == {first, last} and first != last
        between = ends - {first, last}
        return len(between) == 1 and all(between | {end} in linked for end in (first, last))

    kept = nx.Graph([(a, b) for a, b in graph.edges() if allowed(int(a), int(b))])
    return int(nx.shortest_path_length(kept, source, target))


@given(topology=damaged(), data=st.data())
@settings(max_examples=60, deadline=None)
def test_distances_are_those_of_networkx_with_a_relay_where_no_link_is_left(
    topology: dfe.Dragonfly, data: st.DataObject
) -> None:
    graph = topology.to_networkx()
    for source, target in data.draw(st.lists(st.sampled_from(live_pairs(topology)), max_size=8)):
        hops = topology.minimal_hops(source, target)
        assert hops == distance(topology, graph, source, target) <= topology.diameter
        ends = [topology.neighbor(source, port) for port in topology.minimal_ports(source, target)]
        assert topology.minimal_port(source, target) in topology.minimal_ports(source, target)
        assert [topology.minimal_hops(end[0], target) for end in ends if end] == [hops - 1] * len(ends)


@given(topology=damaged())
@settings(max_examples=60, deadline=None)
def test_links_lead_to_each_other(topology: dfe.Dragonfly) -> None:
    links = {tuple(row) for row in topology.links().tolist()}
    assert {(peer, back, router, port) for router, port, peer, back in links} == links
    assert not set(topology.dead_routers().tolist()) & {row[0] for row in links}


@given(
    topology=damaged(),
    policy=st.sampled_from(dfe.policies()),
    scheme=st.sampled_from(("stage", "ladder", "hop")),
)
@settings(max_examples=60, deadline=None)
def test_channel_dependencies_are_acyclic(topology: dfe.Dragonfly, policy: str, scheme: str) -> None:
    made = ready(policy)
    try:
        rows, _ = _core.channel_dependencies(
            topology.to_core(), made.name, made.to_core()["parameters"], scheme
        )
    except dfe.ConfigError as error:
        if any(reason in str(error) for reason in REFUSALS):
            return
        raise
    channels, numbers = np.unique(rows.reshape(-1, 3), axis=0, return_inverse=True)
    held, wanted = numbers.reshape(-1, 2).T
    graph = coo_array((np.ones(len(rows)), (held, wanted)), shape=(len(channels),) * 2)
    assert connected_components(graph, connection="strong")[0] == len(channels)
    assert (held != wanted).all()


def small_buffers(topology: dfe.Dragonfly, **fields: Any) -> dfe.SimulationConfig:
    network = dfe.NetworkConfig(local_buffer_packets=2, global_buffer_packets=2, output_buffer_packets=1)
    return dfe.SimulationConfig(topology=topology, network=network, **fields)


@given(
    topology=damaged(), policy=st.sampled_from(dfe.policies()), traffic=st.sampled_from(("uniform", "adv+1"))
)
@settings(max_examples=40, deadline=None)
def test_everything_drains_after_full_load_and_nothing_passes_a_dead_link(
    topology: dfe.Dragonfly, policy: str, traffic: str
) -> None:
    config = small_buffers(topology, policy=ready(policy), traffic=traffic, load=1.0, packet_log=True)
    try:
        simulation = dfe.Simulation(config)
    except dfe.ConfigError as error:
        if any(reason in str(error) for reason in REFUSALS):
            return
        raise
    simulation.run(500)
    assert simulation.drain()
    log = simulation.packet_log()
    alive = {(router, peer) for router, _, peer, _ in topology.links().tolist()}
    for route in routes_of(log):
        assert set(itertools.pairwise(route)) <= alive
    hosts = set(topology.live_hosts().tolist())
    assert set(log["src"].tolist()) <= hosts
    assert set(log["dst"].tolist()) <= hosts


MIXED = dfe.Failures(global_links=0.06, local_links=0.04, router_numbers=[7], seed=2)


@pytest.mark.parametrize("policy", dfe.policies())
@pytest.mark.parametrize("failed", [MIXED, dfe.Failures(global_links=0.05, local_links=0.05)])
def test_every_pair_of_live_hosts_is_delivered_and_full_load_drains(
    failed: dfe.Failures, policy: str
) -> None:
    """All draws: ``python -m benchmarks.failures``."""
    topology = dfe.Dragonfly.preset("72", failed=failed)
    assert topology.relayed_groups()
    assert delivers_all_pairs(topology, ready(policy))
    assert drains(topology, ready(policy), "adv+1")


@pytest.mark.parametrize("policy", ["min", "ugal-n", "par", "ad0", "q-adaptive", "neural-v2", "neural-v3"])
def test_threads_and_cuts_give_equal_bits(policy: str) -> None:
    topology = dfe.Dragonfly.preset(
        "342",
        failed=dfe.Failures(
            global_links=0.05, local_links=0.02, routers=0.02, degraded_global_links=0.1, degraded_rate=0.25
        ),
    )

    def trace_hash(hosts: int, threads: int) -> int:
        with cut_into(hosts):
            simulation = dfe.Simulation(
                dfe.SimulationConfig(
                    topology=topology, policy=policy, traffic="adv+1", load=0.4, threads=threads
                )
            )
        simulation.run(4_000)
        return simulation.trace_hash()

    assert len({trace_hash(hosts, threads) for hosts in (18, 100, 1_000) for threads in (1, 2)}) == 1


def test_masks_show_live_ports_alone() -> None:
    topology = dfe.Dragonfly.preset("72", failed=MIXED)
    env = dfe.BatchedRoutingEnv(
        dfe.SimulationConfig(topology=topology, load=0.4), action="port", scope="every", max_hops=12
    )
    batch = env.reset()
    shown: set[tuple[int, int]] = set()
    for _ in range(300):
        rows, actions = np.nonzero(batch.mask)
        shown |= set(zip(batch.agents[rows].tolist(), (topology.p + actions).tolist(), strict=True))
        batch = env.step(batch.mask.argmax(axis=1))
    alive = {(router, port) for router, port, *_ in topology.links().tolist()}
    assert shown <= alive
    assert len(shown) > 0.9 * len(alive)


def test_the_latency_of_a_relayed_packet_follows_by_hand() -> None:
    """Network ``q-adaptive`` (tests/analytic/test_zero_load_latency.py): 105.4 ns within a router, 83.2 more per local
    hop and 355.2 per global hop. Router 0 and router 35 lose their link; no relay has the two links at one router, so
    the way is global, local, global: 899.2 ns or, by a router of the own group first, one local hop more at each end.
    """
    topology = dfe.Dragonfly.preset("72", failed="links=0:5")
    hops = topology.minimal_hops(0, 35)
    trace = dfe.traffic.Trace.from_columns(time_ns=[1.0], src=[0], dst=[70], bytes=[64])
    simulation = dfe.Simulation(
        dfe.SimulationConfig(
            topology=topology, network=dfe.NetworkConfig.preset("q-adaptive"), traffic=trace, packet_log=True
        )
    )
    simulation.run_to_completion()
    log = simulation.packet_log()
    (route,) = routes_of(log)
    groups = topology.group_of_routers()[route]
    assert (route[0], route[-1], len(route) - 1) == (0, 35, hops)
    crossed = int(np.count_nonzero(np.diff(groups)))
    assert crossed == 2
    expected = 105.4 + 355.2 * crossed + 83.2 * (hops - crossed)
    assert float(log["delivered_ns"][0] - log["created_ns"][0]) == pytest.approx(expected, abs=1e-9)

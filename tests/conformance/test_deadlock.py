"""No set of packets can wait for each other in a circle: the channel-dependency graph of every policy is acyclic.

A channel is one VC of one link. ``_core.channel_dependencies`` walks every path that a policy may take and says which
channel a packet may hold while it waits for which (Dally and Seitz, IEEE Transactions on Computers 1987).
"""

from __future__ import annotations

import itertools

import networkx as nx
import pytest

import dragonfly_env as dfe
from dragonfly_env import _core
from tests.ready import ready
from tests.routes import routes_of
from tests.topologies import GRIDS, SHAPES, Shape, topology_of

ARRANGEMENTS = tuple(_core.arrangements())
SCHEMES = ("stage", "ladder", "hop")

EVERY_SHAPE: dict[str, Shape] = {
    "72 hosts": (2, 4, 2, 9, 1),
    "many routers": (1, 6, 1, 7, 1),
    "trunked and partial": (1, 4, 3, 4, 3),
    **SHAPES,
}

VALIANT = ("val-g", "val-n", "vlb-lg", "vlb-gl", "vlb-g")
POLICIES = (
    *dfe.policies(),
    "ad0 by any gateway",
    "ad0 by any gateway, at the source alone",
    *(f"{name} own_group={value}" for name in VALIANT for value in ("local", "global")),
)

Channel = tuple[int, int, int]


def policy_of(name: str) -> dfe.Policy:
    """A policy of the list: of the registry, or with parameters that open further paths."""
    if " " not in name:
        return ready(name)
    if "own_group=" in name:
        return dfe.make_policy(name.split()[0], own_group=name.partition("=")[2])
    decide = "source" if name.endswith("alone") else "progressive"
    return dfe.make_policy("ad0", gateways="any", decide=decide)


def dependencies(shape: str, arrangement: str, policy: str, scheme: str) -> tuple[nx.DiGraph[Channel], int]:
    """The channel-dependency graph, and the hops of the longest path. Not to be kept: all of them are gigabytes."""
    topology = topology_of(EVERY_SHAPE[shape], arrangement)
    made = policy_of(policy)
    rows, longest = _core.channel_dependencies(
        topology.to_core(), made.name, made.to_core()["parameters"], scheme
    )
    graph: nx.DiGraph[Channel] = nx.DiGraph()
    graph.add_edges_from(((row[0], row[1], row[2]), (row[3], row[4], row[5])) for row in rows.tolist())
    return graph, longest


@pytest.mark.product(policy=POLICIES, scheme=SCHEMES, shape=tuple(EVERY_SHAPE), arrangement=ARRANGEMENTS)
def test_channel_dependencies_are_acyclic(policy: str, scheme: str, shape: str, arrangement: str) -> None:
    graph, longest = dependencies(shape, arrangement, policy, scheme)
    assert nx.is_directed_acyclic_graph(graph), nx.find_cycle(graph)
    assert 0 <= longest <= most_hops(policy, grid=shape in GRIDS)


@pytest.mark.parametrize("policy", POLICIES)
def test_a_single_vc_has_cycles_so_the_proof_can_fail(policy: str) -> None:
    graph, _ = dependencies("72 hosts", "palmtree", policy, "unsafe-single")
    assert not nx.is_directed_acyclic_graph(graph)


@pytest.mark.product(
    policy=POLICIES,
    shape=("72 hosts", "trunked", "half of the groups", *GRIDS),
    scheme=SCHEMES,
    avoid=(True, False),
    traffic=("uniform", "adv+1"),
)
def test_packets_stay_on_the_channels_of_the_proof(
    policy: str, shape: str, scheme: str, avoid: bool, traffic: str
) -> None:
    """Every two consecutive links of every route that a saturated run took are a dependency that was walked."""
    topology = topology_of(EVERY_SHAPE[shape])
    graph, longest = dependencies(shape, "palmtree", policy, scheme)
    links = {channel: link(topology, channel) for channel in graph}
    walked = {(links[held], links[wanted]) for held, wanted in graph.edges}
    config = dfe.SimulationConfig(
        topology=topology,
        network=dfe.NetworkConfig(
            vc_scheme=scheme,
            nonminimal_avoid_destination_group=avoid,
            local_buffer_packets=2,
            global_buffer_packets=2,
            output_buffer_packets=1,
        ),
        policy=policy_of(policy),
        traffic=traffic,
        load=1.0,
        packet_log=True,
    )
    simulation = dfe.Simulation(config)
    simulation.run(1200)
    assert simulation.drain()
    log = simulation.packet_log()
    assert log["hops"].max() <= longest
    used = {turn for route in routes_of(log) for turn in itertools.pairwise(itertools.pairwise(route))}
    assert used
    assert used <= walked


def most_hops(policy: str, *, grid: bool) -> int:
    """PAR's first hop and a path by a router of another group: 7, of which 4 local ones grow to ways of two on a grid.
    With non-minimal paths inside groups another one in the last group, and the first may grow as well.
    """
    checked = policy_of(policy)
    if getattr(checked, "in_group", False) or "l" in checked.env_options().get("nonminimal_kinds", ()):
        return 14 if grid else 8
    return 11 if grid else 7


def link(topology: dfe.Dragonfly, channel: Channel) -> tuple[int, int]:
    """The routers at both ends of a channel."""
    far = topology.neighbor(channel[0], channel[1])
    assert far is not None
    return channel[0], far[0]

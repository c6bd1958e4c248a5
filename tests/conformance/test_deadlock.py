"""No set of packets can wait for each other in a circle: the channel-dependency graph of every policy is acyclic.

A channel is one VC of one link. ``_core.channel_dependencies`` walks every path that a policy may take and says which
channel a packet may hold while it waits for which (Dally and Seitz, IEEE Transactions on Computers 1987).
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

import dragonfly_env as dfe
from dragonfly_env import _core
from tests.ready import ready
from tests.routes import routes_of
from tests.topologies import DAMAGED, GRIDS, PLUS, SHAPES, UNEVEN, Shape, refuses, topology_of

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


def policy_of(name: str) -> dfe.Policy:
    """A policy of the list: of the registry, or with parameters that open further paths."""
    if " " not in name:
        return ready(name)
    if "own_group=" in name:
        return dfe.make_policy(name.split()[0], own_group=name.partition("=")[2])
    decide = "source" if name.endswith("alone") else "progressive"
    return dfe.make_policy("ad0", gateways="any", decide=decide)


def dependencies(shape: str, arrangement: str, policy: str, scheme: str) -> tuple[np.ndarray, int]:
    """Rows of held and requested channel (router, port, VC), and the hops of the longest path."""
    topology = topology_of(EVERY_SHAPE[shape], arrangement)
    made = policy_of(policy)
    return _core.channel_dependencies(topology.to_core(), made.name, made.to_core()["parameters"], scheme)


def is_acyclic(rows: np.ndarray) -> bool:
    """Whether no channel waits for itself, over any number of others: every strong component is one channel."""
    channels, numbers = np.unique(rows.reshape(-1, 3), axis=0, return_inverse=True)
    held, requested = numbers.reshape(-1, 2).T
    graph = coo_array((np.ones(len(rows)), (held, requested)), shape=(len(channels),) * 2)
    components, _ = connected_components(graph, connection="strong")
    return bool(components == len(channels) and (held != requested).all())


@pytest.mark.product(policy=POLICIES, scheme=SCHEMES, shape=tuple(EVERY_SHAPE), arrangement=ARRANGEMENTS)
def test_channel_dependencies_are_acyclic(policy: str, scheme: str, shape: str, arrangement: str) -> None:
    if refuses(shape, policy):
        with pytest.raises(dfe.ConfigError, match="no router with hosts has a global link of its own"):
            dependencies(shape, arrangement, policy, scheme)
        return
    rows, longest = dependencies(shape, arrangement, policy, scheme)
    assert is_acyclic(rows)
    assert 0 <= longest <= most_hops(policy, shape)


@pytest.mark.parametrize("policy", POLICIES)
def test_a_single_vc_has_cycles_so_the_proof_can_fail(policy: str) -> None:
    rows, _ = dependencies("72 hosts", "palmtree", policy, "unsafe-single")
    assert not is_acyclic(rows)


@pytest.mark.product(
    policy=POLICIES,
    shape=("72 hosts", "trunked", "half of the groups", *GRIDS, *PLUS, *DAMAGED, *UNEVEN),
    scheme=SCHEMES,
    avoid=(True, False),
    traffic=("uniform", "adv+1"),
)
def test_packets_stay_on_the_channels_of_the_proof(
    policy: str, shape: str, scheme: str, avoid: bool, traffic: str
) -> None:
    """Every two consecutive links of every route that a saturated run took are a dependency that was walked."""
    if refuses(shape, policy):
        with pytest.raises(dfe.ConfigError, match="no router with hosts has a global link of its own"):
            dependencies(shape, "palmtree", policy, scheme)
        return
    topology = topology_of(EVERY_SHAPE[shape])
    rows, longest = dependencies(shape, "palmtree", policy, scheme)
    ends = {(router, port): (router, peer) for router, port, peer, _ in topology.links().tolist()}
    turns = np.unique(rows[:, [0, 1, 3, 4]], axis=0)
    walked = {(ends[a, b], ends[c, d]) for a, b, c, d in turns.tolist()}
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
    simulation.run(600)
    assert simulation.drain()
    log = simulation.packet_log()
    assert log["hops"].max() <= longest
    used = {turn for route in routes_of(log) for turn in itertools.pairwise(itertools.pairwise(route))}
    assert used
    assert used <= walked


def most_hops(policy: str, shape: str) -> int:
    """PAR's first hop and a path by a router of another group: 7, of which 4 local ones grow to ways of two on a grid.
    With non-minimal paths inside groups another one in the last group, and the first may grow as well. With leaves and
    spines: to the spine that decides, down and up there, a global link, down and up, a global link, and down: 8. A path
    inside a group goes down and up once more. Dead local links make ways of two hops, in a ring of four routers ways of
    three.
    """
    checked = policy_of(policy)
    if shape in UNEVEN:
        return 8
    if shape in DAMAGED:
        return 8 + 6 * (list(DAMAGED).index(shape))
    if getattr(checked, "in_group", False) or "l" in checked.env_options().get("nonminimal_kinds", ()):
        return 14 if shape in GRIDS else 10 if shape in PLUS else 8
    return 11 if shape in GRIDS else 8 if shape in PLUS else 7

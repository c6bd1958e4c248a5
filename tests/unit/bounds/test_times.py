"""The times of a hop: those of the simulator, to the picosecond."""

from __future__ import annotations

import itertools

import pandas as pd
import pytest

import dragonfly_env as dfe
from dragonfly_env.bounds.times import least_times, zero_load_latency_ns

TOPOLOGIES = {
    "72": dfe.Dragonfly.preset("72"),
    "trunked": dfe.Dragonfly(p=2, a=4, h=2, g=5, trunking=2),
    "grid": dfe.Dragonfly(
        p=2, group=dfe.Grid(rows=2, columns=3, row_links=1, column_links=3), a=6, h=2, g=4, trunking=2
    ),
}
OWN_RATES = dfe.NetworkConfig(
    local_bandwidth_gbytes_per_s=5.0, global_bandwidth_gbytes_per_s=2.5, link_start="immediate"
)
NETWORKS = {
    **{name: dfe.NetworkConfig.preset(name) for name in dfe.networks()},
    "own rates": OWN_RATES,
    "own rates, timer": OWN_RATES.replace(link_start="timer"),
}


def routes(topology: dfe.Dragonfly) -> dict[tuple[str, ...], list[int]]:
    """A minimal path of every kind out of router 0: its classes of links, and its routers."""
    found: dict[tuple[str, ...], list[int]] = {(): [0]}
    for destination in range(1, topology.num_routers):
        here, kinds, passed = 0, [], [0]
        while here != destination:
            port = topology.minimal_port(here, destination)
            kinds.append(topology.port_kind(port))
            here = topology.neighbor(here, port)[0]  # type: ignore[index]  # the port leads somewhere
            passed.append(here)
        found.setdefault(tuple(kinds), passed)
    return found


@pytest.mark.parametrize("network", NETWORKS)
@pytest.mark.parametrize("shape", TOPOLOGIES)
def test_a_packet_alone_takes_what_the_settings_say_to_the_picosecond(network: str, shape: str) -> None:
    topology, settings = TOPOLOGIES[shape], NETWORKS[network]
    if shape == "grid":  # three links as one port are faster than the crossbar of "lia"
        settings = settings.replace(crossbar_bandwidth_gbytes_per_s=100.0)
    wanted = routes(topology)
    rows = [
        {"time_ns": 1001.0 + 10_000 * i, "src": 0, "dst": passed[-1] * topology.p + 1, "bytes": 1}
        for i, passed in enumerate(wanted.values())
    ]
    config = dfe.SimulationConfig(
        topology=topology, network=settings, traffic=pd.DataFrame(rows), policy="min", packet_log=True
    )
    simulation = dfe.Simulation(config)
    simulation.run(10_000 * (len(rows) + 1))
    log = simulation.packet_log()
    assert len(log["src"]) == len(rows)
    hops = set()
    for i, (created, delivered) in enumerate(zip(log["created_ns"], log["delivered_ns"], strict=True)):
        passed = log["routers"][log["route_offsets"][i] : log["route_offsets"][i + 1]].tolist()
        kinds = [_kind(topology, a, b) for a, b in itertools.pairwise(passed)]
        hops.add(tuple(kinds))
        assert delivered - created == pytest.approx(
            zero_load_latency_ns(settings, topology, kinds, created_ns=float(created)), abs=5e-4
        )
    assert {kind for kinds in hops for kind in kinds} == set(topology.link_classes[1:])


def _kind(topology: dfe.Dragonfly, router: int, other: int) -> str:
    links = topology.links()
    row = links[(links[:, 0] == router) & (links[:, 2] == other)][0]
    return topology.port_kind(int(row[1]))


def test_the_least_times_of_the_default_network_are_those_worked_out_by_hand() -> None:
    # Per hop: output 10, input 10, decision 100, and the wire: 30 or 300; then the next edge of the clock of 3.2 ns.
    constant, (_, local, far) = least_times(dfe.NetworkConfig(), TOPOLOGIES["72"])
    assert local == pytest.approx(47 * 3.2)
    assert far == pytest.approx(132 * 3.2)
    assert constant == pytest.approx((10 + 10) + 100 + (10 + 10))

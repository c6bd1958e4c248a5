"""Single messages on an empty 72-host system, with exact times: what the tests of this folder are made of."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

import dragonfly_env as dfe
from dragonfly_env.traffic import Trace

PS = 1000
Q_ADAPTIVE = dfe.NetworkConfig.preset("q-adaptive")
LIA = dfe.NetworkConfig.preset("lia")
SMALL = dfe.Dragonfly.preset("72", arrangement="absolute")

# Links between the routers of a minimal path: local (inside a group) and global.
PATTERNS = ("", "L", "G", "LG", "GL", "LGL")


@dataclasses.dataclass(frozen=True)
class Message:
    """A message from one host to another."""

    src: int
    dst: int
    time_ns: float = 1.0
    packets: int = 1


def links_between(topology: dfe.Dragonfly, src: int, dst: int) -> str:
    """The kinds of links of the minimal path between two hosts, e.g. "LGL"."""
    router, goal, kinds = src // topology.p, dst // topology.p, ""
    while router != goal:
        port = topology.minimal_port(router, goal)
        kinds += topology.port_kind(port)[0].upper()
        peer = topology.neighbor(router, port)
        assert peer is not None
        router = peer[0]
    return kinds


def hosts_apart(topology: dfe.Dragonfly, pattern: str) -> tuple[int, int]:
    """Two hosts whose minimal path has these links; for the empty pattern, two hosts of one router."""
    for src, dst in itertools.permutations(range(topology.num_hosts), 2):
        if links_between(topology, src, dst) == pattern:
            return src, dst
    raise LookupError(f"no minimal path {pattern!r} in {topology}")


def deliveries_ps(
    network: dfe.NetworkConfig,
    messages: Sequence[Message],
    *,
    topology: dfe.Dragonfly = SMALL,
    run_ns: float = 100_000,
) -> list[int]:
    """Return the times at which the packets of some messages reach their hosts.

    Args:
        network: The network; packets are routed minimally.
        messages: Sorted by time.
        topology: The system, otherwise silent.
        run_ns: Everything must have arrived by then.

    Returns:
        Times of delivery in ps, by source and the packet's number there.
    """
    trace = Trace.from_columns(
        time_ns=np.array([m.time_ns for m in messages]),
        src=[m.src for m in messages],
        dst=[m.dst for m in messages],
        bytes=[m.packets * network.packet_bytes for m in messages],
    )
    config = dfe.SimulationConfig(
        topology=topology, network=network, traffic=trace, policy="min", packet_log=True
    )
    simulation = dfe.Simulation(config)
    simulation.run(run_ns)
    log = simulation.packet_log()
    assert len(log["src"]) == sum(m.packets for m in messages)
    order = np.lexsort((log["number"], log["src"]))
    return [round(Fraction(float(time_ns)) * PS) for time_ns in log["delivered_ns"][order]]


def latency_ps(network: dfe.NetworkConfig, pattern: str, *, time_ns: float = 1.0) -> int:
    """The latency of a lone packet over a minimal path with these links."""
    src, dst = hosts_apart(SMALL, pattern)
    (delivered,) = deliveries_ps(network, [Message(src, dst, time_ns)])
    return delivered - round(Fraction(str(time_ns)) * PS)

"""Least time of a packet: the times of a hop, from the settings of links and routers.

A router lets packets through its crossbar at the edges of its clock. So the journey of a packet falls into parts from
edge to edge: from the host to the first edge, one part per hop, and from the last edge to the host.

* **A packet alone** (``zero_load_latency_ns``) takes every part in full, and waits for the next edge after each of
  them. The simulator agrees to the picosecond.
* **The least** (``least_times``), which bounds need. Where a port sends at once (``link_start="immediate"``) this is a
  packet alone: others can only delay it. Where an idle port first runs its timer for one packet time
  (``link_start="timer"``, as SST/Merlin does), a packet that finds the timer running, because another packet or a
  credit has started it, leaves when it ends. The wait is then anything between nothing and one packet time, and packets
  that arrive in step with the timers never wait. So the least hop has no timer; it still ends at an edge of the clock.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from dragonfly_env.checks.values import PS_PER_NS, config_error, ns_to_ps
from dragonfly_env.config.network import NetworkConfig
from dragonfly_env.config.topology import Dragonfly


@dataclasses.dataclass(frozen=True, slots=True)
class PacketTimes:
    """The parts of a journey, in ps, without waiting for a clock edge.

    Attributes:
        clock_ps: From edge to edge of the routers' clock.
        first_ps: From the creation of a packet until the first router has decided.
        hop_ps: By class of link (``Dragonfly.link_classes``; hosts: 0), from an edge until the next router has decided.
        last_ps: From the last edge until the host has the packet.
        first_timer_ps: Part of ``first_ps`` that is the timer of an idle port.
        hop_timer_ps: By class of link.
        last_timer_ps: Timer of the port to the host.
        packet_ps: By class of link, the time of a packet on a port; of the link to the host first.
        injection_packet_ps: Time of a packet on the link from the host.
        load_ps: Between packets that a host sends at a load of 1: the time of a packet at the rate that is set.
    """

    clock_ps: int
    first_ps: int
    hop_ps: tuple[int, ...]
    last_ps: int
    first_timer_ps: int
    hop_timer_ps: tuple[int, ...]
    last_timer_ps: int
    packet_ps: tuple[int, ...]
    injection_packet_ps: int
    load_ps: int


def packet_times(network: NetworkConfig, topology: Dragonfly) -> PacketTimes:
    """The parts of a journey in a network."""
    ps = network.to_core(topology)
    timed = network.link_start == "timer"
    sent_after = timed or network.switching == "store-and-forward"
    rows = ps["links"] or [
        {name: ps[f"{kind}_{name}"] for name in ("packet_ps", "latency_ps")} for kind in ("local", "global")
    ]
    packets = [ps["host_packet_ps"], *(row["packet_ps"] for row in rows)]
    injection = ps["injection_packet_ps"]
    out, into, decision = ps["output_latency_ps"], ps["input_latency_ps"], ps["routing_delay_ps"]
    hops = [
        ps["crossbar_latency_ps"] + sent_after * row["packet_ps"] + out + row["latency_ps"] + into + decision
        for row in rows
    ]
    return PacketTimes(
        clock_ps=ps["router_clock_ps"],
        first_ps=sent_after * injection + ps["injection_latency_ps"] + into + decision,
        hop_ps=(0, *hops),
        last_ps=ps["crossbar_latency_ps"] + packets[0] + out + ps["ejection_latency_ps"],
        first_timer_ps=timed * injection,
        hop_timer_ps=(0, *(timed * packet for packet in packets[1:])),
        last_timer_ps=timed * packets[0],
        packet_ps=tuple(packets),
        injection_packet_ps=injection,
        load_ps=ns_to_ps("packet_time_ns", network.packet_time_ns),
    )


def zero_load_latency_ns(
    network: NetworkConfig, topology: Dragonfly, links: Sequence[str], *, created_ns: float = 0.0
) -> float:
    """The latency of a packet that is alone in the network.

    Args:
        network: Links and routers.
        topology: Where it travels.
        links: The class of every link between routers that it crosses, in order: ``("local", "global")``.
        created_ns: When it is generated; the wait for the first clock edge depends on it.

    Returns:
        From its generation to its delivery, in ns.

    Raises:
        ConfigError: For a class of link that the topology does not have.

    Example:
        >>> network, topology = dfe.NetworkConfig(), dfe.Dragonfly.preset("72")
        >>> dfe.bounds.zero_load_latency_ns(network, topology, ["local"], created_ns=8)
        389.6
    """
    times = packet_times(network, topology)
    classes = topology.link_classes
    created_ps = ns_to_ps("created_ns", created_ns)
    edge = _next_edge(created_ps + times.first_ps, times.clock_ps)
    for name in links:
        if name not in classes[1:]:
            raise config_error("links", name, f"must be one of {', '.join(classes[1:])}")
        edge = _next_edge(edge + times.hop_ps[classes.index(name)], times.clock_ps)
    return (edge + times.last_ps - created_ps) / PS_PER_NS


def least_times(network: NetworkConfig, topology: Dragonfly) -> tuple[float, npt.NDArray[np.float64]]:
    """The least that any packet takes: without a hop, and more for every hop.

    Returns:
        Of a packet to a host of its own router, in ns; and (classes,) more for a hop over a link of each class, in ns
        (0 for hosts, which come first).
    """
    times = packet_times(network, topology)
    constant = times.first_ps - times.first_timer_ps + times.last_ps - times.last_timer_ps
    hops = [
        _next_edge(hop - timer, times.clock_ps)
        for hop, timer in zip(times.hop_ps, times.hop_timer_ps, strict=True)
    ]
    return constant / PS_PER_NS, np.array([0, *hops[1:]]) / PS_PER_NS


def _next_edge(time_ps: int, clock_ps: int) -> int:
    """The first clock edge after a time; what is ready at an edge misses it."""
    return (time_ps // clock_ps + 1) * clock_ps

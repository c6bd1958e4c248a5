"""Golden traces: the first packets of a small run in readable form, and a hash over all of it.

The run: 72 hosts, traffic adv+1 at load 0.3, seed 1, 20 us from an empty network; on ``q-adaptive`` as its authors
run it (arrangement absolute, periodic injection, source queue of 20), on ``lia`` with the palm tree and Bernoulli
injection.
"""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np

import dragonfly_env as dfe
from tests.ready import ready

DATA = Path(__file__).parent / "data"
COMMAND = "python -m tests.golden.regenerate"
NETWORKS = ("q-adaptive", "lia")
PACKETS = 20
RUN_NS = 20_000


def path_of(network: str, policy: str) -> Path:
    """File of the golden trace of a policy on a network."""
    return DATA / network / f"{policy}.txt"


def every_trace() -> list[tuple[str, str]]:
    """All (network, policy) pairs that must have one: every registered policy on every network."""
    return list(itertools.product(NETWORKS, dfe.policies()))


def config(network: str, policy: str) -> dfe.SimulationConfig:
    """The run that is recorded."""
    published = network == "q-adaptive"
    return dfe.SimulationConfig(
        topology=dfe.Dragonfly.preset("72", arrangement="absolute" if published else "palmtree"),
        network=dfe.NetworkConfig.preset(network),
        traffic="adv+1",
        load=0.3,
        policy=ready(policy),
        injection="periodic" if published else "bernoulli",
        source_queue_packets=20 if published else None,
        seed=1,
        packet_log=True,
    )


def render(network: str, policy: str) -> str:
    """Run, and write down the packets that are delivered first, by time of delivery, source and number."""
    simulation = dfe.Simulation(config(network, policy))
    simulation.run(RUN_NS)
    log = simulation.packet_log()
    first = np.lexsort((log["number"], log["src"], log["delivered_ns"]))[:PACKETS]
    lines = [
        f"{policy} on {network}: 72 hosts, adv+1, load 0.3, seed 1; the first {PACKETS} packets delivered, times in ns",
        "src -> dst   number  created  injected  delivered  hops  routers",
        *(_line(log, int(packet)) for packet in first),
        f"trace hash after {RUN_NS / 1000:g} us, {len(log['src'])} packets: {simulation.trace_hash():#018x}",
    ]
    return "\n".join(lines) + "\n"


def _line(log: dict[str, Any], packet: int) -> str:
    begin, end = log["route_offsets"][packet : packet + 2]
    times = [
        f"{log[name][packet]:{width}.1f}"
        for name, width in (("created_ns", 7), ("injected_ns", 8), ("delivered_ns", 9))
    ]
    return "  ".join(
        [
            f"{log['src'][packet]:3d} -> {log['dst'][packet]:<3d}  k={log['number'][packet]:<4d}",
            *times,
            f"{log['hops'][packet]:4d}",
            " ".join(str(router) for router in log["routers"][begin:end]),
        ]
    )

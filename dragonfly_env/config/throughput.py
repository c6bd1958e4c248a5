"""Upper bounds on throughput from the wiring of a Dragonfly alone, for any routers.

Loads are fractions of the bandwidth of the hosts' links, and all links are as fast as those. A bound is the load at
which some class of links is full (Dally and Towles, Principles and Practices of Interconnection Networks, 2004, section
3.3.1: the throughput is the bandwidth of a channel over its load). With L links that join two groups, a routers a
group, p hosts a router and g groups:

========================= =============== =========================================================================
uniform, minimal          L g / (a p)     a group sends a p / g of the load to each group, over L links
uniform, minimal          (a-1) / (p m)   local links, if groups are all-to-all and L = 1: a packet takes
                                          m = 2 (1 - 1/a) (1 - 1/g) + (1/g) (1 - 1/a) local hops on average
adversarial, minimal      L / (a p)       all of a group sends to one other group, over L links
adversarial, non-minimal  L g / (2 a p)   L links lead straight to the other group; over the L (g - 2) others packets
                                          cross two links each, by one intermediate group
========================= =============== =========================================================================

No bound is above 1, where the hosts' links are full. The adversarial ones are those of Kim et al., "Technology-driven,
highly-scalable Dragonfly topology", ISCA 2008, section 4: 1 / (a p) and about 1 / 2 for a balanced system.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from dragonfly_env.config.groups import ALL_TO_ALL
from dragonfly_env.config.topology import Dragonfly


@dataclasses.dataclass(frozen=True, slots=True)
class Throughput:
    """Upper bounds from a wiring; see the module.

    Attributes:
        uniform_minimal: Uniform traffic on minimal paths.
        adversarial_minimal: All of a group sends to one other group, on minimal paths.
        adversarial_nonminimal: Adversarial traffic on the best paths with at most one intermediate group.
    """

    uniform_minimal: float
    adversarial_minimal: float
    adversarial_nonminimal: float


def links_per_pair(topology: Dragonfly) -> tuple[int, int]:
    """The fewest and the most links that join two groups; (0, 0) for a single group."""
    links = topology.links()
    groups = topology.group_of_routers()[links[:, [0, 2]]]
    between = groups[:, 0] < groups[:, 1]
    if not between.any():
        return 0, 0
    pairs = groups[between, 0] * topology.num_groups + groups[between, 1]
    found, ports = np.unique(pairs, return_counts=True)
    bundled = topology.port_links(topology.radix - 1)
    every = topology.num_groups * (topology.num_groups - 1) // 2
    return int(ports.min()) * bundled if len(found) == every else 0, int(ports.max()) * bundled


def dark_ports(topology: Dragonfly) -> int:
    """Global ports that nothing is connected to, of a * h * g."""
    groups = topology.group_of_routers()[topology.links()[:, [0, 2]]]
    connected = np.count_nonzero(groups[:, 0] != groups[:, 1])
    return topology.global_ports_per_group * topology.num_groups - int(connected)


def is_balanced(topology: Dragonfly) -> bool:
    """Whether a = 2p = 2h, groups are all-to-all and every global port is connected.

    Source: Kim et al., ISCA 2008, section 3.1: then uniform traffic loads all links alike.
    """
    balanced = topology.a == 2 * topology.p == 2 * topology.h and topology.group == ALL_TO_ALL
    return balanced and dark_ports(topology) == 0


def throughput(topology: Dragonfly) -> Throughput:
    """The bounds of a system of at least two groups."""
    links, _ = links_per_pair(topology)
    a, p, g = topology.a, topology.p, topology.num_groups
    hosts = topology.hosts_per_group
    uniform = min(1.0, links * g / hosts)
    if topology.group == ALL_TO_ALL and links == 1 and a > 1:
        hops = (1 - 1 / a) * (2 * (1 - 1 / g) + 1 / g)
        uniform = min(uniform, (a - 1) / (p * hops))
    return Throughput(uniform, min(1.0, links / hosts), min(1.0, links * g / (2 * hosts)))

"""The memory that tables of Q-values take, as the core holds them.

Source: Kang, Wang, Lan, HPDC 2021, sections 2.3.1 and 4 (tables 2 and 3).
"""

from __future__ import annotations

import functools
from typing import NamedTuple

import dragonfly_env as dfe

SYSTEMS = (1056, 2550)
WHOLE, TWO_LEVEL = "q-routing", "q-adaptive"


class TableSize(NamedTuple):
    """The table of one router.

    Attributes:
        rows: Destinations that it tells apart.
        ports: Local and global ports.
        bytes: What it takes.
    """

    rows: int
    ports: int
    bytes: int


@functools.cache
def table_size(hosts: int, policy: str) -> TableSize:
    """What a learner keeps per router, measured on a network that has just been built."""
    config = dfe.SimulationConfig(
        topology=dfe.Dragonfly.preset(str(hosts), arrangement="absolute"),
        network=dfe.NetworkConfig.preset("q-adaptive"),
        policy=policy,
    )
    tables = dfe.Simulation(config).q_table()
    routers, rows, ports = tables.shape
    return TableSize(rows, ports, tables.nbytes // routers)


def table_memory_ratio() -> tuple[float, str]:
    """The larger of the ratios on the paper's two systems, and the sizes."""
    ratios, sizes = [], []
    for hosts in SYSTEMS:
        whole, two_level = (table_size(hosts, policy) for policy in (WHOLE, TWO_LEVEL))
        ratios.append(two_level.bytes / whole.bytes)
        sizes.append(f"{hosts:,} hosts: {two_level.bytes:,} of {whole.bytes:,} bytes per router")
    return max(ratios), "; ".join(sizes)

"""The memory that tables of Q-values take.

Source: Kang, Wang, Lan, HPDC 2021, sections 2.3.1 and 4 (tables 2 and 3).
"""

from __future__ import annotations

from dataclasses import dataclass

from dragonfly_env.experiments.reproduce.claims import Claim
from dragonfly_env.experiments.reproduce.findings import Findings
from dragonfly_env.topology import Dragonfly

BYTES_PER_VALUE = 4
SYSTEMS = (1056, 2550)


@dataclass(frozen=True, slots=True)
class TableSize:
    """The table of one router.

    Attributes:
        rows: Destinations that it tells apart.
        ports: Local and global ports.
    """

    rows: int
    ports: int

    @property
    def bytes(self) -> int:
        """With values of single precision."""
        return self.rows * self.ports * BYTES_PER_VALUE


def two_level_table(topology: Dragonfly) -> TableSize:
    """Of Q-adaptive: a row for each other group and slot of the sender on its own router."""
    return TableSize((topology.num_groups - 1) * topology.p, topology.radix - topology.p)


def router_table(topology: Dragonfly) -> TableSize:
    """Of Q-routing: a row for each router."""
    return TableSize(topology.num_routers, topology.radix - topology.p)


def table_memory_ratio(findings: Findings, claim: Claim) -> tuple[float, str]:
    """The larger of the ratios on the paper's two systems, and the sizes."""
    ratios, sizes = [], []
    for hosts in SYSTEMS:
        topology = findings.setup.topology(hosts)
        two_level, whole = two_level_table(topology), router_table(topology)
        ratios.append(two_level.bytes / whole.bytes)
        sizes.append(f"{hosts} hosts: {two_level.bytes:,} of {whole.bytes:,} bytes per router")
    return max(ratios), "; ".join(sizes)

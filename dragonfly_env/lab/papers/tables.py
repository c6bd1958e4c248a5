"""The memory that tables of Q-values take, as the core holds them.

Source: Kang, Wang, Lan, HPDC 2021, sections 2.3.1 and 4 (tables 2 and 3).
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import dragonfly_env as dfe
from dragonfly_env.lab.papers.cells import Setup
from dragonfly_env.lab.papers.claims import Claim
from dragonfly_env.lab.papers.findings import Findings, NotFoundYetError

SYSTEMS = (1056, 2550)
WHOLE, TWO_LEVEL = "q-routing", "q-adaptive"


@dataclass(frozen=True, slots=True)
class TableSize:
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
def table_size(setup: Setup, hosts: int, policy: str) -> TableSize:
    """What a learner keeps per router, measured on a network that has just been built.

    Raises:
        NotFoundYetError: If this version does not have the policy.
    """
    if policy not in dfe.policies():
        raise NotFoundYetError(f"policy {policy} is not available in this version")
    network = dfe.NetworkConfig.preset(setup.network)
    config = dfe.SimulationConfig(topology=setup.topology(hosts), network=network, policy=policy)
    tables = dfe.Simulation(config).q_table()
    routers, rows, ports = tables.shape
    return TableSize(rows, ports, tables.nbytes // routers)


def table_memory_ratio(findings: Findings, claim: Claim) -> tuple[float, str]:
    """The larger of the ratios on the paper's two systems, and the sizes.

    Raises:
        NotFoundYetError: If this version lacks one of the learners.
    """
    ratios, sizes = [], []
    for hosts in SYSTEMS:
        whole, two_level = (table_size(findings.setup, hosts, policy) for policy in (WHOLE, TWO_LEVEL))
        ratios.append(two_level.bytes / whole.bytes)
        sizes.append(f"{hosts:,} hosts: {two_level.bytes:,} of {whole.bytes:,} bytes per router")
    return max(ratios), "; ".join(sizes)

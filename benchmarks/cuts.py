"""``python -m benchmarks.cuts``: the speed of a network that is cut into partitions of another size.

Each size takes turns with the reference, 1,056 hosts in one partition. All cuts give the same run.
"""

from __future__ import annotations

import argparse
import statistics
from typing import Any
from unittest import mock

import dragonfly_env as dfe
from benchmarks.workload import Workload, configuration

_WARMUP_NS = 20_000
_LARGE_NS = 1_500
_SLICES_NS = {"1056": 30_000, "83232": 400}
_CUTS = (("1056", (528, 256, 128, 64)), ("83232", (288, 576, 1_152, 2_304)))


def workload(topology: str, hosts: int | None) -> Workload:
    """A network whose partitions have about so many hosts; None: as the core chooses."""
    usual = dfe.SimulationConfig.to_core

    def cut(self: dfe.SimulationConfig) -> dict[str, Any]:
        return {**usual(self), "hosts_per_partition": hosts}  # no setting, as results do not depend on it

    warmup_ns = _WARMUP_NS if topology == "1056" else _LARGE_NS
    with mock.patch.object(dfe.SimulationConfig, "to_core", usual if hosts is None else cut):
        return Workload(configuration(topology), warmup_ns=warmup_ns, sample_ns=_SLICES_NS[topology])


def main() -> None:
    """Measure, and print a line per cut."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cuts", description=__doc__)
    parser.add_argument("--rounds", type=int, default=7, help="slices of each cut")
    rounds = parser.parse_args().rounds
    reference = workload("1056", None)
    reference.slice()
    for topology, cuts in _CUTS:
        for hosts in cuts:
            cut = workload(topology, hosts)
            cut.slice()
            ratios = []
            for _ in range(rounds):
                whole = reference.slice()
                ratios.append(cut.slice().rate / whole.rate)
            low, middle, high = min(ratios), statistics.median(ratios), max(ratios)
            print(f"{topology} hosts, {hosts} per partition: {middle:.2f} ({low:.2f} to {high:.2f})")


if __name__ == "__main__":
    main()

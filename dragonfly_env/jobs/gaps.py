"""The computing times of the motifs: calibrated once, kept with the package.

A row of ``data/gaps.json`` says which gap gave which MPI share in an isolated run: one job, hosts by number, routed by
one policy. ``dragonfly-env calibrate`` finds it and writes the file.
"""

from __future__ import annotations

import functools
import json
from importlib import resources
from typing import Any, Final

PAPER_SHARES: Final = {
    "milc": 0.52,
    "milc-reorder": 0.50,
    "nek5000": 0.48,
    "hacc": 0.22,
    "qbox": 0.66,
    "rayleigh": 0.28,
}
"""Share of the time of a run in MPI calls, on 256 nodes of Theta: Chunduri et al., IPDPS 2021, table I."""


@functools.cache
def calibrated_gaps() -> tuple[dict[str, Any], ...]:
    """All rows: program, hosts, scale, topology, network, policy; bytes_per_host, gap_ns, mpi_share."""
    text = resources.files("dragonfly_env.jobs").joinpath("data", "gaps.json").read_text(encoding="utf-8")
    return tuple(json.loads(text)["gaps"])


def calibrated_gap_ns(program: str, hosts: int, bytes_per_host: float) -> float:
    """The gap of the row with the nearest number of hosts, in proportion to what a host sends in an iteration: the time
    that this takes grows with it. 0 without any row.
    """

    def far(a: float, b: float) -> float:
        return max(a / b, b / a)

    rows = [row for row in calibrated_gaps() if row["program"] == program]
    if not rows:
        return 0.0
    row = min(rows, key=lambda one: (far(one["hosts"], hosts), far(one["bytes_per_host"], bytes_per_host)))
    return float(round(row["gap_ns"] * bytes_per_host / row["bytes_per_host"]))

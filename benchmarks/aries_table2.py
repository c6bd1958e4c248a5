"""Table II of Chunduri et al. under other readings of what is not public: ``python -m benchmarks.aries_table2 --help``.

Every application in the production mix under AD0 and AD3, as ``dragonfly-env reproduce aries table2`` has it, but with
other levels and ties, and with a mode of its own for all-to-all operations. A table in Markdown.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from dragonfly_env.experiments.measure import measure
from dragonfly_env.policies import make_policy
from dragonfly_env.reproduce.aries import QUICK, SETUP
from dragonfly_env.reproduce.aries_cells import APPLICATIONS, BOTH, in_the_mix
from dragonfly_env.reproduce.job_cells import JobCell
from dragonfly_env.reproduce.job_metrics import JOB_METRICS_OF_ROW
from dragonfly_env.reproduce.paired import reduction


def cells_of(name: str, all_to_all: str, settings: dict[str, Any]) -> tuple[JobCell, ...]:
    """An application by AD0 and by AD3, both with the same mode for all-to-all operations if one is named."""
    modes = [replace(mode, settings=tuple(sorted(settings.items()))) for mode in BOTH]
    exchanges = make_policy(all_to_all, **settings) if all_to_all else None
    return tuple(
        replace(cell, jobs=tuple(job.replace(all_to_all_policy=exchanges) for job in cell.jobs))
        for cell in in_the_mix(QUICK, name, modes=modes, packet_log=False)
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("applications", nargs="*", default=APPLICATIONS, help="all, unless named")
    parser.add_argument("--seeds", type=int, default=4, help="placements, phases and mixes")
    parser.add_argument("--levels", type=float, default=32.0, help="of a full tile, near and far")
    parser.add_argument("--ties", choices=("minimal", "nonminimal", "random"), default="random")
    parser.add_argument("--all-to-all", default="ad1", help="of the watched job; empty: as the rest of it")
    given = parser.parse_args(arguments)
    settings = {"levels_near": given.levels, "levels_far": given.levels, "ties": given.ties}
    print("| application | run time: 1 - AD3 / AD0 | time in MPI |")
    print("|---|---|---|")
    for name in given.applications:
        rows = [
            [measure(cell.made(SETUP, seed))[0] for seed in range(1, given.seeds + 1)]
            for cell in cells_of(name, given.all_to_all, settings)
        ]
        zero, three = (
            [
                np.array([JOB_METRICS_OF_ROW[metric](row) for row in some])
                for metric in ("run_time", "mpi_time")
            ]
            for some in rows
        )
        gains = " | ".join(str(reduction(own, other)) for own, other in zip(three, zero, strict=True))
        print(f"| {name} | {gains} |", flush=True)


if __name__ == "__main__":
    main()

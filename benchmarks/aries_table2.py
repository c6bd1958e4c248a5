"""Table II of Chunduri et al. with other model variants, for what is not public: ``python -m benchmarks.aries_table2
--help``.

Every application in the production mix under AD0 and AD3, as ``dragonfly-env reproduce aries table2`` has it, but with
other parameters of all modes, and with modes of its own for all-to-all operations. A table in Markdown.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from dragonfly_env.checks.values import parse_assignment
from dragonfly_env.jobs.program import PAPER_SHARES
from dragonfly_env.lab.papers import find_paper
from dragonfly_env.lab.papers.aries_points import (
    ANYWHERE,
    BOTH,
    RANDOM_TIES_OF_MODES,
    in_the_mix,
)
from dragonfly_env.lab.papers.job_metrics import JOB_METRICS_OF_ROW
from dragonfly_env.lab.papers.paired import reduction
from dragonfly_env.sweeps.measure import measure
from dragonfly_env.sweeps.run import Point

QUICK = find_paper("aries").effort("quick")


def points_of(
    name: str, placements: Sequence[str], exchanges: Sequence[str], settings: dict[str, Any]
) -> tuple[Point, ...]:
    """An application by AD0 and by AD3, with these modes for its all-to-all operations (``own``: as the rest of it)."""
    points: list[Point] = []
    for mode, exchange in zip(BOTH, (exchanges[0], exchanges[-1]), strict=True):
        points += in_the_mix(
            QUICK,
            name,
            modes=[replace(mode, settings=tuple(settings.items()))],
            all_to_all="" if exchange == "own" else exchange,
            placements=tuple(placements),
            packet_log=False,
        )
    return tuple(points)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("applications", nargs="*", default=tuple(PAPER_SHARES), help="all, unless named")
    parser.add_argument("--seeds", type=int, default=4, help="placements, phases and mixes")
    parser.add_argument("--placements", nargs="+", default=ANYWHERE, help="in turn, one for each seed")
    parser.add_argument(
        "--modes",
        nargs="*",
        metavar="SETTING=VALUE",
        help="parameters of all modes; without: those of the variant random-ties; none after it: as in the presets",
    )
    parser.add_argument(
        "--all-to-all",
        nargs="+",
        default=["ad1"],
        metavar="MODE",
        help="of the watched job, in both runs, or in that by AD0 and in that by AD3; own: as the rest of it",
    )
    given = parser.parse_args(arguments)
    pairs = None if given.modes is None else [parse_assignment(text, "--modes") for text in given.modes]
    settings = dict(RANDOM_TIES_OF_MODES if pairs is None else pairs)
    print("| application | run time: 1 - AD3 / AD0 | time in MPI |")
    print("|---|---|---|")
    for name in given.applications:
        rows = [
            [measure(point.run(seed))[0] for seed in range(1, given.seeds + 1)]
            for point in points_of(name, given.placements, given.all_to_all, settings)
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

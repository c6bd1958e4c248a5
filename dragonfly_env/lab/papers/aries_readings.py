"""What the third paper and public sources leave open about Aries, read in another way than the presets do.

Who wins where both sides are alike, how wide a level is, and whether jobs under AD3 change the mode of their all-to-all
operations, too. ``aries_open`` tries the same and more one by one.
"""

from __future__ import annotations

from dataclasses import replace

from dragonfly_env.lab.papers.cells import Cell, Settings
from dragonfly_env.lab.papers.job_cells import JobCell
from dragonfly_env.lab.papers.paper import Reading

RANDOM_TIES: Settings = (("levels_far", 32.0), ("levels_near", 32.0), ("ties", "random"))
"""Of all modes. AD0 makes "both minimal and non-minimal paths equally available" (section II-D)."""

_EXCHANGES = "ad1"  # Cray's default for MPI_Alltoall[v]


def _with_random_ties(cell: Cell) -> Cell:
    routing = cell.routing.with_settings({**dict(RANDOM_TIES), **dict(cell.routing.settings)})
    if not isinstance(cell, JobCell):
        return replace(cell, routing=routing)
    others = _EXCHANGES if cell.others_all_to_all else ""
    return replace(cell, routing=routing, all_to_all=_EXCHANGES, others_all_to_all=others)


READINGS = (
    Reading(
        name="random-ties",
        summary="where both sides are alike a packet goes either way at random (usually: the minimal path); 32 levels "
        "make a full tile (usually: 64); all-to-all operations have AD1 in every run, Cray's default (usually: those "
        "of the watched application change their mode with the rest of it).",
        adjust=_with_random_ties,
    ),
)
"""Beside the usual one."""

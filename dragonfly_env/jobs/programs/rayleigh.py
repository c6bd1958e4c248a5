"""Convection in spherical shells: four transposes a step."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import ClassVar

from dragonfly_env.jobs.collectives import alltoallv
from dragonfly_env.jobs.grids import rectangle
from dragonfly_env.jobs.operations import Operation, compute
from dragonfly_env.jobs.program import Motif

TRANSPOSE_BYTES = 6_000_000
"""Bytes that a host sends in one transpose. Deviation: the 23 MB of each of its 64 processes (Chunduri et al., table I)
would be 1.5 GB; the gap, which is calibrated to the MPI share, makes up for it."""


@dataclasses.dataclass(frozen=True, slots=True, repr=False)
class Rayleigh(Motif):
    """Step on a grid of ranks as square as can be: half of the gap, all-to-all in the column, in the row, the other
    half, in the row, in the column; 6 MB a host each.

    Source: Rayleigh's transposes (rows and columns within a factor of two).

    Example:
        >>> dfe.Job(dfe.jobs.Rayleigh(scale=0.25), hosts=16).title
        'rayleigh:scale=0.25 on 16 hosts'
    """

    name: ClassVar[str] = "rayleigh"
    summary: ClassVar[str] = "convection: four all-to-all transposes in rows and columns"
    source: ClassVar[str] = "Rayleigh (geodynamics); Chunduri et al., IPDPS 2021, table I"
    least_hosts: ClassVar[int] = 2

    def operations(self, rank: int, ranks: int) -> Iterator[Operation]:
        _, columns = rectangle(ranks)
        row, column = divmod(rank, columns)
        in_row = range(row * columns, (row + 1) * columns)
        in_column = range(column, ranks, columns)
        for half in ((in_column, in_row), (in_row, in_column)):
            yield compute(self.gap(ranks) / 2)
            for members in half:
                if len(members) > 1:
                    yield from alltoallv(rank, members, self.scaled(TRANSPOSE_BYTES / len(members)))

"""Spectral elements for flows: halos of faces, edges and corners, and small all-reduces."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from typing import ClassVar

from dragonfly_env.jobs.collectives import allreduce
from dragonfly_env.jobs.grids import even_lengths, neighbors_around
from dragonfly_env.jobs.operations import Operation, compute, receive, send, wait
from dragonfly_env.jobs.program import Motif

ELEMENTS = (16, 16, 8)
"""Elements of a host along x, y and z (assumption)."""

ORDER = 7
_VALUE_BYTES = 8


@dataclasses.dataclass(frozen=True, slots=True, repr=False)
class Nek5000(Motif):
    """Iteration of the solver: all-reduce of 16 bytes, half of the gap, exchange with the 26 ranks around on a 3-D
    grid that ends at its faces, all-reduce, the other half, all-reduce.

    16 x 16 x 8 elements of order 7 a host: faces of 102 and 52 KB, edges below 1 KB, corners of one value.

    Source: SWM's nekbone, Nek5000's gslib (pairwise exchange); the 16 bytes are Chunduri et al.'s.

    Example:
        >>> dfe.Job(dfe.jobs.Nek5000(scale=0.25), hosts=16).title
        'nek5000:scale=0.25 on 16 hosts'
    """

    name: ClassVar[str] = "nek5000"
    summary: ClassVar[str] = "spectral elements: halos to 26 neighbours, small all-reduces"
    source: ClassVar[str] = "SWM nekbone; gslib; Chunduri et al., IPDPS 2021, table I"
    least_hosts: ClassVar[int] = 2

    @staticmethod
    def lengths(ranks: int) -> tuple[int, ...]:
        """The grid of ranks: 8x8x4 of 256.

        Args:
            ranks: Number of ranks of the job.
        """
        return even_lengths(ranks, (1.0, 1.0, 1.0))

    def halo_bytes(self, move: tuple[int, ...]) -> int:
        """Bytes to the neighbour in a direction: the points of a face, an edge or a corner.

        Args:
            move: The direction: a step of -1, 0 or 1 along each axis.
        """
        points = math.prod(count * ORDER + 1 for count, step in zip(ELEMENTS, move, strict=True) if step == 0)
        return self.scaled(points * _VALUE_BYTES) if points > 1 else _VALUE_BYTES

    def operations(self, rank: int, ranks: int) -> Iterator[Operation]:
        around = list(neighbors_around(rank, self.lengths(ranks)))
        gap, everyone = self.gap(ranks) / 2, range(ranks)
        yield from allreduce(rank, everyone, 16)
        yield compute(gap)
        for _, neighbor in around:
            yield receive(neighbor, label="halo")
        for move, neighbor in around:
            yield send(neighbor, self.halo_bytes(move), "halo")
        yield from wait("halo", name="waitall")
        yield from allreduce(rank, everyone, 16)
        yield compute(gap)
        yield from allreduce(rank, everyone, 16)

"""First-principles molecular dynamics: transposes in columns, dense linear algebra in rows and columns."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import ClassVar

from dragonfly_env.config.rows import integer
from dragonfly_env.jobs.collectives import allreduce, alltoallv, broadcast, reduce
from dragonfly_env.jobs.grids import rectangle
from dragonfly_env.jobs.operations import Operation, compute
from dragonfly_env.jobs.program import Motif

COLUMN_BYTES = 8_388_608
"""Bytes that a host sends in one all-to-all: 128 KB of each of 64 processes."""

PANEL_BYTES = 3_276_800
"""A panel's row broadcast: 50 KB of each of 64 processes, which follow each other."""

_SEGMENT_BYTES = 51_200


@dataclasses.dataclass(frozen=True, slots=True, repr=False)
class Qbox(Motif):
    """Iteration on a grid of ranks as square as can be: per band two all-to-all exchanges of 8 MB a host inside the
    column; then per panel a broadcast of 3.2 MB along the row, in segments of 50 KB down a binomial tree, the same
    reduced along the column, and an all-reduce of 8 bytes. The gap is spread over bands and panels.

    Source: Qbox's Fourier transform and ScaLAPACK calls; sizes from Chunduri et al., table I. Assumptions: four bands
    and two panels an iteration.

    Example:
        >>> dfe.Job(dfe.jobs.Qbox(scale=0.25), hosts=16).title
        'qbox:scale=0.25 on 16 hosts'
    """

    name: ClassVar[str] = "qbox"
    summary: ClassVar[str] = "molecular dynamics: all-to-all in columns, broadcasts in rows"
    source: ClassVar[str] = "qbox-public; Chunduri et al., IPDPS 2021, table I"
    least_hosts: ClassVar[int] = 2

    bands: int = integer(4, 1, 1024, doc="Electronic states that are transformed in one iteration.")
    panels: int = integer(2, 0, 1024, doc="Panels of the orthogonalisation in one iteration.")

    def operations(self, rank: int, ranks: int) -> Iterator[Operation]:
        rows, columns = rectangle(ranks)
        row, column = divmod(rank, columns)
        in_row = range(row * columns, (row + 1) * columns)
        in_column = range(column, ranks, columns)
        gap = self.gap(ranks) / (self.bands + self.panels)
        for _ in range(self.bands):
            for _transpose in range(2):
                if rows > 1:
                    yield from alltoallv(rank, in_column, self.scaled(COLUMN_BYTES / rows))
            yield compute(gap)
        size, segment = self.scaled(PANEL_BYTES), self.scaled(_SEGMENT_BYTES)
        for panel in range(self.panels):
            if columns > 1:
                root = panel % columns
                yield from broadcast(rank, in_row, size, root=root, segment_bytes=segment)
            if rows > 1:
                yield from reduce(rank, in_column, size, root=panel % rows, segment_bytes=segment)
            yield from allreduce(rank, range(ranks), 8)
            yield compute(gap)

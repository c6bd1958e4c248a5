"""Cosmology: a Fourier transform whose boxes become pencils, and short-range forces."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Iterator
from typing import ClassVar

from dragonfly_env.config.rows import boolean
from dragonfly_env.jobs.collectives import allreduce
from dragonfly_env.jobs.grids import even_lengths, line_through, neighbors_around
from dragonfly_env.jobs.operations import Operation, compute, receive, send, wait
from dragonfly_env.jobs.program import Motif

MESSAGE_BYTES = 1_200_000
"""Chunduri et al., IPDPS 2021, section IV-C."""

_HALO_BYTES = 8_192  # "KB" (assumption)
_AXES = (0, 1, 2, 1, 0)  # axes of the five redistributions from boxes to pencils and back


@dataclasses.dataclass(frozen=True, slots=True, repr=False)
class Hacc(Motif):
    """Step of the solver: a forward transform of five redistributions, each an exchange of 1.2 MB with every rank of
    the line along an axis of a 3-D grid, all non-blocking; three gradients of five each; an exchange with the
    neighbours around; an all-reduce of 1 KB before and after the tree force. A fifth of the gap is spread over the
    redistributions.

    Ranks are in a random but fixed order. ``short=true``: the forward transform alone, with the whole gap.

    Source: SWM's hacc (boxes to pencils, one axis at a time); sizes and random pairs from Chunduri et al., IPDPS 2021,
    section IV-C. Assumptions: the axes x, y, z, y, x; halos of 8 KB; four fifths of the gap are the tree force.

    Example:
        >>> dfe.Job(dfe.jobs.Hacc(scale=0.25), hosts=16).title
        'hacc:scale=0.25 on 16 hosts'
    """

    name: ClassVar[str] = "hacc"
    summary: ClassVar[str] = "cosmology: redistributions of 1.2 MB messages along lines of a 3-D grid"
    source: ClassVar[str] = "SWM hacc; Chunduri et al., IPDPS 2021, section IV-C"
    least_hosts: ClassVar[int] = 2

    short: bool = boolean(
        False, doc="Whether an iteration has only the five redistributions of the forward transform."
    )

    @staticmethod
    def lengths(ranks: int) -> tuple[int, ...]:
        """The grid of ranks: 8x8x4 of 256.

        Args:
            ranks: Number of ranks of the job.
        """
        return even_lengths(ranks, (1.0, 1.0, 1.0))

    def rank_order(self, ranks: int, seed: int) -> list[int]:
        order = list(range(ranks))
        random.Random(f"hacc {seed}").shuffle(order)
        return order

    def operations(self, rank: int, ranks: int) -> Iterator[Operation]:
        lengths, gap = self.lengths(ranks), self.gap(ranks)
        transforms = 1 if self.short else 4
        share = (1.0 if self.short else 0.2) / (transforms * len(_AXES))
        for _ in range(transforms):
            for axis in _AXES:
                yield from self._redistribute(rank, line_through(rank, axis, lengths))
                yield compute(gap * share)
        if self.short:
            return
        around = sorted(neighbors_around(rank, lengths))
        for move, neighbor in around:  # opposite directions in turn: a pair of ranks meets in the same step
            mirrored = tuple(-step for step in move)
            yield receive(neighbor, label=f"halo {mirrored}")
            yield send(neighbor, _HALO_BYTES, f"halo {move}")
        yield from wait()
        yield from allreduce(rank, range(ranks), 1024)
        yield compute(gap * 0.8)
        yield from allreduce(rank, range(ranks), 1024)

    def _redistribute(self, rank: int, line: list[int]) -> Iterator[Operation]:
        me = line.index(rank)
        others = [line[(me + step) % len(line)] for step in range(1, len(line))]
        for other in reversed(others):
            yield receive(other, label="pencil")
        for other in others:
            yield send(other, self.scaled(MESSAGE_BYTES), "pencil")
        yield from wait("pencil")

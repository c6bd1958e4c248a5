"""Lattice quantum chromodynamics: a conjugate-gradient solver on a four-dimensional torus."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Iterator
from typing import ClassVar

from dragonfly_env.config.rows import integer
from dragonfly_env.jobs.collectives import allreduce
from dragonfly_env.jobs.grids import even_lengths, place_of, rank_at
from dragonfly_env.jobs.operations import Operation, compute, receive, send, wait
from dragonfly_env.jobs.program import Motif

LATTICE = (72, 72, 72, 144)
"""Sites; assumption: the problem is the same for every number of hosts (strong scaling)."""

_VECTOR_BYTES = 48
_PLANES = 3  # one of fat links, two of Naik links
_BLOCK = (2, 2, 1, 1)


@dataclasses.dataclass(frozen=True, slots=True, repr=False)
class Milc(Motif):
    """Iteration of the solver: for even and for odd sites, gathers from the eight neighbours on a 4-D torus of
    ranks, the forward half, a fifth of the gap, the backward half, a fifth; then two all-reduces of 8 bytes with a
    fifth between them.

    Per parity a rank sends each neighbour one fat-link plane and two Naik planes of its half sites, 48 bytes each: on
    256 hosts 840, 840, 840 and 420 KB in x, y, z and t. Ranks are numbered x fastest.

    Source: MILC's gathers and solver (milc-qcd); SST's lqcd and SWM's milc for sizes; messages of 10 to 50 KB per rank
    (Chunduri et al., table I) become pieces of 32 KB, as 64 ranks share a node.

    Example:
        >>> milc = dfe.jobs.Milc(scale=0.25, stands_for=8)
        >>> milc.lengths(32), milc.plane_bytes(32)
        ((4, 2, 2, 2), (209952, 209952, 209952, 104976))
        >>> dfe.Job(milc, hosts=32).title
        'milc:scale=0.25,stands_for=8 on 32 hosts'
    """

    name: ClassVar[str] = "milc"
    summary: ClassVar[str] = "lattice QCD: halos on a 4-D torus, small all-reduces"
    source: ClassVar[str] = "milc-qcd; Chunduri et al., IPDPS 2021, table I"
    least_hosts: ClassVar[int] = 2

    piece_bytes: int = integer(
        32_768,
        1,
        2**31 - 1,
        unit="bytes",
        doc="Size of the pieces in which messages leave, times scale, in turn over all channels.",
    )

    stands_for: int = integer(
        1,
        1,
        4096,
        unit="nodes",
        doc="Nodes of the real machine per host: messages have the sizes of a job with that many times as many hosts. "
        "8 on an eighth of a machine, where 32 hosts stand for 256 nodes.",
    )

    @staticmethod
    def lengths(ranks: int) -> tuple[int, ...]:
        """The grid of ranks: 4x4x4x4 of 256.

        Args:
            ranks: Number of ranks of the job.
        """
        return even_lengths(ranks, (1.0, 1.0, 1.0, 1.0))

    def plane_bytes(self, ranks: int) -> tuple[int, ...]:
        """Bytes to a neighbour along each axis, per parity.

        Args:
            ranks: Number of ranks of the job.
        """
        lengths = self.lengths(ranks * self.stands_for)
        sites = [whole / part for whole, part in zip(LATTICE, lengths, strict=True)]
        volume = math.prod(sites)
        return tuple(self.scaled(_PLANES * volume / side / 2 * _VECTOR_BYTES) for side in sites)

    def operations(self, rank: int, ranks: int) -> Iterator[Operation]:
        lengths, sizes, gap = self.lengths(ranks), self.plane_bytes(ranks), self.gap(ranks) / 5
        here = place_of(rank, lengths)

        def neighbor(axis: int, step: int) -> int:
            there = list(here)
            there[axis] += step
            return rank_at(there, lengths)

        for _parity in range(2):
            for half, step in (("forward", 1), ("backward", -1)):
                for axis in range(4):
                    if lengths[axis] > 1:  # drop messages that stay on a host
                        yield receive(neighbor(axis, step), label=half)
            for half, step in (("forward", 1), ("backward", -1)):
                for axis in range(4):
                    if lengths[axis] > 1:
                        yield send(neighbor(axis, -step), sizes[axis], half)
            for half in ("forward", "backward"):
                yield from wait(half)
                yield compute(gap)
        everyone = range(ranks)
        yield from allreduce(rank, everyone, 8)
        yield compute(gap)
        yield from allreduce(rank, everyone, 8)


@dataclasses.dataclass(frozen=True, slots=True, repr=False)
class MilcReorder(Milc):
    """``milc`` with ranks in another order: blocks of 2 x 2 x 1 x 1 take hosts one after the other, and rows of blocks
    follow each other. So where a router has four hosts each has a block, and a chassis rows of them.

    The paper does not say what its order is; this one keeps neighbours on a router (assumption).

    Example:
        >>> dfe.jobs.MilcReorder().rank_order(8, seed=1)
        [0, 1, 2, 3, 4, 5, 6, 7]
    """

    name: ClassVar[str] = "milc-reorder"
    summary: ClassVar[str] = "milc with neighbours placed on one router"
    source: ClassVar[str] = "Chunduri et al., IPDPS 2021, table I; the order is our assumption"

    def rank_order(self, ranks: int, seed: int) -> list[int]:
        lengths = self.lengths(ranks)
        block = [side if length % side == 0 else 1 for side, length in zip(_BLOCK, lengths, strict=True)]
        blocks = [length // side for side, length in zip(block, lengths, strict=True)]

        def rising(sides: list[int]) -> Iterator[tuple[int, ...]]:  # the first axis fastest
            return (place[::-1] for place in itertools.product(*(range(side) for side in reversed(sides))))

        return [
            rank_at([b * side + i for b, side, i in zip(corner, block, inner, strict=True)], lengths)
            for corner in rising(blocks)
            for inner in rising(block)
        ]

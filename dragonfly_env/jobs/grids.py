"""Ranks on a grid: x is fastest."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence


def even_lengths(count: int, first: Sequence[float]) -> tuple[int, ...]:
    """Lengths of a grid with ``count`` places: prime factors, the largest first, go to the longest side so far."""
    lengths = [1] * len(first)
    for prime in reversed(_prime_factors(count)):
        axis = max(range(len(first)), key=lambda i: (first[i] / lengths[i], -i))
        lengths[axis] *= prime
    return tuple(lengths)


def _prime_factors(count: int) -> list[int]:
    factors, divisor = [], 2
    while divisor * divisor <= count:
        while count % divisor == 0:
            factors.append(divisor)
            count //= divisor
        divisor += 1
    return factors + ([count] if count > 1 else [])


def place_of(rank: int, lengths: Sequence[int]) -> tuple[int, ...]:
    """Return the coordinates of a rank."""
    place = []
    for length in lengths:
        rank, coordinate = divmod(rank, length)
        place.append(coordinate)
    return tuple(place)


def rank_at(place: Sequence[int], lengths: Sequence[int]) -> int:
    """Return the rank at some coordinates; coordinates wrap around."""
    rank = 0
    for coordinate, length in zip(reversed(place), reversed(lengths), strict=True):
        rank = rank * length + coordinate % length
    return rank


def neighbors_around(rank: int, lengths: Sequence[int]) -> Iterator[tuple[tuple[int, ...], int]]:
    """(move, rank) of everyone whose coordinates all differ by one at most, on a grid that ends at its faces."""
    here = place_of(rank, lengths)
    for move in itertools.product((-1, 0, 1), repeat=len(lengths)):
        there = [x + step for x, step in zip(here, move, strict=True)]
        inside = all(0 <= x < length for x, length in zip(there, lengths, strict=True))
        if any(move) and inside:
            yield move, rank_at(there, lengths)


def line_through(rank: int, axis: int, lengths: Sequence[int]) -> list[int]:
    """All ranks that differ from one along an axis at most, in rising order."""
    here = list(place_of(rank, lengths))
    ranks = []
    for coordinate in range(lengths[axis]):
        here[axis] = coordinate
        ranks.append(rank_at(here, lengths))
    return ranks


def rectangle(count: int) -> tuple[int, int]:
    """Rows and columns, as square as can be: of all r * c = count with r <= c the one with the largest r."""
    rows = max(r for r in range(1, math.isqrt(count) + 1) if count % r == 0)
    return rows, count // rows

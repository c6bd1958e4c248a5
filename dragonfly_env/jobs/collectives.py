"""Collective operations, made of sends, receives and waits as MPI libraries make them.

``members`` are the ranks that take part, in the same order for all of them; ``rank`` is one of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from dragonfly_env.checks.values import config_error
from dragonfly_env.jobs.operations import (
    SEND_ALL_TO_ALL,
    Operation,
    begin,
    end,
    receive,
    send,
    silent_wait,
)

OPEN_STEPS = 8
"""Steps of an all-to-all exchange that a rank has open at most: the default throttle of Cray MPICH."""


def allreduce(
    rank: int, members: Sequence[int], num_bytes: int, *, name: str = "allreduce"
) -> Iterator[Operation]:
    """A reduction of which every member gets the result: recursive doubling.

    With a number of members that is no power of two, the odd ones of the first few leave their part to their
    neighbour and get the result at the end.

    Args:
        rank: One of the members.
        members: The ranks that take part.
        num_bytes: Bytes that are reduced.
        name: Name of the operation in results.

    Source: Thakur et al., Optimization of collective communication operations in MPICH, IJHPCA 2005, section 4.5.

    Example:
        >>> operations = list(dfe.jobs.allreduce(0, range(4), 8))
        >>> operations[0] == dfe.jobs.begin("allreduce")
        True
    """
    members, me = _members(rank, members)
    count = len(members)
    doubled = 1 << (count.bit_length() - 1)
    extra = count - doubled

    def exchange(other: int, *, sends: bool = True, receives: bool = True) -> Iterator[Operation]:
        if receives:
            yield receive(members[other], label=name)
        if sends:
            yield send(members[other], num_bytes, name)
        yield silent_wait(name)

    yield begin(name)
    folded = me < 2 * extra and me % 2 == 1
    if me < 2 * extra:
        yield from exchange(me ^ 1, sends=folded, receives=not folded)
    if not folded:
        place = me // 2 if me < 2 * extra else me - extra
        distance = 1
        while distance < doubled:
            other = place ^ distance
            yield from exchange(2 * other if other < extra else other + extra)
            distance *= 2
    if me < 2 * extra:
        yield from exchange(me ^ 1, sends=not folded, receives=folded)
    yield end(name)


def reduce_scatter(
    rank: int, members: Sequence[int], num_bytes: int, *, name: str = "reducescatter"
) -> Iterator[Operation]:
    """A reduction of which every member gets an equal part, around a ring in n - 1 steps.

    Args:
        rank: One of the members.
        members: The ranks that take part: each sends to the next one.
        num_bytes: Bytes that are reduced; a member sends (n - 1) / n of them.
        name: Name of the operation in results.

    Source: Patarasuk, Yuan, Bandwidth optimal all-reduce algorithms, JPDC 2009, section 4.

    Example:
        >>> operations = list(dfe.jobs.reduce_scatter(0, range(4), 4096))
        >>> sum(one.amount for one in operations if one.kind == 0)
        3072
    """
    yield begin(name)
    yield from _around(rank, members, num_bytes, name, first=0)
    yield end(name)


def allgather(
    rank: int, members: Sequence[int], num_bytes: int, *, name: str = "allgather"
) -> Iterator[Operation]:
    """Everyone has a part and gets all parts, around a ring in n - 1 steps.

    Args:
        rank: One of the members.
        members: The ranks that take part: each sends to the next one.
        num_bytes: Bytes of all parts together; a member sends (n - 1) / n of them.
        name: Name of the operation in results.

    Example:
        >>> operations = list(dfe.jobs.allgather(0, range(4), 4096))
        >>> sum(one.amount for one in operations if one.kind == 0)
        3072
    """
    yield begin(name)
    yield from _around(rank, members, num_bytes, name, first=1)
    yield end(name)


def ring_allreduce(
    rank: int, members: Sequence[int], num_bytes: int, *, name: str = "allreduce"
) -> Iterator[Operation]:
    """``reduce_scatter``, then ``allgather``: the all-reduce of the fewest bytes, for large messages.

    Args:
        rank: One of the members.
        members: The ranks that take part: each sends to the next one.
        num_bytes: Bytes that are reduced; a member sends 2 (n - 1) / n of them.
        name: Name of the operation in results.

    Source: Patarasuk, Yuan, JPDC 2009, section 4.

    Example:
        >>> operations = list(dfe.jobs.ring_allreduce(0, range(4), 4096))
        >>> sum(one.amount for one in operations if one.kind == 0)
        6144
    """
    yield begin(name)
    yield from _around(rank, members, num_bytes, name, first=0)
    yield from _around(rank, members, num_bytes, name, first=1)
    yield end(name)


def tree_allreduce(
    rank: int,
    members: Sequence[int],
    num_bytes: int,
    *,
    segment_bytes: int | None = None,
    name: str = "allreduce",
) -> Iterator[Operation]:
    """``reduce`` to the first member, then ``broadcast`` from it, down the same binomial tree.

    Args:
        rank: One of the members.
        members: The ranks that take part.
        num_bytes: Bytes that are reduced.
        segment_bytes: Size of a part that is sent alone; None: all at once.
        name: Name of the operation in results.

    Example:
        >>> operations = list(dfe.jobs.tree_allreduce(3, range(4), 4096))
        >>> sum(one.amount for one in operations if one.kind == 0)
        4096
    """
    yield begin(name)
    for tree in (reduce, broadcast):
        yield from list(tree(rank, members, num_bytes, segment_bytes=segment_bytes, name=name))[1:-1]
    yield end(name)


def hierarchical_allreduce(
    rank: int, members: Sequence[int], num_bytes: int, *, local: int, name: str = "allreduce"
) -> Iterator[Operation]:
    """Reduce-scatter among neighbours, all-reduce of the parts among those of the same place, all-gather.

    Args:
        rank: One of the members.
        members: The ranks that take part; each ``local`` of them that follow each other are neighbours.
        num_bytes: Bytes that are reduced.
        local: Number of neighbours; it divides the number of members.
        name: Name of the operation in results.

    Source: Jia et al., Highly scalable deep learning training system, arXiv:1807.11205, section 3.3.

    Example:
        >>> operations = list(
        ...     dfe.jobs.hierarchical_allreduce(0, range(4), 4096, local=2)
        ... )
        >>> sum(one.amount for one in operations if one.kind == 0)
        6144
    """
    members, me = _members(rank, members)
    if local < 1 or len(members) % local:
        raise config_error("local", local, f"must divide the number of members, {len(members)}")
    first = me - me % local
    neighbors, alike = members[first : first + local], members[me % local :: local]
    part = _parts(num_bytes, local)[(me + 1) % local]
    yield begin(name)
    yield from _around(rank, neighbors, num_bytes, name, first=0)
    yield from _around(rank, alike, part, name, first=0)
    yield from _around(rank, alike, part, name, first=1)
    yield from _around(rank, neighbors, num_bytes, name, first=1)
    yield end(name)


def barrier(rank: int, members: Sequence[int]) -> Iterator[Operation]:
    """No rank goes on before all have come: an all-reduce of nothing.

    Args:
        rank: One of the members.
        members: The ranks that take part.

    Example:
        >>> list(dfe.jobs.barrier(0, range(2)))[0].label
        'barrier'
    """
    return allreduce(rank, members, 0, name="barrier")


def alltoallv(
    rank: int, members: Sequence[int], num_bytes: int | Callable[[int], int], *, name: str = "alltoallv"
) -> Iterator[Operation]:
    """Everyone has something for everyone: step i sends to the i-th member behind, receives from the i-th before.

    At most ``OPEN_STEPS`` are open. Its packets belong to the job's ``all_to_all_policy``.

    Args:
        rank: One of the members.
        members: Ranks that take part.
        num_bytes: For each other member; or a function of the receiver.
        name: Name of the operation in results.

    Example:
        >>> len(list(dfe.jobs.alltoallv(0, range(4), 1024)))
        11
    """
    members, me = _members(rank, members)
    count = len(members)
    size = num_bytes if callable(num_bytes) else lambda _: num_bytes
    yield begin(name)
    for step in range(1, count):
        label = f"{name} {step % OPEN_STEPS}"
        if step > OPEN_STEPS:
            yield silent_wait(label)
        to = members[(me + step) % count]
        yield receive(members[(me - step) % count], label=label)
        yield Operation(SEND_ALL_TO_ALL, to, size(to), label)
    for step in range(max(1, count - OPEN_STEPS), count):
        yield silent_wait(f"{name} {step % OPEN_STEPS}")
    yield end(name)


def broadcast(
    rank: int,
    members: Sequence[int],
    num_bytes: int,
    *,
    root: int = 0,
    segment_bytes: int | None = None,
    name: str = "broadcast",
) -> Iterator[Operation]:
    """Send from one to all, down a binomial tree; in segments, each rank passes one on while the next comes.

    Args:
        rank: One of the members.
        members: Ranks that take part.
        num_bytes: In all.
        root: The place among the members of the one who has it.
        segment_bytes: Size of a part that is sent alone; None: all at once.
        name: Name of the operation in results.

    Example:
        >>> len(list(dfe.jobs.broadcast(0, range(4), 1024, root=0)))
        5
    """
    parent, children = _tree(rank, members, root)
    yield begin(name)
    for size in _segments(num_bytes, segment_bytes):
        if parent is not None:
            yield receive(parent, label=name)
            yield silent_wait(name)
        for child in children:
            yield send(child, size, name)
    yield silent_wait(name)
    yield end(name)


def reduce(
    rank: int,
    members: Sequence[int],
    num_bytes: int,
    *,
    root: int = 0,
    segment_bytes: int | None = None,
    name: str = "reduce",
) -> Iterator[Operation]:
    """Send from all to one, up a binomial tree: ``broadcast`` backwards.

    Args:
        rank: One of the members.
        members: The ranks that take part.
        num_bytes: In all.
        root: The place among the members of the one who gets the result.
        segment_bytes: Size of a part that is sent alone; None: all at once.
        name: Name of the operation in results.

    Example:
        >>> len(list(dfe.jobs.reduce(0, range(4), 1024, root=0)))
        6
    """
    parent, children = _tree(rank, members, root)
    yield begin(name)
    for size in _segments(num_bytes, segment_bytes):
        for child in children:
            yield receive(child, label=name)
        yield silent_wait(name)
        if parent is not None:
            yield send(parent, size, name)
    yield silent_wait(name)
    yield end(name)


def _around(
    rank: int, members: Sequence[int], num_bytes: int, label: str, *, first: int
) -> Iterator[Operation]:
    """Steps around the ring: the i-th member first sends part i + ``first``, then what it has received. So a
    reduce-scatter from part i on leaves it with part i + 1, from which an all-gather goes on.
    """
    members, me = _members(rank, members)
    count = len(members)
    parts = _parts(num_bytes, count)
    for step in range(count - 1):
        yield receive(members[me - 1], label=label)
        yield send(members[(me + 1) % count], parts[(me + first - step) % count], label)
        yield silent_wait(label)


def _parts(num_bytes: int, count: int) -> list[int]:
    """Parts of a message, as equal as whole bytes can be."""
    whole, rest = divmod(num_bytes, count)
    return [whole + (place < rest) for place in range(count)]


def _members(rank: int, members: Sequence[int]) -> tuple[Sequence[int], int]:
    """The members as a sequence, and the place of a rank among them."""
    return members, members.index(rank)


def _segments(num_bytes: int, segment_bytes: int | None) -> list[int]:
    if segment_bytes is None or segment_bytes >= num_bytes:
        return [num_bytes]
    whole, rest = divmod(num_bytes, segment_bytes)
    return [segment_bytes] * whole + ([rest] if rest else [])


def _tree(rank: int, members: Sequence[int], root: int) -> tuple[int | None, list[int]]:
    """Parent and children in a binomial tree, the nearest to the leaves last."""
    members, place = _members(rank, members)
    count = len(members)
    if not 0 <= root < count:
        raise config_error("root", root, f"must be the place of a member, from 0 to {count - 1}")
    me = (place - root) % count
    lowest = me & -me if me else 1 << (count - 1).bit_length()
    parent = members[(me - lowest + root) % count] if me else None
    children = []
    step = lowest >> 1
    while step:
        if me + step < count:
            children.append(members[(me + step + root) % count])
        step >>= 1
    return parent, children

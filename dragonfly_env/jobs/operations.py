"""The operations that a program is made of: what one rank does.

A program is, per rank, a list of operations (``Operation``), repeated for as many iterations as its job says. Sends and
receives never block; a wait ends when all receives and sends that it is for are complete. The k-th receive from a rank
with a label is for the k-th send with that label from there. Example, a ring::

    def ring(rank, ranks):
        yield receive((rank - 1) % ranks)
        yield send((rank + 1) % ranks, 4096)
        yield from wait()
        yield compute(1000)
        yield from allreduce(rank, range(ranks), 8)

The list is the short form of a graph. An operation with ``after`` or ``after_start`` leaves the order of the list: it
starts when the operations with these numbers (of the rank, from 0) have ended, or have started. Example, a computation
that overlaps with the ring::

    def overlapped(rank, ranks):
        yield receive((rank - 1) % ranks, after=())     # 0
        yield send((rank + 1) % ranks, 4096, after=())  # 1
        yield compute(1000, after=())                   # 2
        yield compute(500, after=(0, 2))                # 3: what came and what was computed
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from dragonfly_env.checks.values import PS_PER_NS

ANY_BYTES = -1
"""Bytes of a receive that takes a message of any size."""

MOST_BYTES = 2**31 - 1
"""Largest message."""

MOST_HOSTS = 2**20
"""Most hosts of a job."""

SEND, SEND_ALL_TO_ALL, RECEIVE, WAIT, WAIT_ALL, COMPUTE, BEGIN, END = range(8)
"""Kinds, as the core numbers them."""


class Operation(NamedTuple):
    """A step of a rank, made by the functions below.

    Example:
        >>> dfe.jobs.compute(1_000).amount
        1000000
    """

    kind: int
    """Kind of the operation, as the core numbers it."""
    partner: int = 0
    """The other rank of a send or receive."""
    amount: int = 0
    """Bytes of a message, picoseconds of a computation."""
    label: str = ""
    """Label of a send, receive or wait; for ``BEGIN`` and ``END`` the name of the measured operation."""
    stream: int = 0
    """Stream of a computation: a stream executes one computation at a time, in the order in which they become ready."""
    after: Iterable[int] | None = None
    """Operations of the rank that end before this one starts; None: as the list says."""
    after_start: Iterable[int] = ()
    """Operations of the rank that start before this one does."""


def send(
    to: int,
    num_bytes: int,
    label: str = "",
    *,
    after: Iterable[int] | None = None,
    after_start: Iterable[int] = (),
) -> Operation:
    """A message to a rank, in whole packets, at least one. Does not block.

    Args:
        to: The receiving rank. A message to the rank itself goes to the host's router and back.
        num_bytes: The size of the message.
        label: Tells messages between the same ranks apart.
        after: Operations of the rank that end before this one starts; None: the last wait or computation of the list.
        after_start: Operations of the rank that start before this one does.

    Example:
        >>> dfe.jobs.send(3, 4096, label="halo").amount
        4096
    """
    return Operation(SEND, to, num_bytes, label, 0, after, after_start)


def receive(
    source: int,
    num_bytes: int = ANY_BYTES,
    label: str = "",
    *,
    after: Iterable[int] | None = None,
    after_start: Iterable[int] = (),
) -> Operation:
    """Room for the next message of a rank with this label. Does not block; with a size, that of the send must equal
    it.

    Args:
        source: The sending rank.
        num_bytes: The size of the message; ``ANY_BYTES``: any.
        label: Tells messages between the same ranks apart.
        after: Operations of the rank that end before this one starts; None: the last wait or computation of the list.
        after_start: Operations of the rank that start before this one does.

    Example:
        >>> dfe.jobs.receive(3, label="halo").partner
        3
    """
    return Operation(RECEIVE, source, num_bytes, label, 0, after, after_start)


def compute(
    time_ns: float, *, stream: int = 0, after: Iterable[int] | None = None, after_start: Iterable[int] = ()
) -> Operation:
    """Nothing but computation for a time, to which the job adds its jitter. Messages go on meanwhile.

    Args:
        time_ns: Duration.
        stream: A stream executes one computation at a time, in the order in which they become ready.
        after: Operations of the rank that end before this one starts; None: the last wait or computation of the list.
        after_start: Operations of the rank that start before this one does.

    Example:
        >>> dfe.jobs.compute(2.5).amount
        2500
    """
    return Operation(COMPUTE, 0, round(time_ns * PS_PER_NS), "", stream, after, after_start)


def begin(name: str) -> Operation:
    """From here to ``end`` of the same name the time counts as that operation's.

    Args:
        name: Name of the operation in results.

    Example:
        >>> dfe.jobs.begin("halo").label
        'halo'
    """
    return Operation(BEGIN, label=name)


def end(name: str) -> Operation:
    """The end of what ``begin`` began.

    Args:
        name: As for ``begin``.

    Example:
        >>> dfe.jobs.end("halo").label
        'halo'
    """
    return Operation(END, label=name)


def as_graph(operations: Iterable[Operation], first: int = 0, after: Iterable[int] = ()) -> list[Operation]:
    """Name, with ``after``, the operations that each operation of a list comes after.

    Args:
        operations: Operations of a rank, as a list.
        first: Number of the first of them within the rank.
        after: Operations of the rank that end before the list begins.

    Example:
        >>> from dragonfly_env.jobs import as_graph, receive, silent_wait
        >>> operations = as_graph([receive(1), silent_wait()])
        >>> operations[1].after
        (0,)
    """
    made: list[Operation] = []
    last = tuple(after)
    open_by_label: dict[str, list[int]] = {}
    for number, operation in enumerate(operations, first):
        if operation.after is not None or operation.after_start:
            made.append(operation)
            continue
        before = list(last)
        if operation.kind == WAIT:
            before += open_by_label.pop(operation.label, [])
        elif operation.kind == WAIT_ALL:
            before += [other for numbers in open_by_label.values() for other in numbers]
            open_by_label.clear()
        elif operation.kind in (SEND, SEND_ALL_TO_ALL, RECEIVE):
            open_by_label.setdefault(operation.label, []).append(number)
        if operation.kind in (WAIT, WAIT_ALL, COMPUTE):
            last = (number,)
        made.append(operation._replace(after=tuple(before)))
    return made


def silent_wait(label: str | None = None) -> Operation:
    """A wait that is not measured by itself: a part of something larger.

    Args:
        label: Label of the sends and receives; None: all.

    Example:
        >>> dfe.jobs.silent_wait("halo").label
        'halo'
    """
    return Operation(WAIT_ALL) if label is None else Operation(WAIT, label=label)


def wait(label: str | None = None, *, name: str = "wait") -> Iterator[Operation]:
    """Wait until all receives and sends with a label are complete; None: all of them.

    A send is complete when its last packet has left the source queue.

    Args:
        label: Label of the sends and receives; None: all.
        name: Name of the operation in results.

    Example:
        >>> len(list(dfe.jobs.wait()))
        3
    """
    return iter((begin(name), silent_wait(label), end(name)))

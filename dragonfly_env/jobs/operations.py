"""The operations that a program is made of: what one rank does, one after the other.

A program is, per rank, a list of these (``Operation``), repeated for as many iterations as its job says. Sends and
receives never block; a wait ends when all receives and sends that it is for are complete. The k-th receive from a rank
with a label is for the k-th send with that label from there. Example, a ring::

    def ring(rank, ranks):
        yield receive((rank - 1) % ranks)
        yield send((rank + 1) % ranks, 4096)
        yield from wait()
        yield compute(1000)
        yield from allreduce(rank, range(ranks), 8)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from dragonfly_env.checks.values import MAX_RUN_NS, PS_PER_NS

ANY_BYTES = -1
"""Of a receive: as many as are sent."""

MOST_BYTES = 2**31 - 1
"""Of a message."""

MAX_COMPUTE_NS = MAX_RUN_NS / 1000
"""Of one computation."""

MOST_HOSTS = 2**20
"""Of a job."""

SEND, SEND_ALL_TO_ALL, RECEIVE, WAIT, WAIT_ALL, COMPUTE, BEGIN, END = range(8)
"""Kinds, as the core numbers them."""


class Operation(NamedTuple):
    """A step of a rank, made by the functions below.

    Example:
        >>> dfe.jobs.compute(1_000).amount
        1000000
    """

    kind: int
    """What it does, as the core numbers it."""
    partner: int = 0
    """The other rank of a send or receive."""
    amount: int = 0
    """Bytes of a message, picoseconds of a computation."""
    label: str = ""
    """Of sends, receives and waits; of ``BEGIN`` and ``END`` the name of what is measured."""


def send(to: int, num_bytes: int, label: str = "") -> Operation:
    """A message to a rank, in whole packets, at least one. Does not block.

    Args:
        to: The receiving rank. A message to the rank itself goes to the host's router and back.
        num_bytes: The size of the message.
        label: Tells messages between the same ranks apart.

    Example:
        >>> dfe.jobs.send(3, 4096, label="halo")
        Operation(kind=0, partner=3, amount=4096, label='halo')
    """
    return Operation(SEND, to, num_bytes, label)


def receive(source: int, num_bytes: int = ANY_BYTES, label: str = "") -> Operation:
    """Room for the next message of a rank with this label. Does not block; with a size, that of the send must equal
    it.

    Args:
        source: The sending rank.
        num_bytes: The size of the message; ``ANY_BYTES``: any.
        label: Tells messages between the same ranks apart.

    Example:
        >>> dfe.jobs.receive(3, label="halo").partner
        3
    """
    return Operation(RECEIVE, source, num_bytes, label)


def compute(time_ns: float) -> Operation:
    """Nothing but computation for a time, to which the job adds its jitter. Messages go on meanwhile.

    Args:
        time_ns: How long.

    Example:
        >>> dfe.jobs.compute(2.5).amount
        2500
    """
    return Operation(COMPUTE, 0, round(time_ns * PS_PER_NS))


def begin(name: str) -> Operation:
    """From here to ``end`` of the same name the time counts as that operation's.

    Args:
        name: What the time counts as.

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


def silent_wait(label: str | None = None) -> Operation:
    """A wait that is not measured by itself: a part of something larger.

    Args:
        label: Of the sends and receives; None: all.

    Example:
        >>> dfe.jobs.silent_wait("halo").label
        'halo'
    """
    return Operation(WAIT_ALL) if label is None else Operation(WAIT, label=label)


def wait(label: str | None = None, *, name: str = "wait") -> Iterator[Operation]:
    """Wait until all receives and sends with a label are complete; None: all of them.

    A send is complete when its last packet has left the source queue.

    Args:
        label: Of the sends and receives; None: all.
        name: What the time counts as.

    Example:
        >>> len(list(dfe.jobs.wait()))
        3
    """
    return iter((begin(name), silent_wait(label), end(name)))

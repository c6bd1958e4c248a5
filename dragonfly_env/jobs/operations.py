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

from dragonfly_env.checks.values import PS_PER_NS

ANY_BYTES = -1
"""Of a receive: as many as are sent."""

SEND, SEND_ALL_TO_ALL, RECEIVE, WAIT, WAIT_ALL, COMPUTE, BEGIN, END = range(8)
"""Kinds, as the core numbers them."""


class Operation(NamedTuple):
    """One step of one rank; the functions below make them."""

    kind: int
    partner: int = 0
    amount: int = 0
    """Bytes of a message, picoseconds of a computation."""
    label: str = ""
    """Of sends, receives and waits; of ``BEGIN`` and ``END`` the name of what is measured."""


def send(to: int, num_bytes: int, label: str = "") -> Operation:
    """A message to a rank, in whole packets, at least one. Does not block."""
    return Operation(SEND, to, num_bytes, label)


def receive(source: int, num_bytes: int = ANY_BYTES, label: str = "") -> Operation:
    """Room for the next message of a rank with this label. Does not block; with a size, that of the send must equal
    it.
    """
    return Operation(RECEIVE, source, num_bytes, label)


def compute(time_ns: float) -> Operation:
    """Nothing but computation for a time, to which the job adds its jitter. Messages go on meanwhile."""
    return Operation(COMPUTE, 0, round(time_ns * PS_PER_NS))


def begin(name: str) -> Operation:
    """From here to ``end`` of the same name the time counts as that operation's."""
    return Operation(BEGIN, label=name)


def end(name: str) -> Operation:
    """The end of what ``begin`` began."""
    return Operation(END, label=name)


def silent_wait(label: str | None = None) -> Operation:
    """A wait that is not measured by itself: a part of something larger."""
    return Operation(WAIT_ALL) if label is None else Operation(WAIT, label=label)


def wait(label: str | None = None, *, name: str = "wait") -> Iterator[Operation]:
    """Wait until all receives and sends with a label are complete; None: all of them.

    A send is complete when its last packet has left the source queue.
    """
    yield begin(name)
    yield silent_wait(label)
    yield end(name)

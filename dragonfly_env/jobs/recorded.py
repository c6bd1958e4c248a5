"""Programs of your own: a function, and what is kept of it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

from dragonfly_env import _core
from dragonfly_env.checks.values import check_integer, config_error
from dragonfly_env.config.rows import Record, changed, integer, real
from dragonfly_env.jobs.operations import MOST_BYTES, MOST_HOSTS, Operation
from dragonfly_env.jobs.program import MAX_JITTER, PIECE_BYTES, Program, make_graph

RankProgram: TypeAlias = Callable[[int, int], Iterable[Operation]]
"""A program of your own: (rank, ranks) -> the operations of one iteration."""

_MOST_OPERATIONS = 2**21


@dataclasses.dataclass(frozen=True, slots=True, repr=False)
class RecordedProgram(Record, Program):
    """The operations that a function gave for a number of ranks. ``dfe.Job(function, hosts=N)`` makes one by itself.

    Args:
        name: For tables and messages.
        made: The operations of all ranks.

    Example:
        >>> def ring(rank, ranks):
        ...     yield dfe.jobs.receive((rank - 1) % ranks)
        ...     yield dfe.jobs.send((rank + 1) % ranks, 4096)
        ...     yield from dfe.jobs.wait()
        >>> program = dfe.jobs.RecordedProgram.of(ring, 4, jitter=0.01)
        >>> program.num_hosts(), dfe.Job(program).title
        (4, 'ring on 4 hosts')
    """

    name: str
    made: _core.Graph = dataclasses.field(repr=False)
    jitter: float = real(
        0.0, 0.0, MAX_JITTER, doc="Standard deviation of computing times, as a share of them."
    )
    piece_bytes: int = integer(
        PIECE_BYTES,
        1,
        MOST_BYTES,
        unit="bytes",
        doc="Size of the pieces in which messages leave, in turn over all channels.",
    )

    @classmethod
    def of(cls, function: RankProgram, ranks: int, **settings: Any) -> RecordedProgram:
        """Call a function once for every rank.

        Args:
            function: (rank, ranks) -> the operations of one iteration of the rank.
            ranks: Number of ranks.
            **settings: ``jitter`` and ``piece_bytes``.

        Raises:
            ConfigError: For a program that never ends, and for a ``begin`` without ``end``; the message names the rank
                and the operation.
        """
        check_integer("ranks", ranks, 1, MOST_HOSTS)
        name = str(getattr(function, "__name__", type(function).__name__))
        made = make_graph(name, ranks, lambda rank: function(rank, ranks), _MOST_OPERATIONS)
        return cls(name, made, **settings)

    def __repr__(self) -> str:
        return f"<{self.name} of {self.num_hosts()} ranks>"

    @property
    def spec(self) -> str:
        return self.name

    def num_hosts(self) -> int:
        return self.made.num_ranks

    def check(self, hosts: int) -> None:
        if hosts != self.num_hosts():
            raise config_error("hosts", hosts, f"must be {self.num_hosts()}, the ranks of {self.name}")

    def operations(self, rank: int, ranks: int) -> Iterable[Operation]:
        return [Operation(*fields) for fields in self.made.operations(rank)]

    def graph(self, ranks: int) -> _core.Graph:
        return self.made

    def to_dict(self) -> dict[str, Any]:
        ranks = [self.made.operations(rank) for rank in range(self.num_hosts())]
        return {"name": self.name, "operations": ranks, **changed(self, name=self.name, made=self.made)}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> RecordedProgram:
        """The program that ``to_dict`` described."""
        settings = dict(values)
        name, ranks = settings.pop("name"), settings.pop("operations")
        return cls(name, make_graph(name, len(ranks), ranks.__getitem__, _MOST_OPERATIONS), **settings)

    def __reduce__(self) -> tuple[Any, ...]:
        return RecordedProgram.from_dict, (self.to_dict(),)

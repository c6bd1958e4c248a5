"""Programs: the operations of each rank, and the settings that determine them.

The computing times of the motifs were calibrated once and are kept with the package: a row of ``data/gaps.json`` says
which gap gave which MPI share in an isolated run of one job, hosts by number, routed by one policy.
``examples/calibrate_programs.py --rows`` finds it.
"""

from __future__ import annotations

import dataclasses
import functools
import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from importlib import resources
from typing import Any, ClassVar, Final, TypeVar

from dragonfly_env import _core
from dragonfly_env.checks.values import MAX_SETTING_NS, check_mapping, config_error
from dragonfly_env.config.rows import Record, changed, integer, read_only, real, time_ns, values_of
from dragonfly_env.jobs.operations import MOST_BYTES, SEND, SEND_ALL_TO_ALL, Operation
from dragonfly_env.metrics.operations import ITERATION

PAPER_SHARES: Final = {
    "milc": 0.52,
    "milc-reorder": 0.50,
    "nek5000": 0.48,
    "hacc": 0.22,
    "qbox": 0.66,
    "rayleigh": 0.28,
}
"""Share of the time of a run in MPI calls, on 256 nodes of Theta: Chunduri et al., IPDPS 2021, table I."""


@functools.cache
def calibrated_gaps() -> tuple[Mapping[str, Any], ...]:
    """The rows of ``data/gaps.json``: a program on a system, and its calibrated computing time ``gap_ns``."""
    text = resources.files("dragonfly_env.jobs").joinpath("data", "gaps.json").read_text(encoding="utf-8")
    return tuple(map(read_only, json.loads(text)["gaps"]))


def calibrated_gap_ns(program: str, hosts: int, bytes_per_host: float) -> float:
    """The gap of the row with the nearest number of hosts, in proportion to what a host sends in an iteration: the time
    that this takes grows with it. 0 without any row.
    """

    def far(a: float, b: float) -> float:
        return max(a / b, b / a)

    rows = [row for row in calibrated_gaps() if row["program"] == program]
    if not rows:
        return 0.0
    row = min(rows, key=lambda row: (far(row["hosts"], hosts), far(row["bytes_per_host"], bytes_per_host)))
    return float(round(row["gap_ns"] * bytes_per_host / row["bytes_per_host"]))


PIECE_BYTES = 4096
MAX_JITTER = 0.15
_FEW = 16
_MOST_OPERATIONS = 2**24


class Program(ABC):
    """The operations of the ranks of a job: frozen, comparable, hashable. Ranks are numbered from 0, one per host."""

    __slots__ = ()

    jitter: float
    piece_bytes: int

    @property
    @abstractmethod
    def spec(self) -> str:
        """The program's name in the string of a job, or a short readable name if it has none."""

    @abstractmethod
    def operations(self, rank: int, ranks: int) -> Iterable[Operation]:
        """Yield the operations of a rank in an iteration."""

    def graph(self, ranks: int) -> _core.Graph:
        """Return the operations of all ranks in an iteration, checked; the same object for equal programs."""
        return _graph(self, ranks)

    def check(self, hosts: int) -> None:  # noqa: B027 - most programs run on any number
        """Raise ``ConfigError`` if the program cannot run on so many hosts."""

    def num_hosts(self) -> int | None:
        """Return the number of hosts that the program is written for; None: any number."""
        return None

    def piece(self) -> int:
        """The bytes of a message that leave before it is another one's turn."""
        return self.piece_bytes

    def rank_order(self, ranks: int, seed: int) -> list[int]:
        """Ranks in the order in which they take the hosts that the placement gives them."""
        return list(range(ranks))

    @abstractmethod
    def to_dict(self) -> str | dict[str, Any]:
        """The program as TOML and JSON have it; ``parse_program`` is the inverse."""

    def resolved(self, ranks: int) -> str | dict[str, Any]:
        """`to_dict` with every default and what comes from data of the package: all that a result depends on."""
        return self.to_dict()


@functools.lru_cache(maxsize=128)
def _graph(program: Program, ranks: int) -> _core.Graph:
    program.check(ranks)
    return make_graph(program.spec, ranks, lambda rank: program.operations(rank, ranks), _MOST_OPERATIONS)


def make_graph(
    name: str, ranks: int, operations: Callable[[int], Iterable[Operation]], most: int
) -> _core.Graph:
    """Read the operations of every rank.

    Args:
        name: The program, for messages.
        ranks: Number of ranks the program has.
        operations: Returns the operations of one rank.
        most: Operations that the program may have.

    Raises:
        ConfigError: For too many operations, for an operation out of range, for a name that is begun and never ended,
            for a message that is not sent or not received, and for operations that wait in a circle.
    """
    return _core.Graph(name, ranks, operations, most, ITERATION)


Made = TypeVar("Made", bound="Motif")


@dataclasses.dataclass(frozen=True, slots=True, repr=False)
class Motif(Record, Program):
    """Pattern of communication of an application, with the settings that all applications share.

    Args:
        gap_ns: The computation of one iteration; None: calibrated, see ``dragonfly_env.jobs.program``.
        scale: Messages (but for those of a few bytes) are so many times as large as the application's.
        jitter: Standard deviation of computing times, as a share of them. Without any, ranks run in lock-step.
        piece_bytes: A message leaves in pieces of so many bytes, in turn over all channels; scaled as messages
            are, so that these mix alike: a host that sends one after the other, each at its full rate, fills
            minimal paths that the application would not.

    Example:
        >>> motif = dfe.jobs.Nek5000(scale=0.5, jitter=0.0)
        >>> motif.name, motif.spec
        ('nek5000', 'nek5000:scale=0.5,jitter=0.0')
        >>> dfe.Job(motif, hosts=16).num_hosts
        16
    """

    name: ClassVar[str]
    summary: ClassVar[str]
    source: ClassVar[str]
    least_hosts: ClassVar[int] = 1
    classes: ClassVar[dict[str, type[Motif]]] = {}

    gap_ns: float | None = time_ns(
        None,
        0.0,
        MAX_SETTING_NS,
        optional=True,
        doc="Computation of one iteration; None: calibrated, so that the MPI share is that of the paper's table I.",
    )
    scale: float = real(1.0, 1e-6, 1e3, doc="Size of the large messages, as a multiple of the application's.")
    jitter: float = real(
        0.01, 0.0, MAX_JITTER, doc="Standard deviation of computing times, as a share of them."
    )
    piece_bytes: int = integer(
        PIECE_BYTES,
        1,
        MOST_BYTES,
        unit="bytes",
        doc="Size of the pieces in which messages leave, times scale, in turn over all channels.",
    )

    def __init_subclass__(cls) -> None:
        if "name" in cls.__dict__:
            Motif.classes[cls.name] = cls
            cls.called = f"program {cls.name!r}"

    @property
    def spec(self) -> str:
        settings = ",".join(f"{name}={value}" for name, value in changed(self).items())
        return f"{self.name}:{settings}".rstrip(":")

    def check(self, hosts: int) -> None:
        if hosts < self.least_hosts:
            allowed = f"must be at least {self.least_hosts} for program {self.name!r}"
            raise config_error("hosts", hosts, allowed)

    def to_dict(self) -> str | dict[str, Any]:
        settings = changed(self)
        return {"name": self.name, **settings} if settings else self.name

    @classmethod
    def from_dict(cls: type[Made], values: str | Mapping[str, Any]) -> Made:
        """The program that ``to_dict`` described; a table may leave its name out."""
        given = {} if values == cls.name else check_mapping(cls.called, values)
        if given.get("name") == cls.name:
            del given["name"]
        return super(Motif, cls).from_dict(given)

    def resolved(self, ranks: int) -> str | dict[str, Any]:
        return {"name": self.name, **values_of(self), "gap_ns": self.gap(ranks)}

    def gap(self, ranks: int) -> float:
        """The computation of one iteration, in ns."""
        return _calibrated(self, ranks) if self.gap_ns is None else self.gap_ns

    def bytes_per_host(self, ranks: int) -> float:
        """Bytes that a host sends in an iteration: the mean of a few hosts, spread over all."""
        program = self if self.gap_ns == 0.0 else dataclasses.replace(self, gap_ns=0.0)
        few = range(0, ranks, max(1, ranks // _FEW))
        kinds = (SEND, SEND_ALL_TO_ALL)
        each = (
            operation.amount
            for rank in few
            for operation in program.operations(rank, ranks)
            if operation.kind in kinds
        )
        return max(1.0, sum(each) / len(few))

    def piece(self) -> int:
        return self.scaled(self.piece_bytes)

    def scaled(self, num_bytes: float) -> int:
        """A large message's size."""
        return max(1, round(num_bytes * self.scale))


@functools.lru_cache(maxsize=256)
def _calibrated(program: Motif, ranks: int) -> float:
    return calibrated_gap_ns(program.name, ranks, program.bytes_per_host(ranks))

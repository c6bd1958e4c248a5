"""Programs of your own: from a file, a text or a function."""

from __future__ import annotations

import dataclasses
import io
import weakref
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeAlias

from dragonfly_env.checks.outside import LimitedStream, check_path, opened, parsing
from dragonfly_env.checks.values import check_integer, check_text, config_error
from dragonfly_env.config.help import documented
from dragonfly_env.config.rows import integer, normalise, real
from dragonfly_env.jobs.lines import MOST_OPERATIONS, read_lines, write_lines
from dragonfly_env.jobs.operations import MOST_BYTES, MOST_HOSTS, Operation
from dragonfly_env.jobs.program import MAX_JITTER, PIECE_BYTES, Program
from dragonfly_env.jobs.records import Recorder, Records

RankProgram: TypeAlias = Callable[[int, int], Iterable[Operation]]
"""A program of your own: (rank, ranks) -> the operations of one iteration."""

_FIELD = "program file"
_MOST_FILE_BYTES = 2**28
_BLOCK_BYTES = 2**20


@documented
@dataclasses.dataclass(frozen=True, slots=True)
class OperationText(Program):
    """A program that is written down, operation by operation. Made by ``read``, ``parse`` or ``of``.

    Args:
        name: For tables and messages.
        records: The operations of all ranks.
        path: The file that it was read from; empty: none.
        sha256: Of that file, which is known by its content; empty: none.
        text: What was written; empty: it is a file, or a function that was not to be written.

    Example:
        >>> lines = ["ranks 2", "* compute ns=100", "* allreduce bytes=8", ""]
        >>> program = dfe.jobs.OperationText.parse("sum", chr(10).join(lines))
        >>> program.num_hosts(), dfe.Job(program).num_hosts
        (2, 2)
    """

    name: str
    records: Records = dataclasses.field(repr=False)
    path: str = ""
    sha256: str = ""
    text: str = dataclasses.field(default="", repr=False, compare=False)
    jitter: float = real(
        0.0, 0.0, MAX_JITTER, doc="Standard deviation of computing times, as a share of them."
    )
    piece_bytes: int = integer(
        PIECE_BYTES,
        1,
        MOST_BYTES,
        unit="bytes",
        doc="Messages leave in pieces of so many, in turn over all open ones.",
    )

    def __post_init__(self) -> None:
        normalise(self)
        check_text("program name", self.name)

    @classmethod
    def read(cls, path: str, sha256: str | None = None, **settings: Any) -> OperationText:
        """From a file.

        Args:
            path: Where it is.
            sha256: What its content must have; None: it may be any.
            settings: ``jitter`` and ``piece_bytes``.

        Raises:
            ConfigError: If it cannot be read, is another one, or a line is wrong; with line and field.

        Example:
            >>> from pathlib import Path
            >>> text = chr(10).join(["ranks 2", "* compute ns=100", ""])
            >>> written = Path("work.ops").write_text(text)
            >>> dfe.jobs.OperationText.read("work.ops").spec
            'file:work.ops'
        """
        file = check_path(_FIELD, path)
        records, found = _read(file)
        if sha256 not in (None, found):
            raise config_error("program sha256", found, f"the file must be the one with {sha256}")
        return cls(file.name, records, str(path), found, **settings)

    @classmethod
    def parse(cls, name: str, text: str, **settings: Any) -> OperationText:
        """From a text.

        Args:
            name: For tables and messages.
            text: Lines, the first of them ``ranks N``.
            **settings: ``jitter`` and ``piece_bytes``.

        Raises:
            ConfigError: If a line is wrong; with line and field.

        Example:
            >>> text = chr(10).join(["ranks 2", "* compute ns=100", ""])
            >>> dfe.jobs.OperationText.parse("work", text).num_hosts()
            2
        """
        file = io.StringIO(check_text("program text", text), newline=None)
        return cls(name, read_lines(check_text("program name", name), file), text=text, **settings)

    @classmethod
    def of(cls, function: RankProgram, ranks: int, **settings: Any) -> OperationText:
        """From a function (rank, ranks) -> operations.

        Args:
            function: Gives the operations of one iteration of a rank.
            ranks: How many ranks there are.
            **settings: ``jitter`` and ``piece_bytes``.

        Raises:
            ConfigError: If it yields anything else.

        Example:
            >>> def ring(rank, ranks):
            ...     yield dfe.jobs.receive((rank - 1) % ranks)
            ...     yield dfe.jobs.send((rank + 1) % ranks, 4096)
            ...     yield from dfe.jobs.wait()
            >>> dfe.jobs.OperationText.of(ring, 4).num_hosts()
            4
        """
        name = str(getattr(function, "__name__", type(function).__name__))
        recorder = Recorder(name, check_integer("ranks", ranks, 1, MOST_HOSTS), MOST_OPERATIONS)
        for rank in range(ranks):
            made = function(rank, ranks)
            try:
                operations = iter(made)
            except TypeError:
                allowed = "must give operations, as a list or by yielding them"
                raise config_error(name, made, allowed) from None
            recorder.add_all(rank, operations)
        return cls(name, recorder.records(), **settings)

    @property
    def spec(self) -> str:
        return f"file:{self.path}" if self.path else self.name

    def num_hosts(self) -> int:
        return self.records.ranks

    def check(self, hosts: int) -> None:
        if hosts != self.num_hosts():
            raise config_error("hosts", hosts, f"must be {self.num_hosts()}, the ranks of {self.name}")

    def operations(self, rank: int, ranks: int) -> Iterable[Operation]:
        return self.records.operations(check_integer("rank", rank, 0, self.num_hosts() - 1))

    def recorded(self, ranks: int) -> Records:
        return self.records

    def to_dict(self) -> dict[str, Any]:
        own = {
            field.name: getattr(self, field.name)
            for field in dataclasses.fields(self)
            if "check" in field.metadata and getattr(self, field.name) != field.default
        }
        if self.path:
            return {"file": self.path, "sha256": self.sha256, **own}
        if not self.text:  # of a function; what a run is known by is needed again and again
            object.__setattr__(self, "text", "".join(f"{line}\n" for line in write_lines(self.records)))
        return {"name": self.name, "text": self.text, **own}


# By the SHA-256 of its file, for as long as a program has it: runs of a sweep share what was read once.
_RECORDS: weakref.WeakValueDictionary[str, Records] = weakref.WeakValueDictionary()


def _read(path: Path) -> tuple[Records, str]:
    """What a file says, and its SHA-256."""
    with opened(path, _FIELD) as file:
        known = LimitedStream(file, _MOST_FILE_BYTES)
        with parsing(_FIELD, str(path), "must be a readable file"):
            while known.read(_BLOCK_BYTES):
                pass
            file.seek(0)
        sha256 = known.sha256()
        records = _RECORDS.get(sha256)
        if records is None:
            content = LimitedStream(file, _MOST_FILE_BYTES)
            buffered = io.BufferedReader(content, _BLOCK_BYTES)
            records = read_lines(path.name, io.TextIOWrapper(buffered, "utf-8", "backslashreplace"))
            if content.sha256() != sha256:
                raise config_error(_FIELD, str(path), "must not change while it is read")
            _RECORDS[sha256] = records
    return records, sha256

"""What a worker notes before and after every input, in a file that outlives it: a few numbers in shared memory."""

from __future__ import annotations

import mmap
import struct
from pathlib import Path
from types import TracebackType

_FIELDS = ("number", "tried", "refused", "run", "finished")
_LAYOUT = struct.Struct(f"={len(_FIELDS)}q")


class Board:
    """Counters of one worker; another process may read them at any time, also after a crash.

    Attributes:
        number: The input that is being tried.
        tried, refused, run: Inputs so far.
        finished: 1 when the worker ended as it should.
    """

    number: int
    tried: int
    refused: int
    run: int
    finished: int

    def __init__(self, path: Path, *, create: bool = False) -> None:
        if create:
            path.write_bytes(bytes(_LAYOUT.size))
        with path.open("r+b") as file:
            self._memory = mmap.mmap(file.fileno(), _LAYOUT.size)
        self.read()

    def read(self) -> Board:
        """Take over what the file holds."""
        for name, value in zip(_FIELDS, _LAYOUT.unpack_from(self._memory), strict=True):
            setattr(self, name, value)
        return self

    def write(self) -> None:
        """Show the attributes to whoever reads the file."""
        _LAYOUT.pack_into(self._memory, 0, *(getattr(self, name) for name in _FIELDS))

    def __enter__(self) -> Board:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._memory.close()

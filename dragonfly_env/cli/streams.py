"""The standard streams of a process: no text, and nobody who reads it, can end a command with a traceback."""

from __future__ import annotations

import io
import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


class _BestEffort(io.FileIO):
    """A file that drops what cannot be written: results do not depend on who reads the messages."""

    def write(self, data: ReadableBuffer, /) -> int:
        try:
            return super().write(data)
        except OSError:
            return memoryview(data).nbytes


def prepare() -> None:
    """Let both streams take any text (file names need not be Unicode, terminals need not show it), and the error
    stream any fate.
    """
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    encoding = "utf-8" if sys.stderr is None else sys.stderr.encoding
    raw = io.BufferedWriter(_BestEffort(2, "wb", closefd=False))
    sys.stderr = io.TextIOWrapper(raw, encoding, errors="backslashreplace", line_buffering=True)


def flush_results() -> None:
    """Write what standard output still holds.

    Raises:
        OSError: If that cannot be; it is then forgotten, so that the end of the process does not try again.
    """
    try:
        sys.stdout.flush()
    except OSError:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        raise

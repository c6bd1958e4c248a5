"""Where data from outside come in: files, and what a parser or a user's own object does on bad ones.

``parsing`` is the one place that turns the errors of foreign code into ``ConfigError``. What is read through it:
documents (``documents``), archives and arrays in files (``archives``), arrays of a user (``arrays``).
"""

from __future__ import annotations

import hashlib
import io
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO

import numpy as np

from dragonfly_env.checks.values import config_error
from dragonfly_env.errors import ConfigError, StateError

MOST_LEVELS = 64
"""How deep tables and lists of settings may be nested."""
MOST_ITEMS = 1_000_000
"""How long a list of settings may be, unless somebody says otherwise."""
MOST_HOSTS = 2**24
"""How many hosts may be listed: more than any machine of today can simulate."""

_SPARE_BYTES = 2**26  # if that much can still be had, memory is not what is lacking
_PACKAGE = __name__.partition(".")[0]


@contextmanager
def parsing(field: str, value: object, allowed: str) -> Iterator[None]:
    """Turn whatever foreign code raises on bad data into ``ConfigError``.

    Parsers of damaged files raise almost anything. So nothing but the call of the parser (or of a method of the
    user's own object) belongs inside; what this package raises on purpose passes through, and so do Ctrl-C and a
    real lack of memory. A parser also runs out of memory where damaged data need an absurd amount: that is
    told from a real lack by whether a modest amount is left.

    Args:
        field: Name for the message.
        value: What is shown: the file's name, or the value.
        allowed: What was expected; the parser's reason follows in brackets.

    Raises:
        ConfigError: For any error inside.
    """
    try:
        yield
    except (ConfigError, StateError):
        raise
    except MemoryError as error:
        if not _memory_is_left():
            raise
        raise _refusal(field, value, allowed, error) from None
    except Exception as error:
        if isinstance(error, (AssertionError, NameError)) and _raised_here(error.__traceback__):
            raise  # a bug of ours
        raise _refusal(field, value, allowed, error) from None


def _refusal(field: str, value: object, allowed: str, error: Exception) -> ConfigError:
    return config_error(field, value, f"{allowed} ({reason(error)})")


def reason(error: BaseException) -> str:
    """What went wrong, on one line for a message."""
    if isinstance(error, RecursionError):
        return "nested too deep"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    try:
        text = " ".join(str(error).split())
    except Exception:  # an error of a user's class
        text = ""
    text = text if len(text) <= 200 else text[:197] + "..."
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _memory_is_left() -> bool:
    try:
        bytearray(_SPARE_BYTES)
    except MemoryError:
        return False
    return True


def _raised_here(trace: TracebackType | None) -> bool:
    """Whether this package's own code raised it, and not code that it called."""
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return trace is not None and str(trace.tb_frame.f_globals.get("__name__")).startswith(_PACKAGE)


def check_path(field: str, value: object) -> Path:
    """Return a string or a path as a ``Path`` that the system can look up.

    Raises:
        ConfigError: If it is neither, or no name that a file can have.
    """
    allowed = "must be the path of a file"
    if not isinstance(value, (str, os.PathLike)):
        raise config_error(field, value, allowed)
    with parsing(field, value, allowed):
        path = Path(value)
        if b"\0" in os.fsencode(path):
            raise config_error(field, str(value), f"{allowed}, without a null byte")
    return path


@contextmanager
def opened(path: Path, field: str, allowed: str = "must be a readable file") -> Iterator[BinaryIO]:
    """A file that is open for reading.

    Raises:
        ConfigError: If it cannot be opened.
    """
    with parsing(field, str(path), allowed):
        file = path.open("rb")
    with file:
        yield file


def read_bytes(path: Path, field: str, most_bytes: int, allowed: str = "must be a readable file") -> bytes:
    """The content of a file.

    Raises:
        ConfigError: If it cannot be read or is longer than ``most_bytes``.
    """
    with opened(path, field, allowed) as file, parsing(field, str(path), allowed):
        content = file.read(most_bytes + 1)
    if len(content) > most_bytes:
        raise config_error(field, str(path), f"{allowed} of at most {most_bytes} bytes")
    return content


class LimitedStream(io.RawIOBase):
    """A stream that refuses to go on for ever, as a few compressed bytes can make it, and knows what was read of it."""

    def __init__(self, content: Any, most_bytes: int) -> None:
        self._content, self._most, self._left = content, most_bytes, most_bytes
        self._digest = hashlib.sha256()

    def readable(self) -> bool:
        """See ``io.RawIOBase``."""
        return True

    def readinto(self, buffer: Any) -> int:
        """See ``io.RawIOBase``."""
        block = self._content.read(len(buffer))
        self._left -= len(block)
        if self._left < 0:
            raise ValueError(f"it has more than {self._most} bytes")
        self._digest.update(block)
        buffer[: len(block)] = block
        return len(block)

    def sha256(self) -> str:
        """Of all that has been read."""
        return self._digest.hexdigest()


def check_items(field: str, value: object, allowed: str, most: int = MOST_ITEMS) -> list[Any]:
    """Return the items of a list, a tuple, an array or whatever else is in order and has an end.

    Raises:
        ConfigError: If it is none; a string is none either. If there are more than ``most``, before any is taken:
            ``range(10**9)`` is short until it is a list.
    """
    if isinstance(value, (str, bytes, bytearray, memoryview)):
        raise config_error(field, value, allowed)
    if not isinstance(value, (Sequence, np.ndarray)):
        raise config_error(field, value, allowed)
    with parsing(field, value, allowed):
        length = len(value)
    if length > most:
        raise config_error(field, value, f"{allowed}, at most {most} of them; these are {length}")
    with parsing(field, value, allowed):
        return list(value)


def check_mapping(field: str, value: object, allowed: str = "must be a table of settings") -> dict[str, Any]:
    """Return a mapping with names as keys, as a dictionary of its own.

    Raises:
        ConfigError: If it is none, a key is no string, or it is nested deeper than ``MOST_LEVELS``.
    """
    if not isinstance(value, Mapping):
        raise config_error(field, value, allowed)
    with parsing(field, value, allowed):
        table = dict(value)
    for key in table:
        if not isinstance(key, str):
            raise config_error(field, key, "must have names as keys")
    check_levels(field, table)
    return table


def check_levels(field: str, value: object) -> None:
    """Refuse tables and lists that are nested deeper than ``MOST_LEVELS``, or within themselves.

    Raises:
        ConfigError: If they are.
    """
    level = [value]
    for _ in range(MOST_LEVELS):
        inner: dict[int, object] = {}  # by identity: what is shared is looked at once
        for container in level:
            if isinstance(container, dict):
                parts = list(container.values())
            elif isinstance(container, (list, tuple)):
                parts = list(container)
            else:
                continue
            inner.update((id(part), part) for part in parts if isinstance(part, (dict, list, tuple)))
        if not inner:
            return
        level = list(inner.values())
    raise config_error(field, value, f"must not be nested more than {MOST_LEVELS} levels deep")


def level_of_the_user(*modules: str) -> int:
    """The ``stacklevel`` of a warning, for the nearest call from outside some modules.

    Args:
        *modules: How their names begin.
    """
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals["__name__"].startswith(modules):
        level, frame = level + 1, frame.f_back
    return level

"""Names that move to ``values`` and ``files``."""

from __future__ import annotations

import hashlib
import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from dragonfly_env.checks import values
from dragonfly_env.checks.values import check_mapping as check_mapping
from dragonfly_env.checks.values import config_error
from dragonfly_env.errors import ConfigError, StateError


def check_items(field: str, value: object, allowed: str, most: int = 0) -> list[Any]:
    """A list."""
    return values.check_items(field, value, allowed)


@contextmanager
def parsing(field: str, value: object, allowed: str) -> Iterator[None]:
    """Turn errors of a parser into ``ConfigError``."""
    try:
        yield
    except (ConfigError, StateError, MemoryError):
        raise
    except Exception as error:
        raise config_error(field, value, f"{allowed} ({reason(error)})") from None


def reason(error: BaseException) -> str:
    """The error on one line for a message."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text[:200]}" if text else type(error).__name__


def check_path(field: str, value: object) -> Path:
    """A string or a path as a ``Path``."""
    if not isinstance(value, (str, os.PathLike)):
        raise config_error(field, value, "must be the path of a file")
    return Path(value)


@contextmanager
def opened(path: Path, field: str, allowed: str = "must be a readable file") -> Iterator[BinaryIO]:
    """A file that is open for reading."""
    with parsing(field, str(path), allowed):
        file = path.open("rb")
    with file:
        yield file


def read_bytes(path: Path, field: str, most_bytes: int, allowed: str = "must be a readable file") -> bytes:
    """The content of a file."""
    with parsing(field, str(path), allowed):
        return path.read_bytes()


class LimitedStream(io.RawIOBase):
    """A stream that keeps the digest of what was read of it."""

    def __init__(self, content: Any, most_bytes: int) -> None:
        self._content = content
        self._digest = hashlib.sha256()

    def readable(self) -> bool:
        """See ``io.RawIOBase``."""
        return True

    def readinto(self, buffer: Any) -> int:
        """See ``io.RawIOBase``."""
        block = self._content.read(len(buffer))
        self._digest.update(block)
        buffer[: len(block)] = block
        return len(block)

    def sha256(self) -> str:
        """The digest of all that has been read."""
        return self._digest.hexdigest()

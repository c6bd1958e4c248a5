"""Archives and arrays in files: sizes are checked before memory is taken, and nothing is ever unpickled."""

from __future__ import annotations

import io
import math
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from dragonfly_env.checks.files import refusing, replacing
from dragonfly_env.checks.interruption import uninterrupted
from dragonfly_env.checks.outside import check_path, opened, parsing
from dragonfly_env.checks.values import config_error

_KNOWN_COMPRESSION = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # others expand without any limit
_EPOCH = (1980, 1, 1, 0, 0, 0)  # of every member that is written
_MOST_HEADER_BYTES = 10_000  # of an .npy file, as in NumPy
_HEADER_READERS = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}


@contextmanager
def open_archive(path: Path, field: str, allowed: str) -> Iterator[zipfile.ZipFile]:
    """A zip file, open for ``read_member``.

    Args:
        path: The file.
        field: Name for messages.
        allowed: What the file must be, e.g. ``"must be a saved agent"``.

    Raises:
        ConfigError: If it cannot be read or is no zip file.
    """
    with opened(path, field, f"{allowed}, a readable file") as file:
        with parsing(field, str(path), allowed):
            archive = zipfile.ZipFile(file)
        with archive:
            yield archive


def write_archive(path: Path, members: Mapping[str, bytes], field: str) -> None:
    """Write a zip file; it appears complete or not at all, and the same members give the same bytes.

    Raises:
        ConfigError: If it cannot be written.
    """
    with (
        refusing(field, path, "must be writable"),
        uninterrupted(),
        replacing(path) as temporary,
        zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED) as archive,
    ):
        for name, content in members.items():
            info = zipfile.ZipInfo(name, _EPOCH)
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, content)


def read_member(archive: zipfile.ZipFile, name: str, most_bytes: int, *, field: str, allowed: str) -> bytes:
    """The content of one file of an archive.

    Raises:
        ConfigError: If it is missing, damaged, or longer than ``most_bytes``.
    """
    shown = str(archive.filename)
    with parsing(field, shown, allowed):
        info = archive.getinfo(name)
    if info.compress_type not in _KNOWN_COMPRESSION:
        raise config_error(field, shown, f"{allowed} ({name} is compressed by an unknown method)")
    if info.file_size > most_bytes:
        raise config_error(
            field, shown, f"{allowed} ({name} has {info.file_size} bytes instead of at most {most_bytes})"
        )
    with parsing(field, shown, allowed):
        return archive.read(info)


def parse_npy(content: bytes, *, field: str, shown: str, allowed: str) -> npt.NDArray[Any]:
    """The array in the bytes of an ``.npy`` file: a read-only view of them.

    Raises:
        ConfigError: If they are something else, hold pickled objects, or less or more than the header announces.
    """
    stream = io.BytesIO(content)
    with parsing(field, shown, allowed):
        version = np.lib.format.read_magic(stream)
        if version not in _HEADER_READERS:
            raise ValueError(f"version {version} of the format is not known")
        shape, by_columns, dtype = _HEADER_READERS[version](stream, max_header_size=_MOST_HEADER_BYTES)
    if dtype.hasobject:
        raise config_error(field, shown, f"{allowed} (it holds pickled objects, which are never loaded)")
    count = math.prod(shape)
    left = len(content) - stream.tell()
    if min(shape, default=0) < 0 or count * dtype.itemsize != left:
        raise config_error(
            field,
            shown,
            f"{allowed} (it announces {dtype} of shape {tuple(shape)} and has {left} bytes of it)",
        )
    with parsing(field, shown, allowed):
        flat = np.frombuffer(content, dtype, count, stream.tell()) if count else np.zeros(0, dtype)
        return flat.reshape(shape, order="F" if by_columns else "C")


def write_npy(array: npt.NDArray[Any]) -> bytes:
    """The bytes of an ``.npy`` file."""
    stream = io.BytesIO()
    np.lib.format.write_array(stream, array, version=(1, 0), allow_pickle=False)
    return stream.getvalue()


def write_arrays(path: object, arrays: Mapping[str, Any], *, compressed: bool = False) -> Path:
    """Write an ``.npz`` file; it appears complete or not at all, and the same arrays give the same bytes.

    Args:
        path: Where to; ``.npz`` is added if it is missing.
        arrays: By name; a text is one, too.
        compressed: Whether it is to be small.

    Returns:
        The path of the file.

    Raises:
        ConfigError: If it cannot be written.
    """
    target = check_path("path", path)
    if target.suffix != ".npz":
        with parsing("path", str(path), "must be the path of a file"):
            target = target.with_name(target.name + ".npz")
    write = np.savez_compressed if compressed else np.savez
    with (
        parsing("path", str(target), "must be writable"),
        uninterrupted(),
        replacing(target) as temporary,
        temporary.open("wb") as file,
    ):
        write(file, **arrays)
    return target


def read_arrays(
    path: Path, most_bytes: Mapping[str, int], *, field: str, allowed: str
) -> dict[str, npt.NDArray[Any]]:
    """Arrays of an ``.npz`` file.

    Args:
        path: The file.
        most_bytes: The names of the arrays, and the most bytes that each may have.
        field: Name for messages.
        allowed: What the file must be.

    Raises:
        ConfigError: If the file is missing or damaged, or an array is missing or too large.
    """
    with open_archive(path, field, allowed) as archive:
        return {
            name: parse_npy(
                read_member(archive, f"{name}.npy", most + _MOST_HEADER_BYTES, field=field, allowed=allowed),
                field=field,
                shown=str(path),
                allowed=allowed,
            )
            for name, most in most_bytes.items()
        }

"""Archives: until ``agents`` reads its own."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from dragonfly_env.checks.files import read_arrays as read_arrays
from dragonfly_env.checks.files import refusing, replacing
from dragonfly_env.checks.files import write_arrays as write_arrays
from dragonfly_env.checks.outside import parsing


@contextmanager
def open_archive(path: Path, field: str, allowed: str) -> Iterator[zipfile.ZipFile]:
    """A zip file, open for ``read_member``."""
    with parsing(field, str(path), allowed):
        archive = zipfile.ZipFile(path)
    with archive:
        yield archive


def write_archive(path: Path, members: Mapping[str, bytes], field: str) -> None:
    """Write a zip file; the same members give the same bytes."""
    with (
        refusing(field, path, "must be writable"),
        replacing(path) as temporary,
        zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED) as archive,
    ):
        for name, content in members.items():
            info = zipfile.ZipInfo(name)
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, content)


def read_member(archive: zipfile.ZipFile, name: str, most_bytes: int, *, field: str, allowed: str) -> bytes:
    """The content of one file of an archive."""
    with parsing(field, str(archive.filename), allowed):
        return archive.read(name)


def parse_npy(content: bytes, *, field: str, shown: str, allowed: str) -> npt.NDArray[Any]:
    """The array in the bytes of an ``.npy`` file. Nothing is unpickled."""
    with parsing(field, shown, allowed):
        array: npt.NDArray[Any] = np.load(io.BytesIO(content), allow_pickle=False)
        return array


def write_npy(array: npt.NDArray[Any]) -> bytes:
    """The bytes of an ``.npy`` file."""
    stream = io.BytesIO()
    np.lib.format.write_array(stream, array, version=(1, 0), allow_pickle=False)
    return stream.getvalue()

"""Files: documents and arrays that are read with one clear error, and files that appear complete or not at all."""

from __future__ import annotations

import errno
import gzip
import io
import json
import math
import os
import re
import secrets
import shutil
import stat
import sys
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
import numpy.typing as npt

from dragonfly_env.checks.extras import require_analysis
from dragonfly_env.checks.values import config_error

if TYPE_CHECKING:
    import pandas as pd

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_BYTE_ORDER_MARK = "\ufeff"  # first character of texts that some editors and spreadsheets write
_GZIP = b"\x1f\x8b"

_FOLDER = "must be a folder that can be written to"
_FILE = "must be a file that can be written"


@contextmanager
def open_output(target: Path) -> Iterator[BinaryIO]:
    """Open an output file for bytes, which appear together when the block ends, or not at all.

    A regular file, or a new name, is renamed into place; a symbolic link is followed. A pipe or a character device is
    written to, and so is a file that is this program's standard output or standard error. Anything else is refused.
    """
    content: BinaryIO
    try:
        if stream := _stream(target):
            content = io.BytesIO()  # writers of Parquet and of figures need a position, and a pipe has none
            yield content
            with stream() as file:
                file.write(content.getbuffer())
            return
        place = target.resolve()
        temporary = place.with_name(f"{os.getpid()}-{secrets.token_hex(4)}.tmp")  # machines share folders
        try:
            with temporary.open("wb") as content:
                yield content
            if place.exists():
                shutil.copymode(place, temporary)
            temporary.replace(place)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        raise OSError(error.errno, error.strerror or str(error), str(target)) from error


def _stream(target: Path) -> Callable[[], BinaryIO] | None:
    """The function that opens a target for writing in place; None: the target is renamed into place."""
    try:
        status = target.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    for number, stream in ((1, sys.stdout), (2, sys.stderr)):
        with suppress(OSError):  # the stream may be closed
            if os.path.samestat(status, os.fstat(number)):
                stream.flush()
                return lambda: os.fdopen(os.dup(number), "wb")
    if not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, "permission denied", str(target))
    if stat.S_ISFIFO(status.st_mode) or stat.S_ISCHR(status.st_mode):
        return lambda: target.open("wb")
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, "neither a file, nor a pipe, nor a character device", str(target))
    return None


def write_text(text: str, target: Path) -> None:
    """Write a text as UTF-8."""
    with open_output(target) as file:
        file.write(text.encode())


@contextmanager
def refusing(field: str, path: Path, allowed: str) -> Iterator[None]:
    """Turn `OSError` into the refusal of a path."""
    try:
        yield
    except OSError as error:
        raise config_error(field, str(path), f"{allowed} ({error.strerror or error})") from error


def fill_page(template: str, parts: Mapping[str, str], path: Path) -> None:
    """Write an HTML page: each ``{{NAME}}`` of the template becomes the part of this name."""
    page = re.sub(r"\{\{([A-Z]+)\}\}", lambda match: parts[match[1]], template)
    with refusing("page", path, "must be writable"):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_text(page, path)


def make_folders(*folders: Path) -> None:
    """Make results folders, before hours are spent on what they are for."""
    for folder in folders:
        with refusing("folder", folder, _FOLDER):
            folder.mkdir(parents=True, exist_ok=True)
        _check_writable("folder", folder, _FOLDER)


def check_folder(field: str, path: str | Path) -> Path:
    """Refuse a folder that cannot be made or written to. Makes nothing."""
    folder = Path(path)
    _check_writable(field, folder, _FOLDER)
    return folder


def check_file(field: str, path: str | Path) -> Path:
    """Refuse a file that cannot be written; the folders above it are made."""
    file = Path(path)
    if file.is_dir():
        raise config_error(field, str(file), f"{_FILE} (it is a folder)")
    with refusing(field, file, _FILE):
        if _stream(file) is None:
            folder = file.resolve().parent
            _check_writable(field, folder, _FILE, shown=file)
            folder.mkdir(parents=True, exist_ok=True)
    return file


def _check_writable(field: str, folder: Path, allowed: str, shown: Path | None = None) -> None:
    """Refuse a folder if the nearest one that exists is none, cannot be written to, or is the root of the system: a
    mistyped path makes no folders there.
    """
    path = folder.absolute()
    there = next(place for place in (path, *path.parents) if place.exists())
    if there == Path(path.anchor) != path:
        top = there / path.parts[1]
        raise config_error(
            field, str(shown or folder), f"{allowed} (there is no {top}: make it with 'mkdir {top}')"
        )
    if not there.is_dir() or not os.access(there, os.W_OK | os.X_OK):
        reason = "permission denied" if there.is_dir() else f"{there} is no folder"
        raise config_error(field, str(shown or folder), f"{allowed} ({reason})")


# Documents.


def parse_json(text: str, field: str = "json", *, file: object = None, allowed: str = "must be JSON") -> Any:
    """The value that a JSON text holds; ``file`` names its origin in messages."""
    try:
        return json.loads(text.removeprefix(_BYTE_ORDER_MARK))
    except ValueError as error:
        raise config_error(field, text if file is None else str(file), f"{allowed} ({error})") from None


def parse_toml(text: str, field: str = "toml", *, file: object = None) -> dict[str, Any]:
    """The table that a TOML text holds; ``file`` names its origin in messages."""
    try:
        return tomllib.loads(text.removeprefix(_BYTE_ORDER_MARK))
    except ValueError as error:
        raise config_error(field, text if file is None else str(file), f"must be TOML ({error})") from None


def read_json(path: str | Path, field: str = "file", *, allowed: str = "must be JSON") -> Any:
    """The value in a JSON file."""
    return parse_json(_read(path, field), field, file=path, allowed=allowed)


def read_toml(path: str | Path, field: str = "file") -> dict[str, Any]:
    """The table in a TOML file."""
    return parse_toml(_read(path, field), field, file=path)


def _read(path: str | Path, field: str) -> str:
    try:
        with refusing(field, Path(path), "must be a readable file"):
            return Path(path).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise config_error(field, str(path), "must be text in UTF-8") from None


def read_csv(content: bytes, **options: Any) -> pd.DataFrame:
    """The table in a CSV file, which may be compressed. A byte order mark and blanks around cells are left out.

    Args:
        content: The bytes of the file.
        **options: Keyword arguments of ``pandas.read_csv``.

    Raises:
        ImportError: If pandas is not installed.
        EOFError, OSError, ValueError, zlib.error: If the content cannot be read.
    """
    require_analysis("a table in a file")
    import pandas as pd  # here, because it takes long and few need it

    plain = gzip.decompress(content) if content.startswith(_GZIP) else content
    table: pd.DataFrame = pd.read_csv(
        io.BytesIO(plain), encoding="utf-8-sig", skipinitialspace=True, **options
    )
    return table.rename(columns=lambda name: name.strip() if isinstance(name, str) else name)


def dump_toml(table: Mapping[str, Any]) -> str:
    """Write a table of plain values as TOML: scalars first, then sub-tables; None is left out."""
    return "\n".join(_table(table, ())) + "\n"


def _table(table: Mapping[str, Any], path: tuple[str, ...]) -> list[str]:
    lines = []
    for key, value in table.items():
        if value is not None and not isinstance(value, Mapping):
            lines.append(f"{_key(key)} = {_value(value)}")
    for key, value in table.items():
        if isinstance(value, Mapping):
            inner = (*path, key)
            lines += ["", f"[{'.'.join(_key(part) for part in inner)}]", *_table(value, inner)]
    return lines[1:] if lines and not lines[0] else lines


def _key(key: str) -> str:
    bare = key != "" and all(c.isascii() and (c.isalnum() or c in "-_") for c in key)
    return key if bare else _string(key)


def _string(text: str) -> str:
    # JSON's escapes are TOML's, but JSON may leave DEL as it is.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _value(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _string(value)
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else str(value)
    if isinstance(value, Mapping):
        inner = ", ".join(f"{_key(k)} = {_value(v)}" for k, v in value.items() if v is not None)
        return f"{{{inner}}}"
    if isinstance(value, Sequence):
        return f"[{', '.join(_value(item) for item in value)}]"
    raise TypeError(f"TOML cannot hold {type(value).__name__}")


# Arrays.


def write_arrays(path: str | Path, arrays: Mapping[str, Any], *, compressed: bool = False) -> Path:
    """Write an ``.npz`` file and return its path; ``.npz`` is added if it is missing."""
    target = Path(path)
    if target.suffix != ".npz":
        target = target.with_name(target.name + ".npz")
    write = np.savez_compressed if compressed else np.savez
    with (
        refusing("path", target, "must be writable"),
        open_output(target) as file,
    ):
        write(file, **arrays)
    return target


def read_arrays(
    path: str | Path, names: Iterable[str], *, field: str, allowed: str
) -> dict[str, npt.NDArray[Any]]:
    """Arrays of an ``.npz`` file by name. Nothing is unpickled."""
    try:
        with (
            refusing(field, Path(path), allowed),
            Path(path).open("rb") as file,
            np.load(file, allow_pickle=False) as arrays,
        ):
            return {name: arrays[name] for name in names}
    except (ValueError, KeyError, EOFError, TypeError, AttributeError, zipfile.BadZipFile) as error:
        raise config_error(field, str(path), f"{allowed} ({error})") from None

"""Every file that the package writes, and whether it can be written before work is done for it.

A file appears complete or not at all: a temporary file in the same folder takes its name when it is whole. So a
symbolic link that has that name is replaced, and the file that it leads to stays as it is. A folder that a command
makes within a results folder must not be a link either; the results folder itself may be one, as its user names it.
"""

from __future__ import annotations

import errno
import hashlib
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dragonfly_env.checks.outside import check_path
from dragonfly_env.checks.values import config_error
from dragonfly_env.errors import ConfigError

TEMPORARY = "*.tmp"
"""Names of files that a process which was killed may leave."""

_LONGEST_NAME = 140  # of those that commands give to what is in a folder of the user, folders in it included
_STREAMS = ("/dev", "/proc")  # where links lead to open streams
_FOLDER = "must be a folder that can be written to"
_FILE = "must be a file that can be written"


@contextmanager
def replacing(target: Path, *, stream: bool = False) -> Iterator[Path]:
    """An empty file in the folder of ``target`` that takes its place if the block ends well.

    Args:
        target: Where the file is to be. A link there is replaced, not followed.
        stream: Whether ``target`` may be a pipe or a device, which is then written to. For names that a user typed.

    Raises:
        OSError: With the name of ``target``, if it cannot be written.
    """
    try:
        if stream and _is_stream(target):
            yield target
            return
        temporary = _new_file(target)
        try:
            yield temporary
            temporary.replace(target)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:  # the user knows nothing of temporary files
        raise OSError(error.errno, error.strerror or str(error), str(target)) from error


def write_text(text: str, target: Path, *, stream: bool = False) -> None:
    """Write a text as UTF-8; the bytes of a file name that are no UTF-8 are spelt. ``stream``: see `replacing`.

    Raises:
        OSError: If it cannot be written.
    """
    with replacing(target, stream=stream) as temporary:
        temporary.write_bytes(text.encode(errors="backslashreplace"))


def without_link(target: Path) -> Path:
    """``target`` after removing the link that may be there, for programs that write files themselves."""
    if target.is_symlink():
        target.unlink()
    return target


def open_own(file: Path) -> int:
    """A descriptor of a file of a command's own, which is made if need be; a link is removed.

    Raises:
        OSError: If it cannot be opened.
    """
    return os.open(without_link(file), os.O_CREAT | os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK, 0o666)


def make_folders(first: Path, *within: Path) -> None:
    """Make folders and prove that files can be written there.

    Args:
        first: As the user named it.
        *within: Folders in it that the package names. They must not be links.

    Raises:
        ConfigError: If one cannot be made or written to.
    """
    field = "results folder"
    check_folder(field, first)
    with refusing(field, first, _FOLDER):
        first.mkdir(parents=True, exist_ok=True)
    for folder in (first, *within):
        if folder is not first:
            refuse_link(field, folder)
        with refusing(field, first, _FOLDER):
            folder.mkdir(exist_ok=True)
            _new_file(folder / "_").unlink()


def refuse_link(field: str, folder: Path) -> None:
    """Refuse a folder of a command's own that is a symbolic link.

    Raises:
        ConfigError: If it is one.
    """
    if folder.is_symlink():
        raise config_error(field, str(folder), "must be a folder, not a symbolic link")


def check_folder(field: str, path: object) -> Path:
    """Refuse a folder that cannot be made or written to. Makes nothing.

    Raises:
        ConfigError: If the name is too long, something else has it, or the permission is missing.
    """
    folder = check_path(field, path)
    with refusing(field, folder, _FOLDER):
        _check_place(folder, _LONGEST_NAME)
    return folder


def check_file(field: str, path: object) -> Path:
    """Refuse a file that cannot be written; the folders above it are made.

    Raises:
        ConfigError: If the name is too long, a folder has it, or the permission is missing.
    """
    file = check_path(field, path)
    with refusing(field, file, _FILE):
        if _is_stream(file):
            return file
        if not file.name:
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        _check_place(file.parent, len(os.fsencode(file.name)))
        file.parent.mkdir(parents=True, exist_ok=True)
        mode = _mode(file)
        if mode is not None and stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if mode is not None and stat.S_ISREG(mode) and not os.access(file, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        _new_file(file).unlink()
    return file


def _new_file(target: Path) -> Path:
    """An empty file that nothing else has the name of, in the folder of ``target``."""
    digest = hashlib.sha256(os.fsencode(target.name)).hexdigest()[:16]  # the name may be as long as allowed
    # With the process, since machines share folders.
    path = target.with_name(f"{digest}.{os.getpid()}.{secrets.token_hex(4)}.tmp")
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_NOFOLLOW, 0o666))
    return path


def _mode(path: Path) -> int | None:
    """What is at a path, or None for nothing; a link is not followed."""
    try:
        return path.lstat().st_mode
    except FileNotFoundError:
        return None


def _is_stream(path: Path) -> bool:
    """Whether it is a pipe, a socket or a device, or one of the system's links to an open stream."""
    mode = _mode(path)
    if mode is None:
        return False
    if stat.S_ISLNK(mode):
        return path.is_absolute() and path.parts[1:2] in [(name[1:],) for name in _STREAMS]
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def _check_place(folder: Path, name_bytes: int) -> None:
    """Raise `OSError` if a folder cannot be made, or a file with a name of this length cannot be made there."""
    place = Path(os.path.normpath(folder if folder.is_absolute() else _here() / folder))
    around = next(one for one in (place, *place.parents) if os.path.lexists(one))
    names = [len(os.fsencode(part)) for part in place.relative_to(around).parts]
    longest, whole = (os.pathconf(around, limit) for limit in ("PC_NAME_MAX", "PC_PATH_MAX"))
    if max([*names, name_bytes]) > longest or len(os.fsencode(place)) + 1 + name_bytes >= whole:
        raise OSError(errno.ENAMETOOLONG, os.strerror(errno.ENAMETOOLONG))
    if not around.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
    if not os.access(around, os.W_OK | os.X_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))


def working_directory() -> Path:
    """Where relative names are looked for.

    Raises:
        ConfigError: If it has been deleted.
    """
    with refusing("working directory", Path(), "must exist"):
        return _here()


def _here() -> Path:
    try:
        return Path.cwd()
    except FileNotFoundError as error:
        raise FileNotFoundError(error.errno, "the working directory has been deleted") from None


@contextmanager
def refusing(field: str, path: Path, allowed: str) -> Iterator[None]:
    """Turn `OSError` into the refusal of a path.

    Raises:
        ConfigError: ``field`` with ``path``, what is ``allowed``, and the reason in brackets.
    """
    try:
        yield
    except ConfigError:
        raise
    except OSError as error:
        raise config_error(field, str(path), f"{allowed} ({error.strerror or error})") from error

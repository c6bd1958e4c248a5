"""Saved agents: one zip file with a description in JSON and the learned arrays, without pickled objects.

``agent.json`` names the format, the kind of agent, its settings, the layout of the observations that it was trained
on and the topology. The other members belong to the kind of agent.
"""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dragonfly_env._validate import config_error

FORMAT = 1
_HEADER = "agent.json"
_EPOCH = (1980, 1, 1, 0, 0, 0)  # the same agent gives the same file, whenever it is saved


def write_agent(path: str | Path, header: Mapping[str, Any], members: Mapping[str, bytes]) -> None:
    """Write a saved agent; the file appears complete or not at all.

    Args:
        path: The file; folders above it are made.
        header: Plain values; must have ``kind``.
        members: Further files of the archive by name.

    Raises:
        ConfigError: If the file cannot be written.
    """
    target = Path(path)
    text = json.dumps({"format": FORMAT, **header}, indent=1, allow_nan=False)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=target.name, suffix=".part")
    except OSError as error:
        raise config_error("agent", str(target), f"must be writable ({error.strerror})") from error
    try:
        with os.fdopen(handle, "wb") as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in {_HEADER: text.encode(), **members}.items():
                info = zipfile.ZipInfo(name, _EPOCH)
                info.compress_type = zipfile.ZIP_DEFLATED
                archive.writestr(info, content)
        Path(temporary).replace(target)
    except BaseException as error:
        with contextlib.suppress(OSError):
            Path(temporary).unlink()
        if isinstance(error, OSError):
            raise config_error("agent", str(target), f"must be writable ({error.strerror})") from error
        raise


def read_header(path: str | Path) -> dict[str, Any]:
    """The description in a saved agent.

    Raises:
        ConfigError: If the file is missing or is no saved agent of a known format.
    """
    return read_agent(path, ())[0]


def read_agent(
    path: str | Path, members: tuple[str, ...], *, kind: str | None = None
) -> tuple[dict[str, Any], dict[str, bytes]]:
    """Read a saved agent.

    Args:
        path: The file.
        members: The further files of the archive to read.
        kind: The kind of agent that it must be; None: any.

    Returns:
        The description, and the contents of the members by name.

    Raises:
        ConfigError: If the file is missing, damaged, no saved agent, of another format or of another kind.
    """
    source = Path(path)
    try:
        with zipfile.ZipFile(source) as archive:
            header = json.loads(archive.read(_HEADER))
            contents = {name: archive.read(name) for name in members}
    except OSError as error:
        raise config_error("agent", str(source), f"must be a readable file ({error.strerror})") from error
    except (zipfile.BadZipFile, KeyError, ValueError, EOFError, RuntimeError, NotImplementedError) as error:
        raise config_error("agent", str(source), f"must be a saved agent ({error})") from error
    except Exception as error:
        if type(error).__module__ != "zlib":
            raise
        raise config_error("agent", str(source), f"must be a saved agent ({error})") from error
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise config_error("agent", str(source), f"must be a saved agent of format {FORMAT}")
    if kind is not None and header.get("kind") != kind:
        raise config_error(
            "agent", str(source), f"must be a saved agent of kind {kind!r}, not {header.get('kind')!r}"
        )
    return header, contents

"""Saved agents: one zip file with a description in JSON and the learned arrays, without pickled objects.

``agent.json`` names the format, the kind of agent, its settings, the layout of the observations that it was trained
on and the topology. The other members belong to the kind of agent.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dragonfly_env.checks.archives import open_archive, read_member, write_archive
from dragonfly_env.checks.documents import parse_json
from dragonfly_env.checks.files import refusing
from dragonfly_env.checks.outside import check_path, parsing
from dragonfly_env.checks.values import config_error

FORMAT = 2
_HEADER = "agent.json"
_ALLOWED = "must be a saved agent"
_MOST_HEADER_BYTES = 2**24
_MOST_MEMBER_BYTES = 2**30


def write_agent(path: str | Path, header: Mapping[str, Any], members: Mapping[str, bytes]) -> None:
    """Write a saved agent; the file appears complete or not at all.

    Args:
        path: The file; folders above it are made.
        header: Plain values; must have ``kind``.
        members: Further files of the archive by name.

    Raises:
        ConfigError: If the file cannot be written.
    """
    target = check_path("agent", path)
    text = json.dumps({"format": FORMAT, **header}, indent=1, allow_nan=False)
    with refusing("agent", target, "must be writable"):
        target.parent.mkdir(parents=True, exist_ok=True)
    write_archive(target, {_HEADER: text.encode(), **members}, "agent")


def read_header(path: str | Path, *, kind: str | None = None) -> dict[str, Any]:
    """The description in a saved agent; ``kind`` as for ``read_agent``.

    Raises:
        ConfigError: If the file is missing or is no saved agent of a known format.
    """
    return read_agent(path, (), kind=kind)[0]


def uncompressed_bytes(path: str | Path) -> int:
    """What all members of a saved agent need together in memory, as the archive says.

    Raises:
        ConfigError: If the file is no archive.
    """
    with open_archive(check_path("agent", path), "agent", _ALLOWED) as archive:
        return sum(info.file_size for info in archive.infolist())


def read_agent(
    path: str | Path, members: Sequence[str], *, kind: str | None = None, most_bytes: int = _MOST_MEMBER_BYTES
) -> tuple[dict[str, Any], dict[str, bytes]]:
    """Read a saved agent.

    Args:
        path: The file.
        members: The further files of the archive to read.
        kind: The kind of agent that it must be; None: any.
        most_bytes: Of one of the members, uncompressed.

    Returns:
        The description, and the contents of the members by name.

    Raises:
        ConfigError: If the file is missing, damaged, no saved agent, of another format or of another kind.
    """
    source = check_path("agent", path)
    with open_archive(source, "agent", _ALLOWED) as archive:
        text = read_member(archive, _HEADER, _MOST_HEADER_BYTES, field="agent", allowed=_ALLOWED)
        with parsing("agent", str(source), _ALLOWED):
            description = text.decode("utf-8")
        header = parse_json(description, "agent", file=str(source), allowed=_ALLOWED)
        if not isinstance(header, dict) or header.get("format") != FORMAT:
            raise config_error("agent", str(source), f"{_ALLOWED} of format {FORMAT}")
        if kind is not None and header.get("kind") != kind:
            raise config_error(
                "agent", str(source), f"{_ALLOWED} of kind {kind!r}, not {header.get('kind')!r}"
            )
        contents = {
            name: read_member(archive, name, most_bytes, field="agent", allowed=_ALLOWED) for name in members
        }
    return header, contents

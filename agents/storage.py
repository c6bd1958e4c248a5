"""Saved agents: one file of NumPy arrays (``.npz``), of which ``about`` is a description in JSON. Nothing is pickled.

The description has the format, the kind of agent, its settings, and the layout and the network that it was trained on.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from dragonfly_env.checks.files import refusing, replacing
from dragonfly_env.checks.values import config_error

FORMAT = 3


def write_agent(path: str | Path, header: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> None:
    """Write a saved agent; the file appears complete or not at all.

    Args:
        path: The file; folders above it are made.
        header: Plain values; must have ``kind``.
        arrays: The learned arrays by name.
    """
    target = Path(path)
    members: dict[str, Any] = {"about": np.array(json.dumps({"format": FORMAT, **header})), **arrays}
    with refusing("agent", target, "must be writable"):
        target.parent.mkdir(parents=True, exist_ok=True)
        with replacing(target) as temporary, temporary.open("wb") as file:
            np.savez_compressed(file, **members)


def read_header(path: str | Path) -> dict[str, Any]:
    """The description in a saved agent; its arrays are not read."""
    return _read(Path(path), arrays=False)[0]


def read_agent(path: str | Path, kind: str) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
    """The description and the arrays of a saved agent.

    Raises:
        ConfigError: If the file is missing, damaged, of another format or of another kind.
    """
    header, arrays = _read(Path(path), arrays=True)
    if header.get("kind") != kind:
        raise config_error(
            "agent", str(path), f"must be a saved agent of kind {kind!r}, not {header.get('kind')!r}"
        )
    return header, arrays


def _read(path: Path, *, arrays: bool) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
    allowed = f"must be a saved agent of format {FORMAT}"
    try:
        with (
            refusing("agent", path, allowed),
            path.open("rb") as file,
            np.load(file, allow_pickle=False) as saved,
        ):
            header = json.loads(str(saved["about"]))
            contents = {name: saved[name] for name in saved.files if name != "about"} if arrays else {}
    except (ValueError, KeyError, EOFError, TypeError, AttributeError, zipfile.BadZipFile) as error:
        raise config_error("agent", str(path), f"{allowed} ({error})") from None
    if header["format"] != FORMAT:
        raise config_error("agent", str(path), f"{allowed}, not {header['format']}")
    return header, contents

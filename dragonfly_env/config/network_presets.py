"""The presets of ``NetworkConfig``, from the TOML file next to this module."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dragonfly_env.checks.files import read_toml
from dragonfly_env.config.rows import read_only

_FILE = read_toml(Path(__file__).with_suffix(".toml"))

MEANINGS: dict[str, str] = {name: values.pop("meaning") for name, values in _FILE.items()}
"""Meaning of each preset, for lists of presets."""

PRESETS: Mapping[str, Mapping[str, Any]] = read_only(
    {name: {**_FILE.get(values.pop("like", ""), {}), **values} for name, values in _FILE.items()}
)
"""Per name, what differs from the defaults of the fields."""

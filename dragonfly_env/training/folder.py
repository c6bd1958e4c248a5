"""A training on disk: the agent and its checkpoints, a row per episode, and all that is needed to go on.

A folder holds ``training.json`` (what is trained, and how far it is), ``checkpoints/``, ``episodes.parquet``,
``tensorboard/`` and, when the training has ended, ``agent.zip``.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pyarrow as pa

from dragonfly_env.checks.files import make_folders, refuse_link
from dragonfly_env.checks.values import config_error
from dragonfly_env.errors import ConfigError
from dragonfly_env.sweeps.storage import (
    METADATA_KEY,
    hold,
    read_json,
    read_rows,
    write_json,
    write_table,
)


class TrainingFolder:
    """The files of one training.

    Args:
        path: The folder; it need not exist yet.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.agent = path / "agent.zip"
        self.checkpoints = path / "checkpoints"
        self.latest = self.checkpoints / "latest.zip"
        self.episodes = path / "episodes.parquet"
        self.tensorboard = path / "tensorboard"
        self.state = path / "training.json"

    def prepare(self) -> None:
        """Create the folder and prove that it can be written to.

        Raises:
            ConfigError: If it cannot.
        """
        make_folders(self.path, self.checkpoints)
        refuse_link("results folder", self.tensorboard)

    def locked(self) -> AbstractContextManager[None]:
        """Hold the folder for one training.

        Raises:
            ConfigError: On entering, if another training is writing to it.
        """
        return hold(self.path, "another training")

    def clear(self) -> None:
        """Remove what an earlier training left, and nothing else."""
        for file in (self.agent, self.episodes, self.state, *self.checkpoints.glob("*.zip")):
            file.unlink(missing_ok=True)
        shutil.rmtree(self.tensorboard, ignore_errors=True)

    def read_state(self) -> dict[str, Any] | None:
        """What was being trained and how far it got, or None in a new folder.

        Raises:
            ConfigError: If the file is damaged.
        """
        if not self.state.exists():
            return None
        state = read_json(self.state, "training")
        if not isinstance(state, dict) or not {"plan", "progress"} <= state.keys():
            raise config_error("training", str(self.state), "must be what an earlier training wrote")
        return state

    def write_state(self, state: Mapping[str, Any]) -> None:
        """Write it; the file appears complete or not at all."""
        write_json(state, self.state)

    def read_episodes(self, count: int) -> list[dict[str, Any]]:
        """The rows of the first ``count`` episodes, as far as they are there.

        Raises:
            ConfigError: If the file is damaged; it says that the agent is not.
        """
        if not self.episodes.exists():
            return []
        try:
            (table,) = read_rows([self.episodes])
        except ConfigError as error:
            raise ConfigError(
                f"{error}: it only tells the course so far; without that file the training goes on"
            ) from error
        rows: list[dict[str, Any]] = table.to_pylist()
        known = [{name: value for name, value in row.items() if value is not None} for row in rows]
        return [row for row in known if row["episode"] <= count]

    def write_episodes(self, rows: Sequence[Mapping[str, Any]], provenance: Mapping[str, Any]) -> None:
        """Write a row per episode, and what made them."""
        names = list(dict.fromkeys(name for row in rows for name in row))
        if not names:
            return
        table = pa.table({name: [row.get(name) for row in rows] for name in names})
        metadata = {METADATA_KEY: json.dumps(provenance).encode()}
        write_table(table.replace_schema_metadata(metadata), self.episodes)

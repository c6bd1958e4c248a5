"""Results on disk: one small Parquet file per run, written at once or not at all, and the list of runs that
belong together.

A results folder holds ``scenario.json`` (the runs of the last sweep, in order), ``runs/<id>.parquet`` (one
row each) and, when a sweep has ended, ``results.parquet`` (all rows of that list).
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa

from dragonfly_env.checks import documents
from dragonfly_env.checks.files import TEMPORARY, make_folders, open_own, replacing, write_text
from dragonfly_env.checks.outside import parsing
from dragonfly_env.checks.values import config_error
from dragonfly_env.errors import ConfigError
from dragonfly_env.sweeps.parquet import (
    DAMAGED,
    METADATA_KEY,
    read_parquet,
    read_sealed_metadata,
    sealed,
    write_parquet,
)

MERGED_NAME = "results.parquet"
MANIFEST_NAME = "scenario.json"
_SEED = pa.uint64()


class ResultsFolder:
    """The files of one results folder.

    Args:
        path: The folder; it need not exist yet.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.runs = path / "runs"
        self.merged = path / MERGED_NAME
        self.manifest = path / MANIFEST_NAME

    def run_file(self, run_id: str) -> Path:
        """Where a run's row is, or will be."""
        return self.runs / f"{run_id}.parquet"

    def marker(self, run_id: str) -> Path:
        """A file that exists while a worker is busy with the run."""
        return self.runs / f"{run_id}.running"

    def failure(self, run_id: str) -> Path:
        """A file in which a worker on another machine says why a run failed, until the sweep has read it."""
        return self.runs / f"{run_id}.failed"

    def prepare(self) -> None:
        """Create the folder and prove that it can be written to.

        Raises:
            ConfigError: If it cannot, before any work is lost.
        """
        make_folders(self.path, self.runs)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the folder for one sweep; what an interrupted one left half done is removed.

        Raises:
            ConfigError: If another sweep is writing to it.
        """
        with hold(self.path, "another sweep"):
            for pattern in (TEMPORARY, "*.running", "*.failed"):
                for leftover in self.runs.glob(pattern):
                    leftover.unlink(missing_ok=True)
            yield

    def write_run(self, row: Mapping[str, Any], provenance: Mapping[str, Any]) -> Path:
        """Write one run's row; the file appears complete or not at all."""
        table = table_of(row).replace_schema_metadata({METADATA_KEY: json.dumps(provenance).encode()})
        target = self.run_file(str(row["run_id"]))
        with replacing(target) as temporary:
            temporary.write_bytes(sealed(table))
        return target

    def run_ids(self) -> list[str]:
        """The runs whose files are there, intact or not, sorted."""
        return sorted(file.stem for file in self.runs.glob("*.parquet"))

    def provenance_of(self, run_id: str) -> dict[str, Any] | None:
        """Who made a finished run, when and of what, or None if there is no intact one."""
        try:
            provenance = json.loads(read_sealed_metadata(self.run_file(run_id)))
            if provenance["run_id"] != run_id:
                return None
            return {**provenance, "package_version": str(provenance["package_version"])}
        except DAMAGED:
            return None

    def version_of(self, run_id: str) -> str | None:
        """The package version that made a finished run, or None if there is no intact one."""
        provenance = self.provenance_of(run_id)
        return None if provenance is None else str(provenance["package_version"])

    def seconds_of(self, run_id: str) -> float | None:
        """How long a finished run took, or None if that is not known."""
        seconds = (self.provenance_of(run_id) or {}).get("wall_seconds")
        return seconds if isinstance(seconds, float) else None

    def remove_damaged(self, run_id: str) -> bool:
        """Remove the file of a run for which `version_of` has found no intact one; whether there was one."""
        file = self.run_file(run_id)
        if not file.exists():
            return False
        file.unlink()
        return True

    def write_manifest(self, content: Mapping[str, Any]) -> None:
        """Write the list of runs that belong together."""
        write_json(content, self.manifest)

    def read_manifest(self) -> dict[str, Any] | None:
        """The list of runs that belong together, or None if there is none.

        Raises:
            ConfigError: If the file is damaged.
        """
        if not self.manifest.exists():
            return None
        manifest = read_json(self.manifest, "results")
        if not isinstance(manifest, dict):
            raise config_error("results", str(self.manifest), "must be what a sweep wrote")
        return manifest

    def read_runs(
        self,
        labels: Mapping[str, Mapping[str, str]],
        *,
        check: Callable[[pa.Table, str], None] | None = None,
        refused: list[ConfigError] | None = None,
    ) -> list[pa.Table]:
        """The rows of those runs that are finished, in the order given.

        Args:
            labels: By run: what stands in the columns ``policy`` and ``traffic``. An earlier sweep may have given the
                same simulation other names.
            check: Called with each table and the name of its file; it may raise ``ConfigError``.
            refused: Takes the errors of files that cannot be used, which are then left out.

        Raises:
            ConfigError: If a file is no readable Parquet file, or ``check`` refuses it, without ``refused``.
        """
        tables = []
        for run_id, names in labels.items():
            file = self.run_file(run_id)
            if not file.exists():
                continue
            try:
                (table,) = read_rows([file])
                if check is not None:
                    check(table, str(file))
            except ConfigError as error:
                if refused is None:
                    raise
                refused.append(error)
                continue
            for column, label in names.items():
                if column in table.column_names:
                    place = table.column_names.index(column)
                    table = table.set_column(place, column, pa.array([label] * table.num_rows))
            tables.append(table)
        return tables

    def merge(self, labels: Mapping[str, Mapping[str, str]]) -> int:
        """Write the rows of the finished ones of some runs (see `read_runs`) to one file.

        Returns:
            The number of rows. With none, nothing is written.
        """
        tables = self.read_runs(labels, refused=[])
        if not tables:
            return 0
        merged = pa.concat_tables(tables, promote_options="permissive")
        write_table(merged, self.merged)
        return int(merged.num_rows)


def table_of(row: Mapping[str, Any]) -> pa.Table:
    """A row of results as a table of one line."""
    # A seed may be too large for the integers that are taken for Python's.
    return pa.table(
        {name: pa.array([value], _SEED if name == "seed" else None) for name, value in row.items()}
    )


@contextmanager
def hold(folder: Path, other: str) -> Iterator[None]:
    """Keep a folder for this process.

    Args:
        folder: An existing folder.
        other: What else may be using it, for the message.

    Raises:
        ConfigError: If another process holds it.
    """
    lock = folder / ".lock"
    try:
        descriptor = open_own(lock)
    except OSError as error:
        raise config_error("lock", str(lock), f"must be a writable file ({error.strerror})") from error
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno not in (errno.EAGAIN, errno.EACCES):
                raise
            raise config_error("results folder", str(folder), f"must not be in use by {other}") from None
        yield
    finally:
        os.close(descriptor)


def read_rows(files: Sequence[Path]) -> list[pa.Table]:
    """One table per file, each without its own provenance metadata (every row repeats it in columns).

    Raises:
        ConfigError: If a file is no readable Parquet file.
    """
    tables = []
    for file in files:
        with parsing("results", str(file), "cannot be read"):
            tables.append(_with_seeds(read_parquet(file).replace_schema_metadata(None)))
    return tables


def _with_seeds(table: pa.Table) -> pa.Table:
    """The same with seeds of the type of today, if they are integers at all."""
    place = table.schema.get_field_index("seed")
    if place < 0 or not pa.types.is_integer(table.schema.types[place]):
        return table
    return table.set_column(place, "seed", table["seed"].cast(_SEED))


def read_json(file: Path, what: str) -> Any:
    """The content of a file.

    Args:
        file: As `write_json` wrote it.
        what: What it is called in the message.

    Raises:
        ConfigError: If it is missing or damaged.
    """
    return documents.read_json(file, what, allowed="cannot be read")


def write_json(content: Mapping[str, Any], target: Path) -> None:
    """Write a JSON file; it appears complete or not at all."""
    write_text(json.dumps(content, indent=1) + "\n", target)


def write_table(table: pa.Table, target: Path, *, stream: bool = False) -> None:
    """Write a Parquet file; it appears complete or not at all. ``stream``: see `replacing`."""
    with replacing(target, stream=stream) as temporary, temporary.open("wb") as file:
        write_parquet(table, file)

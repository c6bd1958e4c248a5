"""Results on disk: one small Parquet file per run, written at once or not at all, and the list of runs that
belong together.

A results folder holds ``scenario.json`` (the runs of the last sweep, in order), ``runs/<id>.parquet`` (one
row each) and, when a sweep is over, ``results.parquet`` (all rows of that list). No process removes or locks anything,
so that several may write runs into one folder at the same time: a run that two of them do has the same row twice, and
the second file replaces the first.

Files are opened here and handed to pyarrow open: it takes names with a colon for addresses.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

import dragonfly_env as dfe
from dragonfly_env.checks.files import make_folders, read_json, replacing, write_text
from dragonfly_env.checks.values import config_error

MERGED_NAME = "results.parquet"
MANIFEST_NAME = "scenario.json"
METADATA_KEY = b"dragonfly_env"
FORMAT = 1
"""The version of the columns and the metadata of a run's file."""

KEYS = ("traffic", "policy", "load")
_NEEDED = {*KEYS, "run_id", "seed", "accepted_load", "latency_mean_ns", "configuration", "package_version"}


class ResultsFolder:
    """The files of one results folder, which need not exist yet."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.runs = path / "runs"
        self.merged = path / MERGED_NAME
        self.manifest = path / MANIFEST_NAME

    def run_file(self, run_id: str) -> Path:
        """The file of a run's row."""
        return self.runs / f"{run_id}.parquet"

    def prepare(self) -> None:
        """Create the folder; `ConfigError` if files cannot be written there."""
        make_folders(self.path, self.runs)

    def write_run(self, row: Mapping[str, Any], provenance: Mapping[str, Any]) -> None:
        """Write one run's row."""
        metadata = {METADATA_KEY: json.dumps({"format": FORMAT, **provenance}).encode()}
        write_table(table_of(row).replace_schema_metadata(metadata), self.run_file(str(row["run_id"])))

    def provenance_of(self, run_id: str) -> dict[str, Any] | None:
        """The origin of a finished run, or None if its file is missing, damaged or of another format."""
        try:
            with self.run_file(run_id).open("rb") as file:
                provenance: dict[str, Any] = json.loads(pq.read_metadata(file).metadata[METADATA_KEY])
        except (OSError, KeyError, TypeError, ValueError, pa.ArrowException):
            return None
        known = provenance.get("run_id") == run_id and provenance.get("format", FORMAT) == FORMAT
        return provenance if known else None

    def holds(self, run_id: str) -> bool:
        """Whether the result of a run is there, made by this version of the package."""
        return (self.provenance_of(run_id) or {}).get("package_version") == dfe.__version__

    def write_manifest(self, content: Mapping[str, Any]) -> None:
        """Write the list of runs that belong together."""
        write_json(content, self.manifest)

    def read_manifest(self) -> dict[str, Any] | None:
        """The list of runs that belong together, or None if there is none; `ConfigError` if the file is damaged."""
        if not self.manifest.exists():
            return None
        manifest = read_json(self.manifest, "results", allowed="cannot be read")
        names = ("name", "runs", "labels", "policies", "traffic")
        if not isinstance(manifest, dict) or not all(name in manifest for name in names):
            raise config_error("results", str(self.manifest), "must be the list of runs that a sweep wrote")
        return manifest

    def read_runs(self, labels: Mapping[str, Mapping[str, str]]) -> list[pa.Table]:
        """The rows of those runs that are finished, in the order given; `ConfigError` for a damaged file.

        ``labels`` gives the columns ``policy`` and ``traffic`` of each run: an earlier sweep may have given the same
        simulation other names.
        """
        tables = []
        for run_id, names in labels.items():
            if not self.run_file(run_id).exists():
                continue
            table = read_results(self.run_file(run_id))
            for column, label in names.items():
                place = table.column_names.index(column)
                table = table.set_column(place, column, pa.array([label] * table.num_rows))
            tables.append(table)
        return tables

    def merge(self, labels: Mapping[str, Mapping[str, str]]) -> None:
        """Write the rows of the finished ones of some runs (see `read_runs`), if there are any, to one file."""
        if tables := self.read_runs(labels):
            write_table(concatenated(tables), self.merged)


def table_of(row: Mapping[str, Any]) -> pa.Table:
    """A row of results as a table of one line."""
    # A seed may be too large for the integers that are taken for Python's.
    kinds = {"seed": pa.uint64()}
    return pa.table({name: pa.array([value], kinds.get(name)) for name, value in row.items()})


def concatenated(tables: Iterable[pa.Table]) -> pa.Table:
    """Rows of several files, whose columns may differ."""
    return pa.concat_tables(tables, promote_options="permissive")


def read_rows(file: Path) -> pa.Table:
    """The table of a file, without its metadata; `ConfigError` if the file is no readable Parquet file."""
    try:
        with file.open("rb") as opened:
            table = pq.ParquetFile(opened, page_checksum_verification=True).read()
    except (OSError, ValueError, pa.ArrowException) as error:
        reason = " ".join(str(error).split())[:200]
        raise config_error("results", str(file), f"cannot be read ({reason}): delete it") from None
    return table.replace_schema_metadata(None)


def read_results(file: Path) -> pa.Table:
    """The table of a file of runs; `ConfigError` if the file is damaged, or no results."""
    table = read_rows(file)
    if missing := _NEEDED.difference(table.column_names):
        allowed = f"must be results of a sweep; the column {min(missing)!r} is missing"
        raise config_error("results", str(file), allowed)
    return table


def write_json(content: Mapping[str, Any], target: Path) -> None:
    """Write a JSON file; it appears complete or not at all."""
    write_text(json.dumps(content, indent=1) + "\n", target)


def write_table(table: pa.Table, target: Path) -> None:
    """Write a Parquet file; it appears complete or not at all."""
    with replacing(target) as temporary, temporary.open("wb") as file:
        pq.write_table(table, file, compression="zstd", write_page_checksum=True)

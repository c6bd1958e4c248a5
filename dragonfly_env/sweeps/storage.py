"""Results on disk: one small Parquet file per run, written at once or not at all, and the list of runs that
belong together.

A results folder holds ``scenario.json`` (the runs of the last sweep, in order), ``runs/<id>.parquet`` (one
row each) and, when a sweep is over, ``results.parquet`` (all rows of that list).

Parquet files show whether they are still what was written. Every page has a checksum, which a reader of the file may
verify. That leaves out the footer, with names, types and places of the columns. So the row of a run, which is to be
believed without being looked at, also has a seal: the SHA-256 of the whole file, inside it. Files are opened here and
handed to pyarrow open: it takes names with a colon for addresses.

What a table must hold so that every table and figure can be made of it, `check_columns` says.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import io
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

import dragonfly_env as dfe
from dragonfly_env.checks.documents import parse_json, read_json
from dragonfly_env.checks.files import TEMPORARY, make_folders, open_own, replacing, write_text
from dragonfly_env.checks.outside import parsing
from dragonfly_env.checks.values import config_error
from dragonfly_env.config.topology import Dragonfly
from dragonfly_env.errors import ConfigError

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

    def holds(self, run_id: str) -> bool:
        """Whether the intact result of a run is there, made by this version of the package."""
        return self.version_of(run_id) == dfe.__version__

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
        manifest = read_json(self.manifest, "results", allowed="cannot be read")
        if not isinstance(manifest, dict):
            raise config_error("results", str(self.manifest), "must be what a sweep wrote")
        return manifest

    def read_runs(
        self, labels: Mapping[str, Mapping[str, str]], *, check: Callable[[pa.Table, str], None] | None = None
    ) -> tuple[list[pa.Table], list[ConfigError]]:
        """The rows of those runs that are finished, in the order given; and why files of others are left out.

        Args:
            labels: By run: what is in the columns ``policy`` and ``traffic``. An earlier sweep may have given the
                same simulation other names.
            check: Called with each table and the name of its file; it may raise ``ConfigError``.
        """
        tables: list[pa.Table] = []
        refused: list[ConfigError] = []
        for run_id, names in labels.items():
            file = self.run_file(run_id)
            if not file.exists():
                continue
            try:
                table = read_rows(file)
                if check is not None:
                    check(table, str(file))
            except ConfigError as error:
                refused.append(error)
                continue
            for column, label in names.items():
                if column in table.column_names:
                    place = table.column_names.index(column)
                    table = table.set_column(place, column, pa.array([label] * table.num_rows))
            tables.append(table)
        return tables, refused

    def merge(self, labels: Mapping[str, Mapping[str, str]]) -> int:
        """Write the rows of the finished ones of some runs (see `read_runs`) to one file.

        Returns:
            The number of rows. With none, nothing is written.
        """
        tables, _ = self.read_runs(labels)
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


def read_rows(file: Path) -> pa.Table:
    """The table of a file, without its own provenance metadata (every row repeats it in columns).

    Raises:
        ConfigError: If the file is no readable Parquet file.
    """
    with parsing("results", str(file), "cannot be read"):
        return _with_seeds(read_parquet(file).replace_schema_metadata(None))


def _with_seeds(table: pa.Table) -> pa.Table:
    """The same with seeds of the type of today, if they are integers at all."""
    place = table.schema.get_field_index("seed")
    if place < 0 or not pa.types.is_integer(table.schema.types[place]):
        return table
    return table.set_column(place, "seed", table["seed"].cast(_SEED))


def write_json(content: Mapping[str, Any], target: Path) -> None:
    """Write a JSON file; it appears complete or not at all."""
    write_text(json.dumps(content, indent=1) + "\n", target)


def write_table(table: pa.Table, target: Path) -> None:
    """Write a Parquet file; it appears complete or not at all."""
    with replacing(target) as temporary, temporary.open("wb") as file:
        write_parquet(table, file)


KEYS = ("traffic", "policy", "load")

_NEEDED = (
    *(*KEYS, "seed", "packet_hops", "cpu_seconds", "package_version", "platform", "machine"),
    *("date", "configuration", "topology_arrangement", "topology_group"),
    *("topology_p", "topology_a", "topology_h", "topology_g", "topology_trunking"),
)
# Null in a run that delivered nothing; the load also in one of jobs that took no time.
_SHOWN = ("accepted_load", "latency_mean_ns", "latency_p99_ns", "hops_mean")
_TEXT = (
    *("run_id", "policy", "traffic", "topology_arrangement", "topology_group", "package_version"),
    *("trace_hash", "platform", "machine", "python_version", "date", "configuration"),
    *("agent", "agent_sha256", "jobs", "tiles"),
)
# Lists of numbers; those of one line have equally many in every row.
_LISTS = (
    ("router_accepted_load",),
    ("source_router_load",),
    ("source_router_path_loads",),
    ("link_router", "link_port", "link_utilisation", "link_stall_fraction"),
    ("hop_histogram",),
    ("histogram_latency_ns", "histogram_packets"),
    ("group_latency_mean_ns",),
    ("job_run_time_ns", "job_mpi_share"),
    ("host_stall_ns",),
    ("nic_latency_ns",),
)
_SERIES = "series_"
_SERIES_NEEDED = ("series_time_ns", "series_accepted_load", "series_latency_mean_ns")
_TOPOLOGY = "topology_"
_ALLOWED = "must be results of this program"


def check_columns(table: pa.Table, file: str) -> None:
    """Refuse a table that something else made, or that was changed.

    Args:
        table: One row per run.
        file: Where it is from, for messages.

    Raises:
        ConfigError: For a column that is missing, twice there, or of another type; for a text that is none, a load
            outside (0, 1], an infinite number, or lists of different lengths.
    """
    names = table.column_names
    for name in (*_NEEDED, *_SHOWN):
        if name not in names:
            raise _refusal(file, f"without a column {name!r}")
    if len(set(names)) < len(names):
        raise _refusal(file, "with two columns of one name")
    with parsing("results", file, _ALLOWED):
        table.validate(full=True)
        for name in names:
            _check_column(name, table[name], file)
        _check_values(table, file)


def _refusal(file: str, why: str) -> Exception:
    return config_error("results", file, f"{_ALLOWED}; this is a table {why}: made by something else?")


def _check_column(name: str, column: pa.ChunkedArray, file: str) -> None:
    kind = column.type
    if name in _NEEDED and column.null_count:
        raise _refusal(file, f"with nothing in {name!r}")
    if pa.types.is_null(kind):
        return
    if name in _TEXT:
        if not (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
            raise _refusal(file, f"with {kind} in {name!r} instead of text")
        return
    if any(name in group for group in _LISTS) or name.startswith(_SERIES):
        if not (pa.types.is_list(kind) and _is_number(kind.value_type)):
            raise _refusal(file, f"with {kind} in {name!r} instead of lists of numbers")
        return
    if not _is_number(kind):
        raise _refusal(file, f"with {kind} in {name!r} instead of numbers")
    if pa.types.is_floating(kind) and pc.any(pc.is_inf(column)).as_py():
        raise _refusal(file, f"with infinity in {name!r}")


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_float32(kind) or pa.types.is_float64(kind))


def _check_values(table: pa.Table, file: str) -> None:
    loads, accepted = table["load"].cast(pa.float64()), table["accepted_load"].cast(pa.float64())
    if not all(0.0 < load <= 1.0 for load in loads.to_pylist()):
        raise _refusal(file, "with a load that is not in (0, 1]")
    if not all(load is None or load >= 0.0 for load in accepted.to_pylist()):
        raise _refusal(file, "with an accepted load that is none")
    if not pa.types.is_integer(table["seed"].type):
        raise _refusal(file, "with seeds that are no integers")
    for text in table["configuration"].to_pylist():
        parse_json(text, "results", file=file, allowed=f"{_ALLOWED}, with configurations in JSON")
    series = tuple(name for name in table.column_names if name.startswith(_SERIES))
    for group in _LISTS:
        _check_group(table, group, file)
    _check_group(table, dict.fromkeys((*series, *_SERIES_NEEDED)), file)
    _check_places(table, file)


def _check_group(table: pa.Table, group: Iterable[str], file: str) -> None:
    """Columns that belong together are all there or none is, with equally many entries in every row."""
    wanted = list(group)
    names = [name for name in wanted if name in table.column_names]
    if names and len(names) < len(wanted):
        raise _refusal(file, f"with {names[0]!r}, but not all that belongs to it")
    lengths = [_lengths(table[name]) for name in names]
    for name, other in zip(names, lengths, strict=True):
        if other != lengths[0]:
            raise _refusal(file, f"with other numbers of entries in {name!r} than in {names[0]!r}")


def _lengths(column: pa.ChunkedArray) -> list[int | None]:
    if pa.types.is_null(column.type):
        return [None] * len(column)
    found: list[int | None] = pc.list_value_length(column).to_pylist()
    return found


def _check_places(table: pa.Table, file: str) -> None:
    """Figures arrange routers and links by where they are."""
    columns = [name for name in table.column_names if name.startswith(_TOPOLOGY)]
    kinds = [tuple(row.values()) for row in table.select(columns).to_pylist()]
    names = [name.removeprefix(_TOPOLOGY) for name in columns]
    known = {kind: Dragonfly.from_dict(dict(zip(names, kind, strict=True))) for kind in set(kinds)}
    topologies = [known[kind] for kind in kinds]
    if "router_accepted_load" in table.column_names:
        for topology, given in zip(topologies, _lengths(table["router_accepted_load"]), strict=True):
            if given is not None and given != topology.num_routers:
                raise _refusal(file, f"with {given} routers instead of {topology.num_routers}")
    for name, ends in (
        ("link_router", [topology.num_routers for topology in topologies]),
        ("link_port", [topology.radix for topology in topologies]),
    ):
        if name in table.column_names and not _all_below(table[name].combine_chunks(), np.array(ends)):
            raise _refusal(file, f"with a {name!r} that is none")


def _all_below(column: pa.Array, ends: npt.NDArray[np.int64]) -> bool:
    """Whether the lists hold integers from 0 to below an end for each row."""
    if pa.types.is_null(column.type):
        return True
    if not pa.types.is_integer(column.type.value_type):
        return False
    numbers, rows = pc.list_flatten(column), pc.list_parent_indices(column).to_numpy()
    if numbers.null_count:
        return False
    values = numbers.to_numpy()
    return bool(((values >= 0) & (values < ends[rows])).all())


METADATA_KEY = b"dragonfly_env"
_SEAL_KEY = b"dragonfly_env_sha256"
_KEYS_BEFORE_SEALS = {METADATA_KEY, b"ARROW:schema"}
_NO_SEAL_YET = b"0" * 64  # what is in its place while the file's digest is taken

DAMAGED = (
    *(OSError, EOFError, KeyError, ValueError, TypeError, pa.ArrowException),
    *(MemoryError, OverflowError, RecursionError),  # from sizes and depths that the file claims
)
"""What reading a file may raise that is no intact Parquet file."""


def write_parquet(table: pa.Table, file: BinaryIO) -> None:
    """Write a table to an open file."""
    pq.write_table(table, file, compression="zstd", write_page_checksum=True)


def read_parquet(file: Path) -> pa.Table:
    """The table that a file holds, with its metadata; checksums are verified.

    Raises:
        OSError: If it cannot be read, or a checksum is not met.
        pyarrow.ArrowException: If it is no Parquet file.
    """
    with file.open("rb") as opened:
        return _read(opened)


def sealed(table: pa.Table) -> bytes:
    """A Parquet file of the table with a seal that `read_sealed_metadata` looks at."""
    metadata = {**(table.schema.metadata or {}), _SEAL_KEY: _NO_SEAL_YET}
    buffer = io.BytesIO()
    write_parquet(table.replace_schema_metadata(metadata), buffer)
    content = buffer.getvalue()
    before, _, after = content.rpartition(_NO_SEAL_YET)
    return before + _digest(content) + after


def read_sealed_metadata(file: Path) -> bytes:
    """What is under `METADATA_KEY`, if the file is intact. One without a seal (earlier versions wrote none) is
    read whole instead.

    Raises:
        Exception: One of `DAMAGED`, if the file is missing or not as it was written.
    """
    content = file.read_bytes()
    metadata = pq.read_metadata(io.BytesIO(content)).metadata or {}
    seal = metadata.get(_SEAL_KEY)
    if (
        seal is None and set(metadata) <= _KEYS_BEFORE_SEALS
    ):  # others: the name of the seal itself may be damaged
        _read(io.BytesIO(content))
    elif (
        seal is None or len(seal) != len(_NO_SEAL_YET) or _digest(content.replace(seal, _NO_SEAL_YET)) != seal
    ):
        raise ValueError("the file is not as it was written")
    wanted: bytes = metadata[METADATA_KEY]
    return wanted


def _read(file: BinaryIO) -> pa.Table:
    return pq.ParquetFile(file, page_checksum_verification=True).read()


def _digest(content: bytes) -> bytes:
    return hashlib.sha256(content).hexdigest().encode()

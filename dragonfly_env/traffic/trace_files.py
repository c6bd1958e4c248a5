"""Tables of messages in files: Parquet and CSV, with limits to what a small file can expand to."""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import itertools
from pathlib import Path
from typing import BinaryIO

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from dragonfly_env.checks.outside import LimitedStream, opened, parsing
from dragonfly_env.checks.values import config_error

_FIELD = "trace file"
_MOST_MESSAGES = 2**27
_MOST_COLUMNS = 64  # more is no trace, and readers take memory for every one
_MOST_ROUTERS = 16  # of one message's route, many more than any route passes
_MOST_CSV_BYTES = 2**32
_BLOCK_BYTES = 2**20


def read_frame(path: Path) -> tuple[pd.DataFrame, str]:
    """The table in a file, and the file's SHA-256.

    Raises:
        ConfigError: If the name ends otherwise than ``.parquet``, ``.csv`` or ``.csv.gz``, or the file cannot be
            read, or holds more than a trace may have.
    """
    suffixes = [suffix.lower() for suffix in path.suffixes]
    is_parquet, is_compressed = suffixes[-1:] == [".parquet"], suffixes[-2:] == [".csv", ".gz"]
    if not (is_parquet or is_compressed or suffixes[-1:] == [".csv"]):
        raise config_error(_FIELD, str(path), "must end in .parquet, .csv or .csv.gz")
    with opened(path, _FIELD, "cannot be read") as file:
        digest = hashlib.sha256()
        with parsing(_FIELD, str(path), "cannot be read"):
            while block := file.read(_BLOCK_BYTES):
                digest.update(block)
            file.seek(0)
        frame = _read_parquet(path, file) if is_parquet else _read_csv(path, file, is_compressed)
    return frame, digest.hexdigest()


def line_of_row(path: Path, row: int) -> int | None:
    """The line of a CSV file, from 1, on which a row ends: after the header and without blank lines. None for other
    files, and if the file cannot be read any more.
    """
    if path.suffix.lower() not in (".csv", ".gz"):
        return None
    try:
        with gzip.open(path) if path.suffix.lower() == ".gz" else path.open("rb") as file:
            reader = csv.reader(io.TextIOWrapper(file, "utf-8", "replace", newline=""))
            filled = (reader.line_num for cells in reader if any(cell.strip() for cell in cells))
            return next(itertools.islice(filled, row + 1, None), None)
    except (OSError, EOFError, csv.Error):
        return None


def _read_parquet(path: Path, file: BinaryIO) -> pd.DataFrame:
    with parsing(_FIELD, str(path), "cannot be read"):
        schema, about = pq.read_schema(file), pq.read_metadata(file)
        rows, columns = about.num_rows, about.num_columns
        _check_size(path, rows, columns)
        _try_every_column(file, schema, about.num_row_groups)
        parts = [about.row_group(i).column(j) for i in range(about.num_row_groups) for j in range(columns)]
        if sum(part.num_values for part in parts) > _MOST_ROUTERS * columns * max(rows, 1):
            raise ValueError("it has more values than rows can hold")
        for column in schema:
            if column.name != "routers" and not (
                pa.types.is_integer(column.type) or pa.types.is_floating(column.type)
            ):
                raise config_error(f"trace {column.name}", str(column.type), "must be a column of numbers")
        # Text that repeats is kept once, however often a small file says that it repeats.
        repeating = [name for name in ("routers",) if name in schema.names]
        table = pq.ParquetFile(file, read_dictionary=repeating, page_checksum_verification=True)
        frame: pd.DataFrame = table.read(use_threads=False).to_pandas()
    return frame


def _try_every_column(file: BinaryIO, schema: pa.Schema, row_groups: int) -> None:
    """Read a record of every column of every row group.

    Where the footer is damaged that raises, while merely to look at what it says of a column aborts the process.
    """
    reader = pq.ParquetFile(file)
    for i in range(row_groups):
        for name in schema.names:
            next(reader.iter_batches(batch_size=1, row_groups=[i], columns=[name], use_threads=False), None)


def _read_csv(path: Path, file: BinaryIO, is_compressed: bool) -> pd.DataFrame:
    with parsing(_FIELD, str(path), "cannot be read"):
        content = gzip.GzipFile(fileobj=file) if is_compressed else file
        text = io.BufferedReader(LimitedStream(content, _MOST_CSV_BYTES), _BLOCK_BYTES)
        header = text.peek().partition(b"\n")[0]
        _check_size(path, 0, header.count(b",") + 1)
        return pd.read_csv(text, dtype={"routers": str})


def _check_size(path: Path, rows: int, columns: int) -> None:
    if rows > _MOST_MESSAGES or columns > _MOST_COLUMNS:
        raise config_error(
            _FIELD,
            str(path),
            f"must have at most {_MOST_MESSAGES} rows and {_MOST_COLUMNS} columns, not {rows} and {columns}",
        )

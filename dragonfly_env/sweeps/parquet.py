"""Tables as Parquet files that show whether they are still what was written.

Every page has a checksum, which whoever reads the file may verify. That leaves out the footer, with names, types and
places of the columns. So the row of a run, which is to be believed without being looked at, also has a seal: the
SHA-256 of the whole file, inside it.

Files are opened here and handed to pyarrow open: it takes names with a colon for addresses.
"""

from __future__ import annotations

import hashlib
import io
from pathlib import Path
from typing import BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

METADATA_KEY = b"dragonfly_env"
_SEAL_KEY = b"dragonfly_env_sha256"
_KEYS_BEFORE_SEALS = {METADATA_KEY, b"ARROW:schema"}
_NO_SEAL_YET = b"0" * 64  # what stands in its place while the file's digest is taken

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
    """What stands under `METADATA_KEY`, if the file is intact. One without a seal (earlier versions wrote none) is
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

"""Arrays and archives from outside: nothing is lost, nothing unpickled, and no small file takes all memory."""

from __future__ import annotations

import gzip
import io
import sys
import zipfile
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import dragonfly_env as dfe
from dragonfly_env.agents import load_q_table, save_q_table
from dragonfly_env.checks.archives import open_archive, parse_npy, read_arrays, read_member, write_npy
from dragonfly_env.checks.arrays import as_integers, as_numbers
from dragonfly_env.traffic import Trace

SMALL = dfe.Dragonfly(2, 4, 2)


class Failing:
    """Every method that might be called raises an error of its own."""

    def _fail(self, *_: object, **__: object) -> Any:
        raise OSError("my own")

    __float__ = __index__ = __len__ = __iter__ = __getitem__ = __array__ = __fspath__ = __repr__ = _fail


# Arrays.


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (np.array([1, 2], dtype=np.uint8), [1, 2]),
        (np.array([0.1], dtype=np.float16), [0.0999755859375]),
        (np.array([1.5], dtype=">f4"), [1.5]),
        (np.array([2**53], dtype=np.uint64), [2.0**53]),
        (np.array([1.5], dtype=np.longdouble), [1.5]),
        ([1, 2.5, Fraction(1, 2)], [1, 2.5, 0.5]),
        (range(3), [0, 1, 2]),
        (pd.Series([1, 2], dtype="Int64"), [1, 2]),
        (np.ma.masked_array([1, 2], mask=False), [1, 2]),
        ([], []),
    ],
)
def test_numbers_of_every_type_keep_their_value(value: Any, expected: list[float]) -> None:
    array = as_numbers("x", value, ndim=1)
    assert array.dtype == np.float64
    assert array.tolist() == expected


@pytest.mark.parametrize(
    "value",
    [
        *(None, 5, "12", b"12", bytearray(b"1"), {1, 2}, {"a": 1}, object()),
        (i for i in range(3)),
        Failing(),
        *([1, "2"], [1, None], [[1], [1, 2]], [1j], [True], [Decimal(1)], [10**400], [2**53 + 1], [pd.NA]),
        np.array([1j]),
        np.array(["1"]),
        np.array([True]),
        np.array(["2020"], dtype="M8[D]"),
        np.zeros((2, 2)),
        np.ma.masked_array([1, 2], mask=[0, 1]),
        np.array([2**53 + 1]),
        np.array([2**64 - 1], dtype=np.uint64),
        np.array([np.longdouble(1) / 3]),
        np.array([np.longdouble("1e4000")]),
        np.zeros(2, dtype=[("a", "f4")]),
        pd.Series(["a"]),
        pd.Series([1, 2], dtype="category").astype(str),
    ],
    ids=lambda value: f"{type(value).__name__}",
)
def test_what_is_no_array_of_numbers_or_would_lose_something_is_refused(value: Any) -> None:
    with pytest.raises(dfe.ConfigError, match=r"^x"):
        as_numbers("x", value, ndim=1)


@pytest.mark.parametrize(
    "value",
    [
        *([0.5], [np.nan], [np.inf], [-1], [10], [2**70]),
        np.array([np.inf], dtype=np.float16),
        [2**53 + 1],
        [1 + 0j],
    ],
)
def test_what_is_no_integer_in_range_is_refused(value: Any) -> None:
    with pytest.raises(dfe.ConfigError, match=r"^x"):
        as_integers("x", value, 0, 9)
    assert as_integers("x", [9.0, 0], 0, 9).tolist() == [9, 0]


GOOD: dict[str, Any] = {"time_ns": [0.0, 10.0], "src": [0, 1], "dst": [5, 9], "bytes": [128, 128]}


@pytest.mark.parametrize("kind", ["f2", "f4", "f8", "i4", "u8", ">f4", "O"])
def test_times_of_a_trace_count_as_what_they_are_in_every_type(kind: str) -> None:
    whole = 1024 if kind == "f2" else 12345678
    trace = Trace.from_columns(**{**GOOD, "time_ns": np.array([0, whole], dtype=kind)})
    assert trace.time_ps.tolist() == [0, whole * 1000]


def test_late_times_of_a_trace_keep_their_picoseconds() -> None:
    trace = Trace.from_columns(**{**GOOD, "time_ns": [123_456_789_012_345, 123_456_789_012_346.0]})
    assert trace.time_ps.tolist() == [123_456_789_012_345_000, 123_456_789_012_346_000]
    short = Trace.from_columns(**{**GOOD, "time_ns": np.array([3.2, 100.7], dtype=np.float32)})
    assert short.time_ps.tolist() == [3_200, 100_700]


@pytest.mark.parametrize(
    "bad", ["x", 5, None, pd.DataFrame, {}, [1], Failing()], ids=lambda bad: type(bad).__name__
)
def test_what_is_no_table_of_messages_is_refused(bad: Any) -> None:
    with pytest.raises(dfe.ConfigError, match=r"^trace"):
        Trace.from_frame(bad)


# Archives.


def archive_of(**members: bytes) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return stream.getvalue()


def test_a_zip_bomb_is_refused_before_it_expands(tmp_path: Path) -> None:
    path = tmp_path / "bomb.zip"
    path.write_bytes(archive_of(big=bytes(2**27)))
    assert path.stat().st_size < 2**18
    with open_archive(path, "agent", "must be good") as archive:
        with pytest.raises(dfe.ConfigError, match="134217728 bytes instead of at most 1000"):
            read_member(archive, "big", 1000, field="agent", allowed="must be good")
        with pytest.raises(dfe.ConfigError, match="must be good"):
            read_member(archive, "other", 1000, field="agent", allowed="must be good")


def header(text: str) -> bytes:
    line = text.encode() + b"\n"
    return b"\x93NUMPY\x01\x00" + len(line).to_bytes(2, "little") + line


@pytest.mark.parametrize(
    "content",
    [
        *(b"", b"nothing", b"\x93NUMPY\x09\x00", header(""), header("(" * 500), header("{'descr': '<f4'}")),
        header("{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000,)}"),
        header("{'descr': '<f8', 'fortran_order': False, 'shape': (-1,)}"),
        header("{'descr': '|O', 'fortran_order': False, 'shape': ()}") + b"\x80\x04N.",
        header("{'descr': '|V0', 'fortran_order': False, 'shape': (5,)}"),
        header("{'descr': 'nonsense', 'fortran_order': False, 'shape': ()}"),
        header("{'descr': '<f4', 'fortran_order': False, 'shape': (1,)}") + bytes(5),
        header('"' + "x" * 20_000),
        write_npy(np.zeros(3))[:-1],
    ],
    ids=range(14),
)
def test_what_is_no_array_in_a_file_is_refused(content: bytes) -> None:
    with pytest.raises(dfe.ConfigError, match=r"^path = 'x': must be good"):
        parse_npy(content, field="path", shown="x", allowed="must be good")


def simulation() -> dfe.Simulation:
    return dfe.Simulation(dfe.SimulationConfig(topology=SMALL, policy="q-routing"))


def test_a_table_with_pickled_objects_is_never_unpickled(tmp_path: Path) -> None:
    class Trap:
        def __reduce__(self) -> Any:
            return sys.exit, (1,)

    path = save_q_table(simulation(), tmp_path / "table")
    with np.load(path) as saved:
        np.savez(path, about=saved["about"], values=np.array([[[Trap()]]], dtype=object))
    with pytest.raises(dfe.ConfigError, match="pickled objects, which are never loaded"):
        load_q_table(simulation(), path)


def test_a_table_larger_than_the_learner_is_refused_by_its_size(tmp_path: Path) -> None:
    path = save_q_table(simulation(), tmp_path / "table")
    with np.load(path) as saved:
        np.savez_compressed(path, about=saved["about"], values=np.zeros((2000, 1000, 10)))
    with pytest.raises(dfe.ConfigError, match=r"values\.npy has \d+ bytes instead of at most"):
        load_q_table(simulation(), path)
    with pytest.raises(dfe.ConfigError, match="must be good"):
        read_arrays(path, {"nothing": 10}, field="path", allowed="must be good")


def test_a_compressed_trace_that_never_ends_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from dragonfly_env.traffic import trace_files

    monkeypatch.setattr(trace_files, "_MOST_CSV_BYTES", 2**16)
    path = tmp_path / "trace.csv.gz"
    path.write_bytes(gzip.compress(b"time_ns,src,dst,bytes\n" + b"0,0,1,1\n" * 10_000))
    with pytest.raises(dfe.ConfigError, match="it has more than 65536 bytes"):
        Trace.from_file(path)


@pytest.mark.parametrize("name", ["trace.parquet", "trace.csv", "trace.csv.gz"])
def test_a_trace_of_two_thousand_columns_is_refused_before_it_is_read(name: str, tmp_path: Path) -> None:
    frame = pd.DataFrame({f"c{i}": [1] for i in range(2_000)})
    if name.endswith("parquet"):
        frame.to_parquet(tmp_path / name)
    else:
        frame.to_csv(tmp_path / name, index=False)
    with pytest.raises(dfe.ConfigError, match=r"at most .* rows and 64 columns, not .* and 2000"):
        Trace.from_file(tmp_path / name)

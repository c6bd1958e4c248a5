"""Files of messages that somebody changed: refused, or the simulation runs with them."""

from __future__ import annotations

import functools
import gzip
import io
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from dragonfly_env import SimulationConfig
from dragonfly_env.config.topology import Dragonfly
from dragonfly_env.simulation import Simulation
from dragonfly_env.traffic import Trace
from tests.fuzz.draws import odd
from tests.fuzz.outcome import Outcome
from tests.fuzz.tampering import in_bytes, in_text, refused_or_run

_TOPOLOGY = Dragonfly(2, 4, 2)
_ROWS = 12
_COLUMNS: dict[str, list[Any]] = {
    "time_ns": [i * 12.5 for i in range(_ROWS)],
    "src": list(range(_ROWS)),
    "dst": [(i * 7 + 3) % 72 for i in range(_ROWS)],
    "bytes": [100 + i for i in range(_ROWS)],
    "routers": ["0 1", *[""] * (_ROWS - 1)],
}
_COLUMNS["dst"][0] = 2
_TYPES = (
    *(pa.float16(), pa.float32(), pa.int8(), pa.uint64(), pa.string(), pa.bool_()),
    *(pa.timestamp("ns"), pa.binary()),
    pa.decimal128(10, 2),
    pa.list_(pa.int64()),
    pa.dictionary(pa.int32(), pa.string()),
    pa.null(),
    pa.large_string(),
)


def attempts(random: Random, folder: Path) -> Iterator[Callable[[], Outcome]]:
    """A small trace as Parquet, CSV or compressed CSV, with something changed."""
    csv = _csv(_COLUMNS).encode()
    contents = {".csv": csv, ".csv.gz": gzip.compress(csv, mtime=0), ".parquet": _parquet(pa.table(_COLUMNS))}
    while True:
        ending = random.choice(list(contents))
        if random.random() < 0.4:
            changed = in_bytes(random, contents[ending], list(contents.values()))
        elif ending == ".parquet":
            changed = _parquet(_changed_table(random))
        else:
            text = in_text(random, _csv(_COLUMNS)).encode("utf-8", "surrogatepass")
            changed = text if ending == ".csv" else gzip.compress(text, 1, mtime=0)
        if ending == ".csv.gz" and random.random() < 0.02:
            changed = gzip.compress(csv + b"1" * 2**26, 1, mtime=0)
        file = folder / f"trace{ending}"
        file.write_bytes(changed)
        yield functools.partial(refused_or_run, functools.partial(_run, file))


def _run(file: Path) -> None:
    simulation = Simulation(SimulationConfig(topology=_TOPOLOGY, traffic=Trace.from_file(file)))
    simulation.run(2_000)
    simulation.check_invariants()


def _csv(columns: dict[str, list[Any]]) -> str:
    rows = zip(*columns.values(), strict=True)
    return "\n".join([",".join(columns), *(",".join(map(str, row)) for row in rows)]) + "\n"


def _parquet(table: pa.Table) -> bytes:
    stream = io.BytesIO()
    pq.write_table(table, stream, compression="zstd", write_page_checksum=True)
    return stream.getvalue()


def _changed_table(random: Random) -> pa.Table:
    columns = {name: list(values) for name, values in _COLUMNS.items()}
    name = random.choice(list(columns))
    match random.randrange(6):
        case 0:
            del columns[name]
        case 1:
            columns[random.choice(("x", "", "src ", "a" * 1_000))] = columns[name]
        case 2:
            repeated = random.choice(("0 1 " * 10_000, "9" * 100, "a b", "0 1"))
            columns["routers"] = [repeated] * _ROWS
        case 3:
            columns[name][random.randrange(_ROWS)] = odd(random)
        case 4:
            columns[name] = [columns[name][0]] * _ROWS
        case 5:
            return _cast(pa.table(columns), name, random.choice(_TYPES))
    arrays = {}
    for name, values in columns.items():
        try:
            arrays[name] = pa.array(values)
        except (pa.ArrowException, TypeError, ValueError, OverflowError):
            arrays[name] = pa.array([str(i) for i in range(_ROWS)])
    return pa.table(arrays)


def _cast(table: pa.Table, name: str, kind: pa.DataType) -> pa.Table:
    try:
        return table.set_column(table.schema.get_field_index(name), name, table[name].cast(kind, safe=False))
    except pa.ArrowException:
        return table.rename_columns([*table.column_names[1:], table.column_names[0]])

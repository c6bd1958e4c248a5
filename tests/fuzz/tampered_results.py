"""Results in Parquet files that somebody changed: refused, or every table and figure can be made of them."""

from __future__ import annotations

import functools
import io
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import pyarrow as pa
import pyarrow.parquet as pq
from rich.console import Console

from dragonfly_env.plots import draw
from dragonfly_env.sweeps import Results, Scenario, load_results, run_all
from dragonfly_env.sweeps.summary import render_summary
from tests.fuzz.draws import odd
from tests.fuzz.outcome import Outcome
from tests.fuzz.small_configs import SMALL_SCENARIO
from tests.fuzz.tampering import in_bytes, in_text, refused_or_run

_TYPES = (
    *(pa.float16(), pa.int8(), pa.uint64(), pa.string(), pa.bool_(), pa.timestamp("ns"), pa.binary()),
    pa.null(),
    *(pa.list_(pa.int64()), pa.decimal128(30, 2), pa.dictionary(pa.int32(), pa.string())),
)
_FIGURE_SHARE = 0.01  # drawing takes long


def attempts(random: Random, folder: Path) -> Iterator[Callable[[], Outcome]]:
    """A table of four runs, or one of its folder's files, with something changed."""
    results = folder.with_name("made")  # the other folder is emptied after every input
    scenario = {
        **SMALL_SCENARIO,
        "policies": ["min", "ugal-n"],
        "traffic": ["adv+1"],
        "loads": [0.2],
        "series_bin_ns": 50,
    }
    run_all(Scenario.from_dict(scenario), results, workers=1)
    runs = sorted((results / "runs").glob("*.parquet"))
    merged = pq.ParquetFile(results / "results.parquet").read()
    contents = [file.read_bytes() for file in (results / "results.parquet", *runs)]
    intact = runs[0].read_bytes()
    while True:
        if random.random() < 0.5:
            content = in_bytes(random, random.choice(contents), contents)
        else:
            content = parquet(changed_table(random, merged))
        file = folder / "changed.parquet"
        target = file
        if random.random() < 0.3:
            file, target = runs[0], results
        else:
            runs[0].write_bytes(intact)
        file.write_bytes(content)
        figures = random.random() < _FIGURE_SHARE
        yield functools.partial(refused_or_run, functools.partial(_show, target, folder if figures else None))


def _show(path: Path, folder: Path | None) -> None:
    results: Results = load_results(path)
    Console(file=io.StringIO(), width=200).print(render_summary(results))
    results.select(policies=results.policies[:1], traffic=results.traffic[:1])
    if folder is not None:
        draw(results, folder / "figures")


def parquet(table: pa.Table) -> bytes:
    """The file of a table."""
    stream = io.BytesIO()
    pq.write_table(table, stream, compression="zstd")
    return stream.getvalue()


_KEYS = ("policy", "traffic", "load", "seed", "accepted_load", "latency_mean_ns", "configuration", "run_id")


def changed_table(random: Random, table: pa.Table) -> pa.Table:
    """A table with a column lost, renamed or of another type, with other values, or without its last rows."""
    for _ in range(random.choice((1, 1, 2))):
        name = random.choice([*_KEYS, *_KEYS, *table.column_names])
        if name not in table.column_names:
            continue
        at = table.schema.get_field_index(name)
        values = table[name].to_pylist()
        match random.randrange(7):
            case 0:
                table = table.remove_column(at)
            case 1:
                new = random.choice(("x", "", in_text(random, name).replace("\ud800", "")))
                table = table.rename_columns(
                    [new if i == at else old for i, old in enumerate(table.column_names)]
                )
            case 2:
                table = with_column(table, at, name, [None] * len(values))
            case 3 | 4:
                values[random.randrange(len(values))] = odd(random)
                table = with_column(table, at, name, values)
            case 5:
                try:
                    kind = random.choice(_TYPES)
                    table = table.set_column(at, name, table[name].cast(kind, safe=False))
                except pa.ArrowException:
                    continue
            case 6:
                table = table.slice(0, random.randrange(len(values)))
                if not len(table):
                    return table
    return table


def with_column(table: pa.Table, at: int, name: str, values: list[object]) -> pa.Table:
    """A table with other values in a column: as they are, or their types' names if no file can hold them."""
    try:
        column = pa.array(values)
        parquet(pa.table({name: column}))
        return table.set_column(at, name, column)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        return table.set_column(at, name, pa.array([repr(type(value)) for value in values]))

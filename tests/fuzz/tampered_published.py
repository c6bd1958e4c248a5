"""The table of published results with something changed: refused with column and value, or it makes a leaderboard."""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from dragonfly_env.errors import ConfigError
from dragonfly_env.lab.benchmark import Benchmark, find_suite, reference_results
from dragonfly_env.lab.benchmark.figures import heat_map
from dragonfly_env.lab.benchmark.report import as_markdown, render_leaderboard
from tests.fuzz.outcome import Outcome, WrongError, require
from tests.fuzz.tampered_results import changed_table, parquet
from tests.fuzz.tampering import in_bytes, refused_or_run

_SUITE = "dragonfly-v1"
_TRACK = "transient"
_REFERENCES = {"untuned": ("min", "par"), "online": ("q-routing",)}  # a few: naming runs takes long
_MEASURED = ("value", "p99_ns", "accepted_load")
_NEVER = (None, -5.0, math.inf, -math.inf, -1e-300)  # NaN is a run that did not end
_FIGURE_SHARE = 0.05  # drawing takes long


def attempts(random: Random, folder: Path) -> Iterator[Callable[[], Outcome]]:
    """The published table with one impossible number, with anything changed, or with damaged bytes."""
    content = reference_results.table_of(_SUITE).read_bytes()
    suite = dataclasses.replace(find_suite(_SUITE), references=_REFERENCES)
    names = [name for some in _REFERENCES.values() for name in some]
    table = _rows(pq.read_table(reference_results.table_of(_SUITE)), names)
    published, reference_results.FOLDER = reference_results.FOLDER, folder
    out = folder / "out"
    work = functools.partial(
        Benchmark, suite=suite, effort="quick", policies=(), folder=out, tracks=(_TRACK,)
    )
    try:
        while True:
            match random.randrange(4):
                case 0 | 1:
                    yield functools.partial(_impossible, random, table, work, folder)
                case 2:
                    figure = random.random() < _FIGURE_SHARE
                    changed = changed_table(random, table)
                    yield functools.partial(
                        refused_or_run, functools.partial(_show, changed, work, folder, figure=figure)
                    )
                case _:
                    damaged = in_bytes(random, content, [content])
                    yield functools.partial(refused_or_run, functools.partial(_show, damaged, work, folder))
    finally:
        reference_results.FOLDER = published


def _rows(table: pa.Table, policies: Collection[str]) -> pa.Table:
    """The quick runs of some policies on a track."""
    rows = [row for row in table.to_pylist() if row["policy"] in policies]
    some = [row for row in rows if (row["track"], row["effort"]) == (_TRACK, "quick")]
    return pa.Table.from_pylist(some, table.schema)


def _show(
    table: pa.Table | bytes, work: Callable[[], Benchmark], folder: Path, *, figure: bool = False
) -> None:
    """Write the table and make everything of it that ``dragonfly-env benchmark`` does."""
    file = folder / f"{_SUITE}.parquet"
    file.write_bytes(table if isinstance(table, bytes) else parquet(table))
    benchmark = work()
    benchmark.todo()
    scores = benchmark.scores()
    scores.leaderboard()
    if figure:
        render_leaderboard(benchmark, scores)
        as_markdown(benchmark, scores, "a command")
        heat_map(scores)


def _impossible(random: Random, table: pa.Table, work: Callable[[], Benchmark], folder: Path) -> Outcome:
    """One number that no run measures."""
    column = random.choice(_MEASURED)
    value: Any = random.choice((*_NEVER, 0.0) if column == "value" else _NEVER)
    values = table[column].to_pylist()
    for at in random.sample(range(len(values)), random.choice((1, 1, len(values)))):
        values[at] = value
    at = table.schema.get_field_index(column)
    changed = table.set_column(at, column, pa.array(values, pa.float64()))
    try:
        _show(changed, work, folder)
    except ConfigError as error:
        require(column in str(error) and str(value) in str(error), f"{error} names {column} = {value}")
        return Outcome.REFUSED
    raise WrongError(f"{column} = {value} must be refused")

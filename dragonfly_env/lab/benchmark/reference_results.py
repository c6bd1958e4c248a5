"""What published policies did in the cases of a suite: tables that come with the package, one row per run. They are the
references, and a few that are shown next to them.

A run is found by its id, a hash of all that makes it, and by what its track makes of it (quantity and window after a
change, which are not part of the run). So nothing is found for a case, a preset or a policy that has changed since.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from dragonfly_env.checks.values import MAX_RUN_NS, config_error
from dragonfly_env.errors import ConfigError
from dragonfly_env.lab.benchmark.measured import Measured
from dragonfly_env.lab.benchmark.suite import Track
from dragonfly_env.sweeps.storage import read_rows, write_table

FOLDER = Path(__file__).with_name("published")
"""Of the package: a table per suite."""

_MEASURED = ("value", "p99_ns", "accepted_load")
_LINKS = ("link_highest", "link_mean")
_OF_RUN = (*_MEASURED, "link_class", *_LINKS)
_HIGHEST_LOAD = 2.0  # in a short window somewhat more than 1 may arrive
_SCHEMA = pa.schema(
    [
        *((name, pa.string()) for name in ("track", "effort", "case", "policy")),
        ("seed", pa.uint64()),
        *((name, pa.string()) for name in ("run_id", "quantity")),
        *((name, pa.float64()) for name in ("after_ns", *_MEASURED)),
        ("link_class", pa.string()),
        *((name, pa.float64()) for name in _LINKS),
        ("package_version", pa.string()),
    ]
)

Key: TypeAlias = tuple[str, str, float]
"""A run's id, its track's quantity and its track's window after a change, in ns."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferenceResult:
    """A published run.

    Attributes:
        track: The track's name. This and the next four are for people: the run is found by what follows.
        effort: ``quick`` or ``full``.
        case: The case's name.
        policy: The policy's label.
        seed: Of the run.
        run_id: As `Run.id`.
        quantity: What the track measures.
        after_ns: The track's window after a change, in ns.
        measured: What the run came to.
        package_version: Which version of the package did it.
    """

    track: str
    effort: str
    case: str
    policy: str
    seed: int
    run_id: str
    quantity: str
    after_ns: float
    measured: Measured
    package_version: str

    @property
    def key(self) -> Key:
        """What it is found by."""
        return self.run_id, self.quantity, self.after_ns

    def describe(self) -> str:
        """One line for people."""
        return f"{self.policy} in {self.case} ({self.track}, {self.effort}), seed {self.seed}"

    def _place(self) -> tuple[str, str, str, str, int, Key]:
        return self.track, self.effort, self.case, self.policy, self.seed, self.key

    def _to_row(self) -> dict[str, Any]:
        return {name: getattr(self.measured if name in _OF_RUN else self, name) for name in _SCHEMA.names}

    @classmethod
    def _from_row(cls, row: dict[str, Any]) -> ReferenceResult:
        return cls(measured=Measured(**{name: row.pop(name) for name in _OF_RUN}), **row)


class ReferenceResults:
    """Published runs of one suite."""

    def __init__(self, results: Iterable[ReferenceResult] = ()) -> None:
        self._by_key = {result.key: result for result in results}

    def __len__(self) -> int:
        return len(self._by_key)

    def __iter__(self) -> Iterator[ReferenceResult]:
        """By track, effort, case, policy and seed."""
        return iter(sorted(self._by_key.values(), key=ReferenceResult._place))

    def find(self, track: Track, run_id: str) -> ReferenceResult | None:
        """What a run came to, by the quantity of a track."""
        return self._by_key.get((run_id, track.quantity, track.after_ns))

    def write(self, file: Path) -> None:
        """Write the table: sorted, the same bytes for the same runs (and the same pyarrow), complete or not at all."""
        write_table(pa.Table.from_pylist([result._to_row() for result in self], _SCHEMA), file)

    @classmethod
    def read(cls, file: Path) -> ReferenceResults:
        """A table that `write` wrote; nothing if there is none."""
        if not file.exists():
            return cls()
        table = read_rows(file)
        if table.schema != _SCHEMA:
            columns = ", ".join(_SCHEMA.names)
            raise config_error("published results", str(file), f"must have the columns {columns}")
        _check_values(table, file)
        return cls(map(ReferenceResult._from_row, table.to_pylist()))


def _check_values(table: pa.Table, file: Path) -> None:
    """Refuse a table with a value that no run can have."""
    columns = {name: column.to_numpy(zero_copy_only=False) for name, column in _columns(table)}
    of_loads = columns["quantity"] == "accepted-load"
    for name, column in _columns(table):
        allowed, legal = "must be there", ~column.is_null().to_numpy(zero_copy_only=False)
        values = columns[name]
        if pa.types.is_string(column.type):
            allowed, legal = "must be a text", legal & ((values != "") | (name == "link_class"))
        elif name in _LINKS:
            allowed = f"must be a share up to {_HIGHEST_LOAD:g}, or NaN"
            legal &= np.isnan(values) | ((values >= 0) & (values <= _HIGHEST_LOAD))
        elif name == "after_ns":
            allowed, legal = "must be a time of at least 0 ns", legal & (values >= 0) & np.isfinite(values)
        elif name == "accepted_load":
            allowed = f"must be a load from 0 to {_HIGHEST_LOAD:g}"
            legal &= (values >= 0) & (values <= _HIGHEST_LOAD)
        elif name in _MEASURED:
            allowed = f"must be above 0 and finite, a load at most {_HIGHEST_LOAD:g}; or NaN, if nothing was measured"
            highest = np.where(of_loads & (name == "value"), _HIGHEST_LOAD, MAX_RUN_NS)
            legal &= np.isnan(values) | ((values > 0) & (values <= highest))
        if not legal.all():
            row = int(np.argmin(legal))
            where = f"published results, row {row + 1}, column {name}"
            raise ConfigError(f"{config_error(where, column[row].as_py(), allowed)} (in {file})")


def _columns(table: pa.Table) -> Iterator[tuple[str, pa.ChunkedArray]]:
    return zip(table.column_names, table.columns, strict=True)


def table_of(suite_name: str) -> Path:
    """Where the published runs of a suite are, if there are any."""
    return FOLDER / f"{suite_name}.parquet"

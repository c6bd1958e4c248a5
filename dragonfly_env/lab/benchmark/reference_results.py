"""Published results of policies in the cases of a suite: tables that come with the package, one row per run. They are
those of the references, and of a few policies that are shown next to them.

A run is found by its id, a hash of all that makes it, and by what its track makes of it (quantity and window after a
change, which are not part of the run). So nothing is found for a case, a preset or a policy that has changed since.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TypeAlias

import pyarrow as pa

from dragonfly_env.lab.benchmark.measured import Measured
from dragonfly_env.sweeps.results import read_table, write_table

FOLDER = Path(__file__).with_name("published")
"""The folder of the package with a table per suite."""

Key: TypeAlias = tuple[str, str, float]
"""A run's id, its track's quantity and its track's window after a change, in ns."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferenceResult(Measured):
    """A published run."""

    track: str  # The track's name. This and the next four are for people: the run is found by what follows.
    effort: str  # ``quick`` or ``full``
    case: str  # the case's name
    policy: str  # label
    seed: int
    run_id: str  # `Run.id`
    quantity: str  # quantity of the track
    after_ns: float  # the track's window after a change, in ns
    package_version: str  # version that made the run

    @property
    def key(self) -> Key:
        """The key under which a benchmark finds the result."""
        return self.run_id, self.quantity, self.after_ns

    def describe(self) -> str:
        """Describe the run in one line."""
        return f"{self.policy} in {self.case} ({self.track}, {self.effort}), seed {self.seed}"


def write_references(results: Iterable[ReferenceResult], file: Path) -> None:
    """Write a table: sorted, the same bytes for the same runs (and the same pyarrow), complete or not at all."""
    kinds = {"str": pa.string(), "int": pa.uint64(), "float": pa.float64()}
    schema = pa.schema([(field.name, kinds[str(field.type)]) for field in fields(ReferenceResult)])
    ordered = sorted(
        results,
        key=lambda result: (result.track, result.effort, result.case, result.policy, result.seed, result.key),
    )
    table = pa.Table.from_pylist([asdict(result) for result in ordered], schema)
    # Values and hashes do not repeat, so dictionaries would only add to them.
    numbers = ["value", "accepted_load"]
    words = [name for name in schema.names if name not in (*numbers, "run_id")]
    write_table(table, file, compression_level=19, use_dictionary=words, use_byte_stream_split=numbers)


def read_references(file: Path) -> dict[Key, ReferenceResult]:
    """A table that `write_references` wrote; nothing if there is none."""
    rows = read_table(file).to_pylist() if file.exists() else []
    return {result.key: result for result in (ReferenceResult(**row) for row in rows)}


def table_of(suite_name: str) -> Path:
    """Folder of the published runs of a suite, if there are any."""
    return FOLDER / f"{suite_name}.parquet"

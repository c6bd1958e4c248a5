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

import pyarrow as pa

from dragonfly_env.lab.benchmark.measured import Measured
from dragonfly_env.lab.benchmark.suite import Track
from dragonfly_env.sweeps.results import read_table, write_table

FOLDER = Path(__file__).with_name("published")
"""Of the package: a table per suite."""

_MEASURED = ("value", "p99_ns", "accepted_load")
_LINKS = ("link_highest", "link_mean")
_OF_RUN = (*_MEASURED, "link_class", *_LINKS)
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
    """A published run."""

    track: str  # The track's name. This and the next four are for people: the run is found by what follows.
    effort: str  # ``quick`` or ``full``
    case: str  # the case's name
    policy: str  # label
    seed: int
    run_id: str  # `Run.id`
    quantity: str  # quantity of the track
    after_ns: float  # the track's window after a change, in ns
    measured: Measured
    package_version: str  # version that made the run

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

    def by_case(self, policy: str) -> dict[tuple[str, str, str], list[ReferenceResult]]:
        """The runs of a policy by track, effort and case: for policies that the package no longer has."""
        found: dict[tuple[str, str, str], list[ReferenceResult]] = {}
        for result in self:
            if result.policy == policy:
                found.setdefault((result.track, result.effort, result.case), []).append(result)
        return found

    def write(self, file: Path) -> None:
        """Write the table: sorted, the same bytes for the same runs (and the same pyarrow), complete or not at all."""
        write_table(pa.Table.from_pylist([result._to_row() for result in self], _SCHEMA), file)

    @classmethod
    def read(cls, file: Path) -> ReferenceResults:
        """A table that `write` wrote; nothing if there is none."""
        if not file.exists():
            return cls()
        return cls(map(ReferenceResult._from_row, read_table(file).to_pylist()))


def table_of(suite_name: str) -> Path:
    """Where the published runs of a suite are, if there are any."""
    return FOLDER / f"{suite_name}.parquet"

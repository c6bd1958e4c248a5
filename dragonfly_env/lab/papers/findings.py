"""What the simulations of a paper have shown: rows of results by figure and cell."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from dragonfly_env.lab.papers.cells import Cell, Setup
from dragonfly_env.lab.papers.claims import Claim
from dragonfly_env.sweeps.results import Results
from dragonfly_env.sweeps.storage import ResultsFolder, read_rows

FloatArray = npt.NDArray[np.float64]
Row = Mapping[str, Any]


class NotFoundYetError(LookupError):
    """A cell that was not simulated; the message says why."""


@dataclass(frozen=True, slots=True)
class Findings:
    """Results by figure and cell.

    Attributes:
        setup: What all simulations share.
        cells: Every cell of every figure, simulated or not.
        rows: Of the simulated ones: one row for each seed, in the seeds' order.
        missing: Of the others: why, if it is not just that nobody asked.
        name: Title of figures.
        claims: What the paper states, for the points of figures.
    """

    setup: Setup
    cells: Mapping[str, tuple[Cell, ...]]
    rows: Mapping[Cell, tuple[Row, ...]]
    missing: Mapping[Cell, str]
    name: str
    claims: tuple[Claim, ...] = ()

    def of(self, figure: str) -> tuple[Cell, ...]:
        """The simulated cells of a figure, in its order."""
        return tuple(cell for cell in self.cells.get(figure, ()) if cell in self.rows)

    def simulated(self, figure: str) -> tuple[Cell, ...]:
        """The same, of a figure of which something was simulated.

        Raises:
            NotFoundYetError: If nothing was; the message says why.
        """
        cells = self.of(figure)
        if not cells:
            raise NotFoundYetError("; ".join(self.absent(figure)) or f"{figure} was not run")
        return cells

    def absent(self, figure: str) -> tuple[str, ...]:
        """Why something of a figure is missing; every reason once."""
        cells = self.cells.get(figure, ())
        return tuple(dict.fromkeys(self.missing[cell] for cell in cells if cell in self.missing))

    def select(
        self,
        figure: str,
        *,
        hosts: int = 0,
        traffic: str = "any",
        load: float | None = None,
        policy: str = "",
    ) -> tuple[Cell, ...]:
        """The simulated cells of a figure that fit.

        Raises:
            NotFoundYetError: If there is none, or one of them was not simulated.
        """
        wanted = tuple(
            cell
            for cell in self.cells.get(figure, ())
            if hosts in (0, cell.hosts)
            and traffic in ("any", cell.traffic)
            and (load is None or math.isclose(load, cell.load, abs_tol=1e-9))
            and policy in ("", cell.policy)
        )
        for cell in wanted:
            if cell not in self.rows:
                other = (
                    f"its run is missing: {cell.describe()}" if self.of(figure) else f"{figure} was not run"
                )
                raise NotFoundYetError(self.missing.get(cell, other))
        if not wanted:
            raise NotFoundYetError(f"{figure} is not simulated for {policy} under {traffic} in this mode")
        return wanted

    def values(self, cell: Cell, column: str) -> FloatArray:
        """A number of every seed's run; NaN where it has no value."""
        return np.array(
            [math.nan if row[column] is None else float(row[column]) for row in self.rows[cell]], np.float64
        )

    def histogram(self, cell: Cell) -> tuple[FloatArray, FloatArray]:
        """(latencies in us, packets) over all seeds, ascending."""
        latency_ns = np.concatenate(
            [np.asarray(row["histogram_latency_ns"], np.float64) for row in self.rows[cell]]
        )
        packets = np.concatenate(
            [np.asarray(row["histogram_packets"], np.float64) for row in self.rows[cell]]
        )
        order = np.argsort(latency_ns, kind="stable")
        return latency_ns[order] / 1000.0, packets[order]

    def series(self, cell: Cell, column: str) -> tuple[FloatArray, FloatArray]:
        """(times in us at the bins' ends, values of every seed (seeds, bins)) of a time series."""
        stacked = np.stack([np.asarray(row[f"series_{column}"], np.float64) for row in self.rows[cell]])
        first = self.rows[cell][0]
        ends_ns = np.asarray(first["series_time_ns"], np.float64) + np.asarray(
            first["series_duration_ns"], np.float64
        )
        return ends_ns / 1000.0, stacked

    def results(self, figure: str) -> Results:
        """The simulated cells of a figure for the figures that sweeps have.

        Raises:
            NotFoundYetError: If there are none.
        """
        cells = self.simulated(figure)
        rows = [
            {**row, "policy": cell.policy, "traffic": cell.traffic}
            for cell in cells
            for row in self.rows[cell]
        ]
        return Results(
            name=self.name,
            table=pd.DataFrame(rows),
            policies=_unique(cell.policy for cell in self.cells[figure] if cell in self.rows),
            traffic=_unique(cell.traffic for cell in self.cells[figure] if cell in self.rows),
            expected=len(rows),
        )


def read_findings(
    name: str,
    setup: Setup,
    cells: Mapping[str, tuple[Cell, ...]],
    missing: Mapping[Cell, str],
    run_ids: Mapping[Cell, Sequence[str]],
    folder: Path,
) -> Findings:
    """What a results folder holds of the cells; one with a seed missing counts as not simulated."""
    files = ResultsFolder(folder)
    wanted = {run_id for ids in run_ids.values() for run_id in ids}
    present = sorted(run_id for run_id in wanted if files.run_file(run_id).exists())
    tables = [_without_links(table) for run_id in present for table in read_rows([files.run_file(run_id)])]
    by_id: dict[str, Row] = {}
    if tables:
        merged = pa.concat_tables(tables, promote_options="permissive").to_pandas()
        by_id = {str(row["run_id"]): row for row in merged.to_dict("records")}
    rows = {
        cell: tuple(by_id[run_id] for run_id in ids)
        for cell, ids in run_ids.items()
        if all(run_id in by_id for run_id in ids)
    }
    return Findings(setup=setup, cells=cells, rows=rows, missing=missing, name=name)


def _without_links(table: pa.Table) -> pa.Table:
    """The columns that figures and claims may need: a thousand runs with every link's would fill the memory."""
    return table.drop_columns([name for name in table.column_names if name.startswith("link_")])


def _unique(labels: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(labels))

"""Results of the simulations of a paper: rows by figure and point."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from dragonfly_env.config.topology import Dragonfly, topologies
from dragonfly_env.sweeps.point import Point
from dragonfly_env.sweeps.results import Results, read_runs

FloatArray = npt.NDArray[np.float64]
Row = Mapping[str, Any]


class NotFoundYetError(LookupError):
    """A point that was not simulated; the message says why."""


@dataclass(frozen=True, slots=True)
class Findings:
    """Results by figure and point."""

    points: Mapping[str, tuple[Point, ...]]  # every point of every figure, simulated or not
    rows: Mapping[Point, tuple[Row, ...]]  # one row per seed, in the order of seeds, of simulated points
    name: str  # title of figures

    def of(self, figure: str) -> tuple[Point, ...]:
        """The simulated points of a figure, in its order."""
        return tuple(point for point in self.points.get(figure, ()) if point in self.rows)

    def simulated(self, figure: str) -> tuple[Point, ...]:
        """The simulated points of a figure that has some; `NotFoundYetError` if it has none."""
        if not (points := self.of(figure)):
            raise NotFoundYetError(f"{figure} was not run")
        return points

    def select(
        self,
        figure: str,
        *,
        hosts: int = 0,
        traffic: str = "any",
        load: float | None = None,
        policy: str = "",
    ) -> tuple[Point, ...]:
        """The simulated points of a figure that fit."""
        wanted = tuple(
            point
            for point in self.points.get(figure, ())
            if hosts in (0, point.config.topology.num_hosts)
            and traffic in ("any", point.traffic_label)
            and (load is None or math.isclose(load, point.load, abs_tol=1e-9))
            and policy in ("", point.policy_label)
        )
        for point in wanted:
            if point not in self.rows:
                some = f"its run is missing: {_described(point)}"
                raise NotFoundYetError(some if self.of(figure) else f"{figure} was not run")
        if not wanted:
            which = (f" for {policy}" if policy else "") + (f" under {traffic}" if traffic != "any" else "")
            raise NotFoundYetError(f"{figure} is not simulated{which} in this mode")
        return wanted

    def values(self, point: Point, column: str) -> FloatArray:
        """A number of every seed's run; NaN where it has no value."""
        return np.array(
            [math.nan if row[column] is None else float(row[column]) for row in self.rows[point]], np.float64
        )

    def mean(self, point: Point, column: str) -> float:
        """The mean of a column over seeds."""
        return float(np.nanmean(self.values(point, column)))

    def histogram(self, point: Point) -> tuple[FloatArray, FloatArray]:
        """(latencies in us, packets) over all seeds, ascending."""
        columns = ("histogram_latency_ns", "histogram_packets")
        latency_ns, packets = (
            np.concatenate([np.asarray(row[name], np.float64) for row in self.rows[point]])
            for name in columns
        )
        order = np.argsort(latency_ns, kind="stable")
        return latency_ns[order] / 1000.0, packets[order]

    def series(self, point: Point, column: str) -> tuple[FloatArray, FloatArray]:
        """(times in us at the bins' ends, values of every seed (seeds, bins)) of a time series."""
        stacked = np.stack([np.asarray(row[f"series_{column}"], np.float64) for row in self.rows[point]])
        begins_ns, widths_ns = (
            np.asarray(self.rows[point][0][f"series_{name}_ns"], np.float64) for name in ("time", "duration")
        )
        return (begins_ns + widths_ns) / 1000.0, stacked

    def results(self, figure: str) -> Results:
        """The simulated points of a figure for the figures that sweeps have."""
        points = self.simulated(figure)
        rows = [
            {**row, "policy": point.policy_label, "traffic": point.traffic_label}
            for point in points
            for row in self.rows[point]
        ]
        return Results(
            name=self.name,
            table=pd.DataFrame(rows),
            policies=tuple(dict.fromkeys(point.policy_label for point in points)),
            traffic=tuple(dict.fromkeys(point.traffic_label for point in points)),
            expected=len(rows),
        )


def steps_of(point: Point) -> tuple[tuple[float, str, float], ...]:
    """(time in ns, pattern, load) of the steps of a schedule; nothing of other traffic."""
    steps = getattr(point.config.traffic_object, "steps", ())
    return tuple((float(time_ns), pattern.spec, float(load)) for time_ns, pattern, load in steps)


def _described(point: Point) -> str:
    """Describe the point in one line."""
    system, hosts = point.config.topology, point.config.topology.num_hosts
    if point.config.jobs:
        known = (name for name in topologies() if Dragonfly.preset(name) == system)
        return f"{point.traffic_label} by {point.policy_label} on {next(known, f'{hosts} hosts')}"
    load = "" if point.closed_loop else f" at load {point.load:g}"
    return f"{point.policy_label} under {point.traffic_label}{load} on {hosts} hosts"


def read_rows_of(folder: Path, run_ids: Mapping[Point, Sequence[str]]) -> dict[Point, tuple[Row, ...]]:
    """Rows of points in a results folder; a point with a seed missing counts as not simulated.

    Of links nothing is kept: a thousand runs with every link's values would fill the memory.
    """
    wanted = sorted({run_id for ids in run_ids.values() for run_id in ids})
    found = read_runs(folder, wanted, without="link_").to_pandas()
    by_id: dict[str, Row] = {str(row["run_id"]): row for row in found.to_dict("records")}
    return {
        point: tuple(by_id[run_id] for run_id in ids)
        for point, ids in run_ids.items()
        if all(run_id in by_id for run_id in ids)
    }

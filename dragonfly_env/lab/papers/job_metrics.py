"""Quantities of jobs, and of the machine that they run on, from the rows of results: one value for each seed.

Stalls and flits are those of tiles, as the machine counts them (docs/counters.md): flits that a tile has received, and
the time in which the head of one of its buffers found no room to move on to. Of a job: on the routers that have its
hosts. Processor tiles are those that take what hosts send.
"""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from dragonfly_env.lab.papers.claims import Metric
from dragonfly_env.lab.papers.findings import Findings, FloatArray, NotFoundYetError, Row
from dragonfly_env.metrics.ports import HOST_IN
from dragonfly_env.sweeps.point import Point

NETWORK_CLASSES = ("rank-1", "rank-2", "rank-3")
PERCENTILES = (5.0, 25.0, 50.0, 75.0, 90.0, 95.0, 99.0, 99.9, 99.99)
"""Percentiles of the latencies of hosts in figure 14."""

_Job = Mapping[str, Any]


@functools.lru_cache(maxsize=4096)
def _parsed(text: str) -> Any:
    return json.loads(text)


def watched_jobs(row: Row) -> tuple[_Job, ...]:
    """The jobs of a run that have an end, as `jobs_columns` describes them."""
    jobs: list[_Job] = _parsed(row["jobs"])
    return tuple(job for job in jobs if not job["endless"])


def run_times_us(row: Row) -> list[float]:
    """The value of every watched job; NaN if the job did not end."""
    return [
        math.nan if job["run_time_ns"] is None else job["run_time_ns"] / 1000.0 for job in watched_jobs(row)
    ]


def operation_times_us(row: Row) -> dict[str, float]:
    """Time that a rank of the watched jobs spent in each kind of operation, and the rest as ``compute``."""
    jobs = watched_jobs(row)
    ranks = sum(len(job["hosts"]) for job in jobs)
    times: dict[str, float] = {}
    for job in jobs:
        for name, operation in job["operations"].items():
            if operation["count"]:
                times[name] = (
                    times.get(name, 0.0) + operation["count"] * operation["mean_ns"] / 1000.0 / ranks
                )
    total = sum(job["iterations"] * (job["iteration_mean_ns"] or 0.0) for job in jobs) / 1000.0 / ranks
    return {**times, "compute": total - sum(times.values())}


def spanned_groups(row: Row) -> float:
    """Groups that a watched job spans, the mean over them."""
    return float(np.mean([job["groups"] for job in watched_jobs(row)]))


def _mpi_time(row: Row) -> float:
    times = operation_times_us(row)
    return sum(times.values()) - times["compute"]


def _mpi_share(row: Row) -> float:
    times = operation_times_us(row)
    return 1.0 - times["compute"] / sum(times.values())


def _operation(name: str) -> Callable[[Row], float]:
    def read(row: Row) -> float:
        times = operation_times_us(row)
        if name not in times:
            raise NotFoundYetError(f"its jobs have no operation {name}")
        return times[name]

    return read


def _counted(tiles: Mapping[str, Any], name: str, what: str) -> float:
    return float(tiles[name][what]) if name in tiles else 0.0


def _of_machine(row: Row, name: str, what: str) -> float:
    return _counted(_parsed(row["tiles"]), name, what)


def _of_job(row: Row, name: str, what: str) -> float:
    return sum(_counted(job["tiles"], name, what) for job in watched_jobs(row))


def _rank_3_peak(row: Row) -> float:
    """Stalls of the worst tile of links between groups over their mean."""
    stalls, tiles = (_of_machine(row, "rank-3", what) for what in ("stalls", "tiles"))
    return _of_machine(row, "rank-3", "most_stalls") * tiles / stalls if stalls else math.nan


def _network_flit_rate(row: Row) -> float:
    """Flits of the machine's network tiles per us."""
    flits = sum(_of_machine(row, name, "flits") for name in NETWORK_CLASSES)
    return 1000.0 * flits / float(row["duration_ns"])


def _metric(name: str, read: Callable[[Row], float], unit: str = "") -> Metric:
    """A quantity from one row of results."""
    return Metric(
        name, lambda findings, point: np.array([read(row) for row in findings.rows[point]], np.float64), unit
    )


RUN_TIME = _metric("run_time", lambda row: float(np.mean(run_times_us(row))))
MPI_TIME = _metric("mpi_time", _mpi_time)
MPI_SHARE = _metric("mpi_share", _mpi_share, "fraction")
TIME_IN_ALLREDUCE, TIME_IN_WAIT = (
    _metric(f"time_in_{name}", _operation(name)) for name in ("allreduce", "wait")
)
RANK_3_PEAK = _metric("rank_3_peak", _rank_3_peak)
NETWORK_FLIT_RATE = _metric("network_flit_rate", _network_flit_rate)


def tile_metric(kind: str, what: str, of_job: bool = False) -> Metric:
    """Stalls, flits or their ratio of a class of tiles (``network``: of those of all links together, ``processor``), of
    the machine or of the watched jobs' routers. Equal arguments give the same object: figures look for the metrics of
    claims.
    """
    return _tile_metric(kind, what, of_job)


@functools.cache
def _tile_metric(kind: str, what: str, of_job: bool) -> Metric:
    classes = {"network": NETWORK_CLASSES, "processor": (HOST_IN,)}.get(kind, (kind,))
    read = _of_job if of_job else _of_machine

    def added(row: Row, counted: str) -> float:
        return sum(read(row, name, counted) for name in classes)

    def total(row: Row) -> float:
        if what != "ratio":
            return added(row, what)
        flits = added(row, "flits")
        return added(row, "stalls") / flits if flits else math.nan

    return _metric(f"{'job_' if of_job else ''}{kind.replace('-', '_')}_{what}", total)


@functools.cache
def latency_percentile(q: float) -> Metric:
    """A percentile of the mean latencies per host and window, in us."""

    def read(row: Row) -> float:
        latency = row.get("nic_latency_ns")
        if latency is None or isinstance(latency, float):
            raise NotFoundYetError("latencies of hosts are not noted in its runs")
        return float(np.percentile(np.asarray(latency, np.float64), q)) / 1000.0

    return _metric(f"nic_latency_p{q:g}", read)


MODES = ("ad0", "ad1", "ad2", "ad3")


def normalised(findings: Findings, figure: str) -> dict[str, FloatArray]:
    """Run times of all jobs by mode, less the mean of their application and in its standard deviations (figure 9)."""
    by_mode: dict[str, list[FloatArray]] = {mode: [] for mode in MODES}
    every = findings.select(figure)
    for name in dict.fromkeys(point.traffic_label.split(",")[0] for point in every):
        points = [point for point in every if point.traffic_label.split(",")[0] == name]
        times = {
            mode: _pooled(findings, (point for point in points if point.policy_label == mode))
            for mode in MODES
        }
        whole = np.concatenate(list(times.values()))
        for mode in MODES:
            by_mode[mode].append((times[mode] - whole.mean()) / (whole.std() or 1.0))
    return {mode: np.concatenate(parts) for mode, parts in by_mode.items()}


def _pooled(findings: Findings, points: Iterable[Point]) -> FloatArray:
    times = [time for point in points for row in findings.rows[point] for time in run_times_us(row)]
    if not times:
        raise NotFoundYetError("not all modes were run")
    return np.array(times, np.float64)

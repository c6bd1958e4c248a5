"""Quantities of points of networks without jobs: what claims measure and figures draw."""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pandas as pd

import dragonfly_env as dfe
from dragonfly_env.lab.papers.claims import LATENCY_TOLERANCE, Metric
from dragonfly_env.lab.papers.findings import Findings, FloatArray, steps_of
from dragonfly_env.simulation.path_kinds import PATH_KINDS
from dragonfly_env.sweeps.point import Point

_BELOW_US = 2.0


def _column(name: str, scale: float = 1.0) -> Callable[[Findings, Point], FloatArray]:
    return lambda findings, point: findings.values(point, name) * scale


def _fraction_below(findings: Findings, point: Point) -> FloatArray:
    fractions = []
    for row in findings.rows[point]:
        packets = np.asarray(row["histogram_packets"], np.float64)
        below = np.asarray(row["histogram_latency_ns"], np.float64) < _BELOW_US * 1000.0
        fractions.append(packets[below].sum() / packets.sum() if packets.sum() else math.nan)
    return np.array(fractions, np.float64)


def _peak_throughput(findings: Findings, point: Point) -> FloatArray:
    """The accepted load of the bin in which the network accepts most."""
    _, curves = findings.series(point, "accepted_load")
    return np.asarray(curves.max(axis=1), np.float64)


THROUGHPUT = Metric("throughput", _column("accepted_load"), "fraction", more_is_better=True)
HOPS = Metric("hops_mean", _column("hops_mean"), "hops")
LATENCY_MEAN = Metric("latency_mean", _column("latency_mean_ns", 1e-3), "us", LATENCY_TOLERANCE)
LATENCY_P99 = Metric("latency_p99", _column("latency_p99_ns", 1e-3), "us", LATENCY_TOLERANCE)
MAKESPAN = Metric("makespan", _column("makespan_ns"), "ns", LATENCY_TOLERANCE)
PEAK_THROUGHPUT = Metric("peak_throughput", _peak_throughput, "fraction", more_is_better=True)
FRACTION_BELOW = Metric(
    "fraction_below_2us", _fraction_below, "fraction", LATENCY_TOLERANCE, more_is_better=True
)


# Settling times of curves.

LATENCY_BAND = 0.25
THROUGHPUT_BAND = 0.05
CARRIED_BAND = 0.1
SMOOTHING_BINS = 5
_LEVEL_FROM = 0.75  # share of the time after the start; the rest gives the level that the curve settles at


def smooth(values: FloatArray) -> FloatArray:
    """The centred running mean over `SMOOTHING_BINS` bins, of fewer at the ends; NaNs do not count."""
    means = pd.Series(values).rolling(SMOOTHING_BINS, center=True, min_periods=1).mean()
    return means.to_numpy(np.float64)


def settled_level(ends_us: FloatArray, values: FloatArray, begin_us: float) -> float:
    """The mean over the last quarter of the time after ``begin_us``."""
    from_us = begin_us + _LEVEL_FROM * (float(ends_us[-1]) - begin_us)
    late = values[ends_us > from_us]
    return float(np.nanmean(late)) if np.isfinite(late).any() else float("nan")


def settling_time_us(
    ends_us: FloatArray, values: FloatArray, begin_us: float, band: float, level: float | None = None
) -> float:
    """The time from ``begin_us`` until the smoothed curve (B,) stays within ``band`` (relative) of a level, by default
    `settled_level`; 0 if it never leaves the band, NaN without values.
    """
    if level is None:
        level = settled_level(ends_us, values, begin_us)
    if not (np.isfinite(level) and np.isfinite(values).any()):
        return float("nan")
    outside = (ends_us > begin_us) & ~(np.abs(smooth(values) - level) <= band * abs(level))
    return float(ends_us[np.flatnonzero(outside)[-1]] - begin_us) if outside.any() else 0.0


def settling_throughput(findings: Findings, point: Point, band: float = THROUGHPUT_BAND) -> FloatArray:
    """Time after the last change of the load until the throughput stays near the offered load."""
    begin_ns, _, offered = (steps_of(point) or ((0.0, "", point.load),))[-1]
    ends_us, curves = findings.series(point, "accepted_load")
    return np.array([settling_time_us(ends_us, curve, begin_ns / 1000.0, band, offered) for curve in curves])


def settling_latency(findings: Findings, point: Point) -> FloatArray:
    """Time until the latency settles in a network that carries the offered load; a full network settles, too."""
    ends_us, curves = findings.series(point, "latency_mean_ns")
    settled = [settling_time_us(ends_us, curve, 0.0, LATENCY_BAND) for curve in curves]
    both: FloatArray = np.maximum(np.array(settled), settling_throughput(findings, point, CARRIED_BAND))
    return both


SETTLING_LATENCY = Metric("settling_latency", settling_latency, "us", LATENCY_TOLERANCE)
SETTLING_THROUGHPUT = Metric("settling_throughput", settling_throughput, "us", LATENCY_TOLERANCE)


# The memory that tables of Q-values take, as the core holds them (HPDC 2021, sections 2.3.1 and 4, tables 2 and 3).

SYSTEMS = (1056, 2550)
WHOLE, TWO_LEVEL = "q-routing", "q-adaptive"


class TableSize(NamedTuple):
    """The table of one router."""

    rows: int  # destinations that it tells apart
    ports: int  # local and global ports
    bytes: int


@functools.cache
def table_size(hosts: int, policy: str) -> TableSize:
    """Memory of a learner per router, measured on a network that has just been built."""
    config = dfe.SimulationConfig(
        topology=dfe.Dragonfly.preset(str(hosts), arrangement="absolute"),
        network=dfe.NetworkConfig.preset("q-adaptive"),
        policy=policy,
    )
    tables = dfe.Simulation(config).q_table()
    routers, rows, ports = tables.shape
    return TableSize(rows, ports, tables.nbytes // routers)


# Q-routing with a limit of hops (``maxQ``, section 2.3.2): is there a value that serves every traffic?


def hop_limit(point: Point) -> int | None:
    """The limit of Q-routing; None for another policy."""
    value = point.config.policy_object.parameters.get("max_hops")
    return None if value is None else int(value)


def by_limit(findings: Findings, figure: str, traffic: str) -> dict[int, Point]:
    """The simulated points of a traffic, by limit, ascending."""
    pairs = [(hop_limit(point), point) for point in findings.of(figure) if point.traffic_label == traffic]
    return dict(
        sorted(((limit, point) for limit, point in pairs if limit is not None), key=lambda pair: pair[0])
    )


SAME = 0.005  # accepted loads that differ by less are equal: then latency decides


def best_limit(findings: Findings, points: dict[int, Point]) -> int:
    """The limit with the highest accepted load; among equal ones the one with the lowest mean latency."""
    accepted = {limit: findings.mean(point, "accepted_load") for limit, point in points.items()}
    equal = [limit for limit in points if accepted[limit] >= max(accepted.values()) - SAME]
    return min(equal, key=lambda limit: findings.mean(points[limit], "latency_mean_ns"))


# Shares of the routers of a group in the load.


def loads_of_routers(findings: Findings, point: Point) -> FloatArray:
    """(seeds, routers of a group) what was delivered of the hosts of each router, the mean over all groups.

    All groups are alike under the patterns that are shown so; the paper shows group 0 alone.
    """
    rows = [np.asarray(row["source_router_load"], np.float64) for row in findings.rows[point]]
    means: FloatArray = np.stack([row.reshape(-1, point.config.topology.a).mean(axis=0) for row in rows])
    return means


def path_loads_of_routers(findings: Findings, point: Point) -> FloatArray:
    """(seeds, routers of a group, len(PATH_KINDS)) the same by the kind of path that packets took."""
    rows = [np.asarray(row["source_router_path_loads"], np.float64) for row in findings.rows[point]]
    shape = (-1, point.config.topology.a, len(PATH_KINDS))
    means: FloatArray = np.stack([row.reshape(shape).mean(axis=0) for row in rows])
    return means


# Around a change of the traffic.

AFTER_NS = (181.0, 210.0)
"""Packets that are generated so long after a change of the traffic are compared (TACO 2025, section 6.3)."""


def around_change(
    findings: Findings, point: Point, columns: tuple[str, ...], since_ns: tuple[float, float]
) -> list[float]:
    """Means, over seeds and bins, of latencies (``mean``, ``q1``, ``q3``) of the packets generated between two times
    after the last change of the traffic, or before it.
    """
    found = []
    for name in columns:
        ends_us, curves = findings.series(point, f"generated_latency_{name}_ns")
        since = ends_us * 1000.0 - steps_of(point)[-1][0]
        found.append(float(np.nanmean(curves[:, (since > since_ns[0]) & (since <= since_ns[1])])))
    return found


# Non-minimal paths without the second local hop under ADV+i: TACO 2025, sections 3.2.2 and 6.1.2.

_WINDOW_NS = 200.0
_PACKET_NS = 10.0


def offset_of(point: Point) -> int:
    """The i of ADV+i."""
    found = re.fullmatch(r"adv\+(\d+)", point.traffic_label)
    assert found is not None
    return int(found.group(1))


def shares_of(traffic: str) -> dict[int, float]:
    """Return by offset the share of the packets of a pattern ADV+i, or of a weighted mixture of such patterns."""
    found = re.findall(r"adv\+(\d+)(?:=([0-9.]+))?", traffic)
    shares = {int(offset): float(weight or 1.0) for offset, weight in found}
    total = sum(shares.values())
    return {offset: share / total for offset, share in shares.items()}


def remote_counters(findings: Findings, point: Point) -> dict[int, FloatArray]:
    """Return by type k of local link (seeds,) packets of a router in a window that would use them without the second
    local hop, as equation 3 of the paper computes it. Type 0 is no link.
    """
    topology = point.config.topology
    packets = findings.values(point, "accepted_load") * topology.p * _WINDOW_NS / _PACKET_NS
    counters: dict[int, FloatArray] = {}
    for offset, share in shares_of(point.traffic_label).items():
        k, m = divmod(offset, topology.h)
        for link, part in ((k, 1.0 - m / topology.h), (k + 1, m / topology.h)):
            if link > 0 and part > 0.0:
                counters[link] = counters.get(link, np.zeros_like(packets)) + packets * share * part
    return counters


def remote_counter(findings: Findings, point: Point) -> FloatArray:
    """(seeds,) packets of a router in a window that share the most loaded type of local link: the larger of the two of
    ADV+(k h + m), k and k + 1 (section 4.3.2).
    """
    counters = remote_counters(findings, point)
    return max(counters.values(), key=lambda counter: float(counter.mean()))

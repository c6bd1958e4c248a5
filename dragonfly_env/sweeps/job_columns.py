"""Columns of results that tell of jobs: their times, the tiles of their routers, and what their hosts saw."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from dragonfly_env.jobs import BackgroundMix, Job
from dragonfly_env.metrics import Metrics
from dragonfly_env.metrics.tiles import TileTable
from dragonfly_env.simulation.config import SimulationConfig

NIC_WINDOW_NS = 10_000.0
"""Over which a host's latencies are averaged, as an operator's counters do over a second."""


def tile_sums(tiles: TileTable) -> dict[str, dict[str, float]]:
    """Of each class of tiles: how many, flits received, stalls, and those of the worst of them."""
    return {
        kind: {
            "tiles": totals.tiles,
            "flits": totals.flits,
            "stalls": totals.stalls,
            "most_stalls": float(tiles.of_kind(kind).stalls.max()),
        }
        for kind, totals in tiles.kinds.items()
    }


def jobs_text(metrics: Metrics, jobs: Sequence[Job | BackgroundMix] = ()) -> str:
    """All jobs as JSON: ``JobMetrics.to_dict``, with the number of groups that each spans, its local view, the
    ``tiles`` of its routers (`tile_sums`), and the ``placement`` of those that were listed.

    Args:
        metrics: What was measured.
        jobs: Those that the configuration lists; jobs of a mix come after them.
    """
    topology = metrics.topology
    placements = [job.placement for job in jobs if isinstance(job, Job)]
    described = []
    for number, job in enumerate(metrics.jobs):
        groups = np.unique(np.asarray(job.hosts, np.int64) // (topology.p * topology.a))
        described.append({**job.to_dict(), "groups": len(groups), "tiles": tile_sums(job.tiles)})
        if number < len(placements):
            placement = placements[number]
            described[-1]["placement"] = placement if isinstance(placement, str) else "listed hosts"
    return json.dumps(described)


def jobs_columns(metrics: Metrics, jobs: Sequence[Job | BackgroundMix] = ()) -> dict[str, Any]:
    """``job_run_time_ns`` and ``job_mpi_share``, in the order of jobs, NaN where there is none, and ``jobs``
    (`jobs_text`); nothing without jobs.
    """
    if not metrics.jobs:
        return {}
    return {
        "job_run_time_ns": np.array([job.run_time_ns for job in metrics.jobs]),
        "job_mpi_share": np.array([job.mpi_share for job in metrics.jobs]),
        "jobs": jobs_text(metrics, jobs),
    }


def tiles_text(metrics: Metrics) -> str:
    """The tiles of the whole machine, as JSON."""
    return json.dumps(tile_sums(metrics.tiles))


def host_columns(
    config: SimulationConfig, log: Mapping[str, npt.NDArray[Any]]
) -> dict[str, npt.NDArray[np.float32]]:
    """What hosts saw, from a log of all packets.

    Returns:
        ``host_stall_ns`` (num_hosts,): for how long each had a packet and a free link, but no credit for the buffer of
        its router; and ``nic_latency_ns`` (n,): means over the packets of a host that were delivered in one of
        the windows of ``NIC_WINDOW_NS``, from leaving the host to delivery.
    """
    hosts = config.topology.num_hosts
    order = np.lexsort((log["number"], log["src"]))
    source, created, injected = (log[name][order] for name in ("src", "created_ns", "injected_ns"))
    ready = np.maximum(created[1:], injected[:-1] + config.network.injection_packet_time_ns)
    follows = source[1:] == source[:-1]
    waited = np.where(follows, np.maximum(injected[1:] - ready, 0.0), 0.0)
    stalls = np.bincount(source[1:].astype(np.int64), weights=waited, minlength=hosts)
    window = (log["delivered_ns"] // NIC_WINDOW_NS).astype(np.int64)
    window -= window.min(initial=0)
    cell = log["src"].astype(np.int64) + hosts * window
    packets = np.bincount(cell)
    latency = np.bincount(cell, weights=log["delivered_ns"] - log["injected_ns"])
    filled = packets > 0
    return {
        "host_stall_ns": stalls.astype(np.float32),
        "nic_latency_ns": (latency[filled] / packets[filled]).astype(np.float32),
    }

"""What a job sees of an interval: its routers' counters and the times of its own operations."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from dragonfly_env.config.simulation import SimulationConfig
from dragonfly_env.metrics.counters import Counters
from dragonfly_env.metrics.tiles import HOST_OUT, TileTable, tile_kinds

FloatArray = npt.NDArray[np.float32]

# Beyond these a figure says nothing more.
_MOST_RATE = 2.0
_MOST_RATIO = 100.0
_MOST_SHARE = 10.0
_MOST_TIME = 100.0


class JobFigures:
    """Names, bounds and values of the observations of ``job_bias_v0``.

    Args:
        config: What is simulated; its jobs are the agents, then those of a mix.
        jobs: How many of them are agents.
        modes: The names of what they choose from.
        interval_ns: Unit of the times of messages.
    """

    def __init__(self, config: SimulationConfig, jobs: int, modes: Sequence[str], interval_ns: float) -> None:
        self._interval_ns = interval_ns
        self._topology = config.topology
        self._packet_time_ns = config.network.packet_time_ns
        self._hosts = [len(one.hosts) for one in config.placed_jobs()[:jobs]]
        placed = config.placed_jobs()[:jobs]
        names = dict.fromkeys(name for one in placed for name in one.operation_names[1:])
        self._operations = tuple(names)
        tiles = {}
        for kind in tile_kinds(config.topology):
            tiles[f"{kind}_flit_rate"] = _MOST_RATE
            if kind != HOST_OUT:
                tiles[f"{kind}_stalls_to_flits"] = _MOST_RATIO
        bounds = {f"mode_{i}_{mode}": 1.0 for i, mode in enumerate(modes)}
        bounds |= {"accepted_load": _MOST_RATE, **tiles}
        bounds |= {f"{name}_share": _MOST_SHARE for name in self._operations}
        bounds |= {"message_mean": _MOST_TIME}
        self._modes = len(modes)
        self.names = tuple(bounds)
        """(F,) what each figure is."""
        self.high: FloatArray = np.array(list(bounds.values()), np.float32)
        """(F,) the highest value of each; the lowest is 0."""
        state = {"accepted_load": _MOST_RATE, **tiles}
        self.state_names = tuple(state)
        """(S,) the same of the whole machine."""
        self.state_high: FloatArray = np.array(list(state.values()), np.float32)

    def accepted_load(self, window: Counters, job: int) -> float:
        """Packets that reached hosts of a job from one another, as a share of what their links could bring."""
        return self._load(window, window.jobs[job].packets_delivered, self._hosts[job])

    def machine_load(self, window: Counters) -> float:
        """The same of all hosts, whoever sent."""
        packets = window.tiles.kinds[HOST_OUT].flits // window.flits_per_packet
        return self._load(window, packets, self._topology.num_hosts)

    def of_job(self, window: Counters, job: int, mode: int | None) -> FloatArray:
        """(F,) what the job sees of an interval: its local view. A new array."""
        chosen = np.zeros(self._modes)
        if mode is not None:
            chosen[mode] = 1.0
        row = window.jobs[job]
        rank_ns = self._hosts[job] * window.duration_ns
        shares = [
            row.operations[name].total_ns / rank_ns if name in row.operations and rank_ns > 0 else 0.0
            for name in self._operations
        ]
        values = [
            *chosen,
            self.accepted_load(window, job),
            *self._of_tiles(window, window.tiles_of_job(job)),
            *shares,
            row.messages.mean_ns / self._interval_ns,
        ]
        return _bounded(values, self.high)

    def of_machine(self, window: Counters) -> FloatArray:
        """(S,) the global view. A new array."""
        values = [self.machine_load(window), *self._of_tiles(window, window.tiles)]
        return _bounded(values, self.state_high)

    def _of_tiles(self, window: Counters, tiles: TileTable) -> list[float]:
        """By class: flits as a share of what the links could carry, and stalls per flit."""
        totals = tiles.by("kind")
        rows = {kind: i for i, kind in enumerate(totals["kind"].tolist())}
        busy_ps = dict(zip(self._topology.link_classes, window.link_busy_ps_per_packet.tolist(), strict=True))
        span_ps = window.end_ps - window.start_ps
        values: list[float] = []
        for kind in tile_kinds(self._topology):
            row = rows.get(kind)
            link = "host" if kind not in busy_ps else kind
            most = math.nan
            if row is not None and span_ps > 0:
                most = totals["tiles"][row] * span_ps / busy_ps[link] * window.flits_per_packet
            values.append(float(totals["flits"][row] / most) if row is not None else 0.0)
            if kind != HOST_OUT:
                values.append(float(totals["stalls_to_flits"][row]) if row is not None else 0.0)
        return values

    def _load(self, window: Counters, packets: int, hosts: int) -> float:
        return packets * self._packet_time_ns / (hosts * window.duration_ns) if window.duration_ns else 0.0


def _bounded(values: Sequence[float], high: FloatArray) -> FloatArray:
    known = np.nan_to_num(np.array(values, np.float64), nan=0.0, posinf=math.inf)
    return np.clip(known, 0.0, high).astype(np.float32)

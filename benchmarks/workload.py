"""Simulations that are measured slice by slice, several of them in turns.

Machines change their speed while one measures (other users, temperature). Figures that are compared are therefore
measured in turns, a slice of each, and ratios are taken between slices of the same round.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

import dragonfly_env as dfe

Report = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Slice:
    """Sample of a simulation in progress."""

    packet_hops: int
    cpu_s: float
    wall_s: float

    @property
    def rate(self) -> float:
        """Million packet-hops per CPU-second of this process, all its threads together."""
        return self.packet_hops / self.cpu_s / 1e6


class Workload:
    """A simulation, warmed up and ready to be measured in slices of ``sample_ns``."""

    def __init__(self, config: dfe.SimulationConfig, *, warmup_ns: float, sample_ns: float) -> None:
        self.config = config
        self.warmup_ns = warmup_ns
        self.sample_ns = sample_ns
        self.simulation = dfe.Simulation(config)
        self.simulation.run(warmup_ns)

    def slice(self) -> Slice:
        """Advance by ``sample_ns``; building and statistics stay outside the clocks."""
        self.simulation.reset_statistics()
        cpu, wall = time.process_time(), time.perf_counter()
        self.simulation.run(self.sample_ns)
        cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
        return Slice(packet_hops=self.simulation.metrics().packet_hops, cpu_s=cpu, wall_s=wall)

    def parameters(self) -> dict[str, Any]:
        """The whole configuration and the lengths, for the result file."""
        return {
            "config": self.config.to_dict(),
            "num_hosts": self.config.topology.num_hosts,
            "warmup_ns": self.warmup_ns,
            "sample_ns": self.sample_ns,
        }


def configuration(topology: str, policy: str | dfe.Policy = "min", **changes: Any) -> dfe.SimulationConfig:
    """The case that every speed of the project refers to, with changes.

    Network ``q-adaptive``, uniform traffic at load 0.8, periodic injection, source queues of 20 packets.
    """
    settings: dict[str, Any] = {
        "topology": dfe.Dragonfly.preset(topology, arrangement="absolute"),
        "network": "q-adaptive",
        "traffic": "uniform",
        "load": 0.8,
        "policy": policy,
        "injection": "periodic",
        "source_queue_packets": 20,
    }
    return dfe.SimulationConfig(**{**settings, **changes})


def in_turns(workloads: Mapping[str, Workload], rounds: int, report: Report) -> dict[str, list[Slice]]:
    """Measure ``rounds`` slices of each workload; slices with the same index were taken one after the other."""
    for workload in workloads.values():
        workload.slice()  # the pools of packets and events have grown after this
    slices: dict[str, list[Slice]] = {name: [] for name in workloads}
    for i in range(rounds):
        report(f"round {i + 1} of {rounds}")
        for name, workload in workloads.items():
            slices[name].append(workload.slice())
    return slices


def random_legal(mask: npt.NDArray[np.bool_], generator: np.random.Generator) -> npt.NDArray[np.int64]:
    """(N,) actions, one per row of the mask (N, A), each legal one with the same chance; as fast as NumPy draws."""
    legal = np.flatnonzero(mask)  # row by row
    count = np.add.reduce(mask.view(np.uint8), axis=1, dtype=np.int32)
    last = np.cumsum(count) - 1
    which = last - (generator.random(len(mask), dtype=np.float32) * count).astype(np.int64)
    return np.asarray(legal[which] % mask.shape[1], np.int64)

"""Simulations that are measured slice by slice, several of them in turns.

Machines change their speed while one measures (other users, temperature). What is to be compared is therefore
measured in turns, a slice of each, and ratios are taken between slices of the same round.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import dragonfly_env as dfe
from benchmarks.yardstick.beside import Beside

Report = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Slice:
    """One sample of a simulation in progress."""

    packet_hops: int
    cpu_s: float
    wall_s: float
    accepted_load: float
    yardstick_hops_per_s: float | None = None

    @property
    def rate(self) -> float:
        """Million packet-hops per CPU-second of this process, all its threads together."""
        return self.packet_hops / self.cpu_s / 1e6


class Workload:
    """A simulation, warmed up and ready to be measured.

    Args:
        config: What to simulate.
        warmup_ns: Simulated time that is not measured.
        sample_ns: Simulated time of a slice.
    """

    def __init__(self, config: dfe.SimulationConfig, *, warmup_ns: float, sample_ns: float) -> None:
        self.config = config
        self.warmup_ns = warmup_ns
        self.sample_ns = sample_ns
        self.simulation = dfe.Simulation(config)
        self.simulation.run(warmup_ns)

    def slice(self) -> Slice:
        """Advance by ``sample_ns``; building, statistics and everything of Python's stay outside the clocks."""
        self.simulation.reset_statistics()
        cpu, wall = time.process_time(), time.perf_counter()
        self.simulation.run(self.sample_ns)
        cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
        metrics = self.simulation.metrics()
        return Slice(
            packet_hops=metrics.packet_hops, cpu_s=cpu, wall_s=wall, accepted_load=metrics.accepted_load
        )

    def parameters(self) -> dict[str, Any]:
        """The whole configuration and the lengths, for the result file."""
        return {
            "config": self.config.to_dict(),
            "num_hosts": self.config.topology.num_hosts,
            "num_partitions": self.simulation.num_partitions,
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


def in_turns(
    workloads: Mapping[str, Workload], rounds: int, beside: Beside, report: Report
) -> dict[str, list[Slice]]:
    """Measure a slice of each workload, ``rounds`` times over; a first slice of each is thrown away.

    Args:
        workloads: By name.
        rounds: Slices of each.
        beside: The yardstick, which runs between the slices.
        report: Told before each round.

    Returns:
        The slices of each, by name; those with the same index were taken one after the other.
    """
    for workload in workloads.values():
        workload.slice()  # the pools of packets and events have grown after this
    slices: dict[str, list[Slice]] = {name: [] for name in workloads}
    for i in range(rounds):
        report(f"round {i + 1} of {rounds}")
        for name, workload in workloads.items():
            measured, hops_per_s = beside.measure(workload.slice)
            slices[name].append(replace(measured, yardstick_hops_per_s=hops_per_s))
    return slices


def yardstick(slices: Sequence[Slice]) -> list[float]:
    """The yardstick's speed next to each slice, for the result file."""
    return [s.yardstick_hops_per_s for s in slices if s.yardstick_hops_per_s is not None]


def details(slices: list[Slice]) -> dict[str, Any]:
    """The raw samples, for the result file."""
    return {
        "packet_hops": [s.packet_hops for s in slices],
        "cpu_s": [s.cpu_s for s in slices],
        "wall_s": [s.wall_s for s in slices],
        "accepted_load": [s.accepted_load for s in slices],
    }

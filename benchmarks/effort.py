"""How much to measure: systems, lengths and repetitions of every family."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Effort:
    """Settings of a whole run of the benchmarks; systems are presets of `dragonfly_env.Dragonfly` by host count.

    Attributes:
        name: Stands in the result file.
        rounds: Samples of each figure.
        host_ns: Length of a sample: hosts times simulated ns, so that systems of any size take about as long.
        shortest_ns: No sample is shorter than this.
        core_topology: The system of the core's speed, and the reference of the scaling.
        core_warmup_ns: Simulated time before the first sample there.
        scale_topologies: Systems whose speed is compared with the reference.
        scale_warmup_ns: Simulated time before the first sample there.
        largest_topology: The system that is only started and run shortly.
        largest_ns: Its warm-up and its measured part, each.
        thread_topologies: Systems that are run with one and with two threads.
        sweep_runs: Runs of the sweep that is timed.
        processes: Processes started for each start-up time.
        yardstick_laps: How long the yardstick runs next to each sample; ten take about a second.
    """

    name: str
    rounds: int
    host_ns: float
    shortest_ns: float
    core_topology: str
    core_warmup_ns: float
    scale_topologies: tuple[str, ...]
    scale_warmup_ns: float
    largest_topology: str
    largest_ns: float
    thread_topologies: tuple[str, ...]
    sweep_runs: int
    processes: int
    yardstick_laps: int

    def sample_ns(self, num_hosts: int) -> float:
        """Simulated time of one sample, a whole number of ns."""
        return max(self.shortest_ns, float(round(self.host_ns / num_hosts)))


FULL = Effort(
    name="full",
    rounds=7,
    host_ns=5e7,
    shortest_ns=1_500.0,
    core_topology="1056",
    core_warmup_ns=100_000.0,
    scale_topologies=("72", "342", "2550", "5256", "16512", "83232"),
    scale_warmup_ns=5_000.0,
    largest_topology="279040",
    largest_ns=2_000.0,
    thread_topologies=("5256", "16512"),
    sweep_runs=20,
    processes=7,
    yardstick_laps=3,
)

QUICK = Effort(
    name="quick",
    rounds=3,
    host_ns=1e7,
    shortest_ns=500.0,
    core_topology="1056",
    core_warmup_ns=20_000.0,
    scale_topologies=("72", "16512"),
    scale_warmup_ns=2_000.0,
    largest_topology="279040",
    largest_ns=300.0,
    thread_topologies=("5256",),
    sweep_runs=5,
    processes=3,
    yardstick_laps=2,
)

SMOKE = Effort(
    name="smoke",
    rounds=2,
    host_ns=7e4,
    shortest_ns=500.0,
    core_topology="72",
    core_warmup_ns=1_000.0,
    scale_topologies=("342",),
    scale_warmup_ns=1_000.0,
    largest_topology="342",
    largest_ns=500.0,
    thread_topologies=("342",),
    sweep_runs=1,
    processes=1,
    yardstick_laps=1,
)
"""Only shows that every benchmark works; its figures mean nothing."""

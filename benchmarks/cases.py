"""The cases on which two commits are compared.

They run with the interpreter of either commit, old ones included, so they use the public interface alone. Slices are
short: a disturbance of the machine shall hit both commits.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

import numpy as np

import dragonfly_env as dfe
from benchmarks.workload import Workload, configuration, random_legal

TOPOLOGY = "1056"
WARMUP_NS = 50_000.0
SLICE_NS = 3_000.0
EPISODE_NS = 47_000.0  # random routing congests the network, which is part of the case
_SEED = 1


class CoreCase:
    """A policy under uniform traffic at load 0.8, network ``q-adaptive``: packet-hops of consecutive slices."""

    unit = "packet-hops"
    quads_per_round = 8

    def __init__(self, policy: str, *, topology: str, length: float) -> None:
        self._workload = Workload(
            configuration(topology, policy),
            warmup_ns=round(length * WARMUP_NS),
            sample_ns=round(length * SLICE_NS),
        )

    def slice(self) -> tuple[int, float]:
        """Work, and the CPU-seconds that it took."""
        measured = self._workload.slice()
        return measured.packet_hops, measured.cpu_s

    def history(self) -> str:
        """Equal for two commits that have simulated the same."""
        return f"{self._workload.simulation.trace_hash():016x}"


class RandomActionsCase:
    """The batched environment with random legal actions: decisions of whole episodes, network ``default``."""

    unit = "decisions"
    quads_per_round = 2

    def __init__(self, *, topology: str, length: float) -> None:
        config = dfe.SimulationConfig(topology=dfe.Dragonfly.preset(topology), traffic="uniform", load=0.8)
        self._env = dfe.BatchedRoutingEnv(
            config,
            duration_ns=round(length * EPISODE_NS),
            warmup_ns=round(0.4 * length * WARMUP_NS),
            transitions=False,
        )
        self._history = ""

    def slice(self) -> tuple[int, float]:
        """Work, and the CPU-seconds that it took."""
        env = self._env
        generator = np.random.default_rng(_SEED)
        batch = env.reset(seed=_SEED)
        decisions = 0
        begin = time.process_time()
        while not env.done:
            decisions += len(batch)
            batch = env.step(random_legal(batch.mask, generator))
        cpu_s = time.process_time() - begin
        self._history = repr((decisions, env.metrics().packet_hops, env.metrics().latency_mean_ns))
        return decisions, cpu_s

    def history(self) -> str:
        """Equal for two commits that have simulated the same."""
        return self._history


Case = CoreCase | RandomActionsCase


def cases(*, topology: str = TOPOLOGY, length: float = 1.0) -> Mapping[str, Callable[[], Case]]:
    """All cases by name, each to be built when it is needed; ``length`` scales warm-ups and slices."""

    def core(policy: str) -> Callable[[], Case]:
        return lambda: CoreCase(policy, topology=topology, length=length)

    return {
        **{policy: core(policy) for policy in ("min", "ugal-n", "ugal-g", "par", "q-adaptive")},
        "batched, random actions": lambda: RandomActionsCase(topology=topology, length=length),
    }

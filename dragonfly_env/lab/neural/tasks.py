"""``Task``: a scenario that is trained on, or that says how good a network is by now."""

from __future__ import annotations

import dataclasses
import hashlib
import math

import dragonfly_env as dfe


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A simulation up to its policy and seed.

    Attributes:
        name: Tells it from all others.
        config: The simulation.
        warmup_ns: Before measuring; what is delivered then is not learned from.
        measure_ns: Measured.
    """

    name: str
    config: dfe.SimulationConfig
    warmup_ns: float
    measure_ns: float

    @property
    def packet_ns(self) -> float:
        """What a global link takes for one packet: the unit of foretold times."""
        network = self.config.network
        return network.packet_bytes / network.global_bandwidth_gbytes_per_s

    def seed(self, *numbers: int) -> int:
        """A seed that belongs to this cell and these numbers."""
        text = f"{self.name} {numbers}"
        return int.from_bytes(hashlib.sha256(text.encode()).digest()[:6], "little")

    def latency_ns(self, policy: dfe.Policy, seed: int) -> float:
        """Mean latency of a run, generated to delivered; infinite if nothing arrived."""
        metrics = dfe.simulate(
            self.config.replace(policy=policy, seed=seed),
            warmup_ns=self.warmup_ns,
            measure_ns=self.measure_ns,
        )
        mean = metrics.latency_mean_ns
        return mean if math.isfinite(mean) and mean > 0 else math.inf

"""What is trained on: cells of a suite's training part, with shorter windows."""

from __future__ import annotations

import dataclasses
import hashlib
import math

import dragonfly_env as dfe
from dragonfly_env.benchmark.suite import BenchmarkCell, Suite
from dragonfly_env.checks.values import config_error
from dragonfly_env.experiments.choices import PolicyChoice

_ANY_POLICY = "min"
_BOARD = "steady"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A cell that may be trained on.

    Attributes:
        name: Of the cell.
        config: The simulation, up to its policy and seed.
        warmup_ns: Before measuring.
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


def training_tasks(
    suite: Suite, hosts: tuple[int, ...], patterns: tuple[str, ...], window_share: float
) -> tuple[Task, ...]:
    """The cells of the board ``steady`` that may be trained on; those called unseen are never among them.

    Args:
        suite: Where they come from.
        hosts: Sizes of systems.
        patterns: Names of traffic patterns; none: all.
        window_share: Of the cells' windows.

    Raises:
        ConfigError: If there are none.
    """
    (board,) = suite.choose((_BOARD,))
    cells: dict[str, BenchmarkCell] = {}
    for cell in (*board.cells["full"], *board.cells["quick"]):
        known = not patterns or cell.traffic.label in patterns
        if cell.part == "train" and known and int(cell.hosts) in hosts:
            cells.setdefault(cell.name, cell)
    if not cells:
        raise config_error("hosts", hosts, f"must be sizes of training cells of {suite.name} with {patterns}")
    return tuple(
        Task(
            name=name,
            config=cell.run(PolicyChoice.parse(_ANY_POLICY), 1).config,
            warmup_ns=cell.warmup_ns * window_share,
            measure_ns=cell.measure_ns * window_share,
        )
        for name, cell in cells.items()
    )

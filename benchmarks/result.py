"""Effort of a measurement, one measured figure with its samples, and the table of all figures."""

from __future__ import annotations

import dataclasses
import statistics
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table

_WIDTH_WITHOUT_TERMINAL = 160


@dataclass(frozen=True, slots=True, kw_only=True)
class Effort:
    """Systems (presets of ``Dragonfly`` by host count), lengths and repetitions of every family.

    Attributes:
        host_ns: Length of a sample: hosts times simulated ns, so that systems of any size take about as long.
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
)
"""Effort that only shows that every benchmark works; its figures mean nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """A figure of one family.

    Attributes:
        name: Unique within the family, the same on every machine.
        samples: One value per repetition, in the order in which they were taken.
        parameters: The configuration that was run.
    """

    name: str
    unit: str
    samples: Sequence[float]
    parameters: dict[str, Any] = field(default_factory=dict)

    @property
    def median(self) -> float:
        """The middle sample: one disturbed sample does not move it far."""
        return statistics.median(self.samples)

    def to_dict(self) -> dict[str, Any]:
        """The fields and the median, for the result file."""
        return {**dataclasses.asdict(self), "median": self.median}


def console(*, error: bool = False) -> Console:
    """Make a console for standard output or the error stream, wide enough for the tables where there is no terminal."""
    stream = sys.stderr if error else sys.stdout
    return Console(stderr=error, width=None if stream.isatty() else _WIDTH_WITHOUT_TERMINAL, highlight=False)


def number(value: float) -> str:
    """Four significant digits, without an exponent."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:#.4g}".rstrip(".")


def table(results: Mapping[str, Sequence[Result]]) -> Table:
    """Every figure, by family: median, lowest, highest, and their distance as a share of the median."""
    shown = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in ("family", "what", "median", "lowest", "highest", "spread", "unit"):
        right = heading in ("median", "lowest", "highest", "spread")
        shown.add_column(heading, justify="right" if right else "left", no_wrap=heading != "unit")
    for family, some in results.items():
        for result in some:
            low, high = min(result.samples), max(result.samples)
            spread = f"{(high - low) / result.median:.1%}" if len(result.samples) > 1 else ""
            figures = map(number, (result.median, low, high))
            shown.add_row(family, result.name, *figures, spread, result.unit)
    return shown

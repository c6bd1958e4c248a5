"""``python -m dragonfly_env.lab.benchmark.bounds``: what any routing could reach in the cases of a suite.

The command computes the bounds that are missing and writes the table that comes with the package. A bound is found by a
hash of what it depends on, so none is found for a case that has changed since; without the table, all are computed.

Steady latency has the latency floor, accepted load the most accepted load, and latency after a change the floor of the
traffic after the last change. Workloads have no bound: they have no demand matrix. Neither has ``lia-c1``, whose linear
program is too large.
"""

from __future__ import annotations

import csv
import functools
import hashlib
import io
import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Annotated

import typer

from dragonfly_env.bounds import Bounds, latency_floor
from dragonfly_env.bounds.demands import demand_of
from dragonfly_env.bounds.fluid import TooManyFlowsError
from dragonfly_env.checks.files import write_text
from dragonfly_env.checks.values import config_error
from dragonfly_env.errors import ConfigError
from dragonfly_env.lab.benchmark import reference_results
from dragonfly_env.lab.benchmark.suite import EFFORTS, BenchmarkCase, Effort, Suite, Track, find_suite
from dragonfly_env.policy import Policy
from dragonfly_env.simulation.config import SimulationConfig
from dragonfly_env.sweeps.point import with_published_names

_COLUMNS = ("track", "effort", "case", "quantity", "bound", "key")


@dataclass(frozen=True, slots=True)
class CaseBounds:
    """The bounds of a suite's cases, by what they depend on."""

    by_key: dict[str, float]  # bounds in ns, or loads, by key; NaN if unknown

    def of(self, track: Track, case: BenchmarkCase, seeds: int) -> float:
        """The bound of a case, the mean over seeds; NaN if it is not known."""
        return self.by_key.get(key_of(track.quantity, case, seeds), math.nan)

    @classmethod
    def read(cls, suite_name: str) -> CaseBounds:
        """Read the bounds that come with the package; a suite without a table has none."""
        file = table_of(suite_name)
        if not file.exists():
            return cls({})
        with file.open(encoding="utf-8", newline="") as lines:
            return cls({row["key"]: float(row["bound"]) for row in csv.DictReader(lines)})


def table_of(suite_name: str) -> Path:
    """File of the bounds of a suite."""
    return reference_results.FOLDER / f"{suite_name}-bounds.csv"


@functools.cache
def key_of(quantity: str, case: BenchmarkCase, seeds: int) -> str:
    """Sixteen hexadecimal digits of all that a bound depends on."""
    config = _config(case)
    network = with_published_names({"network": config.network.to_dict()})["network"]
    parts = [quantity, config.topology.to_dict(), network, config.traffic_object.to_dict()]
    text = json.dumps([*parts, case.load, seeds], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _config(case: BenchmarkCase) -> SimulationConfig:
    return case.point("min", Policy("min")).config


def bound_of(track: Track, case: BenchmarkCase, seeds: int) -> float:
    """The bound of a case to six digits, the mean over seeds; NaN for workloads and for too many demands."""
    if track.quantity == "makespan":
        return math.nan
    config = _config(case).replace(series_bin_ns=None)
    if steps := getattr(config.traffic_object, "steps", ()):
        config = config.replace(traffic=steps[-1][1], load=steps[-1][2])
    needed = range(1, 1 + (seeds if _drawn(config) else 1))
    try:
        mean = fmean(_one(track.quantity, config.replace(seed=seed)) for seed in needed)
    except TooManyFlowsError:
        return math.nan
    return float(f"{mean:.6g}")


def _drawn(config: SimulationConfig) -> bool:
    """Whether the traffic differs from seed to seed."""
    first, second = (demand_of(config.topology, config.traffic, seed=seed) for seed in (1, 2))
    return bool((first.between_routers != second.between_routers).any())


def _one(quantity: str, config: SimulationConfig) -> float:
    if quantity != "accepted-load":
        return latency_floor(config)
    try:
        return Bounds.of(config).most_accepted(config.load)
    except TooManyFlowsError:  # the loads of the host links are a bound, too
        demand = demand_of(config.topology, config.traffic, network=config.network, seed=config.seed)
        return min(1.0, config.load / max(1.0, float(demand.received.max()) * config.load))


def cases_of(suite: Suite) -> Iterator[tuple[Track, Effort, BenchmarkCase]]:
    """Every case, with its track and effort."""
    for track in suite.tracks:
        for effort in EFFORTS:
            for case in track.cases[effort]:
                yield track, effort, case


def main(suite: Annotated[str, typer.Option(help="Whose cases they are.")] = "dragonfly-v3") -> None:
    """Compute the bounds of a suite's cases that the package's table does not have, and write the table anew."""
    try:
        chosen = find_suite(suite)
        known = dict(CaseBounds.read(suite).by_key)
        rows = []
        for track, effort, case in cases_of(chosen):
            seeds = chosen.seeds[effort]
            key = key_of(track.quantity, case, seeds)
            known[key] = known[key] if key in known else bound_of(track, case, seeds)
            if not math.isfinite(known[key]) and not math.isnan(known[key]):
                raise config_error("load", case.load, f"must be one that some routing carries in {case.name}")
            rows.append((track.name, effort, case.name, track.quantity, known[key], key))
            typer.echo(f"{track.name}, {effort}: {case.name}: {known[key]:.6g}")
        table = io.StringIO()
        csv.writer(table, lineterminator="\n").writerows([_COLUMNS, *rows])
        write_text(table.getvalue(), table_of(suite))
    except ConfigError as error:
        raise typer.BadParameter(str(error)) from None
    typer.echo(f"{table_of(suite)}: {len(rows)} cases")


if __name__ == "__main__":
    typer.run(main)

"""What the Q-adaptive paper did not try: ``python -m benchmarks.q_adaptive_variants`` compares variants of its learner.

The paper's network and parameters with 1,056 hosts, six cells of traffic and load. Every run starts with an empty
network and is measured twice: over its first 300 us, where tables are wrong, and over 100 us at its end. Each run is
kept in a small file of its own, so that the same command goes on where an interrupted one stopped. Writes
``variants.json`` and prints the tables of ``docs/reports/2026-11-21-q-adaptive-variants.md``.
"""

from __future__ import annotations

import dataclasses
import json
import re
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import joblib
import numpy as np
import numpy.typing as npt
import typer
from rich.progress import track

import dragonfly_env as dfe
from benchmarks import machine
from benchmarks.report import console
from dragonfly_env.agents import QAdaptive

CELLS = (
    ("uniform", 0.5),
    ("uniform", 0.8),
    ("adv+1", 0.3),
    ("adv+1", 0.45),
    ("adv+4", 0.3),
    ("adv+4", 0.45),
)
EARLY_NS, STEADY_FROM_NS, END_NS = 300_000.0, 800_000.0, 900_000.0
# A warm start: tables that have seen each kind of traffic, with other random destinations.
TOUR = (
    (0.0, "uniform", 0.5),
    (150_000.0, "adv+1", 0.3),
    (300_000.0, "adv+4", 0.3),
    (500_000.0, "uniform", 0.3),
)
TOUR_NS, TOUR_SEED = 600_000.0, 1000


@dataclasses.dataclass(frozen=True, slots=True)
class Variant:
    """A learner, and whether it starts with the tables of ``TOUR``."""

    settings: dict[str, Any] = dataclasses.field(default_factory=dict)
    warm: bool = False


PAPER = "paper"
VARIANTS: dict[str, Variant] = {
    PAPER: Variant(),
    "next value taken": Variant({"next_value": "taken"}),
    "path time": Variant({"initial_values": "path-time"}),
    "warm tables": Variant(warm=True),
    "explores least occupied": Variant({"exploration": "least-occupied"}),
    "occupancy 1/4": Variant({"occupancy_weight": 0.25}),
    "queue": Variant({"queue_weight": 1.0}),
    "queue, threshold 0.35": Variant({"queue_weight": 1.0, "q_thld1": 0.35}),
    "q-adaptive-queue": Variant({"queue_weight": 1.0, "initial_values": "path-time"}),
}

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
_output, _errors = console(), console(error=True)


def system(variant: Variant, seed: int, **traffic: Any) -> dfe.SimulationConfig:
    """The paper's network (section 5.1)."""
    return dfe.SimulationConfig(
        topology=dfe.Dragonfly.preset("1056", arrangement="absolute"),
        network=dfe.NetworkConfig.preset("q-adaptive"),
        policy=QAdaptive(**variant.settings),
        source_queue_packets=20,
        seed=seed,
        **traffic,
    )


def _toured(variant: Variant, seed: int) -> npt.NDArray[np.float32]:
    """(routers, rows, ports) values in ns after the tour."""
    simulation = dfe.Simulation(system(variant, seed + TOUR_SEED, traffic=[list(step) for step in TOUR]))
    simulation.run(TOUR_NS)
    return simulation.q_table().copy()


def one_run(name: str, traffic: str, load: float, seed: int) -> dict[str, Any]:
    """Both windows of one run."""
    variant = VARIANTS[name]
    simulation = dfe.Simulation(system(variant, seed, traffic=traffic, load=load, injection="periodic"))
    if variant.warm:
        simulation.load_q_table(_toured(variant, seed))
    simulation.run(EARLY_NS)
    early = simulation.metrics()
    simulation.run(STEADY_FROM_NS - EARLY_NS)
    simulation.reset_statistics()
    simulation.run(END_NS - STEADY_FROM_NS)
    steady = simulation.metrics()
    return {
        "variant": name,
        "traffic": traffic,
        "load": load,
        "seed": seed,
        "early_latency_mean_ns": early.latency_mean_ns,
        "early_accepted_load": early.accepted_load,
        "latency_mean_ns": steady.latency_mean_ns,
        "latency_p99_ns": steady.latency_percentile_ns(99),
        "accepted_load": steady.accepted_load,
        "hops_mean": steady.hops_mean,
        "trace_hash": f"{simulation.trace_hash():016x}",
    }


def kept_run(folder: Path, name: str, traffic: str, load: float, seed: int) -> dict[str, Any]:
    """The run, from its file if there is one of this version."""
    file = folder / (re.sub(r"[^a-z0-9+.]+", "-", f"{name} {traffic} {load:g} {seed}") + ".json")
    if file.exists():
        found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        if found["version"] == dfe.__version__ and found["settings"] == VARIANTS[name].settings:
            return found
    row = one_run(name, traffic, load, seed)
    row |= {"version": dfe.__version__, "settings": VARIANTS[name].settings}
    partial = file.with_suffix(".partial")
    partial.write_text(json.dumps(row), encoding="utf-8")
    partial.replace(file)
    return row


@app.command()
def main(
    out: Annotated[Path, typer.Option(help="Folder for results.")] = Path("results/q-adaptive-variants"),
    seeds: Annotated[int, typer.Option(min=1, help="Runs per variant and cell.")] = 5,
    variant: Annotated[list[str] | None, typer.Option(help="Repeat. All if not given.")] = None,
    jobs: Annotated[int, typer.Option(min=1, help="Runs at a time.")] = 2,
) -> None:
    """Run what is missing, and print the tables."""
    names = list(dict.fromkeys([PAPER, *(variant or VARIANTS)]))
    for name in names:
        if name not in VARIANTS:
            raise typer.BadParameter(
                f"{name!r}; must be one of {', '.join(VARIANTS)}", param_hint="--variant"
            )
    folder = out / "runs"
    folder.mkdir(parents=True, exist_ok=True)
    tasks = [(name, *cell, seed) for seed in range(1, seeds + 1) for name in names for cell in CELLS]
    parallel = joblib.Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1)
    work = parallel(joblib.delayed(kept_run)(folder, *task) for task in tasks)
    rows = list(track(work, "running", total=len(tasks), console=_errors))
    rows.sort(
        key=lambda row: (names.index(row["variant"]), CELLS.index((row["traffic"], row["load"])), row["seed"])
    )
    content = {
        "time": machine.now(),
        "machine": machine.describe_machine(),
        "build": machine.describe_build(),
        "variants": {name: dataclasses.asdict(VARIANTS[name]) for name in names},
        "rows": rows,
    }
    (out / "variants.json").write_text(json.dumps(content, indent=1), encoding="utf-8")
    _output.print(tables(rows), markup=False, soft_wrap=True)


def tables(rows: Sequence[dict[str, Any]]) -> str:
    """Markdown: means over seeds with the standard error, and how many seeds are better than the paper's."""
    parts = []
    for title, column, digits in (
        ("Steady mean latency (ns)", "latency_mean_ns", 0),
        ("Steady 99th percentile (ns)", "latency_p99_ns", 0),
        ("Steady accepted load", "accepted_load", 4),
        ("First 300 us: mean latency (ns)", "early_latency_mean_ns", 0),
        ("First 300 us: accepted load", "early_accepted_load", 3),
    ):
        parts.append(f"**{title}**\n\n{_table(rows, column, digits)}")
    return "\n\n".join(parts)


def _table(rows: Sequence[dict[str, Any]], column: str, digits: int) -> str:
    heads = [f"{traffic} {load:g}" for traffic, load in CELLS]
    lines = ["| variant | " + " | ".join(heads) + " |", "|---|" + "---|" * len(heads)]
    for name in dict.fromkeys(row["variant"] for row in rows):
        cells = []
        for traffic, load in CELLS:
            values = _values(rows, name, traffic, load, column)
            text = f"{statistics.fmean(values):,.{digits}f}"
            if len(values) > 1:
                text += f" ± {statistics.stdev(values) / len(values) ** 0.5:,.{digits}f}"
            cells.append(text)
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _values(rows: Sequence[dict[str, Any]], name: str, traffic: str, load: float, column: str) -> list[float]:
    return [
        float(row[column])
        for row in rows
        if (row["variant"], row["traffic"], row["load"]) == (name, traffic, load)
    ]


if __name__ == "__main__":
    app()

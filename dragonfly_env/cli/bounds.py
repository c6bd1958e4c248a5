"""``dragonfly-env bounds``: what any routing can reach."""

from __future__ import annotations

import dataclasses
import json
import math
from typing import TYPE_CHECKING, Annotated, Any

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from dragonfly_env.checks.values import config_error
from dragonfly_env.cli import options
from dragonfly_env.cli.commands import Typed, rows
from dragonfly_env.cli.console import show, titled
from dragonfly_env.sweeps.scenario import DEFAULT_LOAD, Scenario

if TYPE_CHECKING:
    from dragonfly_env.bounds import Bounds
    from dragonfly_env.simulation.config import SimulationConfig

_SHARES = (0.25, 0.5, 0.75, 0.9)
"""Loads of the table if none is given, as shares of the most load."""


def bounds(
    settings: Annotated[Typed, rows(Scenario, "topology network traffic loads seeds")],
    as_json: options.AsJson = False,
) -> None:
    """Compute the most load that any routing can carry, and the least mean latency at a load.

    Simulates nothing. A seed fixes what a pattern draws once, such as a permutation. Needs SciPy, which the extra
    "bounds" of the package installs.

    [bold]Examples[/bold]
    dragonfly-env bounds --traffic adv+1
    dragonfly-env bounds -t 342 --traffic advc -l 0.2,0.4
    dragonfly-env bounds -t 72 --arrangement absolute --traffic permutation --seed 3 --json
    """
    from dragonfly_env.bounds import Bounds

    usual = {"policies": ["min"], "traffic": ["uniform"], "loads": [DEFAULT_LOAD]}
    plan = Scenario.from_dict(settings.over(usual), name="bounds")
    for name, several in (("traffic", plan.traffic), ("seeds", plan.seeds)):
        if len(several) > 1:
            raise config_error(name, several, "must be one: bounds hold for one traffic and one seed")
    config = plan.runs()[0].config
    found = Bounds.of(config)
    wanted = plan.loads if "loads" in settings.whole else [share * found.most_load for share in _SHARES]
    floors = [(load, found.latency_floor_ns(load)) for load in wanted]
    if as_json:
        show(json.dumps(_plain(config, found, floors), indent=2, allow_nan=False))
    else:
        show(_report(config, found, floors))


def _plain(config: SimulationConfig, found: Bounds, floors: list[tuple[float, float]]) -> dict[str, Any]:
    return {
        "most_load": found.most_load,
        "limited_by_hosts": found.limited_by_hosts,
        "latency_floor_ns": [
            {"load": load, "latency_floor_ns": floor if math.isfinite(floor) else None}
            for load, floor in floors
        ],
        "link_classes": [dataclasses.asdict(use) for use in found.classes_at_most_load()],
        "topology": config.topology.to_dict(),
        "network": config.network.to_dict(),
        "traffic": config.traffic_object.to_dict(),
        "seed": config.seed,
    }


def _report(config: SimulationConfig, found: Bounds, floors: list[tuple[float, float]]) -> RenderableType:
    topology = config.topology
    head = Text.assemble(
        (f"{config.traffic_object.spec} on {topology.num_hosts:,} hosts", "bold"),
        f"\np={topology.p}, a={topology.a}, h={topology.h}, g={topology.g}, {topology.arrangement}\n",
        f"most load {found.most_load:.4f} of the host links' bandwidth",
        f", limited by {'the links of hosts' if found.limited_by_hosts else 'links between routers'}",
    )
    latencies = Table(box=box.SIMPLE_HEAD)
    latencies.add_column("load", justify="right")
    latencies.add_column("latency floor (ns)", justify="right")
    for load, floor in floors:
        latencies.add_row(f"{load:.4f}", f"{floor:,.1f}" if math.isfinite(floor) else "above the most load")
    classes = Table(box=box.SIMPLE_HEAD)
    classes.add_column("class")
    for heading in ("mean use (%)", "highest (%)", "full links (%)"):
        classes.add_column(heading, justify="right")
    for use in found.classes_at_most_load():
        classes.add_row(
            use.name, f"{100 * use.mean:.1f}", f"{100 * use.highest:.1f}", f"{100 * use.full:.1f}"
        )
    return Group(head, latencies, titled("links at the most load", classes))

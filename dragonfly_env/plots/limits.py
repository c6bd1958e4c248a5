"""What any routing can reach, for the figures over load: drawn where it is quick to compute, and silently left out
elsewhere.
"""

from __future__ import annotations

import dataclasses
import json
import math

import pandas as pd

from dragonfly_env.errors import ConfigError
from dragonfly_env.simulation.config import SimulationConfig
from dragonfly_env.sweeps.results import Results

MOST_FLOWS = 50_000
"""Of a linear program for a figure: some seconds per load. 1,056 hosts with a symmetric pattern have 23,000."""

COLOUR = "#888888"


@dataclasses.dataclass(frozen=True, slots=True)
class Limits:
    """The bounds of one traffic.

    Attributes:
        most_load: That any routing carries.
        loads: The loads of the runs below it, ascending.
        floors_ns: The least mean latency at each of them.
    """

    most_load: float
    loads: tuple[float, ...]
    floors_ns: tuple[float, ...]


def limits_of(results: Results, traffic: str) -> Limits | None:
    """The bounds of a traffic; None where they are not known.

    That is without the extra ``bounds``, for traffic without a demand matrix, where the linear program is large, and
    where runs differ in topology, network or traffic.

    Args:
        results: Runs.
        traffic: A label of theirs.
    """
    table = results.table[results.table["traffic"] == traffic]
    try:
        from dragonfly_env.bounds import Bounds

        configs = {_shared_part(text) for text in table["configuration"]}
        if len(configs) != 1:
            return None
        config = SimulationConfig.from_json(configs.pop())
        bounds = Bounds.of(config, most_flows=MOST_FLOWS)
    except (ConfigError, KeyError, TypeError, ValueError):
        return None
    loads = sorted(float(load) for load in pd.unique(table["load"]))
    found = [(load, bounds.latency_floor_ns(load)) for load in loads if load <= bounds.most_load]
    carried = [(load, floor) for load, floor in found if math.isfinite(floor)]
    return Limits(bounds.most_load, tuple(load for load, _ in carried), tuple(floor for _, floor in carried))


def _shared_part(text: str) -> str:
    """Of a run's configuration: what the bounds depend on. Of several seeds the first is as good as any other, except
    for patterns that the seed draws.
    """
    known = json.loads(text)
    part = {name: known[name] for name in ("topology", "network", "traffic") if name in known}
    drawn = any(
        name in json.dumps(part.get("traffic", "")) for name in ("permutation", "hotspot", "neighbors")
    )
    return json.dumps({**part, **({"seed": known["seed"]} if drawn else {})}, sort_keys=True)

"""Traffic as users say it: strings, objects, matrices, tables and schedules."""

from __future__ import annotations

import dataclasses
import numbers
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from dragonfly_env import _core
from dragonfly_env.checks.values import MAX_RUN_NS, check_load, check_time_ns, config_error
from dragonfly_env.config.topology import Dragonfly
from dragonfly_env.traffic.base import NoTraffic, Pattern, Traffic, make_named, named_from_dict
from dragonfly_env.traffic.demand import DemandMatrix, parse_demand
from dragonfly_env.traffic.trace import COLUMNS, Trace

if TYPE_CHECKING:
    import pandas as pd

_MAX_STEPS = 65_536


@dataclasses.dataclass(frozen=True, slots=True)
class Schedule(Traffic):
    """Patterns and loads that change with time.

    At the start of a step every host starts anew with the new pattern and load: a message that it had drawn
    for later is dropped and drawn again. Periodic messages come at multiples of the new interval, counted
    from the start of the run. Before the first step hosts are silent.

    Args:
        steps: (time_ns, traffic, load) triples with rising times; traffic is anything that
            ``parse_traffic`` takes for a single pattern, load is in (0, 1], and 1 for a demand matrix in GB/s.

    Raises:
        ConfigError: For steps out of order, loads out of range, traces and schedules as steps.

    Example:
        >>> steps = [(0, "uniform", 0.5), (10_000, "adv+1", 0.2)]
        >>> dfe.traffic.Schedule(steps).spec
        '0 ns: uniform 0.5; 10000 ns: adv+1 0.2'
    """

    steps: tuple[tuple[float, Pattern, float], ...]

    def __post_init__(self) -> None:
        steps: object = self.steps
        if not isinstance(steps, Sequence) or isinstance(steps, str) or not 1 <= len(steps) <= _MAX_STEPS:
            raise config_error("schedule", steps, f"must be 1 to {_MAX_STEPS} (time_ns, traffic, load) steps")
        checked: list[tuple[float, Pattern, float]] = []
        for index, step in enumerate(steps):
            field = f"schedule step {index}"
            if not isinstance(step, Sequence) or isinstance(step, str) or len(step) != 3:
                raise config_error(field, step, "must be (time_ns, traffic, load)")
            time_ns = check_time_ns(f"{field} time_ns", step[0], 0.0, MAX_RUN_NS)
            if checked and time_ns <= checked[-1][0]:
                raise config_error(
                    f"{field} time_ns", step[0], f"must be later than the step before, {checked[-1][0]} ns"
                )
            traffic = parse_traffic(step[1])
            if not isinstance(traffic, Pattern):
                raise config_error(
                    f"{field} traffic",
                    traffic.spec,
                    "must be a pattern, no schedule or trace, nor closed-loop traffic",
                )
            load = check_load(f"{field} load", step[2])
            if traffic.is_absolute and load != 1.0:
                raise config_error(f"{field} load", load, f"must be 1: {traffic.spec} says what is offered")
            checked.append((time_ns, traffic, load))
        object.__setattr__(self, "steps", tuple(checked))

    @property
    def spec(self) -> str:
        return "; ".join(f"{time_ns:g} ns: {pattern.spec} {load:g}" for time_ns, pattern, load in self.steps)

    def check(self, topology: Dragonfly) -> None:
        for _, pattern, _ in self.steps:
            pattern.check(topology)

    def to_dict(self) -> dict[str, Any]:
        return {
            "schedule": [
                {"time_ns": time_ns, "traffic": pattern.to_dict(), "load": load}
                for time_ns, pattern, load in self.steps
            ]
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Schedule:
        """The inverse of ``to_dict``; steps may be [time_ns, traffic, load] lists too.

        Args:
            values: A table with the list ``schedule``.
        """
        steps = values.get("schedule")
        if not isinstance(steps, Sequence) or isinstance(steps, str):
            raise config_error("schedule", steps, "must be a list of steps")
        triples = []
        for step in steps:
            if isinstance(step, Mapping):
                if set(step) != {"time_ns", "traffic", "load"}:
                    raise config_error("schedule step", step, "must have time_ns, traffic and load")
                triples.append((step["time_ns"], step["traffic"], step["load"]))
            else:
                triples.append(step)
        return cls(tuple(triples))


def parse_traffic(traffic: object) -> Traffic:
    """Traffic in any of its forms as an object.

    Args:
        traffic: A spec string; a ``Traffic``; a NumPy array of demands (see ``DemandMatrix``); a pandas table
            (see ``Trace``); a table as ``to_dict`` gives; or a sequence of (time_ns, traffic, load) steps
            (see ``Schedule``).

    Raises:
        ConfigError: If it is none of these, or an impossible one; unknown names come with the nearest match.

    Example:
        >>> dfe.traffic.parse_traffic("adv+4")
        Adversarial(offset=4)
        >>> dfe.traffic.parse_traffic(np.eye(9)).spec
        'demand(9 x 9)'
    """
    if isinstance(traffic, Traffic):
        return traffic
    if isinstance(traffic, str):
        return _parse_string(traffic)
    if isinstance(traffic, np.ndarray):
        return DemandMatrix(traffic)
    if isinstance(traffic, Mapping):
        return _from_table(traffic)
    if isinstance(traffic, Sequence) and not isinstance(traffic, bytes):
        if traffic and all(map(_is_row, traffic)):
            raise config_error(
                "traffic", traffic, "must be an array if it is a demand matrix: numpy.array(...)"
            )
        return Schedule(tuple(traffic))
    if hasattr(traffic, "columns") and hasattr(traffic, "to_numpy"):
        if not {str(name) for name in traffic.columns} & {*COLUMNS}:
            allowed = f"must have {', '.join(COLUMNS)}; of a demand matrix pass the array: table.to_numpy()"
            raise config_error("traffic", f"a table of shape {traffic.shape}", allowed)  # type: ignore[attr-defined]
        return Trace.from_frame(cast("pd.DataFrame", traffic))
    raise config_error(
        "traffic",
        traffic,
        "must be a spec string such as 'adv+1', a traffic object, a demand matrix, a table of messages, or "
        "(time_ns, traffic, load) steps",
    )


def _is_row(item: object) -> bool:
    """Whether an item of a sequence is a row of numbers; a step of a schedule has traffic in its middle."""
    return isinstance(item, (Sequence, np.ndarray)) and all(
        isinstance(number, numbers.Real) for number in item
    )


def _parse_string(text: str) -> Traffic:
    kind, _, rest = text.strip().partition(":")
    if kind.lower() == "trace" and rest:
        path, _, start = rest.partition(",start=")
        return Trace.from_file(path, start=start or "zero")
    if text.strip().lower() == "none":
        return NoTraffic()
    if kind.lower() == "demand" and rest:
        return parse_demand(rest)
    return make_named(text, {})


def _from_table(values: Mapping[str, Any]) -> Traffic:
    if "schedule" in values:
        return Schedule.from_dict(values)
    if "trace" in values:
        return Trace.from_dict(values)
    if values.keys() == {"pattern"} and isinstance(values["pattern"], str) and values["pattern"] == "none":
        return NoTraffic()
    return named_from_dict(values)


def traffic_from_dict(values: object) -> str | Traffic:
    """The inverse of ``Traffic.to_dict``. A spec string is checked and stays a string.

    Raises:
        ConfigError: If ``values`` describes no traffic.
    """
    traffic = parse_traffic(values)
    return values if isinstance(values, str) else traffic


def traffic_patterns() -> tuple[str, ...]:
    """A spec string for every registered pattern that a string can describe, e.g. ``"adv+1"`` for ``adv+I``.

    Example:
        >>> dfe.traffic_patterns()[:3]
        ('uniform', 'adv+1', 'advc')
    """
    return tuple(info["example"] for info in _core.patterns() if info["example"])

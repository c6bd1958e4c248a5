"""What the Python side of a snapshot knows, as JSON and arrays: no code, and nothing that could run any.

Everything but texts, booleans, whole numbers, None and lists is a table with one entry, whose name says what it is.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from dragonfly_env.checks.outside import check_items, check_mapping
from dragonfly_env.checks.values import config_error
from dragonfly_env.config.network import NetworkConfig
from dragonfly_env.config.topology import Dragonfly
from dragonfly_env.jobs import Job
from dragonfly_env.metrics.counters import Counters
from dragonfly_env.metrics.jobs import JobMetrics, OperationMetrics
from dragonfly_env.metrics.messages import MessageMetrics
from dragonfly_env.metrics.metrics import Fairness, Metrics
from dragonfly_env.metrics.operations import JobTotals, OperationTotals
from dragonfly_env.policies import Policy, policy_from_dict
from dragonfly_env.simulation.config import Made, SimulationConfig
from dragonfly_env.traffic import Traffic, traffic_from_dict

Arrays = list[npt.NDArray[Any]]

TYPES = tuple(
    str(np.dtype(kind)) for kind in ("u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8", "f4", "f8", "?")
)
"""The types of arrays."""

_DAMAGED = "must be what Snapshot.save() of this version wrote"
_WRITTEN: tuple[tuple[str, Any, Callable[[Any], Any]], ...] = (
    ("config", SimulationConfig, SimulationConfig.from_dict),
    ("made", Made, Made.from_dict),
    ("policy", Policy, policy_from_dict),
    ("topology", Dragonfly, Dragonfly.from_dict),
    ("network", NetworkConfig, NetworkConfig.from_dict),
    ("traffic", Traffic, traffic_from_dict),
    ("job", Job, Job.from_dict),
)
_RECORDS: dict[str, Any] = {
    kind.__name__: kind
    for kind in (
        *(Counters, JobTotals, OperationTotals),
        *(Metrics, MessageMetrics, JobMetrics, OperationMetrics, Fairness),
    )
}
_GENERATOR = "PCG64"


def to_plain(value: Any, arrays: Arrays) -> Any:
    """Plain values, and arrays by their place in ``arrays``, to which they are added.

    Raises:
        ConfigError: For anything that cannot be written, such as a function.
    """
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return {"float": value if math.isfinite(value) else str(value)}
    if isinstance(value, np.ndarray) and str(value.dtype) in TYPES:
        arrays.append(value)
        return {"array": len(arrays) - 1}
    if isinstance(value, np.generic):
        return to_plain(value.item(), arrays)
    if isinstance(value, list):
        return [to_plain(one, arrays) for one in value]
    if isinstance(value, tuple):
        return {"tuple": [to_plain(one, arrays) for one in value]}
    if isinstance(value, Mapping) and all(isinstance(name, str) for name in value):
        return {"table": {name: to_plain(one, arrays) for name, one in value.items()}}
    for name, kind, _ in _WRITTEN:
        if isinstance(value, kind):
            return {name: value.to_dict()}
    if type(value).__name__ in _RECORDS and dataclasses.is_dataclass(value):
        fields = {field.name: getattr(value, field.name) for field in dataclasses.fields(value) if field.init}
        return {type(value).__name__: {name: to_plain(one, arrays) for name, one in fields.items()}}
    if isinstance(value, np.random.Generator) and value.bit_generator.state["bit_generator"] == _GENERATOR:
        state: Any = value.bit_generator.state
        numbers = (state["state"]["state"], state["state"]["inc"], state["has_uint32"], state["uinteger"])
        return {"generator": [str(number) for number in numbers]}
    raise config_error(
        "snapshot", value, "cannot be written to a file: settings must be plain values, not code"
    )


def from_plain(value: Any, arrays: Arrays) -> Any:
    """What ``to_plain`` described.

    Raises:
        ConfigError: For anything else.
    """
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, list):
        return [from_plain(one, arrays) for one in value]
    table = check_mapping("snapshot", value)
    if len(table) != 1:
        raise config_error("snapshot", sorted(table), _DAMAGED)
    ((name, inner),) = table.items()
    if name == "float" and isinstance(inner, (int, float, str)):
        return float(inner)
    if name == "array" and type(inner) is int and 0 <= inner < len(arrays):
        return arrays[inner]
    if name == "tuple":
        return tuple(from_plain(one, arrays) for one in check_items("snapshot", inner, _DAMAGED))
    if name == "table":
        return {key: from_plain(one, arrays) for key, one in check_mapping("snapshot", inner).items()}
    for known, _, make in _WRITTEN:
        if name == known:
            return make(inner)
    if name in _RECORDS:
        fields = {key: from_plain(one, arrays) for key, one in check_mapping("snapshot", inner).items()}
        return _RECORDS[name](**fields)
    if name == "generator":
        return _generator(check_items("snapshot", inner, _DAMAGED, 4))
    raise config_error("snapshot", name, _DAMAGED)


def _generator(numbers: list[Any]) -> np.random.Generator:
    state, increment, has_uint32, uinteger = (int(number) for number in numbers)
    generator = np.random.Generator(np.random.PCG64())
    generator.bit_generator.state = {
        "bit_generator": _GENERATOR,
        "state": {"state": state % 2**128, "inc": increment % 2**128},
        "has_uint32": int(has_uint32 != 0),
        "uinteger": uinteger % 2**32,
    }
    return generator

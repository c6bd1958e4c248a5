"""No setting, however bad, crashes the interpreter, hangs, or takes the machine's memory.

Every field of every settings class is given many wrong values. Either it is a ``ConfigError`` that names field,
value and range, or it is a setting that a simulation then runs with.
"""

from __future__ import annotations

import dataclasses
import inspect
import itertools
import math
import re
import resource
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import dragonfly_env as dfe
from dragonfly_env import traffic as traffic_module
from dragonfly_env.traffic import Pattern, Trace, Traffic
from dragonfly_env.traffic.base import RegisteredPattern
from tests.ready import ready

SMALL = dfe.Dragonfly.preset("72")

# Values that a TOML or JSON file, or a slip of the pen, may hold.
NONSENSE: tuple[Any, ...] = (
    *(None, True, "", "nonsense", "nan", math.nan, math.inf, -math.inf, -1, -0.0, 0, 0.5, 1, 2.5),
    *(1e-300, 1e30, 10**9, 2**31, 2**63, 2**64, np.float64(math.nan), np.int64(-1), [], [1], {}),
)
MESSAGE = re.compile(r".+? = .+: .+", re.DOTALL)
MOST_MEMORY_KB = 1_000_000


def peak_memory_kb() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


@pytest.fixture(autouse=True)
def bounded_memory() -> Iterator[None]:
    """Fail if a test makes the process grow by a gigabyte."""
    before = peak_memory_kb()
    yield
    assert peak_memory_kb() - before < MOST_MEMORY_KB


def refused_or_run(make: Callable[..., dfe.SimulationConfig], *arguments: Any) -> None:
    """The one promise."""
    try:
        simulation = dfe.Simulation(make(*arguments))
        simulation.run(200)
        simulation.metrics()
    except dfe.ConfigError as error:
        check_message(error)
    else:
        simulation.check_invariants()


def check_message(error: dfe.ConfigError, longest: int = 1500) -> None:
    """Field, value and what is allowed, in a length that can be read."""
    if not MESSAGE.fullmatch(str(error)) or len(str(error)) > longest:
        pytest.fail(f"no readable message: {error}")


def config_with(settings: dict[str, Any]) -> dfe.SimulationConfig:
    return dfe.SimulationConfig(**{"topology": SMALL, "watchdog_ns": 1e9, **settings})


def config_from(settings: dict[str, Any]) -> dfe.SimulationConfig:
    return dfe.SimulationConfig.from_dict({"topology": {"preset": "72"}, **settings})


def config_on(shape: dict[str, Any]) -> dfe.SimulationConfig:
    return config_with({"topology": dfe.Dragonfly(**shape)})


def config_over(preset: str, settings: dict[str, Any]) -> dfe.SimulationConfig:
    return config_with({"network": dfe.NetworkConfig.preset(preset, **settings)})


def config_routed(name: str, parameters: dict[str, Any]) -> dfe.SimulationConfig:
    return config_with({"policy": dfe.make_policy(name, **parameters), "load": 1.0})


def config_sending(cls: Callable[..., Traffic], arguments: dict[str, Any]) -> dfe.SimulationConfig:
    return config_with({"traffic": cls(**arguments)})


@pytest.mark.parametrize("field", [field.name for field in dataclasses.fields(dfe.SimulationConfig)])
def test_a_simulation_takes_no_nonsense(field: str) -> None:
    for value in NONSENSE:
        refused_or_run(config_with, {field: value})
        refused_or_run(config_from, {field: value})


# Every field with one of the presets in turn.
NETWORK_FIELDS = [
    (field.name, preset)
    for field, preset in zip(
        dataclasses.fields(dfe.NetworkConfig), itertools.cycle(dfe.NetworkConfig.presets()), strict=False
    )
]


@pytest.mark.parametrize(("field", "preset"), NETWORK_FIELDS)
def test_a_network_takes_no_nonsense(field: str, preset: str) -> None:
    for value in NONSENSE:
        refused_or_run(config_over, preset, {field: value})
        refused_or_run(config_from, {"network": {"preset": preset, field: value}})


@pytest.mark.parametrize("field", ["p", "a", "h", "g", "arrangement", "trunking", "group"])
def test_a_topology_takes_no_nonsense(field: str) -> None:
    for value in NONSENSE:
        shape = {"p": 2, "a": 4, "h": 2, field: value}
        refused_or_run(config_on, shape)
        refused_or_run(config_from, {"topology": shape})


# One policy of each class: its parameters are those of the others.
POLICY_FIELDS = {
    (type(ready(name)), field.name): (name, field.name)
    for name in dfe.policies()
    for field in dataclasses.fields(ready(name))  # type: ignore[arg-type]
}


@pytest.mark.parametrize(("name", "field"), list(POLICY_FIELDS.values()))
def test_a_policy_takes_no_nonsense(name: str, field: str) -> None:
    for value in NONSENSE:
        refused_or_run(config_routed, name, {field: value})
        refused_or_run(config_from, {"policy": {"name": name, field: value}})


PATTERNS = {
    "uniform": traffic_module.Uniform,
    "adv": traffic_module.Adversarial,
    "advc": traffic_module.AdversarialConsecutive,
    "permutation": traffic_module.Permutation,
    "hotspot": traffic_module.Hotspot,
    "tornado": traffic_module.Tornado,
    "lia-c1": traffic_module.LiaC1,
    "lia-c2": traffic_module.LiaC2,
    "demand": traffic_module.DemandMatrix,
    "mixture": traffic_module.HostMixture,
    "weighted": traffic_module.WeightedMixture,
    "all-to-all": traffic_module.AllToAll,
}
# Fields without a default.
NEEDED: dict[str, dict[str, Any]] = {
    "demand": {"matrix": np.ones((9, 9))},
    "mixture": {"parts": [(range(72), "uniform")]},
}


def test_every_class_of_pattern_is_covered() -> None:
    assert set(PATTERNS) == set(Pattern.classes)
    assert not issubclass(RegisteredPattern, tuple(PATTERNS.values()))


@pytest.mark.parametrize("name", PATTERNS)
def test_a_pattern_takes_no_nonsense(name: str) -> None:
    for field in inspect.signature(PATTERNS[name]).parameters:
        for value in NONSENSE:
            arguments = {**NEEDED.get(name, {}), field: value}
            refused_or_run(config_sending, PATTERNS[name], arguments)
            refused_or_run(config_from, {"traffic": {"pattern": name, **arguments}})


def trace(**columns: Any) -> Trace:
    good = {"time_ns": [0, 10, 20], "src": [0, 1, 2], "dst": [5, 9, 71], "bytes": [128, 128, 128]}
    return Trace.from_columns(**{**good, **columns})


def test_messages_of_billions_of_packets_take_no_memory() -> None:
    huge = trace(bytes=[2**38, 2**37, 2**36])
    for queue in (None, 1):
        simulation = dfe.Simulation(
            dfe.SimulationConfig(topology=SMALL, traffic=huge, source_queue_packets=queue)
        )
        simulation.run(10_000)
        m = simulation.metrics()
        assert m.packets_injected > 300
        assert m.packets_in_source_queues > 10**9 or queue == 1
        assert simulation.drain(None if queue else 1000) is (queue == 1)
        simulation.check_invariants()


def test_silence_of_years_passes_at_once() -> None:
    late = trace(time_ns=[0, 10, 1e14])
    simulation = dfe.Simulation(dfe.SimulationConfig(topology=SMALL, traffic=late))
    simulation.run(1e14 - 1)
    assert simulation.metrics().packets_delivered == 2
    simulation.run(1e6)
    assert simulation.metrics().packets_delivered == 3
    for injection in ("periodic", "bernoulli", "poisson"):
        config = dfe.SimulationConfig(topology=SMALL, load=1e-300, injection=injection)
        simulation = dfe.Simulation(config)
        simulation.run(9e14)
        assert simulation.metrics().packets_generated <= 72
        assert simulation.drain() is True


def test_a_system_that_no_machine_holds_is_refused_before_it_is_built() -> None:
    config = dfe.SimulationConfig(topology=dfe.Dragonfly(400, 300, 300, g=320), source_queue_packets=10_000)
    with pytest.raises(dfe.ConfigError, match=r" GB of memory, and this machine has \d+ GB"):
        dfe.Simulation(config)


def test_tables_that_no_machine_holds_are_refused_before_they_are_filled() -> None:
    config = dfe.SimulationConfig(topology=dfe.Dragonfly(2, 40, 40), policy="q-routing")  # 64,040^2 rows
    with pytest.raises(dfe.ConfigError, match=r"64040 routers: .* GB of memory, and this machine has \d+ GB"):
        dfe.Simulation(config)

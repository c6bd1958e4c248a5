"""The private core, called as nobody should: exceptions, never a crash."""

from __future__ import annotations

import contextlib
import copy
import inspect
import pickle
import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import dragonfly_env as dfe
from dragonfly_env import _core, jobs
from dragonfly_env.jobs.compiled import compile_program

SMALL = dfe.Dragonfly.preset("72")


def arguments_of(function: Callable[..., Any]) -> list[str]:
    """The names in the signature that pybind11 writes into the docstring."""
    found = re.search(r"^\w+\((.*?)\) ->", function.__doc__ or "", re.MULTILINE | re.DOTALL)
    return [] if found is None else re.findall(r"(?:^|, )\*?(\w+)(?=[:=,]|$)", found.group(1))


def made() -> dict[type, object]:
    config = dfe.SimulationConfig(topology=SMALL)
    env = dfe.BatchedRoutingEnv(config, duration_ns=500)
    env.reset()
    topology = SMALL.to_core()
    pattern = _core.make_pattern(topology, 0, "uniform", {})
    objects = (
        topology,
        pattern,
        _core.synthetic_source(topology, [(0, pattern, 0.5)], "periodic", 0, 1, 32_000, 32_000, 1000),
        _core.Simulation(config.to_core()),
        env._core,
        _core.Turnstile("taken"),
        dfe.baselines.MlpNetwork.random(hidden_units=(4,)).to_core(),
        _core.PathSplit(
            1, *(np.zeros(0, dtype=kind) for kind in (np.uint32, np.uint32, np.int64, np.float64))
        ),
        compile_program(jobs.Nek5000(gap_ns=1), 4, 128).script,
    )
    return {type(value): value for value in objects}


CLASSES = [
    value for value in vars(_core).values() if inspect.isclass(value) and not issubclass(value, Exception)
]


def entries() -> Iterator[tuple[str, Callable[..., Any], bool]]:
    """Everything of the core that can be called: name, callable, and whether the first argument is ``self``."""
    for name, value in vars(_core).items():
        if callable(value) and not inspect.isclass(value):
            yield name, value, False
    for owner in CLASSES:
        for name, value in vars(owner).items():
            if isinstance(value, property):
                for part in (value.fget, value.fset):
                    if part is not None:
                        yield f"{owner.__name__}.{name}", part, True
            elif callable(value) and name not in ("__new__", "__doc__"):
                yield f"{owner.__name__}.{name}", value, True


def test_every_class_of_the_core_is_tried() -> None:
    assert set(CLASSES) == set(made())


@pytest.mark.parametrize(
    ("name", "function", "method"), list(entries()), ids=[name for name, *_ in entries()]
)
def test_none_is_no_object_of_the_core(name: str, function: Callable[..., Any], method: bool) -> None:
    """Alone, for every argument, and for each argument next to a proper ``self``."""
    objects = made()
    count = max(len(arguments_of(function)), 1)
    calls = [[None] * n for n in range(count + 2)]
    if method:
        owner = getattr(_core, name.split(".", 1)[0])
        calls += [[objects[owner], *[None] * n] for n in range(count + 1)]
    for call in calls:
        with contextlib.suppress(TypeError, ValueError, RuntimeError, AttributeError):
            function(*call)


def proper_calls() -> dict[str, tuple[Callable[..., Any], list[Any]]]:
    config = dfe.SimulationConfig(topology=SMALL)
    topology = SMALL.to_core()
    pattern = _core.make_pattern(topology, 0, "uniform", {})
    env = dfe.BatchedRoutingEnv(config)
    one = np.array([1], dtype=np.uint32)
    time_ps = np.array([0], dtype=np.int64)
    steps = [(0, pattern, 0.5)]
    return {
        "make_pattern": (_core.make_pattern, [topology, 0, "uniform", {}, False]),
        "synthetic_source": (_core.synthetic_source, [topology, steps, "periodic", 0, 1, 32_000, 32_000, 0]),
        "trace_source": (_core.trace_source, [topology, time_ps, one, one, one, None, None]),
        "requirements": (_core.requirements, [config.to_core()]),
        "required_vcs": (_core.required_vcs, [topology, "min", {}, "ladder"]),
        "channel_dependencies": (_core.channel_dependencies, [topology, "min", {}, "ladder"]),
        "job_source": (_core.job_source, [topology, None, []]),
        "place_tasks": (_core.place_tasks, [topology, "random", 1, 0]),
        "check_program": (_core.check_program, ["all-to-all", 4, 128]),
        "Simulation": (_core.Simulation, [config.to_core()]),
        "RoutingEnvironment": (
            _core.RoutingEnvironment,
            [{**config.to_core(), "decisions": env.options.spec(config.network, config.topology)}, 0, 1000],
        ),
    }


@pytest.mark.parametrize("name", list(proper_calls()))
def test_none_next_to_proper_arguments_is_refused(name: str) -> None:
    function, proper = proper_calls()[name]
    function(*proper)
    for i, value in enumerate(proper):
        if value is not None and not isinstance(value, bool):  # None counts as False
            with pytest.raises((TypeError, ValueError)):
                function(*proper[:i], None, *proper[i + 1 :])


@pytest.mark.parametrize("name", ["Simulation", "requirements", "RoutingEnvironment"])
def test_a_record_is_read_by_name_and_whole(name: str) -> None:
    function, (record, *others) = proper_calls()[name]
    for key in record:
        with pytest.raises(dfe.ConfigError, match=f"^{key} = nothing: must be given"):
            function({one: value for one, value in record.items() if one != key}, *others)
        for value in (None, object()):
            if value is None and isinstance(record[key], bool):  # None counts as False
                continue
            with pytest.raises((TypeError, ValueError)):
                function({**record, key: value}, *others)
        with pytest.raises(dfe.ConfigError, match=f"^{key}s = given: .*did you mean"):
            function({**record, f"{key}s": 1}, *others)


@pytest.mark.parametrize("owner", CLASSES, ids=lambda owner: owner.__name__)
def test_there_are_no_half_made_objects(owner: type) -> None:
    with pytest.raises(TypeError):
        owner.__new__(owner)
    with pytest.raises(TypeError):
        object.__new__(owner)
    with pytest.raises(TypeError):
        type("Derived", (owner,), {"__init__": lambda self: None})
    base: Any = owner.__mro__[1]
    with pytest.raises(TypeError):
        base.__new__(owner)
    value = made()[owner]
    for duplicate in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError):
            duplicate(value)

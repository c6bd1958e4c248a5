"""The compiled core, called directly with whatever comes to hand: any exception will do, the process stays alive.

Nobody is meant to use ``_core``; but nothing that Python can call may read or write memory that is not its own.
"""

from __future__ import annotations

import contextlib
import copy
import functools
import pickle
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from dragonfly_env import SimulationConfig, _core
from dragonfly_env.config.topology import Dragonfly
from dragonfly_env.envs.batched import BatchedRoutingEnv
from tests.fuzz.alarm import Alarm
from tests.fuzz.draws import odd
from tests.fuzz.outcome import Outcome

_CALLS = 12
_LONGEST_S = 1.0
_CLASSES = tuple(value for value in vars(_core).values() if isinstance(value, type))


class _TooLongError(BaseException):
    """A legal call that is at work for longer than a fuzzer wants to wait."""


def attempts(random: Random, folder: Path) -> Iterator[Callable[[], Outcome]]:
    """A handful of calls on new objects."""
    alarm = Alarm(_TooLongError)
    while True:
        yield functools.partial(_attempt, random, alarm)


def _attempt(random: Random, alarm: Alarm) -> Outcome:
    worked = False
    things = _Things(random)
    for _ in range(_CALLS):
        with contextlib.suppress(Exception):
            alarm.during(functools.partial(_call, random, things), _LONGEST_S)
            worked = True
    return Outcome.RUN if worked else Outcome.REFUSED


class _Things:
    """Objects of two small systems, whole and half-made, and arguments that fit."""

    def __init__(self, random: Random) -> None:
        systems = (Dragonfly(1, 2, 1), Dragonfly(2, 2, 1, g=2), Dragonfly(1, 1, 0), Dragonfly(2, 4, 2, g=5))
        policy = random.choice(("min", "ugal-n", "q-routing", "q-adaptive", "par"))
        configs = [
            SimulationConfig(topology=topology, policy=policy, packet_log=True, seed=3)
            for topology in random.sample(systems, 2)
        ]
        self.config = configs[0]
        self.record = self.config.to_core()
        self.arguments = (self.record,)
        self.environment_arguments = _environment_arguments(self.config, self.record)
        self.objects: list[Any] = [configs[1].topology.to_core()]
        self.objects += [value for value in self.record.values() if type(value) in _CLASSES]
        self.objects.append(_core.make_pattern(self.record["topology"], 1, "uniform", {}))
        self.objects.append(configs[1].to_core()["source"])
        with contextlib.suppress(Exception):
            self.objects.append(_core.Simulation(*self.arguments))
        with contextlib.suppress(Exception):
            self.objects.append(_core.RoutingEnvironment(*self.environment_arguments))
        with contextlib.suppress(Exception):
            self.objects.append(_core.RoutingEnvironment.several(*_several(random, self)))
        for cls in _CLASSES:
            if random.random() < 0.2:
                with contextlib.suppress(Exception):
                    self.objects.append(_half_made(random, cls))


def _environment_arguments(config: SimulationConfig, record: dict[str, Any]) -> tuple[Any, ...]:
    env = BatchedRoutingEnv(SimulationConfig(topology=Dragonfly(2, 4, 2)), duration_ns=500.0)
    return {**record, "decisions": env._options.spec(config.network, config.topology)}, 0, 500_000


def _several(random: Random, things: _Things) -> tuple[Any, ...]:
    """Networks next to each other; now and then with an argument that is none."""
    run = things.environment_arguments[0]
    runs = [dict(run) for _ in range(random.choice((1, 2, 2, 3)))]
    if random.random() < 0.3:
        runs[-1][random.choice(list(run))] = random.choice((odd(random), random.choice(things.objects)))
    return runs, *things.environment_arguments[1:], random.choice((1, 2, 2, 3, 0))


def _record(random: Random, things: _Things, whole: dict[str, Any]) -> dict[str, Any]:
    """What a run is made of, with some of it replaced or left out."""
    record = {
        key: _value(random, things) if random.random() < 0.04 else value for key, value in whole.items()
    }
    if random.random() < 0.05:
        del record[random.choice(list(record))]
    return record


def _half_made(random: Random, cls: type) -> Any:
    if random.random() < 0.5:
        return cls.__new__(cls)
    heir = type("Heir", (cls,), {"__init__": lambda self, *_: None})
    return heir()


def _call(random: Random, things: _Things) -> None:
    made = _callable(random, things)
    if made is None:
        return
    name, function = made
    arguments = _arguments(random, name, things)
    result = function(*arguments[:1], seed=odd(random)) if random.random() < 0.05 else function(*arguments)
    things.objects.append(result)
    _read(result)


def _callable(random: Random, things: _Things) -> tuple[str, Callable[..., Any]] | None:
    """Something of the module or of an object of its classes."""
    if random.random() < 0.35:
        name = random.choice([name for name in dir(_core) if not name.startswith("__")])
        value = getattr(_core, name)
        return (name, value) if callable(value) else None
    owner = random.choice(things.objects)
    kind = random.random()
    if kind < 0.05:
        return "copy", lambda *_: random.choice((copy.copy, copy.deepcopy, pickle.dumps, repr, hash))(owner)
    names = [name for name in dir(owner) if not name.startswith("__") or name in _SPECIAL]
    if not names:
        return None
    name = random.choice(names)
    if kind < 0.15:
        setattr(owner, name, random.choice((odd(random), random.choice(things.objects))))
        return None
    if kind < 0.25:  # the function of the class, with something else as self
        value = getattr(type(owner), name)
        if value is getattr(object, name, None):  # Python's own, of which pybind11 would fall over
            return None
        self = random.choice((None, odd(random), random.choice(things.objects)))
        return (
            (name, functools.partial(value, self))
            if callable(value)
            else (name, lambda *_: value.__get__(self))
        )
    value = getattr(owner, name)
    return (name, value) if callable(value) else None


_SPECIAL = ("__init__", "__enter__", "__exit__", "__new__", "__setstate__", "__reduce__", "__eq__")


def _arguments(random: Random, name: str, things: _Things) -> tuple[Any, ...]:
    """Arguments that fit, with some replaced; or none that fit."""
    if random.random() < 0.1:
        return tuple(_value(random, things) for _ in range(random.randint(0, 4)))
    fitting = list(_fitting(random, name, things))
    for place in range(len(fitting)):
        if random.random() < (0.15 if len(fitting) < 6 else 0.06):
            fitting[place] = _value(random, things)
    if random.random() < 0.03 and fitting:
        fitting.pop()
    return tuple(fitting)


def _value(random: Random, things: _Things) -> Any:
    kind = random.random()
    if kind < 0.3:
        return random.choice(things.objects)
    if kind < 0.45:
        return random.randrange(-3, 400)
    if kind < 0.6:
        return _array(random)
    return odd(random)


def _array(random: Random) -> Any:
    kind = random.choice(("i8", "u4", "f4", "f8", "?", "i4", "O", "S3"))
    shape = tuple(random.randint(0, 12) for _ in range(random.choice((0, 1, 1, 2, 3, 3))))
    array = np.zeros(shape, dtype=kind)
    if array.size and kind != "O" and random.random() < 0.5:
        array.flat[random.randrange(array.size)] = random.choice((1, 2, 5, 100))
    if kind in ("f4", "f8") and array.size and random.random() < 0.3:
        array.flat[random.randrange(array.size)] = random.choice((np.nan, np.inf, -np.inf, 1e30))
    if array.ndim and random.random() < 0.2:
        return array[::-1]
    return array


def _fitting(random: Random, name: str, things: _Things) -> tuple[Any, ...]:
    topology = things.record["topology"]
    owner_small = random.randrange(0, 40)
    pattern = next((o for o in things.objects if type(o) is _core.Pattern), None)
    source = random.choice([o for o in things.objects if type(o) is _core.Source])
    rows = random.randint(0, 5)
    table: dict[str, Callable[[], tuple[Any, ...]]] = {
        "Topology": lambda: (2, 4, 2, 9, "palmtree", 1),
        "Simulation": lambda: (_record(random, things, things.record),),
        "requirements": lambda: (_record(random, things, things.record),),
        "RoutingEnvironment": lambda: (
            _record(random, things, things.environment_arguments[0]),
            *things.environment_arguments[1:],
        ),
        "several": lambda: _several(random, things),
        "simulation_of": lambda: (random.randrange(3),),
        "state": lambda: (random.randrange(3),),
        "begin_drain": lambda: (random.choice((2**62, 0, -1)), "no", random.randrange(3)),
        "Turnstile": lambda: ("taken",),
        "make_pattern": lambda: (topology, 1, *_pattern_spec(random), False),
        "parse_pattern": lambda: (
            random.choice(("adv+1", "hotspot:hosts=1;2", "weighted:uniform=1", "x:y")),
        ),
        "synthetic_source": lambda: (topology, [(0, pattern, 0.5)], "periodic", 1, 1, 32_000, 32_000, 1_000),
        "trace_source": lambda: _trace_arguments(random, topology, rows),
        "source_schedule": lambda: (source, random.randrange(3), random.randrange(9)),
        "channel_dependencies": lambda: (topology, "min", {}, "stage"),
        "required_vcs": lambda: (topology, "par", {}, "ladder"),
        "neighbor": lambda: (owner_small, random.randrange(12)),
        "port_kind": lambda: (random.randrange(12),),
        "minimal_port": lambda: (owner_small, random.randrange(40)),
        "minimal_hops": lambda: (owner_small, random.randrange(40)),
        "destination": lambda: (owner_small, random.randrange(9), 1),
        "sends": lambda: (owner_small,),
        "workload": lambda: (
            topology,
            1,
            "all-to-all",
            _all_to_all(random),
            random.choice((128, 1, 0, 2**40)),
        ),
        "run": lambda: (random.choice((0, 1, 100_000, 2**40, 2**62, -1)),),
        "run_to_completion": lambda: (random.choice((0, 1, 100_000, 2**40, -1)),),
        "drain": lambda: (random.choice((0, 1, 100_000, 2**62, -1)),),
        "set_policy": lambda: (
            {"name": random.choice(("min", "ugal-n", "q-adaptive", "nothing")), "parameters": {}},
        ),
        "load_q_table": lambda: (_table(random, things),),
        "step": lambda: (np.zeros(random.choice((0, 1, 4, 12)), dtype=np.int64) + random.randrange(-1, 4),),
        "extend": lambda: (random.choice((1, 100_000, 2**61, 2**62, -1)),),
        "draws": lambda: (random.choice((0, 2, 64)), random.randrange(3)),
        "__exit__": lambda: (None, None, None),
        "__new__": lambda: (random.choice(_CLASSES),),
        "__init__": lambda: random.choice((things.arguments, things.environment_arguments, ())),
    }
    return table[name]() if name in table else ()


def _pattern_spec(random: Random) -> tuple[str, dict[str, Any]]:
    names: list[tuple[str, dict[str, Any]]] = [
        ("uniform", {}),
        ("adv", {"offset": random.choice((1, 2, -(2**31)))}),
        ("hotspot", {"hosts": random.choice((1, [0], [99], [], "x")), "fraction": 0.5}),
        ("demand", {"matrix": _array(random)}),
        (
            "mixture",
            {"parts": [{"pattern": "uniform", "arguments": {}, "hosts": np.array([0, 1])}], "confined": True},
        ),
        ("weighted", {"parts": [{"pattern": "adv", "arguments": {"offset": 1}, "weight": 1.0}]}),
        ("stencil3d", {"grid": [2, 2, random.choice((1, 2, 0))]}),
        ("lia-c1", {}),
    ]
    return random.choice(names)


def _all_to_all(random: Random) -> dict[str, Any]:
    return {
        "message_bytes": random.choice((1, 250, 0, -1, 2**31 - 1, 2**63)),
        "in_flight": random.choice((1, 3, 0, 2**40)),
        "placement": random.choice(("consecutive", "random-groups", "", 3)),
    }


def _trace_arguments(random: Random, topology: Any, rows: int) -> tuple[Any, ...]:
    def column(kind: str, high: int) -> Any:
        return np.array(
            [random.randrange(high) for _ in range(rows + random.randrange(20) // 19)], dtype=kind
        )

    offsets = np.arange(rows + 1, dtype=np.int64)
    routed = random.random() < 0.5
    return (
        topology,
        np.sort(column("i8", 10_000)),
        column("u4", 4),
        column("u4", 4),
        column("u4", 5),
        offsets * random.choice((1, 2)) if routed else None,
        column("u4", 4) if routed else None,
    )


def _table(random: Random, things: _Things) -> Any:
    simulation = next((o for o in things.objects if type(o) is _core.Simulation), None)
    table = None if simulation is None else simulation.q_table()
    if table is None or table.size == 0:
        return _array(random)
    values = table.copy()
    values[...] = random.choice((0.0, 1.0, np.inf, -np.inf, np.nan, 1e38))
    values.flat[random.randrange(values.size)] = random.choice((0.0, np.inf, np.nan))
    return values


def _read(result: Any) -> None:
    """Touch every byte that came back."""
    if isinstance(result, np.ndarray):
        result.tobytes()
    elif isinstance(result, (tuple, list)):
        for item in result:
            _read(item)
    elif isinstance(result, dict):
        for item in result.values():
            _read(item)

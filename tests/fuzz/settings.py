"""Random topologies, networks, policies and traffic: arguments, legal but for the share ``wrong``."""

from __future__ import annotations

import functools
from random import Random
from typing import Any

import numpy as np

import dragonfly_env as dfe
from dragonfly_env import NetworkConfig, SimulationConfig, _core
from dragonfly_env.policies import CorePolicy, policy_class
from dragonfly_env.traffic import (
    HostMixture,
    Hotspot,
    Pattern,
    Schedule,
    Trace,
    Uniform,
    WeightedMixture,
)
from tests.fuzz.draws import Field, fields_of, integer_near, odd, some_of

MOST_HOSTS = 100
ARRANGEMENTS = tuple(_core.arrangements())


@functools.cache
def network_fields() -> tuple[Field, ...]:
    """The fields of a network."""
    return fields_of(NetworkConfig)


@functools.cache
def simulation_fields() -> tuple[Field, ...]:
    """The fields of a simulation that are single values."""
    return fields_of(SimulationConfig)


@functools.cache
def policy_fields(name: str) -> tuple[Field, ...]:
    """The parameters of a policy that its name leaves open."""
    cls = policy_class(name)
    if cls is CorePolicy:
        return ()
    return tuple(field for field in fields_of(cls) if field.name not in cls.variants[name])


def topology_arguments(random: Random, wrong: float = 0.0) -> dict[str, Any]:
    """p, a, h and sometimes more; of at most MOST_HOSTS hosts if nothing is wrong."""
    while True:
        given: dict[str, Any] = {
            "p": random.randint(1, 3),
            "a": random.randint(1, 6),
            "h": random.randint(0, 3),
        }
        positions = given["a"] * given["h"]
        given["trunking"] = random.choice([t for t in range(1, positions + 1) if positions % t == 0] or [1])
        most = positions // given["trunking"] + 1
        given["g"] = most if random.random() < 0.5 else random.randint(1, most)
        if 1 < given["p"] * given["a"] * given["g"] <= MOST_HOSTS:
            break
    given["arrangement"] = random.choice(ARRANGEMENTS)
    for name in ("trunking", "arrangement"):
        if given[name] in (1, "palmtree") and random.random() < 0.5:
            del given[name]
    for name in list(given):
        if random.random() < wrong:
            given[name] = odd(random) if random.random() < 0.6 else integer_near(random, -1, 1_025)
    return given


def network_arguments(random: Random, wrong: float = 0.0, share: float = 0.15) -> dict[str, Any]:
    """A preset's name as ``name`` and fields that differ. Two of them may contradict each other."""
    given = some_of(random, network_fields(), share * random.random(), wrong)
    if "packet_bytes" in given and isinstance(given["packet_bytes"], int) and random.random() < 0.9:
        given["flit_bytes"] = given["packet_bytes"]
    return {"name": random.choice(NetworkConfig.presets()), **given}


def policy(random: Random, wrong: float = 0.0) -> Any:
    """A name, a table or an object."""
    name = random.choice(dfe.policies())
    if random.random() < wrong:
        return odd(random)
    given = some_of(random, policy_fields(name), 0.4 * random.random(), wrong)
    kind = random.randrange(3)
    if kind == 0:
        return name
    return {"name": name, **given} if kind == 1 else dfe.make_policy(name, **given)


def pattern(random: Random, hosts: int, wrong: float = 0.0, depth: int = 0) -> Any:
    """One pattern in any of its forms."""
    if random.random() < wrong:
        return odd(random)
    kind = random.randrange(9 if depth < 2 else 6)
    if kind <= 2:
        return random.choice(dfe.traffic_patterns())
    if kind == 3:
        return f"adv{random.choice((-2, -1, 1, 1, 2, 3)):+d}"
    if kind == 4:
        named = [random.randrange(hosts) for _ in range(random.randint(1, 4))]
        return Hotspot(named if random.random() < 0.5 else random.randint(1, hosts), random.random())
    if kind == 5:
        return Uniform(random.choice((None, True, False)))
    if kind == 6:
        parts = [
            (random.uniform(0.1, 3), pattern(random, hosts, wrong, depth + 1))
            for _ in range(random.randint(1, 3))
        ]
        return WeightedMixture(tuple(parts))
    if kind == 7:
        everyone = random.sample(range(hosts), hosts)
        cut = random.randint(1, hosts)
        sets = [part for part in (everyone[:cut], everyone[cut:]) if part]
        return HostMixture(
            tuple((part, pattern(random, hosts, wrong, depth + 1)) for part in sets), random.random() < 0.5
        )
    drawn = np.random.default_rng(random.randrange(2**32))
    matrix = drawn.random((hosts, hosts)) * (drawn.random((hosts, hosts)) < 0.3)
    matrix[0, hosts - 1] = 1.0
    if random.random() < wrong:
        matrix[random.randrange(hosts), random.randrange(hosts)] = random.choice((np.nan, np.inf, -1.0))
    return matrix


def trace(random: Random, hosts: int, end_ns: float = 2_000.0) -> Trace:
    """A few messages."""
    rows = random.randint(0, 60)
    return Trace.from_columns(
        time_ns=sorted(round(random.uniform(0, end_ns), 3) for _ in range(rows)),
        src=[random.randrange(hosts) for _ in range(rows)],
        dst=[random.randrange(hosts) for _ in range(rows)],
        bytes=[random.choice((1, 127, 128, 129, 1_000)) for _ in range(rows)],
    )


def schedule(random: Random, hosts: int, wrong: float = 0.0) -> Schedule:
    """A few steps."""
    times = sorted({round(random.uniform(0, 2_000), 3) for _ in range(random.randint(1, 4))})
    return Schedule(
        tuple((time, pattern(random, hosts, wrong, 1), random.uniform(0.01, 1)) for time in times)
    )


def traffic(random: Random, hosts: int, wrong: float = 0.0) -> Any:
    """Traffic in any form."""
    kind = random.random()
    if kind < 0.08:
        return trace(random, hosts)
    if kind < 0.18:
        return schedule(random, hosts, wrong)
    drawn = pattern(random, hosts, wrong)
    return drawn.to_dict() if isinstance(drawn, Pattern) and random.random() < 0.3 else drawn

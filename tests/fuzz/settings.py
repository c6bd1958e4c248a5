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
    AllToAll,
    DemandMatrix,
    HostMixture,
    Hotspot,
    Pattern,
    Schedule,
    Trace,
    Uniform,
    WeightedMixture,
    parse_traffic,
)
from tests.fuzz.draws import Field, fields_of, integer_near, odd, some_of
from tests.ready import empty_split_file, weights_file

MOST_HOSTS = 100
ARRANGEMENTS = tuple(_core.arrangements())
OPEN_LOOPS = tuple(
    info["example"] for info in _core.patterns() if info["example"] and not info["closed_loop"]
)


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
    if cls is CorePolicy or needs_file(name):  # of those: policy(), and the fuzzer of such files
        return ()
    return tuple(field for field in fields_of(cls) if field.name not in cls.variants[name])


def needs_file(name: str) -> bool:
    """Whether a policy is given one: always, although the split of static-optimum can also be computed, in seconds."""
    return bool(policy_class(name).needs) or name == "static-optimum"


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
    if random.random() < 0.25:  # a grid of as many routers
        rows = random.choice([n for n in range(1, given["a"] + 1) if given["a"] % n == 0])
        columns, links = given["a"] // rows, random.randint(1, 3)
        given["group"] = f"grid:rows={rows},columns={columns},column_links={links}"
        if random.random() < 0.5:
            del given["a"]
    for name in ("trunking", "arrangement"):
        if given[name] in (1, "palmtree") and random.random() < 0.5:
            del given[name]
    for name in list(given):
        if random.random() < wrong:
            given[name] = odd(random) if random.random() < 0.6 else integer_near(random, -1, 1_025)
    return given


def partitioned_topology(random: Random) -> dict[str, Any]:
    """p, a, h and g of a system that the core divides into parts, which threads share: one of hundreds of hosts."""
    p, a = random.choice(((301, 1), (151, 2), (101, 3)))
    return {"p": p, "a": a, "h": random.randint(1, 2), "g": random.randint(2, a + 1)}


def network_arguments(random: Random, wrong: float = 0.0, share: float = 0.15) -> dict[str, Any]:
    """A preset's name as ``name`` and fields that differ. Two of them may contradict each other."""
    given = some_of(random, network_fields(), share * random.random(), wrong)
    if "packet_bytes" in given and isinstance(given["packet_bytes"], int) and random.random() < 0.9:
        given["flit_bytes"] = given["packet_bytes"]
    return {"name": random.choice(NetworkConfig.presets()), **given}


def needed(random: Random, name: str) -> list[tuple[str, Any]]:
    """What a policy's name does not give: a file with an untrained network, or with a split that has no path."""
    if name == "static-optimum":
        return [("split", empty_split_file())]
    if not needs_file(name):
        return []
    return [("weights", weights_file(seed=random.randrange(4), scope="every", nonminimal_kinds=("lgl", "g")))]


def policy(random: Random, wrong: float = 0.0) -> Any:
    """A name, a table or an object."""
    name = random.choice(dfe.policies())
    if random.random() < wrong:
        return odd(random)
    given = some_of(random, policy_fields(name), 0.4 * random.random(), wrong)
    kind = random.randrange(3)
    if kind == 0 and name != "static-optimum":
        return name
    if needs_file(name):
        given = {
            key: odd(random) if random.random() < wrong else value for key, value in needed(random, name)
        }
    return {"name": name, **given} if kind == 1 else dfe.make_policy(name, **given)


def pattern(random: Random, hosts: int, wrong: float = 0.0, depth: int = 0) -> Any:
    """One pattern in any of its forms. It need not suit the topology."""
    if random.random() < wrong:
        return odd(random)
    kind = random.randrange(9 if depth < 2 else 6)
    if kind <= 2:
        return random.choice(dfe.traffic_patterns() if random.random() < wrong else OPEN_LOOPS)
    if kind == 3:
        return "uniform" if random.random() < 0.7 else f"adv{random.choice((-2, -1, 1, 1, 2, 3)):+d}"
    if kind == 4:
        named = random.sample(range(hosts), random.randint(1, min(4, hosts)))
        return Hotspot(named if random.random() < 0.5 else random.randint(1, min(8, hosts)), random.random())
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


def all_to_all(random: Random) -> Any:
    """An exchange in any of its forms."""
    drawn = AllToAll(
        random.choice((1, 128, 250, 1000)),
        random.choice((1, 1, 2, 5, 65_535)),
        random.choice(("consecutive", "random", "random-routers", "random-groups")),
    )
    return random.choice((drawn, drawn.spec, drawn.to_dict()))


def traffic(random: Random, hosts: int, wrong: float = 0.0) -> Any:
    """Traffic in any form; of more than MOST_HOSTS hosts what sends as much as the load says."""
    if hosts > MOST_HOSTS:
        return pattern(random, hosts, wrong)
    kind = random.random()
    if kind < 0.08:
        return trace(random, hosts)
    if kind < 0.18:
        return schedule(random, hosts, wrong)
    if kind < 0.28:
        return all_to_all(random)
    drawn = pattern(random, hosts, wrong)
    return drawn.to_dict() if isinstance(drawn, Pattern) and random.random() < 0.3 else drawn


def small_network(random: Random, *, parts: bool = False) -> NetworkConfig:
    """A network of values that keep a run short: a preset with some fields changed, all of them legal together.

    Args:
        random: What is drawn from.
        parts: The system has several parts, which wait for each other as often as a global link lets them.
    """
    preset = random.choice(NetworkConfig.presets())
    changes: dict[str, Any] = {}
    fine = random.random() < 0.1  # the core wants a common divisor of all delays that is not too small
    for name, values in _SMALL.items():
        if random.random() < 0.25:
            changes[name] = random.choice(values if fine else [v for v in values if v not in _FINE])
    if random.random() < 0.3:
        flit = random.choice((10, 32, 100, 128))
        changes.update(flit_bytes=flit, packet_bytes=flit * random.choice((1, 2, 7, 10)))
    if random.random() < 0.3:
        changes.update(link_start="immediate", switching="cut-through", crossbar_bandwidth_gbytes_per_s=100.0)
    elif "link_start" in changes:
        changes["switching"] = "store-and-forward"
    if any(name.endswith("bandwidth_gbytes_per_s") for name in changes):
        changes.setdefault("crossbar_bandwidth_gbytes_per_s", 100.0)  # no slower than any link
    if "packet_bytes" in changes:  # a preset's payload may be more than that
        changes.setdefault("payload_bytes", None)
    if parts:
        changes["global_latency_ns"] = random.choice((50.0, 150.0, 300.0))
    return NetworkConfig.preset(preset, **changes)


_PARTITIONED_SHARE = 0.1
_LIGHT_LOADS = (0.003, 0.01, 0.03)  # of many hosts on few links
_LATENCIES = (0.0, 0.001, 1.0, 7.0, 33.333, 150.0)
_BANDWIDTHS = (1.0, 2.0, 4.0, 7.3, 10.0, 12.5, 25.0, 100.0)
_FINE = {0.001, 33.333, 7.3, 1.001, 1_234.567, 777.7, 151.5}
_BUFFERS = (1, 2, 3, 10, 60)

# Only what any other value here goes with.
_SMALL: dict[str, tuple[Any, ...]] = {
    "host_bandwidth_gbytes_per_s": _BANDWIDTHS,
    "local_bandwidth_gbytes_per_s": _BANDWIDTHS,
    "global_bandwidth_gbytes_per_s": _BANDWIDTHS,
    "injection_bandwidth_gbytes_per_s": (None, float("inf"), *_BANDWIDTHS),
    "crossbar_bandwidth_gbytes_per_s": (100.0, 250.0),
    "injection_latency_ns": _LATENCIES,
    "ejection_latency_ns": _LATENCIES,
    "local_latency_ns": (0.001, 1.0, 30.0, 151.5),
    "global_latency_ns": (1.0, 1.001, 50.0, 300.0, 1_234.567),
    "input_latency_ns": _LATENCIES,
    "output_latency_ns": _LATENCIES,
    "crossbar_latency_ns": _LATENCIES,
    "router_clock_ns": (0.5, 1.0, 3.2, 20.0),
    "host_buffer_packets": _BUFFERS,
    "local_buffer_packets": _BUFFERS,
    "global_buffer_packets": _BUFFERS,
    "output_buffer_packets": _BUFFERS,
    "output_queue": ("per-vc", "shared"),
    "link_start": ("immediate", "timer"),
    "arbitration": (
        "round-robin",
        "age",
        "least-recently-served",
        "transit-first-round-robin",
        "transit-first-age",
        "transit-first-least-recently-served",
    ),
    "vc_scheme": ("stage", "ladder", "hop"),
    "local_vcs": (0, 8, 15),
    "global_vcs": (0, 8, 15),
    "decide_at": ("arrival", "head", "attempt", "attempt-same-path"),
    "routing_delay_ns": (0.0, 0.001, 10.0, 100.0, 777.7),
    "paths_weighed_by": ("port", "vc"),
    "detours_avoid_destination_group": (True, False),
    "uniform_excludes_sender": (True, False),
}


def small_simulation(random: Random) -> SimulationConfig:
    """A system of at most MOST_HOSTS hosts, or one of some parts, legal unless its settings do not go together.

    Raises:
        ConfigError: If they do not.
    """
    parts = random.random() < _PARTITIONED_SHARE
    topology = dfe.Dragonfly(**(partitioned_topology if parts else topology_arguments)(random))
    loads = _LIGHT_LOADS if parts else (0.01, 0.3, 0.5, 0.9, 1.0, random.uniform(0.001, 1.0))
    given: dict[str, Any] = {
        "topology": topology,
        "network": small_network(random, parts=parts),
        "traffic": traffic(random, topology.num_hosts),
        "load": random.choice(loads),
        "policy": policy(random),
        "message_packets": random.choice((1, 1, 1, 2, 5)),
        "seed": random.randrange(2**64),
        "packet_log": random.random() < 0.3,
        "group_latency": random.random() < 0.3,
        "host_latency": random.random() < 0.3,
        "series_bin_ns": random.choice((None, None, 100.0, 33.3)),
    }
    drawn = parse_traffic(given["traffic"])
    if isinstance(drawn, DemandMatrix) and random.random() < 0.3:
        given["demand_unit"] = "GB/s"
    if drawn.is_closed_loop:
        given["message_packets"] = 1
    elif random.random() < 0.6 and not drawn.is_trace:
        given["injection"] = random.choice(("periodic", "bernoulli", "poisson"))
    if random.random() < 0.3:
        given["source_queue_packets"] = random.choice((5, 20))
        given["source_queue_full"] = random.choice((None, "stall", "lose"))
        if drawn.is_closed_loop:
            given["source_queue_full"] = random.choice((None, "stall"))
    return SimulationConfig(**given)


def time_for(random: Random, config: SimulationConfig, packets: int) -> float:
    """A time in ns in which hosts can send about so many packets in all; rarely a round one."""
    hosts = config.topology.num_hosts
    time_ns = packets * config.network.packet_time_ns / (hosts * config.load)
    time_ns = min(max(time_ns, 20.0), 20_000.0, packets * config.network.packet_time_ns)
    return round(time_ns * random.uniform(0.2, 1.0), random.randrange(4))

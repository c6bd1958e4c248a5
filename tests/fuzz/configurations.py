"""Settings of every kind, in and out of range: accepted or refused, and what is accepted comes back the same."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

from dragonfly_env import SimulationConfig
from dragonfly_env.config.network import NetworkConfig
from dragonfly_env.config.topology import Dragonfly
from dragonfly_env.policies import parse_policy
from dragonfly_env.simulation import Simulation
from dragonfly_env.traffic import parse_traffic, traffic_from_dict
from tests.fuzz import settings
from tests.fuzz.draws import mutated, nested, odd, some_of
from tests.fuzz.outcome import Outcome, outcome, require
from tests.fuzz.small_configs import buffered_packets

_MOST_BUFFERED_PACKETS = 500_000


def attempts(random: Random, folder: Path) -> Iterator[Callable[[], Outcome]]:
    """One settings object, or several that make a simulation."""
    while True:
        make = random.choices((_simulation, _topology, _network, _policy, _traffic, _document), _WEIGHTS)[0]
        yield functools.partial(outcome, functools.partial(make, random))


_WEIGHTS = (4, 1, 2, 1, 1, 2)


def _share(random: Random) -> float:
    return random.choice((0.0, 0.0, 0.02, 0.1, 0.5))


def _topology(random: Random) -> Dragonfly:
    given = settings.topology_arguments(random, _share(random))
    if random.random() < 0.2:
        given = mutated(random, given)
    topology = Dragonfly.from_dict(given) if random.random() < 0.7 else Dragonfly(**given)
    require(Dragonfly.from_dict(topology.to_dict()) == topology, "a topology is its dictionary")
    if topology.num_hosts <= 1_000:
        links = topology.links()
        require(len(links) == topology.to_networkx().number_of_edges() * 2, "every link has two directions")
    for call in (
        lambda: topology.router_of(odd(random)),
        lambda: topology.group_of(odd(random)),
        lambda: topology.port_kind(odd(random)),
        lambda: topology.neighbor(odd(random), odd(random)),
        lambda: topology.minimal_hops(odd(random), odd(random)),
        lambda: topology.minimal_port(odd(random), odd(random)),
        lambda: topology.replace(g=odd(random)),
        lambda: Dragonfly.preset(odd(random)),
    ):
        outcome(call)
    return topology


def _network(random: Random) -> NetworkConfig:
    given = settings.network_arguments(random, _share(random), share=random.choice((0.1, 0.4, 2.0)))
    if random.random() < 0.2:
        given = mutated(random, given)
    if random.random() < 0.5:
        given["preset"] = given.pop("name", "default")
        network = NetworkConfig.from_dict(given)
    else:
        network = NetworkConfig.preset(**given)
    require(NetworkConfig.from_dict(network.to_dict()) == network, "a network is its dictionary")
    require(network.round_trip_ns > 0 and network.packet_time_ns > 0, "times are above 0")
    network.to_core()
    outcome(lambda: NetworkConfig.preset(odd(random)))
    outcome(lambda: NetworkConfig.from_dict(odd(random)))
    return network


def _policy(random: Random) -> Any:
    drawn = settings.policy(random, _share(random))
    if isinstance(drawn, dict) and random.random() < 0.3:
        drawn = mutated(random, drawn)
    policy = parse_policy(drawn)
    require(parse_policy(policy.to_dict()) == policy, "a policy is its dictionary")
    require(hash(policy) == hash(parse_policy(policy.to_dict())), "equal policies hash alike")
    return policy


def _traffic(random: Random) -> Any:
    drawn = settings.traffic(random, random.randint(1, settings.MOST_HOSTS), _share(random))
    if isinstance(drawn, dict) and random.random() < 0.5:
        drawn = mutated(random, drawn)
    elif random.random() < 0.05:
        drawn = nested(random)
    traffic = parse_traffic(drawn)
    again = traffic_from_dict(traffic.to_dict())
    require(again == traffic or traffic.is_trace, "traffic is its dictionary")
    traffic.check(Dragonfly(2, 4, 2))
    return traffic


def _simulation_arguments(random: Random, wrong: float) -> dict[str, Any]:
    topology = Dragonfly(**settings.topology_arguments(random, wrong))
    network = (
        NetworkConfig.preset(**settings.network_arguments(random, wrong))
        if wrong or random.random() < 0.3
        else settings.small_network(random)  # parts that go together
    )
    given = {
        "topology": topology,
        "network": network,
        "traffic": settings.traffic(random, min(topology.num_hosts, 2_000), wrong),
        "policy": settings.policy(random, wrong),
        **some_of(random, settings.simulation_fields(), 0.3 * random.random(), wrong),
    }
    if "injection" in given and random.random() < 0.9:  # 'trace' goes with traces alone
        given["injection"] = random.choice(("auto", "periodic", "bernoulli", "poisson"))
    if "threads" in given and random.random() < 0.98:
        given["threads"] = random.randint(1, 3)
    return given


def _simulation(random: Random) -> SimulationConfig:
    wrong = _share(random)
    given = _simulation_arguments(random, wrong)
    if wrong and random.random() < 0.3:
        given = mutated(random, given)
    config = SimulationConfig(**given)
    if config.traffic_object.is_trace:
        require(dict(config.to_dict()) is not None, "a trace can be described")
    else:
        require(SimulationConfig.from_dict(config.to_dict()) == config, "a configuration is its dictionary")
        require(SimulationConfig.from_toml(config.to_toml()) == config, "a configuration is its TOML")
        require(SimulationConfig.from_json(config.to_json()) == config, "a configuration is its JSON")
    if random.random() < 0.3 and _is_small(config):
        Simulation(config)
    return config


def _is_small(config: SimulationConfig) -> bool:
    queued = config.topology.num_hosts * (config.source_queue_packets or 0)
    few = buffered_packets(config) + queued <= _MOST_BUFFERED_PACKETS
    return few and config.topology.num_hosts <= settings.MOST_HOSTS


def _document(random: Random) -> SimulationConfig:
    """A configuration as text or table, with something changed in it."""
    given = _simulation_arguments(random, 0.0)
    config = SimulationConfig(**given)
    kind = random.randrange(3)
    if kind == 0:
        return SimulationConfig.from_dict(mutated(random, config.to_dict()))
    text = config.to_toml() if kind == 1 else config.to_json()
    text = _with_typing_errors(random, text)
    read: Callable[[Any], SimulationConfig] = (
        SimulationConfig.from_toml if kind == 1 else SimulationConfig.from_json
    )
    if random.random() < 0.05:
        deep = random.choice((100, 3_000))
        text = f"topology = {'[' * deep}{']' * deep}" if kind == 1 else "[" * deep + "]" * deep
    if random.random() < 0.05:
        outcome(lambda: read(odd(random)))
        outcome(lambda: SimulationConfig.from_dict(odd(random)))
    return read(text)


def _with_typing_errors(random: Random, text: str) -> str:
    letters = list(text)
    for _ in range(random.randint(0, 3)):
        place = random.randrange(len(letters))
        letters[place] = random.choice(
            ("", "\n", '"', "[", "]", "{", "9", "-", ".", "\0", "e", letters[place] * 2)
        )
    return "".join(letters)

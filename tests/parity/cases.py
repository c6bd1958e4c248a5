"""Cases of the parity tests: configurations, and a run of the core to compare with."""

from __future__ import annotations

from typing import Any

import dragonfly_env as dfe
from tests.ready import NETWORKS
from tests.topologies import SHAPES, topology_of

PRESETS = NETWORKS


def config_of(**changes: Any) -> dfe.SimulationConfig:
    """72 hosts under adversarial traffic, unless something else is wanted; its policy is never the one tested."""
    settings: dict[str, Any] = {
        "topology": dfe.Dragonfly.preset("72"),
        "traffic": "adv+1",
        "load": 0.4,
        "seed": 7,
    }
    return decided_once(dfe.SimulationConfig(**{**settings, **changes}))


def decided_once(config: dfe.SimulationConfig) -> dfe.SimulationConfig:
    """The configuration, in which also the core never takes a decision back: Python cannot."""
    if config.network.decide_at != "by-policy":
        return config
    return config.replace(network=config.network.replace(decide_at="head"))


def config_of_shape(shape: str, load: float) -> dfe.SimulationConfig:
    """Another topology; adversarial traffic where there is another group."""
    topology = topology_of(SHAPES[shape])
    traffic = "uniform" if topology.num_groups == 1 else "adv+1"
    return config_of(topology=topology, traffic=traffic, load=load)


def native(config: dfe.SimulationConfig, policy: dfe.Policy, duration_ns: float) -> dfe.Simulation:
    """The core alone."""
    simulation = dfe.Simulation(config.replace(policy=policy))
    simulation.run(duration_ns)
    assert simulation.metrics().packets_delivered > 0
    return simulation


def play(env: dfe.BatchedRoutingEnv, reference: Any) -> None:
    """Run an episode with the decisions of a reference implementation."""
    batch = env.reset()
    while not env.done:
        batch = env.step(reference.act(batch))

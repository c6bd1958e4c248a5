"""Short simulations of what is used most: the compiler learns from them what the core spends its time on.

Usage: python .ci/profile_run.py, with a core that was built with DRAGONFLY_PROFILE=record
"""

from __future__ import annotations

import numpy as np

import dragonfly_env as dfe

RUNS = {
    "q-adaptive": ("min", "val-n", "ugal-n", "par", "q-adaptive", "q-adaptive-queue"),
    "default": ("min", "val-n", "ugal-g", "ugal-n", "par", "pb", "q-adaptive", "q-routing"),
    "lia": ("min", "val-n", "ugal-n", "pb", "acor", "lia", "tpr"),
}
TRAFFIC = {"uniform": 0.8, "adv+1": 0.4}


def simulate(topology: dfe.Dragonfly, network: str, policy: str, traffic: str, load: float) -> None:
    """One run by one thread: counters are not shared."""
    config = dfe.SimulationConfig(
        topology=topology, network=network, policy=policy, traffic=traffic, load=load, threads=1
    )
    simulation = dfe.Simulation(config)
    simulation.run(3_000)
    simulation.metrics()


def route_from_outside(topology: dfe.Dragonfly, action: str) -> None:
    """Batches of decisions, answered at random."""
    config = dfe.SimulationConfig(topology=topology, traffic="uniform", load=0.6, threads=1)
    env = dfe.BatchedRoutingEnv(config, scope="every", action=action, duration_ns=2_000)
    rng = np.random.default_rng(1)
    batch = env.reset()
    while not env.done:
        batch = env.step(np.argmax(rng.random(batch.mask.shape) * batch.mask, axis=1))


def main() -> None:
    """All of them, and some batches of decisions from outside."""
    mesh, aries = dfe.Dragonfly.preset("342"), dfe.Dragonfly.preset("theta-m8")
    for traffic, load in TRAFFIC.items():
        for network, policies in RUNS.items():
            for policy in policies:
                simulate(mesh, network, policy, traffic, load)
        for policy in ("ad0", "ad3"):
            simulate(aries, "aries", policy, traffic, load / 2)
    for action in ("port", "path"):
        route_from_outside(mesh, action)


if __name__ == "__main__":
    main()

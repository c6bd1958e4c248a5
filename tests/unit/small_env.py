"""A small batched environment, and its way to the end, for the tests of ``BatchedRoutingEnv``. Not a test itself."""

from __future__ import annotations

import dragonfly_env as dfe


def config(**changes: object) -> dfe.SimulationConfig:
    """72 hosts under adversarial traffic, unless something else is wanted."""
    settings: dict[str, object] = {
        "topology": dfe.Dragonfly.preset("72"),
        "traffic": "adv+1",
        "load": 0.35,
        "seed": 11,
        **changes,
    }
    return dfe.SimulationConfig(**settings)


def make(duration_ns: float = 2_000.0, **options: object) -> dfe.BatchedRoutingEnv:
    """An environment of that configuration."""
    return dfe.BatchedRoutingEnv(config(), duration_ns=duration_ns, **options)


def play(env: dfe.BatchedRoutingEnv, batch: dfe.DecisionBatch) -> int:
    """Take shortest paths to the end of the episode; the number of steps."""
    steps = 0
    while not env.done:
        batch = env.step(batch.minimal_actions())
        steps += 1
    return steps

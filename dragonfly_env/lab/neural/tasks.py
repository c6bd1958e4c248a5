"""What is needed of a scenario that is trained on, or that says how good a network is by now: a `Point` whose
``traffic_label`` tells it from all others.
"""

from __future__ import annotations

import hashlib
import math

import dragonfly_env as dfe
from dragonfly_env.sweeps.run import Point


def packet_ns(task: Point) -> float:
    """What a global link takes for one packet: the unit of predicted times."""
    return task.config.network.packet_bytes / task.config.network.global_bandwidth_gbytes_per_s


def seed_of(task: Point, *numbers: int) -> int:
    """A seed that belongs to this scenario and these numbers."""
    text = f"{task.traffic_label} {numbers}"
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:6], "little")


def cost(task: Point, policy: dfe.Policy, seed: int) -> float:
    """What counts in a run, less being better: the makespan of a workload in ns, 1 / accepted load where all hosts
    offer what their links carry, else the mean latency in ns. Infinite if it is not complete, or nothing arrived.
    """
    config = task.config.replace(policy=policy, seed=seed)
    metrics = dfe.simulate(config, warmup_ns=task.warmup_ns, measure_ns=task.measure_ns)
    if task.closed_loop:
        value = metrics.makespan_ns
    elif task.load == 1:
        value = 1 / metrics.accepted_load if metrics.accepted_load > 0 else math.inf
    else:
        value = metrics.latency_mean_ns
    return value if math.isfinite(value) and value > 0 else math.inf

"""What learned agents are held against: heuristics as they are, heuristics whose parameters were tuned, tabular
learners that start with empty tables, and the network that comes with the package. One protocol for all of them,
whatever the size of the system.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import dragonfly_env as dfe
from dragonfly_env.agents import Policy, RandomPolicy

UNTUNED = ("min", "val-n", "val-g", "ugal-g", "ugal-n", "par", "lia", "ad2")
RANDOM: dict[str, Policy] = {
    "random ports": RandomPolicy(action="port", scope="every"),
    "random paths": RandomPolicy(action="path", scope="source"),
}
TUNED: dict[str, tuple[str, tuple[float, ...]]] = {
    "ugal-g": ("bias_packets", (-20, -10, -5, 5)),
    "ugal-n": ("bias_packets", (-20, -10, -5, 5)),
    "par": ("bias_packets", (-20, -10, -5, 5)),
}
"""Policies with a parameter and the values that are tried on the seed of the curves, which is not held out."""

ONLINE = ("q-routing", "q-adaptive", "q-adaptive-queue", "q-adaptive-fast")
"""They learn during the warm-up and the measurement, and see nothing before."""

SHIPPED = ("neural-v1",)
"""Trained elsewhere, on a mixture of traffic and sizes; they come with the package."""

Rows = list[dict[str, float]]


@dataclasses.dataclass(frozen=True, slots=True)
class Baseline:
    """A policy to compare with.

    Attributes:
        name: As the tables call it.
        kind: ``"untuned"``, ``"random"``, ``"tuned"``, ``"online"`` or ``"shipped"``.
        policy: What is measured.
    """

    name: str
    kind: str
    policy: Policy | str


def baselines(latency_ns: Callable[[Policy | str], float]) -> list[Baseline]:
    """All of them; tuning measures.

    Args:
        latency_ns: The mean latency of a policy on a seed that is not held out.
    """
    found = [Baseline(name, "untuned", name) for name in UNTUNED]
    found += [Baseline(name, "random", policy) for name, policy in RANDOM.items()]
    for name, (parameter, values) in TUNED.items():
        tried = {value: latency_ns(dfe.make_policy(name, **{parameter: value})) for value in values}
        best = min(tried, key=tried.__getitem__)
        policy = dfe.make_policy(name, **{parameter: best})
        found.append(Baseline(f"{name}:{parameter}={best:g}", "tuned", policy))
    found += [Baseline(name, "online", name) for name in ONLINE]
    found += [Baseline(name, "shipped", name) for name in SHIPPED]
    return found


def best_of_each_kind(rows: dict[str, dict[str, Any]]) -> dict[str, str]:
    """The name of the baseline with the lowest mean latency, by kind.

    Args:
        rows: By name: ``kind`` and ``held_out``, a list of samples with ``latency_mean_ns``.
    """

    def mean(name: str) -> float:
        samples = rows[name]["held_out"]
        return float(sum(sample["latency_mean_ns"] for sample in samples)) / len(samples)

    kinds = dict.fromkeys(row["kind"] for row in rows.values())
    return {kind: min((name for name in rows if rows[name]["kind"] == kind), key=mean) for kind in kinds}

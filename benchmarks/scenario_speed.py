"""Family ``scenarios``: what it is worth to have small networks next to each other in one batch.

Sixteen networks of one size under different traffic, random legal actions drawn with NumPy inside the clock,
transitions collected as a learner does. First each alone, one after the other; then all in one batch; then the same
with two threads. The histories are the same each time, and so is the work.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import dragonfly_env as dfe
from benchmarks.effort import Effort
from benchmarks.environment_speed import Clock
from benchmarks.result import Result
from benchmarks.workload import Report
from benchmarks.yardstick.beside import Beside
from benchmarks.yardstick.program import program

COUNT = 16
_HOSTS = "72"
_TRAFFIC = (("uniform", 0.3), ("uniform", 0.8), ("adv+1", 0.2), ("adv+1", 0.45))
_SHARE = 0.1  # of the core's own sample, each


@dataclass(frozen=True, slots=True)
class Episodes:
    """One episode of every network."""

    decisions: int
    cpu_s: float
    wall_s: float


def scenarios(threads: int = 1) -> list[dfe.SimulationConfig]:
    """The networks."""
    topology = dfe.Dragonfly.preset(_HOSTS)
    return [
        dfe.SimulationConfig(
            topology=topology,
            traffic=_TRAFFIC[i % len(_TRAFFIC)][0],
            load=_TRAFFIC[i % len(_TRAFFIC)][1],
            seed=i + 1,
            threads=threads,
        )
        for i in range(COUNT)
    ]


def play(env: dfe.BatchedRoutingEnv) -> Episodes:
    """One episode in which the draws of the core choose, so that the work is the same however it is batched."""
    batch = env.reset(seed=[config.seed for config in env.configs])
    decisions = 0
    with Clock() as clock:
        while not env.done:
            decisions += len(batch)
            chosen = (batch.draws[:, 0] * batch.mask.sum(axis=1)).astype(int)
            batch = env.step((batch.mask.cumsum(axis=1) > chosen[:, None]).argmax(axis=1))
            env.transitions()
    return Episodes(decisions, clock.cpu_s, clock.wall_s)


def measure(effort: Effort, report: Report) -> list[Result]:
    """Measure the three in turns.

    Args:
        effort: ``host_ns``, ``rounds`` and ``yardstick_laps`` are used.
        report: Told of the progress.

    Returns:
        Decisions per CPU-second, and per second of real time.
    """
    duration_ns = max(1_000.0, round(_SHARE * effort.sample_ns(int(_HOSTS))))
    alone = [dfe.BatchedRoutingEnv(config, duration_ns=duration_ns) for config in scenarios()]
    together = {
        threads: dfe.BatchedRoutingEnv(scenarios(threads), duration_ns=duration_ns) for threads in (1, 2)
    }

    def one_after_the_other() -> Episodes:
        each = [play(env) for env in alone]
        return Episodes(
            sum(one.decisions for one in each),
            sum(one.cpu_s for one in each),
            sum(one.wall_s for one in each),
        )

    cases: dict[str, Callable[[], Episodes]] = {
        "one after the other": one_after_the_other,
        "in one batch": lambda: play(together[1]),
        "in one batch, 2 threads": lambda: play(together[2]),
    }
    beside = Beside(program(), effort.yardstick_laps)
    found: dict[str, list[tuple[Episodes, float]]] = {name: [] for name in cases}
    for i in range(effort.rounds + 1):
        for name, case in cases.items():
            report(f"round {i} of {effort.rounds}: {name}")
            found[name].append(beside.measure(case))
    if len({each.decisions for samples in found.values() for each, _ in samples}) != 1:
        raise RuntimeError("the networks have other histories next to each other than alone")
    parameters = {"networks": COUNT, "num_hosts": int(_HOSTS), "duration_ns": duration_ns}
    return [
        Result(
            family="scenarios",
            name=f"{COUNT} networks {name}" + ("" if unit == "CPU-s" else ", wall"),
            unit=f"M decisions / {unit}",
            samples=[
                each.decisions / (each.cpu_s if unit == "CPU-s" else each.wall_s) / 1e6
                for each, _ in samples[1:]  # the first ones filled caches and pools
            ],
            higher_is_better=True,
            parameters=parameters,
            yardstick_hops_per_s=[speed for _, speed in samples[1:]],
        )
        for name, samples in found.items()
        for unit in ("CPU-s", "s")
    ]

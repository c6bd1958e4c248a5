"""Family ``core``: packet-hops per CPU-second of one thread, by policy, traffic and network."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from benchmarks.effort import Effort
from benchmarks.result import Result
from benchmarks.workload import Report, Workload, configuration, details, in_turns, yardstick
from benchmarks.yardstick.beside import Beside
from benchmarks.yardstick.program import program

_POLICIES = ("min", "ugal-n", "ugal-g", "par", "val-n", "q-adaptive")
_GOALS = {"min": 12.0}  # million packet-hops per CPU-second, uniform 0.8
_GOAL = 8.0
_ADVERSARIAL = ("ugal-n", "par", "val-n")
_LIA = ("min", "ugal-n")


def _cases() -> Iterator[tuple[str, str, dict[str, Any], float | None]]:
    """Name, policy, changes of the configuration, goal.

    Valiant can carry half the load, so under 0.8 its network is saturated and its generators stall.
    """
    for policy in _POLICIES:
        yield f"{policy} uniform 0.8", policy, {}, _GOALS.get(policy, _GOAL)
    for policy in _ADVERSARIAL:
        yield f"{policy} adv+1 0.45", policy, {"traffic": "adv+1", "load": 0.45}, None
    for policy in _LIA:
        changes = {"network": "lia", "injection": "bernoulli", "source_queue_packets": None, "load": 0.5}
        yield f"{policy} uniform 0.5 lia", policy, changes, None


def measure(effort: Effort, report: Report) -> list[Result]:
    """Measure all cases in turns.

    Args:
        effort: ``core_topology``, ``core_warmup_ns``, ``host_ns`` and ``rounds`` are used.
        report: Told of the progress.

    Returns:
        One figure per case, in million packet-hops per CPU-second.
    """
    workloads: dict[str, Workload] = {}
    goals: dict[str, float | None] = {}
    for name, policy, changes, goal in _cases():
        report(f"warming up: {name}")
        config = configuration(effort.core_topology, policy, **changes)
        sample_ns = effort.sample_ns(config.topology.num_hosts)
        workloads[name] = Workload(config, warmup_ns=effort.core_warmup_ns, sample_ns=sample_ns)
        goals[name] = goal
    beside = Beside(program(), effort.yardstick_laps)
    return [
        Result(
            family="core",
            name=name,
            unit="M packet-hops / CPU-s",
            samples=[s.rate for s in slices],
            higher_is_better=True,
            goal=goals[name],
            parameters=workloads[name].parameters(),
            details=details(slices),
            yardstick_hops_per_s=yardstick(slices),
        )
        for name, slices in in_turns(workloads, effort.rounds, beside, report).items()
    ]

"""Families ``core`` and ``networks``: packet-hops per CPU-second of one thread, by policy, traffic and network."""

from __future__ import annotations

import dataclasses
from typing import Any

from benchmarks.result import Effort, Result
from benchmarks.workload import Report, Slice, Workload, configuration, in_turns

_POLICIES = ("min", "ugal-n", "ugal-g", "par", "val-n", "q-adaptive")
_LIA: dict[str, Any] = {"network": "lia", "injection": "bernoulli", "source_queue_packets": None, "load": 0.5}
_REFERENCE = "ugal-n"


def measure(effort: Effort, report: Report) -> list[Result]:
    """Measure a speed per policy and traffic, all in turns.

    Valiant can carry half the load, so under 0.8 its network is saturated and its generators stall.
    """
    cases: dict[str, tuple[str, dict[str, Any]]] = {
        **{f"{policy} uniform 0.8": (policy, {}) for policy in _POLICIES},
        **{
            f"{policy} adv+1 0.45": (policy, {"traffic": "adv+1", "load": 0.45})
            for policy in ("ugal-n", "par", "val-n")
        },
        **{f"{policy} uniform 0.5 lia": (policy, _LIA) for policy in ("min", "ugal-n")},
    }
    workloads, measured = _measured(cases, effort, report)
    return [
        Result(
            name=name,
            unit="M packet-hops / CPU-s",
            samples=[s.rate for s in slices],
            parameters=workloads[name].parameters(),
        )
        for name, slices in measured.items()
    ]


def measure_networks(effort: Effort, report: Report) -> list[Result]:
    """The speed with neural networks as policies, as a share of the speed with ``ugal-n``."""
    networks = ("neural-v1", "neural-v2", "neural-v3")
    cases: dict[str, tuple[str, dict[str, Any]]] = {
        f"{policy} {traffic} {load}": (policy, {"traffic": traffic, "load": load})
        for traffic, load in (("uniform", 0.5), ("adv+1", 0.3))
        for policy in (_REFERENCE, *networks)
    }
    short = dataclasses.replace(
        effort, core_warmup_ns=effort.core_warmup_ns / 5, host_ns=effort.host_ns / 10
    )  # ratios need no long slices
    workloads, measured = _measured(cases, short, report)
    found = []
    for name, (policy, _) in cases.items():
        if policy == _REFERENCE:
            continue
        reference = measured[name.replace(policy, _REFERENCE)]
        found.append(
            Result(
                name=name,
                unit=f"x the rate of {_REFERENCE}",
                samples=[s.rate / r.rate for s, r in zip(measured[name], reference, strict=True)],
                parameters=workloads[name].parameters(),
            )
        )
    return found


def _measured(
    cases: dict[str, tuple[str, dict[str, Any]]], effort: Effort, report: Report
) -> tuple[dict[str, Workload], dict[str, list[Slice]]]:
    workloads = {}
    for name, (policy, changes) in cases.items():
        report(f"warming up: {name}")
        config = configuration(effort.core_topology, policy, **changes)
        sample_ns = effort.sample_ns(config.topology.num_hosts)
        workloads[name] = Workload(config, warmup_ns=effort.core_warmup_ns, sample_ns=sample_ns)
    return workloads, in_turns(workloads, effort.rounds, report)

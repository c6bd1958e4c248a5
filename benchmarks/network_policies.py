"""Family ``networks``: how fast the core is where a neural network routes, as a share of `ugal-n`'s speed.

Networks of two hidden layers of 32 units with random weights over the features that ``MlpNetwork`` starts with; what
they choose does not matter much at this load, what it costs to choose does.
"""

from __future__ import annotations

import itertools
import tempfile
from pathlib import Path

import numpy as np

import dragonfly_env as dfe
from benchmarks.effort import Effort
from benchmarks.result import Result
from benchmarks.workload import Report, Workload, configuration, details, in_turns
from benchmarks.yardstick.beside import Beside
from benchmarks.yardstick.program import program
from dragonfly_env.baselines import MlpNetwork

_REFERENCE = "ugal-n"
_UNITS = 32
_LOAD = 0.3
_GOAL = 1 / 3
_KINDS = {
    "mlp, paths at the source": ("path", "source"),
    "mlp, ports at the source": ("port", "source"),
    "mlp, ports at every router": ("port", "every"),
}
_FEATURES = {
    "port": ("queue_packets", "credits_in_use", "link_class", "is_minimal", "hops"),
    "path": ("candidate_kind", "candidate_packets", "candidate_vc_packets", "candidate_hops", "hops"),
}


def _network(action: str, scope: str) -> MlpNetwork:
    draws = np.random.default_rng(1)
    sizes = (len(_FEATURES[action]), _UNITS, _UNITS, 1)
    layers = tuple(
        (np.asarray(0.1 * draws.standard_normal(shape), np.float32), np.zeros(shape[1], np.float32))
        for shape in itertools.pairwise(sizes)
    )
    return MlpNetwork(
        layers=layers, features=_FEATURES[action], action=action, scope=scope, scoring="candidate"
    )


def measure(effort: Effort, report: Report) -> list[Result]:
    """Measure all of them in turns.

    Args:
        effort: ``core_topology``, ``core_warmup_ns``, ``host_ns`` and ``rounds`` are used.
        report: Told of the progress.

    Returns:
        Packet-hops per CPU-second over those of ``ugal-n`` in the same round.
    """
    with tempfile.TemporaryDirectory(prefix="dragonfly-env-bench-") as folder:
        policies = {name: dfe.make_policy(name) for name in (_REFERENCE, "neural-v1", "neural-v2")}
        for number, (name, (action, scope)) in enumerate(_KINDS.items()):
            file = _network(action, scope).save(Path(folder) / f"network-{number}")
            policies[name] = dfe.make_policy("mlp", weights=str(file))
        workloads: dict[str, Workload] = {}
        for name, policy in policies.items():
            report(f"warming up: {name}")
            config = configuration(effort.core_topology, load=_LOAD).replace(policy=policy)
            sample_ns = effort.sample_ns(config.topology.num_hosts)
            workloads[name] = Workload(config, warmup_ns=effort.core_warmup_ns, sample_ns=sample_ns)
        slices = in_turns(workloads, effort.rounds, Beside(program(), effort.yardstick_laps), report)
    reference = slices.pop(_REFERENCE)
    return [
        Result(
            family="networks",
            name=f"{name} / {_REFERENCE}",
            unit="times",
            samples=[own.rate / other.rate for own, other in zip(taken, reference, strict=True)],
            higher_is_better=True,
            goal=_GOAL,
            parameters=workloads[name].parameters(),
            details=details(taken),
        )
        for name, taken in slices.items()
    ]

"""Rules of the model that were changed under the same name.

A stored result of the former rule must not be taken for one of today's: whoever changes what a name stands for raises
its number here, and every run that uses it has another id. New parameters need no number: they are in the id already.
"""

from __future__ import annotations

from collections.abc import Iterator

from dragonfly_env import _core
from dragonfly_env.jobs.registered import RegisteredJob
from dragonfly_env.simulation.config import SimulationConfig
from dragonfly_env.traffic.base import ClosedLoop

REVISIONS = {
    "all-to-all": 2,  # paced by the host's injection rate
    "graph500": 2,  # the same
    "acor": 2,  # its level counts failed attempts
    "pb-acor": 2,  # the same
    "round-robin": 2,  # input and output arbiters, two rounds a cycle
    "transit-first-round-robin": 2,  # the same
}
"""Programs, policies and arbitrations by name; 1 where there is none."""


def revisions_of(config: SimulationConfig) -> dict[str, int]:
    """What a configuration uses of `REVISIONS`."""
    return {name: REVISIONS[name] for name in sorted({*_names(config)}) if name in REVISIONS}


def _names(config: SimulationConfig) -> Iterator[str]:
    yield config.network.arbitration
    yield config.to_dict()["policy"]["name"]
    traffic = config.traffic_object
    if isinstance(traffic, ClosedLoop):
        yield traffic.core_spec()[0]
    for job in config.jobs:
        program = getattr(job, "program", None)
        if isinstance(program, RegisteredJob):
            yield _core.parse_pattern(program.pattern)[0]
        for policy in (getattr(job, "policy", None), getattr(job, "all_to_all_policy", None)):
            if policy is not None:
                yield policy if isinstance(policy, str) else policy.name

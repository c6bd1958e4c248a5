"""Scenarios on which a learner may train, those on which it may not, and the cost of its training.

It may train on the train split of a suite, as scenarios of one batch. The test split must not be trained on: the
patterns, loads and sizes that no case of the train split has.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from dragonfly_env.baselines import mlp
from dragonfly_env.checks.values import config_error
from dragonfly_env.config.network import NetworkConfig
from dragonfly_env.config.topology import Dragonfly
from dragonfly_env.lab.benchmark.suite import BenchmarkCase, Suite
from dragonfly_env.simulation.config import SimulationConfig
from dragonfly_env.sweeps.point import AnyPolicy
from dragonfly_env.sweeps.progress import spell_seconds
from dragonfly_env.traffic import Adversarial, ClosedLoop, Schedule, Traffic
from dragonfly_env.training.agents import AgentSource

_TRACK = "steady"
_STEADY = ("latency", "accepted-load")  # quantities that an episode shows from its beginning on


def training_scenarios(suite: Suite, config: SimulationConfig) -> tuple[SimulationConfig, ...]:
    """Patterns and loads of the train split of a suite's steady tracks on one network, each once."""
    found: dict[tuple[str, float], SimulationConfig] = {}
    known: dict[str, None] = {}
    for track in suite.tracks:
        if track.quantity not in _STEADY:
            continue
        for case in (case for cases in track.cases.values() for case in cases if case.split == "train"):
            known[f"{case.machine} with {case.network!r}"] = None
            if case.topology != config.topology or NetworkConfig.preset(case.network) != config.network:
                continue
            scenario = config.replace(traffic=case.traffic.traffic, load=case.load, injection="bernoulli")
            found.setdefault((case.traffic.label, case.load), scenario)
    if not found:
        raise config_error(
            "suite", suite.name, f"trains on other networks than this topology: {', '.join(known) or 'none'}"
        )
    return tuple(found.values())


def why_in_test_split(suite: Suite, label: str, offset: int | None, load: float, topology: Dragonfly) -> str:
    """Return the reason why a scenario must not be trained on, or an empty string."""
    everywhere = [case for track in suite.tracks for listed in track.cases.values() for case in listed]
    here = [case for case in everywhere if case.topology == topology]
    if here and all(case.split == "test" for case in here):
        return f"{suite.name} has {here[0].machine} in its test split only"
    (track,) = suite.choose((_TRACK,))
    cases = [case for listed in track.cases.values() for case in listed]
    train = [case for case in cases if case.split == "train"]
    hosts, sizes = topology.num_hosts, {case.hosts for case in train}
    if hosts not in sizes and hosts in {case.hosts for case in cases}:
        return f"{suite.name} has {hosts} hosts in its test split only"
    trained = {case.traffic.label for case in train}
    for case in cases:
        if case.split != "test":
            continue
        if label not in trained and _same_groups(case, label, offset, topology.num_groups):
            return f"{label} is a pattern of the test split of {suite.name} ({case.name})"
        if (label, load) == (case.traffic.label, case.load):
            return f"{label} at a load of {load:g} is a case of the test split of {suite.name} ({case.name})"
    return ""


def why_workload_in_test_split(suite: Suite, workload: ClosedLoop, topology: Dragonfly) -> str:
    """Return why a workload must not be trained on, or an empty string: a case of the test split in any size, a program
    or a size that only the test split has.
    """
    cases = [case for track in suite.tracks for listed in track.cases.values() for case in listed]
    cases = [case for case in cases if isinstance(case.traffic.traffic, ClosedLoop)]
    train = [case for case in cases if case.split == "train"]
    hosts = topology.num_hosts
    if hosts not in {case.hosts for case in train} and hosts in {case.hosts for case in cases}:
        return f"{suite.name} has workloads on {hosts} hosts in its test split only"
    programs = {_program(case.traffic.traffic) for case in train}
    for case in cases:
        if case.split != "test":
            continue
        if _program(workload) == _program(case.traffic.traffic) not in programs:
            return f"{workload.spec} is a program of the test split of {suite.name} ({case.name})"
        if workload == case.traffic.traffic:
            return f"{workload.spec} is a case of the test split of {suite.name} ({case.name})"
    return ""


def _program(workload: Traffic) -> str:
    return workload.spec.partition(":")[0]


def scenarios_of(metadata: Mapping[str, Any]) -> Iterator[SimulationConfig]:
    """The scenarios on which a saved agent was trained, as ``dragonfly-env train`` wrote them into its file."""
    for scenario in metadata.get("scenarios") or filter(None, [metadata.get("configuration")]):
        yield SimulationConfig.from_dict(scenario)


def trained_on_test_split(suite: Suite, scenarios: Iterable[SimulationConfig]) -> str:
    """Return why a policy with these training scenarios may not run on the test split; empty if it may."""
    for config in scenarios:
        traffic = config.traffic_object
        if isinstance(traffic, ClosedLoop):
            if reason := why_workload_in_test_split(suite, traffic, config.topology):
                return reason
            continue
        for pattern, load in _phases(config):
            offset = pattern.offset if isinstance(pattern, Adversarial) else None
            if reason := why_in_test_split(suite, pattern.spec, offset, load, config.topology):
                return reason
    return ""


def _phases(config: SimulationConfig) -> Iterator[tuple[Traffic, float]]:
    traffic = config.traffic_object
    if isinstance(traffic, Schedule):
        for _, pattern, load in traffic.steps:
            yield pattern, load
    else:
        yield traffic, config.load


def _same_groups(case: BenchmarkCase, label: str, offset: int | None, groups: int) -> bool:
    """Whether it is a pattern of the test split, or the same offset by another name: tornado is adv+16 on 33 groups."""
    if label == case.traffic.label:
        return True
    if offset is None:
        return False
    offsets = [groups // 2] if case.traffic.label == "tornado" else []
    if isinstance(case.traffic.traffic, Adversarial):
        offsets.append(case.traffic.traffic.offset)
    return any((offset - known) % groups == 0 for known in offsets)


@dataclass(frozen=True, slots=True)
class TrainingCost:
    """The cost of a training; NaN if it is unknown."""

    decisions: float = math.nan  # decisions that the learner learned from, in all episodes
    wall_s: float = math.nan  # real time, as ``dragonfly-env train`` measures it
    cpu_s: float = math.nan  # CPU time

    def describe(self) -> str:
        """Describe the training for a table: ``"2,113,402 decisions, 31 s"``; ``"-"`` if nothing is known."""
        parts = []
        if not math.isnan(self.decisions):
            parts.append(f"{self.decisions:,.0f} decisions")
        if not math.isnan(self.wall_s):
            parts.append(spell_seconds(self.wall_s))
        if not math.isnan(self.cpu_s):
            parts.append(f"{self.cpu_s:,.0f} CPU-s")
        return ", ".join(parts) or "-"


def training_cost(policy: AnyPolicy) -> TrainingCost:
    """The known cost of a policy's training: of saved agents what ``dragonfly-env train`` wrote into them, of
    ``neural-v1`` what is next to its weights. Heuristics have none, and on-line learners learn while they are
    measured.
    """
    if isinstance(policy, AgentSource):
        took = policy.metadata().get("training", {}) if policy.is_file else {}
        return TrainingCost(took.get("decisions", math.nan), took.get("wall_s", math.nan))
    if policy.name in mlp.SHIPPED:
        return TrainingCost(cpu_s=mlp.training_cpu_s(policy.name))
    return TrainingCost()

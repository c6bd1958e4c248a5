"""What a learner may train on, what it may not, and what its training took.

It may train on the training part of a suite, as scenarios beside each other. Nobody may train on what a suite keeps
unseen: its patterns, loads and sizes that no cell for training has.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from dragonfly_env.baselines import Neural
from dragonfly_env.checks.values import config_error
from dragonfly_env.config.network import NetworkConfig
from dragonfly_env.config.topology import Dragonfly
from dragonfly_env.errors import ConfigError
from dragonfly_env.lab.benchmark.suite import BenchmarkCell, Suite
from dragonfly_env.simulation.config import SimulationConfig
from dragonfly_env.sweeps.choices import PolicyChoice
from dragonfly_env.sweeps.progress import spell_seconds
from dragonfly_env.traffic import Adversarial, Schedule, Traffic

_BOARD = "steady"
_STEADY = ("latency", "accepted-load")  # what an episode shows from its beginning on


def training_scenarios(suite: Suite, config: SimulationConfig) -> tuple[SimulationConfig, ...]:
    """The traffic that a suite trains on, on one network: what its boards of a steady state have in the part
    ``train``, each pattern and load once.

    Args:
        suite: The suite.
        config: Topology and network, and what else all scenarios have.

    Raises:
        ConfigError: If the suite does not train on this network.
    """
    found: dict[tuple[str, float], SimulationConfig] = {}
    known: dict[str, None] = {}
    for board in suite.boards:
        if board.quantity not in _STEADY:
            continue
        for cell in (cell for cells in board.cells.values() for cell in cells if cell.part == "train"):
            known[f"{cell.hosts} hosts with {cell.network!r}"] = None
            here = Dragonfly.preset(cell.hosts) == config.topology
            if not here or NetworkConfig.preset(cell.network) != config.network:
                continue
            scenario = config.replace(traffic=cell.traffic.traffic, load=cell.load, injection="bernoulli")
            found.setdefault((cell.traffic.label, cell.load), scenario)
    if not found:
        raise config_error(
            "suite", suite.name, f"trains on other networks than this topology: {', '.join(known) or 'none'}"
        )
    return tuple(found.values())


def why_unseen(suite: Suite, label: str, offset: int | None, load: float, topology: Dragonfly) -> str:
    """Why nobody may train on a scenario, or an empty string.

    Args:
        suite: Its board ``steady`` says what is unseen.
        label: The pattern's name in tables.
        offset: By how many groups it is adversarial; None if it is nothing of the kind.
        load: Offered.
        topology: The system.
    """
    (board,) = suite.choose((_BOARD,))
    cells = [cell for listed in board.cells.values() for cell in listed]
    train = [cell for cell in cells if cell.part == "train"]
    hosts, sizes = topology.num_hosts, {int(cell.hosts) for cell in train}
    if hosts not in sizes and hosts in {int(cell.hosts) for cell in cells}:
        return f"{suite.name} has {hosts} hosts in its unseen part only"
    trained = {cell.traffic.label for cell in train}
    for cell in cells:
        if cell.part != "unseen":
            continue
        if label not in trained and _same_groups(cell, label, offset, topology.num_groups):
            return f"{label} is a pattern that {suite.name} keeps unseen ({cell.name})"
        if (label, load) == (cell.traffic.label, cell.load):
            return f"{label} at a load of {load:g} is a cell that {suite.name} keeps unseen ({cell.name})"
    return ""


def trained_on_unseen(suite: Suite, metadata: Mapping[str, Any]) -> str:
    """Why an agent is no candidate for a suite's unseen part, by what its file says of its training; empty if it says
    nothing of the kind.

    Args:
        suite: The suite.
        metadata: Of a saved agent, as ``dragonfly-env train`` writes it.
    """
    for told in metadata.get("scenarios") or [metadata.get("configuration")]:
        try:
            config = SimulationConfig.from_dict(json.loads(json.dumps(told)))
        except (ConfigError, TypeError, ValueError):  # of somebody's own, who says it otherwise
            continue
        for pattern, load in _phases(config):
            offset = pattern.offset if isinstance(pattern, Adversarial) else None
            if reason := why_unseen(suite, pattern.spec, offset, load, config.topology):
                return reason
    return ""


def _phases(config: SimulationConfig) -> Iterator[tuple[Traffic, float]]:
    traffic = config.traffic_object
    if isinstance(traffic, Schedule):
        for _, pattern, load in traffic.steps:
            yield pattern, load
    else:
        yield traffic, config.load


def _same_groups(cell: BenchmarkCell, label: str, offset: int | None, groups: int) -> bool:
    """Whether it is an unseen pattern, or one offset by another name: tornado is adv+16 on 33 groups."""
    if label == cell.traffic.label:
        return True
    if offset is None:
        return False
    unseen = [groups // 2] if cell.traffic.label == "tornado" else []
    if isinstance(cell.traffic.traffic, Adversarial):
        unseen.append(cell.traffic.traffic.offset)
    return any((offset - one) % groups == 0 for one in unseen)


@dataclass(frozen=True, slots=True)
class TrainingCost:
    """What a training took; NaN for what nobody knows.

    Attributes:
        decisions: That it learned from, of all episodes.
        wall_s: Real time, as ``dragonfly-env train`` measures it.
        cpu_s: CPU time.
    """

    decisions: float = math.nan
    wall_s: float = math.nan
    cpu_s: float = math.nan

    def describe(self) -> str:
        """For a table: ``"2,113,402 decisions, 31 s"``; ``"-"`` if nothing is known."""
        parts = []
        if not math.isnan(self.decisions):
            parts.append(f"{self.decisions:,.0f} decisions")
        if not math.isnan(self.wall_s):
            parts.append(spell_seconds(self.wall_s))
        if not math.isnan(self.cpu_s):
            parts.append(f"{self.cpu_s:,.0f} CPU-s")
        return ", ".join(parts) or "-"


def training_cost(choice: PolicyChoice) -> TrainingCost:
    """What is known of a policy's training: of saved agents what ``dragonfly-env train`` wrote into them, of
    ``neural-v1`` what stands beside its weights. Heuristics have none, and on-line learners learn while they are
    measured.
    """
    if choice.agent is not None:
        return _told(choice.agent.metadata().get("training") if choice.agent.is_file else None)
    if isinstance(choice.policy, Neural):
        return TrainingCost(cpu_s=choice.policy.training_cpu_s)
    return TrainingCost()


def _told(training: object) -> TrainingCost:
    if not isinstance(training, Mapping):
        return TrainingCost()
    return TrainingCost(decisions=_number(training.get("decisions")), wall_s=_number(training.get("wall_s")))


def _number(value: Any) -> float:
    """A number that somebody's file holds, or NaN."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return math.nan
    return float(value) if 0 <= value < math.inf else math.nan

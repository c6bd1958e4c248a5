"""Nobody may train on what a suite keeps unseen: its patterns, loads and sizes that no cell for training has."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from dragonfly_env.config.topology import Dragonfly
from dragonfly_env.errors import ConfigError
from dragonfly_env.lab.benchmark.suite import BenchmarkCell, Suite
from dragonfly_env.simulation.config import SimulationConfig
from dragonfly_env.traffic import Adversarial, Schedule, Traffic

_BOARD = "steady"


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

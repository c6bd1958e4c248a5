"""What a learner may train on: the training part of a suite, as scenarios beside each other."""

from __future__ import annotations

from dragonfly_env.checks.values import config_error
from dragonfly_env.config.network import NetworkConfig
from dragonfly_env.config.topology import Dragonfly
from dragonfly_env.lab.benchmark.suite import Suite
from dragonfly_env.simulation.config import SimulationConfig

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

"""``SimulationConfig``: everything that determines a run; ``Simulation``: the run in the core."""

from __future__ import annotations

from dragonfly_env.simulation.path_kinds import PATH_KINDS
from dragonfly_env.simulation.simulation import Simulation
from dragonfly_env.simulation.snapshot import Snapshot
from dragonfly_env.simulation.window import simulate

__all__ = ["PATH_KINDS", "Simulation", "Snapshot", "simulate"]

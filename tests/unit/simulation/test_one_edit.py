"""A setting is one row, from which everything else follows."""

from __future__ import annotations

import pytest

import dragonfly_env as dfe
from dragonfly_env.jobs import workload
from dragonfly_env.simulation import config as module


def test_jobs_are_placed_once_for_a_configuration(monkeypatch: pytest.MonkeyPatch) -> None:
    placed = []

    def place(*args: object) -> object:
        placed.append(args)
        return workload.place_jobs(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(module, "place_jobs", place)
    config = dfe.SimulationConfig(topology="72", jobs=["nek5000:hosts=8,placement=random"])
    first = config.placed_jobs()
    simulation = dfe.Simulation(config)
    assert simulation.config.placed_jobs() is first is config.placed_jobs()
    assert len(placed) == 1
    assert config.replace(seed=2).placed_jobs() != first
    assert len(placed) == 2

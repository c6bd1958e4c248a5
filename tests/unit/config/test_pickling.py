"""The core cannot be pickled, by any protocol; a simulation can, by its snapshot."""

from __future__ import annotations

import copy
import pickle

import pytest

import dragonfly_env as dfe
from tests.unit.small_env import config


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_core_cannot_be_pickled_and_says_so(protocol: int) -> None:
    simulation = dfe.Simulation(config())
    for owner in (simulation._core, config().topology.to_core()):
        with pytest.raises(TypeError, match="cannot pickle"):
            pickle.dumps(owner, protocol)
    assert pickle.loads(pickle.dumps(simulation, protocol)).trace_hash() == simulation.trace_hash()


def test_a_core_cannot_be_copied() -> None:
    for make_copy in (copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="cannot pickle"):
            make_copy(dfe.Simulation(config())._core)

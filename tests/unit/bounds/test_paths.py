"""The latency floor over paths is that over arcs."""

from __future__ import annotations

import math

import pytest

import dragonfly_env as dfe
from dragonfly_env.bounds import fluid, limits

pytest.importorskip("scipy", reason="needs the extra [bounds]")


def config(traffic: str, load: float) -> dfe.SimulationConfig:
    return dfe.SimulationConfig(topology=dfe.Dragonfly.preset("72"), traffic=traffic, load=load, seed=3)


@pytest.mark.parametrize(("traffic", "load"), [("permutation", 0.4), ("permutation", 0.7), ("adv+1", 0.5)])
def test_few_demands_have_the_same_floor_over_paths(
    traffic: str, load: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    over_arcs = dfe.latency_floor(config(traffic, load))
    monkeypatch.setattr(limits, "FluidModel", lambda *given: fluid.FluidModel(*given[:3], 10))
    with pytest.raises(fluid.TooManyFlowsError, match="must be smaller"):
        limits.Bounds.of(config(traffic, load))
    assert dfe.latency_floor(config(traffic, load)) == pytest.approx(over_arcs, rel=2e-5)
    assert math.isinf(dfe.latency_floor(config(traffic, 1.0)))

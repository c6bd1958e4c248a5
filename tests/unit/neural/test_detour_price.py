"""A price of detours: units of the network that say what `with_detour_price` promises."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dragonfly_env as dfe
from dragonfly_env.baselines import MlpNetwork
from dragonfly_env.neural import FEATURES, SCALES, TrainingSettings
from dragonfly_env.neural.detour_price import (
    GROUP_DEMAND,
    HALF_DEMAND,
    KIND,
    OWN_DEMAND,
    with_detour_price,
)
from dragonfly_env.neural.network import Floats, scores_of, untrained

PRICE, FREE, FREE_OWN = 2.0, 1.5, 2.5


def rows(kind: int, group: Floats, own: Floats) -> Floats:
    """Candidates of one kind that differ in what is asked of the direct links; the rest is anything."""
    x = np.random.default_rng(0).random((len(group), len(FEATURES)), dtype=np.float32)
    x[:, FEATURES.index(KIND)] = kind / SCALES[KIND]
    for name, demand in ((GROUP_DEMAND, group), (OWN_DEMAND, own)):
        x[:, FEATURES.index(name)] = demand / (demand + np.float32(HALF_DEMAND))
    return x


def prices(network: MlpNetwork, x: Floats) -> Floats:
    """By how much the price lowers the scores."""
    priced = with_detour_price(network, PRICE, FREE, FREE_OWN)
    return scores_of(network.layers, x) - scores_of(priced.layers, x)


@pytest.mark.parametrize("hidden", [(16, 16), (4, 3, 5)])
@pytest.mark.parametrize("kind", range(1, 5))
def test_a_detour_costs_more_the_less_the_direct_links_are_asked_for(
    kind: int, hidden: tuple[int, ...]
) -> None:
    network = untrained(FEATURES, hidden, 3)
    group = np.array([0, 0.5, 1.0, 1.5, 8.0], dtype=np.float32)
    shown = group / (group + HALF_DEMAND)
    expected = PRICE * np.maximum(1 - shown / (FREE / (FREE + HALF_DEMAND)), 0)
    own = np.full(len(group), 1.0, dtype=np.float32)
    np.testing.assert_allclose(prices(network, rows(kind, group, own)), expected, atol=1e-5)


def test_shortest_paths_and_routers_that_send_all_one_way_pay_nothing() -> None:
    network = untrained(FEATURES, (16, 16), 3)
    nothing, little, much = np.zeros((3, 4), dtype=np.float32) + np.float32([[0], [2.5], [3.0]])
    assert np.abs(prices(network, rows(0, nothing, nothing))).max() < 1e-5
    assert np.abs(prices(network, rows(2, nothing, little)) - PRICE).max() < 1e-4
    assert np.abs(prices(network, rows(2, nothing, much))).max() < 1e-5


def test_demands_are_shown_as_the_price_reads_them() -> None:
    config = dfe.SimulationConfig(topology=dfe.Dragonfly.preset("72"), traffic="adv+1", load=0.2)
    env = dfe.BatchedRoutingEnv(config, features=(GROUP_DEMAND, OWN_DEMAND), duration_ns=100)
    env.reset(seed=1)
    assert [block.half for block in env.layout.blocks] == [HALF_DEMAND, HALF_DEMAND]


@pytest.mark.parametrize("name", [KIND, GROUP_DEMAND, OWN_DEMAND])
def test_a_price_needs_the_features_that_it_reads(name: str) -> None:
    without: dict[str, Any] = {"features": tuple(feature for feature in FEATURES if feature != name)}
    with pytest.raises(dfe.ConfigError, match=name):
        TrainingSettings(**without)
    assert TrainingSettings(**without, detour_price=0).detour_price == 0

"""A price of detours: units of the network that say what `with_detour_price` promises."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

import dragonfly_env as dfe
from dragonfly_env.baselines import MlpNetwork, Neural
from dragonfly_env.lab.neural import FEATURES, SCALES, TrainingSettings
from dragonfly_env.lab.neural.detour_price import (
    AGE,
    DIRECT_DEMAND,
    HALF_AGE_NS,
    HALF_DEMAND,
    HALF_SHARE,
    KIND,
    OLD_NS,
    OWN_DEMAND,
    SHARE,
    YOUNG_NS,
    DetourPrices,
    with_detour_price,
)
from dragonfly_env.lab.neural.network import Floats, scores_of, untrained

PRICES = DetourPrices(
    crowded=2.0, overload=3.0, light=1.5, free_share=0.5, free_demand=4.0, light_demand=0.8, own_demand=2.5
)
SHARES = (0.0, 0.5, 0.6, 0.8, 1.0)


def priced(network: MlpNetwork) -> MlpNetwork:
    return with_detour_price(network, PRICES)


def prices(
    network: MlpNetwork, kind: int, *, age_ns: float = 0.0, asked_links: float = 1.0, own_links: float = 1.0
) -> Floats:
    """By how much the price lowers the scores of paths of a kind, by the share that the group's packets take."""
    after = priced(network)
    share = np.array(SHARES, dtype=np.float32)
    x = np.random.default_rng(0).random((len(share), len(after.features)), dtype=np.float32)
    place = after.features.index
    x[:, place(KIND)] = kind / SCALES[KIND]
    for name, quantity, half in (
        (SHARE, share, HALF_SHARE),
        (AGE, age_ns, HALF_AGE_NS),
        (DIRECT_DEMAND, asked_links, HALF_DEMAND),
        (OWN_DEMAND, own_links, HALF_DEMAND),
    ):
        x[:, place(name)] = quantity / (quantity + np.float32(half))
    seen = [place(name) for name in network.features]
    return scores_of(network.layers, x[:, seen]) - scores_of(after.layers, x)


@pytest.mark.parametrize("hidden", [(16, 16), (4, 3, 5)])
@pytest.mark.parametrize("kind", range(1, 5))
def test_a_detour_costs_more_the_fuller_the_global_links_of_the_group_are(
    kind: int, hidden: tuple[int, ...]
) -> None:
    network = untrained(FEATURES, hidden, 3)
    share = np.array(SHARES) / (1 + np.array(SHARES))
    part = np.maximum(share - share[1], 0) / (share[-1] - share[1])
    assert part[0] == part[1] == 0 < part[2] < part[3] < part[4] == 1
    np.testing.assert_allclose(prices(network, kind), PRICES.crowded * part, atol=1e-5)
    np.testing.assert_allclose(prices(network, kind, age_ns=YOUNG_NS), PRICES.crowded * part, atol=1e-5)
    for age_ns in (OLD_NS, 1e6):
        expected = (PRICES.crowded + PRICES.overload) * part
        np.testing.assert_allclose(prices(network, kind, age_ns=age_ns), expected, atol=1e-5)


def test_a_detour_costs_more_the_less_the_group_asks_of_the_direct_links() -> None:
    network = untrained(FEATURES, (16, 16), 3)
    crowded = prices(network, 2)
    for asked in (0.0, 0.2, 0.6, 0.8, 2.0):
        part = max(
            1 - asked / (asked + HALF_DEMAND) * (PRICES.light_demand + HALF_DEMAND) / PRICES.light_demand, 0
        )
        expected = crowded + PRICES.light * part
        np.testing.assert_allclose(prices(network, 2, asked_links=asked), expected, atol=1e-5)
    alone = prices(network, 2, asked_links=0.0, own_links=PRICES.own_demand)
    np.testing.assert_allclose(alone, crowded + PRICES.light, atol=1e-5)
    np.testing.assert_allclose(prices(network, 2, asked_links=0.0, own_links=4.0), crowded, atol=1e-5)


def test_shortest_paths_pay_nothing_and_nobody_pays_where_detours_are_needed() -> None:
    network = untrained(FEATURES, (16, 16), 3)
    for age_ns, asked in ((0.0, 1.0), (1e6, 1.0), (0.0, 0.0), (1e6, 0.0)):
        assert np.abs(prices(network, 0, age_ns=age_ns, asked_links=asked)).max() < 1e-5
    needed = prices(network, 2, asked_links=PRICES.free_demand)
    np.testing.assert_allclose(needed, prices(network, 2), atol=1e-5)
    for age_ns in (0.0, 1e6):
        assert np.abs(prices(network, 2, age_ns=age_ns, asked_links=6.0)).max() < 1e-5


def test_what_the_price_reads_is_shown_as_it_reads_it() -> None:
    config = dfe.SimulationConfig(topology=dfe.Dragonfly.preset("72"), traffic="adv+1", load=0.2)
    env = dfe.BatchedRoutingEnv(config, features=(DIRECT_DEMAND, OWN_DEMAND, SHARE, AGE), duration_ns=100)
    env.reset(seed=1)
    halves = {block.name: block.half for block in env.layout.blocks}
    assert halves == {
        DIRECT_DEMAND: HALF_DEMAND,
        OWN_DEMAND: HALF_DEMAND,
        SHARE: HALF_SHARE,
        AGE: HALF_AGE_NS,
    }


def test_a_network_that_sees_the_share_already_is_not_shown_it_twice() -> None:
    after = priced(untrained((*FEATURES, SHARE), (16, 16), 3))
    assert after.features == (*FEATURES, SHARE, AGE)
    assert priced(untrained(FEATURES, (16, 16), 3)).features == after.features


def test_what_ships_has_the_price_that_the_settings_name() -> None:
    """Take the price off and put it on again: the same network."""
    shipped, settings = Neural().network, TrainingSettings()
    (first, first_bias), (second, second_bias), (last, bias) = shipped.layers
    seen = len(FEATURES)
    without = dataclasses.replace(
        shipped,
        features=FEATURES,
        scale=tuple(SCALES[name] for name in FEATURES),
        layers=(
            (first[:seen, :-6], first_bias[:-6]),
            (second[:-6, :-3], second_bias[:-3]),
            (last[:-3], bias),
        ),
    )
    assert shipped.features == (*FEATURES, SHARE, AGE)
    again = with_detour_price(without, settings.prices)
    for ours, theirs in zip(again.layers, shipped.layers, strict=True):
        np.testing.assert_array_equal(ours[0], theirs[0])
        np.testing.assert_array_equal(ours[1], theirs[1])
    assert shipped.detour_candidates in settings.second_look_candidates
    assert shipped.second_look


@pytest.mark.parametrize("name", [KIND, DIRECT_DEMAND, OWN_DEMAND])
def test_a_price_needs_the_features_that_it_reads(name: str) -> None:
    without: dict[str, Any] = {"features": tuple(feature for feature in FEATURES if feature != name)}
    with pytest.raises(dfe.ConfigError, match=name):
        TrainingSettings(**without)
    assert TrainingSettings(**without, detour_price=0).detour_price == 0

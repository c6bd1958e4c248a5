"""A penalty of non-minimal paths: units of the network that say what `with_nonminimal_penalty` promises."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import dragonfly_env as dfe
from dragonfly_env.baselines import MlpNetwork
from dragonfly_env.lab.neural import FEATURES, RECIPES, SCALES
from dragonfly_env.lab.neural.network import Floats, scores_of, untrained
from dragonfly_env.lab.neural.nonminimal_penalty import (
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
    NonminimalPenalties,
    with_nonminimal_penalty,
)

PENALTIES = NonminimalPenalties(
    crowded=2.0, overload=3.0, light=1.5, free_share=0.5, free_demand=4.0, light_demand=0.8, own_demand=2.5
)
SHARES = (0.0, 0.5, 0.6, 0.8, 1.0)


def penalised(network: MlpNetwork) -> MlpNetwork:
    return with_nonminimal_penalty(network, PENALTIES)


def penalties(
    network: MlpNetwork,
    kind: int,
    *,
    age_ns: float = 0.0,
    demanded_links: float = 1.0,
    own_links: float = 1.0,
) -> Floats:
    """By how much the penalty lowers the scores of paths of a kind, by the share that the group's packets take."""
    after = penalised(network)
    share = np.array(SHARES, dtype=np.float32)
    x = np.random.default_rng(0).random((len(share), len(after.features)), dtype=np.float32)
    place = after.features.index
    x[:, place(KIND)] = kind / SCALES[KIND]
    for name, quantity, half in (
        (SHARE, share, HALF_SHARE),
        (AGE, age_ns, HALF_AGE_NS),
        (DIRECT_DEMAND, demanded_links, HALF_DEMAND),
        (OWN_DEMAND, own_links, HALF_DEMAND),
    ):
        x[:, place(name)] = quantity / (quantity + np.float32(half))
    seen = [place(name) for name in network.features]
    return scores_of(network.layers, x[:, seen]) - scores_of(after.layers, x)


@pytest.mark.parametrize("hidden", [(16, 16), (4, 3, 5)])
@pytest.mark.parametrize("kind", range(1, 5))
def test_a_nonminimal_path_costs_more_the_fuller_the_global_links_of_the_group_are(
    kind: int, hidden: tuple[int, ...]
) -> None:
    network = untrained(FEATURES, hidden, 3)
    share = np.array(SHARES) / (1 + np.array(SHARES))
    part = np.maximum(share - share[1], 0) / (share[-1] - share[1])
    assert part[0] == part[1] == 0 < part[2] < part[3] < part[4] == 1
    np.testing.assert_allclose(penalties(network, kind), PENALTIES.crowded * part, atol=1e-5)
    np.testing.assert_allclose(penalties(network, kind, age_ns=YOUNG_NS), PENALTIES.crowded * part, atol=1e-5)
    for age_ns in (OLD_NS, 1e6):
        expected = (PENALTIES.crowded + PENALTIES.overload) * part
        np.testing.assert_allclose(penalties(network, kind, age_ns=age_ns), expected, atol=1e-5)


def test_a_nonminimal_path_costs_more_the_less_the_group_asks_of_the_direct_links() -> None:
    network = untrained(FEATURES, (16, 16), 3)
    crowded = penalties(network, 2)
    for asked in (0.0, 0.2, 0.6, 0.8, 2.0):
        part = max(
            1
            - asked / (asked + HALF_DEMAND) * (PENALTIES.light_demand + HALF_DEMAND) / PENALTIES.light_demand,
            0,
        )
        expected = crowded + PENALTIES.light * part
        np.testing.assert_allclose(penalties(network, 2, demanded_links=asked), expected, atol=1e-5)
    alone = penalties(network, 2, demanded_links=0.0, own_links=PENALTIES.own_demand)
    np.testing.assert_allclose(alone, crowded + PENALTIES.light, atol=1e-5)
    np.testing.assert_allclose(penalties(network, 2, demanded_links=0.0, own_links=4.0), crowded, atol=1e-5)


def test_shortest_paths_pay_nothing_and_no_one_pays_where_nonminimal_paths_are_needed() -> None:
    network = untrained(FEATURES, (16, 16), 3)
    for age_ns, asked in ((0.0, 1.0), (1e6, 1.0), (0.0, 0.0), (1e6, 0.0)):
        assert np.abs(penalties(network, 0, age_ns=age_ns, demanded_links=asked)).max() < 1e-5
    needed = penalties(network, 2, demanded_links=PENALTIES.free_demand)
    np.testing.assert_allclose(needed, penalties(network, 2), atol=1e-5)
    for age_ns in (0.0, 1e6):
        assert np.abs(penalties(network, 2, age_ns=age_ns, demanded_links=6.0)).max() < 1e-5


def test_a_path_inside_a_group_costs_nothing() -> None:
    """It takes no global link more: kind 5, which only networks know that decide behind the source router."""
    network = untrained(FEATURES, (16, 16), 3, "progressive")
    for age_ns, asked in ((0.0, 1.0), (1e6, 1.0), (0.0, 0.0), (1e6, 0.0)):
        assert np.abs(penalties(network, 5, age_ns=age_ns, demanded_links=asked)).max() < 1e-5
    others = penalties(network, 4, age_ns=1e6, demanded_links=0.0)
    source_alone = untrained(FEATURES, (16, 16), 3)
    np.testing.assert_allclose(others, penalties(source_alone, 4, age_ns=1e6, demanded_links=0.0), atol=1e-5)
    assert others.max() > 1


def test_what_the_penalty_reads_is_shown_as_it_reads_it() -> None:
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
    after = penalised(untrained((*FEATURES, SHARE), (16, 16), 3))
    assert after.features == (*FEATURES, SHARE, AGE)
    assert penalised(untrained(FEATURES, (16, 16), 3)).features == after.features


@pytest.mark.parametrize("name", RECIPES)
def test_what_ships_has_the_penalty_that_the_settings_name(name: str) -> None:
    """Take the penalty off and put it on again: the same network."""
    shipped, settings = dfe.make_policy(name).network, RECIPES[name]
    (first, first_bias), (second, second_bias), (last, bias) = shipped.layers
    seen, units = len(settings.features), 6 + ("l" in shipped.nonminimal_kinds)
    without = dataclasses.replace(
        shipped,
        features=settings.features,
        scale=tuple(SCALES[name] for name in settings.features),
        layers=(
            (first[:seen, :-units], first_bias[:-units]),
            (second[:-units, :-3], second_bias[:-3]),
            (last[:-3], bias),
        ),
    )
    assert shipped.features == (*settings.features, SHARE, AGE)
    again = with_nonminimal_penalty(without, settings.penalties)
    for ours, theirs in zip(again.layers, shipped.layers, strict=True):
        np.testing.assert_array_equal(ours[0], theirs[0])
        np.testing.assert_array_equal(ours[1], theirs[1])
    assert shipped.nonminimal_candidates in settings.second_stage_candidates
    assert shipped.second_stage

"""Loads of machines with different numbers of links between groups, by hand."""

from __future__ import annotations

import pytest

import dragonfly_env as dfe

TWO_BY_ONE = [(0, 0, 1, 0), (0, 1, 1, 1), (0, 2, 2, 0), (1, 2, 2, 1)]
"""Groups 0 and 1 have two links, and one each to group 2."""


def test_the_bound_of_two_links_next_to_one() -> None:
    """All of group i send D to group i + 1. Two links enter group 2, so D is at most 2; and D = 2 fits: half of what
    group 1 sends goes straight to group 2 and half by group 0, half of what group 2 sends goes straight to group 0 and
    half by group 1, which fills both links from 1 to 0; group 0 sends straight. With a p = 4 hosts the load is 2 / 4.
    """
    topology = dfe.Dragonfly(p=1, a=4, wiring=TWO_BY_ONE)
    assert dfe.most_load(topology, "adv+1") == pytest.approx(0.5, abs=1e-6)


def test_the_bound_of_a_chain_of_groups() -> None:
    """Groups 0 and 2 have no link: what group 2 sends to group 0 crosses the only link from 2 to 1, so D <= 1."""
    topology = dfe.Dragonfly(p=1, a=4, wiring=[(0, 0, 1, 0), (0, 1, 1, 1), (1, 2, 2, 1)])
    assert dfe.most_load(topology, "adv+1") == pytest.approx(0.25, abs=1e-6)


RING = {(0, 1): 2, (1, 2): 1, (2, 3): 3, (3, 4): 1, (0, 4): 2}


def test_minimal_paths_under_adv_saturate_at_the_links_of_each_pair() -> None:
    """A group of a p = 8 hosts has k links to the next, each as fast as a host's link, and accepts k / 8."""
    pairs = [(low, high) for low in range(5) for high in range(low + 1, 5)]
    rows = [(low, k, high, k) for low, high in pairs for k in range(RING.get((low, high), 1))]
    topology = dfe.Dragonfly(p=2, a=4, wiring=rows)
    network = dfe.NetworkConfig.preset("lia")
    config = dfe.SimulationConfig(topology=topology, network=network, policy="min", traffic="adv+1", load=0.9)
    metrics = dfe.simulate(config, warmup_ns=40_000, measure_ns=40_000)
    assert metrics.accepted_load == pytest.approx(sum(RING.values()) / 5 / 8, rel=0.02)

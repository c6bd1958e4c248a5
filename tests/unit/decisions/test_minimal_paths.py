"""Packets that count as minimal: one definition for policies that choose ports and policies that choose paths."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dragonfly_env as dfe
from tests.routes import routes_of

TOPOLOGY = dfe.Dragonfly.preset("72")


def is_minimal(route: list[int]) -> bool:
    """By the routers that were passed: the fewest hops, and no third group."""
    groups = {router // TOPOLOGY.a for router in route}
    return len(groups) <= 2 and len(route) - 1 == TOPOLOGY.minimal_hops(route[0], route[-1])


def logged(**options: Any) -> tuple[list[bool], list[list[int]], float]:
    """Random legal actions: what the log calls minimal, the routes, and the share that the metrics tell."""
    config = dfe.SimulationConfig(topology=TOPOLOGY, traffic="adv+1", load=0.3, seed=2, packet_log=True)
    env = dfe.BatchedRoutingEnv(config, duration_ns=4_000.0, **options)
    batch = env.reset()
    while not env.done:
        batch = env.step(
            np.where(batch.mask, np.random.default_rng(len(batch)).random(batch.mask.shape), -1).argmax(
                axis=1
            )
        )
    log = env.packet_log()
    return log["minimal"].astype(bool).tolist(), routes_of(log), env.metrics().minimal_fraction


@pytest.mark.parametrize(
    "options",
    [
        {"action": "port"},
        {"action": "port", "scope": "all"},
        {"action": "path", "avoid_destination_group": True},
        {
            "action": "path",
            "scope": "source",
            "nonminimal_kinds": ["g", "lg"],
            "avoid_destination_group": True,
        },
    ],
    ids=str,
)
def test_a_packet_is_minimal_if_it_took_a_shortest_way_by_a_direct_link(options: dict[str, Any]) -> None:
    flags, routes, share = logged(**options)
    assert flags == [is_minimal(route) for route in routes]
    assert share == pytest.approx(np.mean(flags))
    assert 0 < share < 1
    if options["action"] == "port":  # the case that was counted otherwise is among them
        as_short = [len(route) - 1 == TOPOLOGY.minimal_hops(route[0], route[-1]) for route in routes]
        assert sum(as_short) > sum(flags)

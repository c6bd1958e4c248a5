"""The demand matrix of a pattern is what its hosts send."""

from __future__ import annotations

import numpy as np
import pytest

import dragonfly_env as dfe
from dragonfly_env.bounds.demands import demand_of
from dragonfly_env.traffic import HostMixture, Hotspot, Pattern, WeightedMixture, parse_traffic

TOPOLOGY = dfe.Dragonfly.preset("72")
GIVEN = np.random.default_rng(5).integers(0, 4, (36, 36)).astype(float)
PATTERNS = {
    **{spec: spec for spec in dfe.traffic_patterns() if isinstance(parse_traffic(spec), Pattern)},
    "uniform without the sender": "uniform:exclude_self=true",
    "listed hot hosts": Hotspot((3, 70), 0.5),
    "neighbours drawn anew": "random-neighbors",
    "demand matrix of routers": GIVEN,
    "mixture by hosts": HostMixture(
        ((tuple(range(30)), parse_traffic("adv+1")), (tuple(range(40, 72)), "uniform"))
    ),
    "mixture by weight": WeightedMixture(((0.7, parse_traffic("uniform")), (0.3, parse_traffic("advc")))),
}
MESSAGES = 400


@pytest.mark.parametrize("name", PATTERNS)
def test_the_demand_matrix_is_what_hosts_draw(name: str) -> None:
    pattern = parse_traffic(PATTERNS[name])
    assert isinstance(pattern, Pattern)
    demand = demand_of(TOPOLOGY, pattern, seed=3)
    core = pattern.build(TOPOLOGY.to_core(), 3)
    sampled = np.zeros_like(demand.between_routers)
    for host in range(TOPOLOGY.num_hosts):
        if not core.sends(host):
            continue
        for message in range(MESSAGES):
            router = core.destination(host, message, 3) // TOPOLOGY.p
            sampled[host // TOPOLOGY.p, router] += core.share(host) / MESSAGES
    assert not sampled[demand.between_routers == 0].any()
    assert demand.between_routers.sum(axis=1) == pytest.approx(sampled.sum(axis=1))
    # A count of n trials misses its mean p n by 5 deviations or more once in a million.
    tries = TOPOLOGY.p * MESSAGES
    chance = demand.between_routers / TOPOLOGY.p
    deviation = np.sqrt(np.maximum(chance, 1 / tries) / tries) * TOPOLOGY.p
    assert (np.abs(sampled - demand.between_routers) < 5 * deviation).all()


@pytest.mark.parametrize("name", PATTERNS)
def test_rows_and_columns_are_what_hosts_send_and_receive(name: str) -> None:
    demand = demand_of(TOPOLOGY, PATTERNS[name])
    by_router = (TOPOLOGY.num_routers, TOPOLOGY.p)
    assert demand.between_routers.sum(axis=1) == pytest.approx(demand.sent.reshape(by_router).sum(axis=1))
    assert demand.between_routers.sum(axis=0) == pytest.approx(demand.received.reshape(by_router).sum(axis=1))


def test_the_network_says_whether_uniform_traffic_draws_the_sender() -> None:
    lia = demand_of(TOPOLOGY, "uniform", network=dfe.NetworkConfig.preset("lia")).between_routers
    assert lia[0, 0] == pytest.approx(2 / 71)
    assert demand_of(TOPOLOGY, "uniform").between_routers[0, 0] == pytest.approx(4 / 72)


@pytest.mark.parametrize("traffic", ["all-to-all", "none", [(0.0, "uniform", 0.5), (9.0, "adv+1", 0.5)]])
def test_traffic_without_a_demand_matrix_is_refused(traffic: object) -> None:
    with pytest.raises(
        dfe.ConfigError, match=r"^traffic = .*must be an open-loop pattern, a mixture or a demand matrix"
    ):
        dfe.most_load(TOPOLOGY, traffic)

"""The declared load of receivers is the sum of a pattern's messages."""

from __future__ import annotations

import numpy as np
import pytest

from dragonfly_env import _core
from dragonfly_env.config.topology import Dragonfly
from dragonfly_env.traffic import (
    DemandMatrix,
    HostMixture,
    Pattern,
    WeightedMixture,
    parse_traffic,
    traffic_patterns,
)

TOPOLOGY = Dragonfly.preset("72")
SEED = 5
MESSAGES = 840  # whole rounds of 2, 3, 5, 6, 7 and 8 targets
UNEVEN = np.random.default_rng(1).exponential(size=(72, 72))
UNEVEN[3] = 0.0
CLOSED = {info["name"] for info in _core.patterns() if info["closed_loop"]}
PATTERNS: tuple[Pattern | str, ...] = (
    *(spec for spec in traffic_patterns() if spec.split(":")[0] not in CLOSED),
    "uniform:exclude_self=true",
    "stencil3d:wrap=false",
    "random-neighbors:min=2,max=8,fixed=true",
    DemandMatrix(UNEVEN),
    DemandMatrix(UNEVEN[:36, :36]),
    DemandMatrix(np.arange(81.0).reshape(9, 9)),
    WeightedMixture(((1.0, DemandMatrix(UNEVEN)), (3.0, HostMixture(((range(40), "adv+1"),))))),
    *(
        HostMixture(((range(30), spec), (range(30, 61), "uniform")), confined=True)
        for spec in (
            "adv+1",
            "advc",
            "tornado",
            "permutation",
            "hotspot:hosts=2",
            "uniform:exclude_self=true",
        )
    ),
)


@pytest.mark.parametrize("spec", PATTERNS, ids=lambda spec: spec if isinstance(spec, str) else spec.spec)
def test_hosts_receive_what_messages_add_up_to(spec: Pattern | str) -> None:
    traffic = parse_traffic(spec)
    assert isinstance(traffic, Pattern)
    pattern = traffic.build(TOPOLOGY.to_core(), SEED)
    shares = np.array([pattern.share(host) for host in range(TOPOLOGY.num_hosts)])
    counted, most = np.zeros(TOPOLOGY.num_hosts), np.zeros(TOPOLOGY.num_hosts)
    for host in np.flatnonzero(shares):
        found = [pattern.destination(int(host), message, SEED) for message in range(MESSAGES)]
        frequency = np.bincount(found, minlength=TOPOLOGY.num_hosts) / MESSAGES
        counted += shares[host] * frequency
        most += shares[host] ** 2 * frequency * (1 - frequency) / MESSAGES
    received = pattern.received()
    assert received.sum() == pytest.approx(shares.sum())
    assert (np.abs(received - counted) <= 5.5 * np.sqrt(most) + 1e-9).all()


def test_every_open_loop_pattern_is_covered() -> None:
    covered = {parse_traffic(spec).core_spec()[0] for spec in PATTERNS}  # type: ignore[attr-defined]
    assert covered == {info["name"] for info in _core.patterns() if not info["closed_loop"]}

"""Upper bounds of a wiring, derived by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragonfly_env import ConfigError, Dragonfly
from dragonfly_env.config.throughput import Throughput, dark_ports, is_balanced, links_per_pair, throughput


@pytest.mark.parametrize(
    ("system", "dark", "links", "balanced", "most"),
    [
        # g = 2 p^2 + 1 = 9: every port has a peer. L g / (2 a p) = 9 / 16.
        ({"preset": "72"}, 0, 1, True, (1.0, 1 / 8, 9 / 16)),
        ({"preset": "342"}, 0, 1, True, (1.0, 1 / 18, 19 / 36)),
        ({"preset": "1056"}, 0, 1, True, (1.0, 1 / 32, 33 / 64)),
        # 39 of 72 global ports of a group are connected: 33 * 40 are dark, 46 %. 40 / 72 of uniform traffic at most.
        ({"p": 6, "a": 12, "h": 6, "g": 40}, 33 * 40, 1, False, (40 / 72, 1 / 72, 40 / 144)),
        # Two links a pair: 32 ports reach 16 groups; none is dark.
        ({"p": 4, "a": 8, "h": 4, "trunking": 2}, 0, 2, True, (1.0, 2 / 32, 2 * 17 / 64)),
        # Four links to each of 4 of 8 groups: half of 32 ports are dark.
        ({"p": 4, "a": 8, "h": 4, "trunking": 4, "g": 5}, 16 * 5, 4, False, (20 / 32, 4 / 32, 20 / 64)),
        # A packet takes 1/2 (4/5 + 4/5 + 1/5) local hops, and 4 hosts share a local link.
        ({"p": 4, "a": 2, "h": 2, "g": 5}, 0, 1, False, (1 / (4 * 0.9), 1 / 8, 5 / 16)),
        # Theta: 24 ports, 48 links a pair; 11 * 24 of 96 * 3 ports are connected; 384 hosts a group.
        ({"preset": "theta"}, 24 * 12, 48, False, (1.0, 48 / 384, 48 * 12 / 768)),
        # Cori: 8 ports, 16 links a pair; 33 * 8 of 288 ports are connected.
        ({"preset": "cori"}, 24 * 34, 16, False, (1.0, 16 / 384, 16 * 34 / 768)),
    ],
    ids=str,
)
def test_dark_ports_links_of_pairs_and_bounds(
    system: dict[str, Any], dark: int, links: int, balanced: bool, most: tuple[float, float, float]
) -> None:
    topology = Dragonfly.from_dict(system)
    assert dark_ports(topology) == dark
    assert links_per_pair(topology) == (links, links)
    assert is_balanced(topology) is balanced
    assert throughput(topology) == Throughput(*map(pytest.approx, most))


def test_a_single_group_has_no_pairs_and_all_of_its_global_ports_are_dark() -> None:
    alone = Dragonfly(p=2, a=4, h=2, g=1)
    assert (dark_ports(alone), links_per_pair(alone), is_balanced(alone)) == (8, (0, 0), False)


@given(
    st.integers(1, 3),
    st.integers(1, 5),
    st.integers(1, 4),
    st.integers(1, 3),
    st.sampled_from(["palmtree", "palmtree-plus", "absolute", "relative", "circulant", "spread"]),
    st.data(),
)
def test_every_port_is_dark_or_joins_two_groups(
    p: int, a: int, h: int, trunking: int, arrangement: str, data: st.DataObject
) -> None:
    if a * h % trunking:
        return
    g = data.draw(st.integers(2, a * h // trunking + 1))
    try:
        topology = Dragonfly(p=p, a=a, h=h, g=g, arrangement=arrangement, trunking=trunking)
    except ConfigError:
        return
    wired = sum(
        topology.neighbor(router, port) is not None
        for router in range(topology.num_routers)
        for port in range(topology.radix - h, topology.radix)
    )
    assert dark_ports(topology) == topology.num_routers * h - wired
    assert links_per_pair(topology) == (trunking, trunking)
    most = throughput(topology)
    assert 0 < most.adversarial_minimal <= most.adversarial_nonminimal <= 1
    assert most.adversarial_minimal <= most.uniform_minimal <= 1


def test_minimal_paths_of_uniform_traffic_load_local_links_as_the_bound_says() -> None:
    topology = Dragonfly(p=4, a=4, h=4, g=17)
    hops = [max(0, topology.minimal_hops(a, b) - (a // 4 != b // 4)) for a in range(68) for b in range(68)]
    assert throughput(topology).uniform_minimal == pytest.approx(3 / (4 * float(np.mean(hops))))

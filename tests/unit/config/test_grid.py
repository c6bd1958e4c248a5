"""Groups that are grids: the wiring, its settings in every form, and what bad input says."""

from __future__ import annotations

from typing import Any

import pytest

import dragonfly_env as dfe

SMALL = dfe.Dragonfly(
    p=2,
    group=dfe.Grid(rows=3, columns=8, row_links=1, column_links=3),
    g=12,
    links_between_groups=6,
    arrangement="xc",
)


def test_the_small_theta_is_the_one_that_is_described() -> None:
    assert dfe.Dragonfly.preset("theta-m8") == SMALL
    assert (SMALL.num_hosts, SMALL.num_routers, SMALL.a, SMALL.h, SMALL.trunking) == (576, 288, 24, 2, 3)
    assert (SMALL.links_between_groups, SMALL.radix, SMALL.diameter) == (6, 2 + 7 + 2 + 2, 5)
    kinds = ["host"] * 2 + ["rank-1"] * 7 + ["rank-2"] * 2 + ["rank-3"] * 2
    assert [SMALL.port_kind(port) for port in range(SMALL.radix)] == kinds
    assert [SMALL.port_links(port) for port in range(SMALL.radix)] == [1] * 9 + [3] * 2 + [2] * 2
    assert SMALL.link_classes == ("host", "rank-1", "rank-2", "rank-3")
    mesh = dfe.Dragonfly.preset("72")
    assert [mesh.port_kind(port) for port in range(7)] == ["host"] * 2 + ["local"] * 3 + ["global"] * 2
    assert {mesh.port_links(port) for port in range(7)} == {1}
    assert mesh.diameter == 3


def test_what_follows_from_a_grid_follows_again() -> None:
    assert SMALL.replace(g=34).h == 5  # ceil(33 * 3 / 24)
    assert SMALL.replace(links_between_groups=2).h == 1
    assert SMALL.replace(group=dfe.Grid(rows=2, columns=4)).a == 8
    assert SMALL.replace(group="all-to-all", a=24).port_kind(2) == "local"
    assert (
        dfe.Dragonfly(p=1, a=8, h=4, links_between_groups=3).g == 11
    )  # 32 positions: 10 others, two are left


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"group": dfe.Grid(rows=2, columns=2), "h": 1, "a": 5}, "^a = 5: must be 4"),
        ({"group": "grid:rows=2,columns"}, "^group = .*must have the form name=value"),
        ({"group": "grid:depth=2"}, "^depth = 2: a grid has no such setting"),
        ({"group": "grid:rows=99999999999"}, "^rows = "),
        ({"group": "grid:rows=64,columns=64"}, "^columns = 64: must be at most 16"),
        ({"group": 3}, "^group = 3: must be"),
        ({"group": dfe.Grid(2, 2), "arrangement": "xc", "links_between_groups": 2}, "^g = None: "),
        ({"group": dfe.Grid(2, 2), "arrangement": "xc", "links_between_groups": 3, "g": 3}, "multiple of 2"),
        (
            {"group": dfe.Grid(2, 2), "h": 1, "links_between_groups": 2, "trunking": 2},
            "^trunking = 2: .*left out",
        ),
        (
            {"group": dfe.Grid(2, 2), "h": 1, "links_between_groups": 5},
            "^links_between_groups = 5: .*from 1 to 4",
        ),
        ({"group": dfe.Grid(2, 2), "arrangement": "xc", "g": 9, "h": 1}, "^h = 1: must be an integer from 2"),
        ({"group": dfe.Grid(2, 2), "arrangement": "xc", "g": 2**20}, "^g = .*global ports of a router"),
        ({"group": dfe.Grid(2, 2), "h": 1, "g": 6}, "^g = 6: must be an integer from 1 to 5"),
        ({"group": dfe.Grid(30, 30), "h": 1000}, "^radix .*1059"),
    ],
)
def test_a_grid_that_does_not_fit_is_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(dfe.ConfigError, match=message):
        dfe.Dragonfly(**{"p": 1, **arguments})


def test_a_preset_of_grids_has_local_and_global_links_where_groups_are_all_to_all() -> None:
    mesh = dfe.Dragonfly.preset("72")
    aries = dfe.NetworkConfig.preset("aries")
    runs = [
        dfe.Simulation(dfe.SimulationConfig(topology=mesh, network=network, load=0.5))
        for network in (
            aries,
            aries.replace(links={}, crossbar_bandwidth_gbytes_per_s=aries.crossbar_bandwidth_gbytes_per_s),
        )
    ]
    for simulation in runs:
        simulation.run(2000)
    assert runs[0].trace_hash() == runs[1].trace_hash()
    with pytest.raises(dfe.ConfigError, match=r"network.links = 'rank-4': this topology has local, global"):
        dfe.Simulation(dfe.SimulationConfig(topology=mesh, network=dfe.NetworkConfig(links={"rank-4": {}})))


@pytest.mark.parametrize(
    ("links", "message"),
    [
        ({"rank-4": {}}, "rank-4.*this topology has rank-1, rank-2, rank-3; did you mean"),
        ({"local": {"vcs": 2}}, "local"),
        ({"rank-1": {"speed": 2}}, "^speed = 2: a class of link has no such setting"),
        ({"rank-1": {"latency_ns": 0}}, "^latency_ns = 0: "),
        ({"rank-1": {"bandwidth_gbytes_per_s": float("nan")}}, "^bandwidth_gbytes_per_s = nan"),
        ({"rank-3": {"latency_ns": 0.5}}, "at least 1 ns"),
        ({"rank-1": {"bandwidth_gbytes_per_s": 5e-324}}, "^network.links.rank-1 = 5e-324: a port of 1 links"),
        ({"rank-2": {"buffer_packets": 50_000}}, "at most 60000 packets"),
        ({"rank-2": {"bandwidth_gbytes_per_s": 100_000.0}}, "a port of 3 links"),
        ({"rank-3": {"vcs": 1}}, "network.links.rank-3.vcs = 1: at least"),
    ],
)
def test_links_that_do_not_fit_are_refused(links: Any, message: str) -> None:
    with pytest.raises(dfe.ConfigError, match=message):
        dfe.Simulation(
            dfe.SimulationConfig(topology=SMALL, network=dfe.NetworkConfig(links=links), policy="val-n")
        )


def test_cut_through_needs_a_crossbar_as_fast_as_a_bundle() -> None:
    network = dfe.NetworkConfig.preset("lia")
    with pytest.raises(dfe.ConfigError, match=r"crossbar_bandwidth.*75 GB/s of a port of 'rank-2'"):
        dfe.SimulationConfig(topology=SMALL, network=network)


def test_a_network_for_local_links_holds_for_all_of_them_and_bundles_multiply_it() -> None:
    rates = {"links": {"rank-2": {"bandwidth_gbytes_per_s": 5.25}}, "crossbar_bandwidth_gbytes_per_s": 40.0}
    core = dfe.NetworkConfig(**rates).to_core(SMALL)  # type: ignore[arg-type]
    # 128 bytes at 4 GB/s are 32 ns, at 3 x 5.25 GB/s 8.127 ns (to 10 ps), at 2 x 4 GB/s 16 ns.
    assert [row["packet_ps"] for row in core["links"]] == [32_000, 8_130, 16_000]
    assert [row["latency_ps"] for row in core["links"]] == [30_000, 30_000, 300_000]
    assert [row["buffer_packets"] for row in core["links"]] == [20, 60, 40]
    assert dfe.NetworkConfig().to_core(dfe.Dragonfly.preset("72"))["links"] == []


def test_metrics_tables_and_features_follow_the_names() -> None:
    config = dfe.SimulationConfig(topology=SMALL, load=0.2, traffic="adv+1")
    m = dfe.simulate(config, measure_ns=3000)
    assert list(m.link_classes) == ["host", "rank-1", "rank-2", "rank-3"]
    assert set(m.ports.kind) == set(m.link_classes)
    assert m.link_classes["rank-3"].ports == 12 * 11 * 3
    assert m.to_dict()["rank_3_link_packets"] == m.link_classes["rank-3"].packets > 0
    assert sum(totals.packets for totals in m.link_classes.values()) == m.packet_hops
    env = dfe.BatchedRoutingEnv(config, duration_ns=1000)
    batch = env.reset()
    classes = batch.obs[0, env.layout["link_class"].columns]
    assert classes.tolist() == [0.0] * 7 + [0.5] * 2 + [1.0] * 2
    assert env.options.hops(config.network, SMALL) == 7

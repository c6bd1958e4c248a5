"""Dead links and routers: the record, its draws, and the machine that is left."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import dragonfly_env as dfe
from dragonfly_env.cli.info import dead_facts
from dragonfly_env.config.failures import parse_failures
from dragonfly_env.config.topology import read_topology

SHARES = dfe.Failures(global_links=0.05, local_links=0.02, seed=4)


def test_a_share_is_that_of_the_links_or_routers_of_its_kind() -> None:
    whole = dfe.Dragonfly.preset("342")
    kinds = np.array([whole.port_kind(port) for port in range(whole.radix)])
    for kind, share in (("global_links", 0.05), ("local_links", 0.03)):
        topology = whole.replace(failed=dfe.Failures(**{kind: share}))
        dead = topology.dead_links()
        assert set(kinds[dead[:, 1]]) == {kind.partition("_")[0]}
        every = np.count_nonzero(kinds[whole.links()[:, 1]] == kind.partition("_")[0]) // 2
        assert topology.num_dead_links == round(share * every)
    topology = whole.replace(failed=dfe.Failures(routers=0.02))
    assert len(topology.dead_routers()) == round(0.02 * whole.num_routers)
    assert topology.num_hosts == whole.num_hosts
    assert len(topology.live_hosts()) == whole.num_hosts - 3 * len(topology.dead_routers())


def test_draws_follow_from_the_seed_and_the_wiring() -> None:
    def dead(seed: int, **changes: object) -> list[list[int]]:
        failed = dfe.Failures(global_links=0.05, seed=seed)
        return dfe.Dragonfly.preset("342", failed=failed, **changes).dead_links().tolist()

    assert dead(1) == dead(1) != dead(2)
    assert dead(1, p=2) != []


def test_dead_links_are_missing_from_the_wiring_at_both_ends() -> None:
    whole = dfe.Dragonfly.preset("72")
    topology = whole.replace(failed=dfe.Failures(links=[(0, 5), (1, 2)], router_numbers=[7]))
    dead = topology.dead_links().tolist()
    alive = topology.links().tolist()
    assert sorted(dead + alive) == whole.links().tolist()
    assert [0, 5, 35, 6] in dead
    assert [1, 2, 0, 2] in dead
    assert [[router, port] for router, port, *_ in dead if router == 7] == [[7, port] for port in range(2, 7)]
    for router, port, peer, back in dead:
        assert topology.neighbor(router, port) is None
        assert [peer, back, router, port] in dead


def test_nothing_dead_is_a_whole_machine() -> None:
    whole = dfe.Dragonfly.preset("72")
    for nothing in (dfe.Failures(), dfe.Failures(seed=9), {}, "seed=3+degraded_rate=0.25", None):
        assert whole.replace(failed=nothing) == whole
    assert "failed" not in whole.to_dict()


@pytest.mark.parametrize(
    "failed",
    [
        SHARES,
        dfe.Failures(links=[(20, 5), (1, 2)], router_numbers=(3, 30)),
        dfe.Failures(routers=0.03),
        dfe.Failures(degraded_links={(0, 5): 0.25, (1, 2): 0.9}, degraded_global_links=0.1, seed=0),
    ],
)
def test_text_tables_and_copies_have_all_of_it(failed: dfe.Failures) -> None:
    topology = dfe.Dragonfly.preset("72", failed=failed)
    assert parse_failures(str(failed)) == failed
    assert parse_failures(failed.to_dict()) == failed
    assert dfe.Dragonfly.from_dict(topology.to_dict()) == topology
    assert pickle.loads(pickle.dumps(topology)) == topology
    typed = read_topology("topology", f"preset=72,failed={failed}")
    assert dfe.Dragonfly.from_dict(typed) == topology


@pytest.mark.parametrize(
    ("failed", "message"),
    [
        ({"global_links": 1.5}, "global_links = 1.5"),
        ({"links": [(0, 99)]}, r"0:99.*must be a router and a port with a link"),
        ({"links": [(0, 0)]}, r"0:0.*must be a router and a port with a link"),
        ({"links": "17-9"}, r"17-9.*must be a router and its port"),
        ({"router_numbers": [36]}, "from 0 to 35"),
        ({"degraded_links": "0:5"}, r"0:5.*must be a router, its port and a share"),
        ({"degraded_links": {5: 0.5}}, r"must be a router, its port and a share"),
        ({"degraded_links": [(0, 5, 0.0)]}, r"degraded_links = 0"),
        ({"degraded_links": [(0, 0, 0.5)]}, r"0:0.*must be a router and a port with a link"),
        ({"global": 0.1}, "global_links"),
        (7, "must be Failures"),
        ({"links": [(0, 2), (0, 3), (0, 4)]}, r"routers \d+ and \d+.*cannot reach each other"),
    ],
)
def test_a_mistake_is_an_error_that_names_it(failed: object, message: str) -> None:
    with pytest.raises(dfe.ConfigError, match=message):
        dfe.Dragonfly.preset("72", failed=failed)


def test_longer_paths_in_groups_of_leaves_and_spines_are_refused() -> None:
    whole = dfe.Dragonfly.preset("dfp-272")
    whole.replace(failed={"global_links": 0.05, "router_numbers": [5]})
    with pytest.raises(dfe.ConfigError, match=r"a path of 3 hops.*of leaves and spines"):
        whole.replace(failed={"links": [(0, 4)]})


def test_groups_that_no_path_joins_are_named() -> None:
    with pytest.raises(dfe.ConfigError, match=r"groups 0 and 1.*cannot reach each other"):
        dfe.Dragonfly(p=1, a=2, h=1, g=2, failed={"global_links": 1.0})


def test_two_percent_of_1056_hosts_leave_eleven_pairs_with_28_relays_or_more() -> None:
    topology = dfe.Dragonfly.preset("1056", failed=dfe.Failures(global_links=0.02))
    pairs = topology.relayed_groups()
    assert (topology.num_dead_links, len(pairs)) == (11, 11)
    assert min(relays for _, _, relays in pairs) == 28
    assert topology.diameter == 5


def test_distances_to_dead_routers_are_refused() -> None:
    topology = dfe.Dragonfly.preset("72", failed=dfe.Failures(router_numbers=[3]))
    for call in (topology.minimal_hops, topology.minimal_port):
        with pytest.raises(dfe.ConfigError, match="must be a live router"):
            call(0, 3)
    assert topology.minimal_ports(0, 3) == ()


def test_too_few_virtual_channels_are_refused_with_the_number_that_is_enough() -> None:
    topology = dfe.Dragonfly.preset("72", failed=dfe.Failures(global_links=0.03))
    network = dfe.NetworkConfig(global_vcs=2, local_vcs=2)
    dfe.Simulation(dfe.SimulationConfig(topology="72", network=network))
    with pytest.raises(dfe.ConfigError, match=r"global_vcs|local_vcs") as caught:
        dfe.Simulation(dfe.SimulationConfig(topology=topology, network=network))
    assert "3" in str(caught.value)


def test_more_virtual_channels_than_a_port_can_have_are_refused() -> None:
    whole = dfe.Dragonfly(p=1, h=2, g=5, group=dfe.Grid(rows=2, columns=2, column_links=1))
    topology = whole.replace(failed={"links": [(0, 1)]})
    dfe.Simulation(dfe.SimulationConfig(topology=topology))
    with pytest.raises(dfe.ConfigError, match="18 needed by this policy: at most 16"):
        dfe.Simulation(dfe.SimulationConfig(topology=topology, policy="ad0"))


def test_info_counts_what_is_dead() -> None:
    topology = dfe.Dragonfly.preset("1056", failed=dfe.Failures(global_links=0.02, router_numbers=[9]))
    facts = {heading: value for heading, value, _ in dead_facts(topology)}
    assert facts == {"dead links": "22", "dead routers": "1", "pairs of groups without a link": "15"}
    assert dead_facts(dfe.Dragonfly.preset("1056")) == []
    slow = dfe.Failures(degraded_global_links=0.1, degraded_rate=0.25, degraded_links=[(0, 2, 0.5)])
    *_, (heading, value, remark) = dead_facts(dfe.Dragonfly.preset("72", failed=slow))
    assert (heading, value, remark) == ("degraded links", "5", "4 at 0.25, 1 at 0.5 of their rate")

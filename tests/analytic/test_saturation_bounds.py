"""Most adversarial traffic that a policy can carry: bounds counted by hand from the busiest link.

A link carries one packet per packet time. If every host sends at load x, the busiest link gets some multiple of x,
and x can rise until that is 1. The network reaches such a bound only where buffers do not stop it first:

* behind a link there must be a credit for every packet of a credit round trip, which is 21.1 packet times for a
  global link of ``q-adaptive`` (see test_buffers.py) and 39.1 for one of ``lia``;
* a router that feeds several busy links from shared input buffers needs enough packets for each of them in its
  output queues, or a packet for a full queue keeps the ones behind it from the other links.

So these tests have 128 packets everywhere on ``q-adaptive`` and 128 in the output queues of ``lia``, whose input
buffers (72 and 180) are large enough. More than the bound is offered; on average over all hosts the bound is accepted,
to 3 %.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import dragonfly_env as dfe

ROOMY = {
    "q-adaptive": dfe.NetworkConfig.preset(
        "q-adaptive", local_buffer_packets=128, global_buffer_packets=128, output_buffer_packets=128
    ),
    "lia": dfe.NetworkConfig.preset("lia", output_buffer_packets=128),
}
SYSTEMS = {
    "72": dfe.Dragonfly.preset("72"),
    "342": dfe.Dragonfly.preset("342"),
    "unbalanced": dfe.Dragonfly(p=3, a=6, h=2),
}
NETWORKS = pytest.mark.parametrize("network", ["q-adaptive", "lia"])


def systems(*names: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("system", names)


def accepted(topology: dfe.Dragonfly, network: dfe.NetworkConfig, load: float, **run: Any) -> float:
    """Accepted load in a steady state in which hosts offer ``load``."""
    config = dfe.SimulationConfig(
        topology=topology,
        network=network,
        load=load,
        injection="periodic",
        source_queue_packets=20,
        **run,
    )
    return dfe.simulate(config, warmup_ns=20_000, measure_ns=20_000).accepted_load


@pytest.mark.product(system=tuple(SYSTEMS), network=tuple(ROOMY), traffic=("adv+1", "adv-2"))
def test_min_under_adv_carries_one_link_per_group(system: str, network: str, traffic: str) -> None:
    """The a*p hosts of a group share the one link to the group that they all send to: x = 1 / (a*p)."""
    t = SYSTEMS[system]
    load = accepted(t, ROOMY[network], 1.0, traffic=traffic, policy="min")
    assert load == pytest.approx(1 / (t.a * t.p), rel=0.03)


@pytest.mark.parametrize(("p", "a", "h", "trunking"), [(2, 4, 2, 2), (4, 8, 4, 4)])
def test_min_under_adv_carries_every_link_of_a_trunk(p: int, a: int, h: int, trunking: int) -> None:
    """With t parallel links to that group: x = t / (a*p)."""
    topology = dfe.Dragonfly(p=p, a=a, h=h, trunking=trunking)
    load = accepted(topology, ROOMY["q-adaptive"], 1.05 * trunking / (a * p), traffic="adv+1", policy="min")
    assert load == pytest.approx(trunking / (a * p), rel=0.03)


@NETWORKS
@systems("72", "342", "unbalanced")
def test_min_under_advc_carries_h_links_per_group(system: str, network: str) -> None:
    """Traffic to the next h groups has h links, all of one router, for the a*p hosts: x = h / (a*p)."""
    t = SYSTEMS[system]
    load = accepted(t, ROOMY[network], 1.0, traffic="advc", policy="min")
    assert load == pytest.approx(t.h / (t.a * t.p), rel=0.03)


@systems("72", "342")
def test_twenty_credits_carry_20_packets_per_21_1_packet_times(system: str) -> None:
    """The published network, 20 packets per VC: the known exception. MIN leaves a group on a single VC of the
    global link, whose twenty credits are out for 675.2 ns (test_buffers.py): 20 * 32 / 675.2 = 0.948 of the link.
    """
    t = SYSTEMS[system]
    load = accepted(t, dfe.NetworkConfig.preset("q-adaptive"), 1.0, traffic="adv+1", policy="min")
    assert load == pytest.approx(20 * 32 / 675.2 / (t.a * t.p), rel=0.005)


@pytest.mark.parametrize(("system", "network"), [("72", "q-adaptive"), ("72", "lia"), ("342", "q-adaptive")])
def test_valiant_over_groups_carries_one_half_of_adv(system: str, network: str) -> None:
    """Every packet takes two global links (from G to a random other group, from there to G+1) but 1 of a*h, which
    meets its destination group by chance. Per group a*p*x packets and a*h = a*p links: each link G -> X with X
    other than G+1 carries 1/(a*h) of G's packets on their first leg and 1/(a*h) of those from X-1 to X on their
    second. 2*x = 1, x = 1/2.
    """
    t = SYSTEMS[system]
    policy = dfe.make_policy("val-g", avoid_destination_group=False)
    load = accepted(t, ROOMY[network], 0.52, traffic="adv+1", policy=policy)
    assert load == pytest.approx(1 / 2, rel=0.03)


@systems("72", "342")
def test_valiant_over_routers_carries_a_little_less_than_half_as_local_links_fill_first(system: str) -> None:
    """Each of the four local hops (source group, to the intermediate router, from it, destination group) puts p*x/a on
    the busiest local link: 2*x where a = 2p. Packets that meet their destination group by chance, 1 of a*h, go
    from random router to random router there, 1 of a*a on each local link: x/(a*a) more. x = 1 / (2 + 1/a^2).
    """
    t = SYSTEMS[system]
    policy = dfe.make_policy("val-n", avoid_destination_group=False)
    load = accepted(t, ROOMY["q-adaptive"], 0.52, traffic="adv+1", policy=policy)
    assert load == pytest.approx(1 / (2 + 1 / t.a**2), rel=0.03)


@systems("72", "342")
@pytest.mark.parametrize("name", ["val-n", "val-g"])
def test_valiant_that_avoids_the_destination_group_loads_the_other_links_more(system: str, name: str) -> None:
    """Compare with the rule of the published network: only g-2 groups to choose from, so 2*a*p*x/(g-2) = 1 on every
    link but G -> G+1, which is empty.
    """
    t = SYSTEMS[system]
    policy = dfe.make_policy(name, avoid_destination_group=True)
    load = accepted(t, ROOMY["q-adaptive"], 0.5, traffic="adv+1", policy=policy)
    assert load == pytest.approx((t.num_groups - 2) / (2 * t.a * t.p), rel=0.03)


# VLB with path A = g, under ADV+h and the palm tree. Router j of group i owns the links to i-(hj+1) .. i-(hj+h), so
# its packets come to router a-1-j of an intermediate group i-(hj+k), k = 1 .. h. To i+h it is hj+k+h groups up, which
# is h(a-2-j) + (h+1-k) groups down modulo a*h+1: a link of router a-2-j, for every k. So all that the h links of one
# router bring in must go on over one local link, from router a-1-j to router a-2-j: p*x. It comes to router j+1 of the
# destination group. (j = a-1 is a little better off: with k = 1 its intermediate group is the destination group.)


def to_the_entry_router(topology: dfe.Dragonfly) -> np.ndarray[Any, np.dtype[np.float64]]:
    """ADV+h where hosts of router j send only to the router that their packets come to, j+1, modulo a."""
    p, a, hosts = topology.p, topology.a, topology.num_hosts
    demand = np.zeros((hosts, hosts))
    for group, j, k in itertools.product(range(topology.num_groups), range(a), range(p)):
        router = (group + topology.h) % topology.num_groups * a + (j + 1) % a
        demand[(group * a + j) * p + k, router * p : (router + 1) * p] = 1 / p
    return demand


@systems("72", "342")
def test_vlb_g_under_adv_h_carries_what_one_local_link_per_router_carries(system: str) -> None:
    """p*x = 1 on the local link behind each entry router, see above: x = 1/p = 1/h, if no other packets use it."""
    t = SYSTEMS[system]
    policy = dfe.make_policy("vlb-g", avoid_destination_group=False)
    load = accepted(t, ROOMY["q-adaptive"], 1.05 / t.h, traffic=to_the_entry_router(t), policy=policy)
    assert load == pytest.approx(1 / t.h, rel=0.03)


@NETWORKS
@systems("72", "342")
def test_vlb_g_under_adv_h_shares_that_link_with_last_hops(system: str, network: str) -> None:
    """If destinations are random routers of the group, 1 of a packets that come to a router goes on over the same
    local link, to its destination: p*x*(1 + 1/a) = 1, x = 1/(h*(1 + 1/a)).
    """
    t = SYSTEMS[system]
    bound = 1 / (t.h * (1 + 1 / t.a))
    policy = dfe.make_policy("vlb-g", avoid_destination_group=False)
    load = accepted(t, ROOMY[network], 1.05 * bound, traffic=f"adv+{t.h}", policy=policy)
    assert load == pytest.approx(bound, rel=0.03)


def test_piggyback_carries_adv_as_valiant_does_and_uniform_as_min_does() -> None:
    """Under ADV one minimal link per group stays full, 1 / (a*p) at most; what Piggyback flags goes where Valiant
    sends it. Under uniform traffic hardly a link is above the others, and most packets stay minimal.
    """
    topology, network = dfe.Dragonfly.preset("72"), dfe.NetworkConfig.preset("lia")

    def run(policy: str, traffic: str, load: float) -> dfe.Metrics:
        config = dfe.SimulationConfig(
            topology=topology,
            network=network,
            traffic=traffic,
            load=load,
            policy=policy,
            source_queue_packets=20,
        )
        return dfe.simulate(config, warmup_ns=30_000, measure_ns=30_000)

    pb, valiant, minimal = (run(policy, "adv+1", 0.45).accepted_load for policy in ("pb", "val-n", "min"))
    assert minimal == pytest.approx(1 / (topology.a * topology.p), rel=0.03)
    assert pb > 0.95 * valiant > 2 * minimal
    assert run("pb", "uniform", 0.3).minimal_fraction > 0.75  # its latency is that of FOGSim (tests/oracle)

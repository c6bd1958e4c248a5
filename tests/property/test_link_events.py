"""Links that fail and come back during a run: nothing is lost, nothing deadlocks, and results are equal bits."""

from __future__ import annotations

import itertools
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dragonfly_env as dfe
from tests.parity.cases import play
from tests.parity.rules import in_numpy
from tests.partitions import cut_into
from tests.property.test_failures import REFUSALS, WHOLE, small_buffers
from tests.ready import ready
from tests.routes import routes_of

TIMES_NS = (200.0, 400.0, 404.0, 700.0, 900.0)
TOO_MANY = (*REFUSALS, "let links fail at fewer different times")


@st.composite
def eventful(draw: st.DrawFn) -> tuple[dfe.Dragonfly, tuple[dfe.LinkEvent, ...]]:
    """A machine, and events of up to five of its links that leave all routers together."""
    topology = dfe.Dragonfly(**draw(st.sampled_from(WHOLE)))
    ends = topology.links()[:, :2].tolist()
    chosen = draw(st.lists(st.sampled_from(ends), min_size=1, max_size=5, unique_by=tuple))
    events: list[dfe.LinkEvent] = []
    for router, port in chosen:
        peer, back = topology.neighbor(router, port) or (0, 0)
        if any(event.link in ((router, port), (peer, back)) for event in events):
            continue
        times = sorted(draw(st.sets(st.sampled_from(TIMES_NS), min_size=1, max_size=3)))
        added = [dfe.LinkEvent(time_ns=t, link=(router, port), up=i % 2 == 1) for i, t in enumerate(times)]
        try:
            dfe.SimulationConfig(topology=topology, events=[*events, *added])
        except dfe.ConfigError as error:
            if "cannot be simulated" in str(error):
                continue
            raise
        events += added
    return topology, tuple(events)


def dead_ports(topology: dfe.Dragonfly, events: Any, time_ns: float) -> set[tuple[int, int]]:
    """Ports of links that are dead from that time on."""
    dead: set[tuple[int, int]] = set()
    for event in sorted(events, key=lambda event: event.time_ns):
        if event.time_ns <= time_ns:
            ends = {event.link, topology.neighbor(*event.link)}
            dead = dead - ends if event.up else dead | ends
    return dead


def sent(simulation: dfe.Simulation) -> Counter[tuple[int, int]]:
    """Packets that left each port since the last reset."""
    ports = simulation.metrics().ports.of(direction="out")
    columns = (ports.router.tolist(), ports.port.tolist(), ports.packets.tolist())
    return Counter({(router, port): packets for router, port, packets in zip(*columns, strict=True)})


@given(
    case=eventful(),
    policy=st.sampled_from(dfe.policies()),
    traffic=st.sampled_from(("uniform", "adv+1")),
    notice_ns=st.sampled_from((0.0, 4.0, 60.0, 250.0)),
    fields=st.sampled_from(({}, {"vc_scheme": "ladder"}, {"decide_at": "head", "routing_delay_ns": 0.0})),
)
@settings(max_examples=60, deadline=None)
def test_nothing_is_lost_and_nothing_departs_onto_a_dead_link(
    case: tuple[dfe.Dragonfly, tuple[dfe.LinkEvent, ...]],
    policy: str,
    traffic: str,
    notice_ns: float,
    fields: dict[str, Any],
) -> None:
    topology, events = case
    config = small_buffers(
        topology,
        policy=ready(policy),
        traffic=traffic,
        load=1.0,
        packet_log=True,
        events=events,
        event_notice_ns=notice_ns,
    )
    try:
        simulation = dfe.Simulation(config.replace(network=config.network.replace(**fields)))
    except dfe.ConfigError as error:
        if any(reason in str(error) for reason in TOO_MANY):
            return
        raise
    logs = []
    for begin, end in zip((0.0, *TIMES_NS), (*TIMES_NS, 1_400.0), strict=True):
        simulation.reset_statistics()
        simulation.run(end - begin - 0.001)  # events happen before all else of their time
        assert not set(+sent(simulation)) & dead_ports(topology, events, begin)
        simulation.check_invariants()
        logs.append(simulation.packet_log())
        simulation.run(0.001)
    assert simulation.drain()
    simulation.check_invariants()
    links = {(router, peer) for router, _, peer, _ in topology.links().tolist()}
    for log in (*logs, simulation.packet_log()):
        for route in routes_of(log):
            assert set(itertools.pairwise(route)) <= links


OUTAGE = ("3us:0:9/8:10:down", "5us:20:9/2:8:down", "6us:0:9:up")
POLICIES = ("min", "ugal-n", "par", "pb", "ad0", "q-adaptive", "q-routing", "neural-v1")


def history(policy: str, threads: int = 1, pieces: int = 1, **fields: Any) -> tuple[int, float]:
    config = dfe.SimulationConfig(
        topology="342",
        policy=ready(policy),
        traffic="adv+1",
        load=0.4,
        threads=threads,
        events=OUTAGE,
        **fields,
    )
    simulation = dfe.Simulation(config)
    for _ in range(pieces):
        simulation.run(9_000 / pieces)
    return simulation.trace_hash(), simulation.metrics().hops_mean


@pytest.mark.parametrize("policy", POLICIES)
def test_threads_cuts_and_pieces_give_equal_bits(policy: str) -> None:
    expected = history(policy)
    for hosts, threads, pieces in ((18, 1, 1), (100, 2, 3), (1_000, 2, 1), (18, 2, 36)):
        with cut_into(hosts):
            assert history(policy, threads, pieces) == expected


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("at_ns", [3_500.0, 4_700.0, 7_500.0])
def test_a_snapshot_in_the_outage_goes_on_as_the_run_does(policy: str, at_ns: float) -> None:
    config = dfe.SimulationConfig(
        topology="72", policy=ready(policy), load=0.6, events=["3us:0:5:down", "6us:0:5:up"]
    )
    simulation = dfe.Simulation(config)
    simulation.run(at_ns)
    restored = dfe.Simulation.restore(simulation.snapshot())
    for each in (simulation, restored):
        each.run(9_000 - at_ns)
    assert restored.trace_hash() == simulation.trace_hash()
    if config.policy_object.learns:
        np.testing.assert_array_equal(restored.q_table(), simulation.q_table())


@pytest.mark.parametrize("policy", ["min", "ugal-n", "par", "q-adaptive"])
def test_degraded_links_and_an_outage_together_give_equal_bits(policy: str) -> None:
    slow = dfe.Failures(degraded_global_links=0.2, degraded_rate=0.3, seed=2)

    def begun(threads: int) -> dfe.Simulation:
        config = dfe.SimulationConfig(
            topology=dfe.Dragonfly.preset("342", failed=slow),
            policy=ready(policy),
            traffic="adv+1",
            load=0.3,
            threads=threads,
            events=OUTAGE,
        )
        simulation = dfe.Simulation(config)
        simulation.run(4_500.0)
        return simulation

    whole = begun(1)
    restored = dfe.Simulation.restore(whole.snapshot())
    with cut_into(100):
        cut = begun(2)
        forked = cut.fork()
        runs = (whole, restored, cut, forked)
        for each in runs:
            each.run(4_500.0)
            each.check_invariants()
    assert len({each.trace_hash() for each in runs}) == 1


@pytest.mark.parametrize("policy", ["min", "ugal-n", "par", "val-n", "ad0", "lia"])
@pytest.mark.parametrize("delay_ns", [0.0, 40.0])
def test_a_policy_in_python_gives_the_run_of_the_core(policy: str, delay_ns: float) -> None:
    network = dfe.NetworkConfig(routing_delay_ns=delay_ns)
    config = dfe.SimulationConfig(
        topology="72",
        network=network,
        traffic="adv+1",
        load=0.5,
        seed=7,
        events=["1us:0:5/8:6:down", "2500ns:0:5:up"],
    )
    alone = dfe.Simulation(config.replace(policy=policy))
    alone.run(4_000)
    env = dfe.BatchedRoutingEnv.for_policy(config, dfe.make_policy(policy), duration_ns=4_000)
    play(env, in_numpy(dfe.make_policy(policy), env))
    assert env.trace_hash() == alone.trace_hash()


@pytest.mark.parametrize("delay_ns", [0.0, 40.0])
def test_masks_show_no_port_that_routers_know_is_dead(delay_ns: float) -> None:
    topology = dfe.Dragonfly.preset("72")
    config = dfe.SimulationConfig(
        topology=topology,
        network=dfe.NetworkConfig(routing_delay_ns=delay_ns),
        load=0.5,
        events=["1us:0:5/8:6:down", "4us:0:5/8:6:up"],
        event_notice_ns=300.0,
    )
    env = dfe.BatchedRoutingEnv(config, action="port", scope="every", max_hops=6)
    dead = dead_ports(topology, config.events, 1_000.0)
    shown: dict[str, set[tuple[int, int]]] = {"before": set(), "outage": set(), "after": set()}
    batch = env.reset()
    for step in itertools.count():
        if batch.time_ns.min() > 5_000.0:
            break
        rows, actions = np.nonzero(batch.mask)
        times = batch.time_ns[rows]
        for phase, now in (
            ("before", times < 1_300.0),
            ("outage", (times >= 1_300.0) & (times < 4_300.0)),
            ("after", times >= 4_300.0),
        ):
            shown[phase] |= set(
                zip(batch.agents[rows[now]].tolist(), (topology.p + actions[now]).tolist(), strict=True)
            )
        legal = [np.flatnonzero(row) for row in batch.mask]
        batch = env.step(np.array([choices[step % len(choices)] for choices in legal], np.int64))
    assert dead <= shown["before"]
    assert not dead & shown["outage"]
    assert dead <= shown["after"]

"""``BatchedRoutingEnv.feedback``: reports on hops to routers, and their times."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dragonfly_env as dfe
from dragonfly_env.traffic import Trace

SMALL = dfe.Dragonfly.preset("72", arrangement="absolute")


def make(duration_ns: float = 2_000.0, **changes: Any) -> dfe.BatchedRoutingEnv:
    """72 hosts under adversarial traffic, unless something else is wanted."""
    options = {"scope": "all", "action": "port", "feedback": True, "transitions": False, "num_random": 1}
    fields = dfe.SimulationConfig.__dataclass_fields__
    options |= {name: value for name, value in changes.items() if name not in fields}
    settings: dict[str, Any] = {"topology": SMALL, "traffic": "adv+1", "load": 0.5, "seed": 3}
    settings |= {name: value for name, value in changes.items() if name in fields}
    return dfe.BatchedRoutingEnv(dfe.SimulationConfig(**settings), duration_ns=duration_ns, **options)


def any_port(batch: dfe.DecisionBatch) -> np.ndarray:
    """A random legal action per row."""
    ranks = batch.mask.cumsum(axis=1)
    return (batch.draws[:, :1] * ranks[:, -1:] < ranks).argmax(axis=1)


def received(env: dfe.BatchedRoutingEnv) -> list[tuple[Any, ...]]:
    """The reports since the last call, one tuple each."""
    feedback = env.feedback()
    assert not feedback.scenario.any()
    columns = [getattr(feedback, name).tolist() for name in feedback.__slots__ if name != "scenario"]
    return list(zip(*columns, strict=True))


@pytest.mark.parametrize(("routing_delay_ns", "decide_at"), [(100.0, "arrival"), (0.0, "head")])
def test_one_packet_is_reported_with_the_times_that_the_links_take(
    routing_delay_ns: float, decide_at: str
) -> None:
    """By hand: serialisation 32, links 30 and 300, 10 out and 10 in; the crossbar works on whole nanoseconds, at the
    edge after the decision has taken effect; credits take as long as packets without their serialisation.
    """
    network = dfe.NetworkConfig(routing_delay_ns=routing_delay_ns, decide_at=decide_at, router_clock_ns=1.0)
    first = 0
    last = next(r for r in range(SMALL.num_routers) if SMALL.minimal_hops(first, r) == 3)
    packet = Trace.from_columns(time_ns=[1_000.0], src=[0], dst=[last * SMALL.p], bytes=[128])
    env = make(10_000.0, network=network, traffic=packet)
    batch = env.reset()
    reports, decisions, routers, ports = [], [], [], []
    while not env.done:
        assert len(batch) == 1
        decisions += batch.decision_ids.tolist()
        routers += batch.agents.tolist()
        ports += batch.minimal_actions().tolist()
        batch = env.step(batch.minimal_actions())
        reports += received(env)
    arrived = 1_000.0 + 32 + 10 + 10
    expected = []
    for hop, link_ns in enumerate((30.0, 300.0, 30.0)):
        travel = routing_delay_ns + 1 + 32 + 10 + link_ns + 10
        arrived += travel
        left = arrived + routing_delay_ns + 1
        following = decisions[hop + 1] if hop < 2 else -1  # the last router does not decide
        expected.append(
            (decisions[hop], following, routers[hop], ports[hop], travel, left + 10 + link_ns + 10)
        )
    # In the order of arrival: the last hop's overtakes the global one's.
    assert sorted(reports, key=lambda report: report[0]) == expected
    assert len(decisions) == 3


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(
    "network",
    [
        dfe.NetworkConfig(),
        dfe.NetworkConfig(decide_at="head"),
        dfe.NetworkConfig(routing_delay_ns=400.0),  # longer than a window
        dfe.NetworkConfig.preset("q-adaptive"),
        dfe.NetworkConfig.preset("lia", decide_at="arrival"),
    ],
    ids=["default", "head", "slow", "no delay", "lia"],
)
def test_a_batch_comes_with_every_report_that_reaches_its_routers_before(
    network: dfe.NetworkConfig, threads: int
) -> None:
    topology = dfe.Dragonfly.preset("1056")
    env = make(1_800.0, topology=topology, network=network, threads=threads, load=0.8)
    decided_ns = np.full(topology.num_routers, -1.0)
    batch, reports = env.reset(), 0
    while not env.done:
        feedback = env.feedback()
        reports += len(feedback)
        # A report that comes now must not have been missing at an earlier decision of its router.
        assert (feedback.time_ns > decided_ns[feedback.agents]).all()
        order = np.lexsort((feedback.ports, feedback.agents, feedback.time_ns))
        np.testing.assert_array_equal(order, np.arange(len(feedback)))
        np.maximum.at(decided_ns, batch.agents, batch.time_ns)
        batch = env.step(any_port(batch))
    assert reports > 1_000


@pytest.mark.parametrize("decide_at", ["arrival", "head"])
def test_every_decision_is_reported_once_and_with_the_one_that_followed(decide_at: str) -> None:
    env = make(load=0.3, network=dfe.NetworkConfig(decide_at=decide_at), packet_log=True)
    batch, reports = env.reset(), []
    raised: dict[int, tuple[int, int, float]] = {}

    class Recording:
        @staticmethod
        def act(batch: dfe.DecisionBatch) -> np.ndarray:
            actions = any_port(batch)
            rows = zip(
                batch.agents.tolist(), actions.tolist(), batch.packets["arrived_ns"].tolist(), strict=True
            )
            raised.update(zip(batch.decision_ids.tolist(), rows, strict=True))
            reports.extend(received(env))
            return actions

    while not env.done:
        batch = env.step(Recording.act(batch))
    env.extend(300.0)
    while not env.done:
        batch = env.step(Recording.act(env.pending))
    env.drain(Recording)
    reports += received(env)
    assert sorted(report[0] for report in reports) == sorted(raised)
    for decision, following, agent, port, travel_ns, time_ns in reports:
        router, action, arrived_ns = raised[decision]
        assert (agent, port) == (router, action)
        assert following == (decision + 1 if decision + 1 in raised else -1)  # ids end with the hops
        if following >= 0:
            assert travel_ns == pytest.approx(raised[following][2] - arrived_ns, abs=1e-9)
        assert time_ns > arrived_ns + travel_ns
    log = env.packet_log()
    assert len(reports) == log["hops"].sum()


def test_hops_are_reported_to_those_who_chose_them() -> None:
    sources = make(scope="source")
    batch = sources.reset()
    while not sources.done:
        batch = sources.step(any_port(batch))
    reports = received(sources)
    assert reports
    assert all(decision % 256 == 0 and following == -1 for decision, following, *_ in reports)
    paths = make(scope="source", action="path", num_random=2)
    batch = paths.reset()
    first = {}
    while not paths.done:
        actions = any_port(batch)
        port = batch.candidates["port"][np.arange(len(batch)), actions] - SMALL.p
        first.update(zip(batch.decision_ids.tolist(), port.tolist(), strict=True))
        batch = paths.step(actions)
    reports = received(paths)
    assert reports
    assert all(first[decision] == port for decision, _, _, port, *_ in reports)


def test_a_warm_up_is_not_reported() -> None:
    env = make(warmup_ns=1_000.0)
    batch = env.reset()
    known = set()
    while not env.done:
        known.update(batch.decision_ids.tolist())
        batch = env.step(any_port(batch))
    reports = received(env)
    assert reports
    assert all(
        decision in known and (following in known or following == -1) for decision, following, *_ in reports
    )


def test_a_call_takes_the_reports_and_reset_forgets_them() -> None:
    env = make()
    batch = env.reset()
    while not env.done:
        batch = env.step(any_port(batch))
    kept = env.feedback()
    assert len(kept) > 100
    assert len(env.feedback()) == 0
    before = kept.time_ns.copy()
    env.reset()
    np.testing.assert_array_equal(kept.time_ns, before)
    assert len(env.feedback()) == 0
    assert env.episode == 2


def test_what_no_one_collects_is_dropped_at_the_limit() -> None:
    env = make(max_uncollected_bytes=5_000)
    batch = env.reset()
    while not env.done:
        batch = env.step(any_port(batch))
    with pytest.raises(dfe.StateError, match="more than 5000 bytes had piled up"):
        env.feedback()
    env.reset()
    assert len(env.feedback()) == 0


def test_hops_of_transitions_are_those_that_the_packets_had_when_a_router_decided() -> None:
    env = dfe.BatchedRoutingEnv(
        dfe.SimulationConfig(topology="72", load=0.2), scope="every", action="port", duration_ns=1_500.0
    )
    batch, seen = env.reset(seed=1), {}
    while not env.done:
        seen |= dict(zip(batch.decision_ids.tolist(), batch.packets["hops"].tolist(), strict=True))
        batch = env.step(batch.minimal_actions())
    made = env.transitions()
    assert set(made.hops.tolist()) == {0, 1}
    assert made.hops.tolist() == [seen[decision] for decision in made.decision_ids.tolist()]

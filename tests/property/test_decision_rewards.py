"""Rewards and transitions of the batched environment are exact, for all decisions and actions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

import dragonfly_env as dfe
from dragonfly_env.decisions.batch import DecisionBatch, Transitions
from tests.property.configurations import settings_of_runs

SCOPES = ("source", "every", "all")
ACTIONS = ("port", "path")
# (topology preset, network preset, changes): decisions on arrival over a delay, at the head at once, and both mixed.
NETWORKS = {
    "default": dfe.NetworkConfig.preset("default"),
    "q-adaptive": dfe.NetworkConfig.preset("q-adaptive"),
    "lia": dfe.NetworkConfig.preset("lia"),
    "head-delayed": dfe.NetworkConfig.preset("default", decide_at="head", routing_delay_ns=60.0),
}


def config_of(network: dfe.NetworkConfig, hosts: str = "72", **changes: object) -> dfe.SimulationConfig:
    return dfe.SimulationConfig(
        topology=dfe.Dragonfly.preset(hosts),
        network=network,
        traffic="adv+1",
        load=0.5,
        seed=5,
        packet_log=True,
        **changes,
    )


def random_actions(batch: DecisionBatch) -> np.ndarray:
    return (batch.draws[:, :1] * batch.mask.sum(axis=1, keepdims=True) >= batch.mask.cumsum(axis=1)).sum(
        axis=1
    )


class Played:
    """An episode with random actions, drained: every batch, every transition, the packet log."""

    def __init__(self, env: dfe.BatchedRoutingEnv) -> None:
        self.batches: list[DecisionBatch] = []
        self.transitions: list[Transitions] = []
        self.actions: dict[int, int] = {}
        self.env = env
        batch = env.reset()
        while not env.done:
            batch = env.step(self.act(batch))
            self.transitions.append(env.transitions().completed())
        env.drain(self)
        self.transitions.append(env.transitions())
        self.log = env.packet_log()

    def act(self, batch: DecisionBatch) -> np.ndarray:
        self.batches.append(batch.copy())
        actions = random_actions(batch)
        self.actions.update(zip(batch.decision_ids.tolist(), actions.tolist(), strict=True))
        return actions

    def column(self, name: str) -> np.ndarray:
        return np.concatenate([getattr(part, name) for part in self.transitions])

    def raised(self, name: str) -> np.ndarray:
        return np.concatenate([getattr(batch, name) for batch in self.batches])


@pytest.fixture(scope="module")
def played() -> dict[tuple[str, ...], Played]:
    return {}


def play(cache: dict[tuple[str, ...], Played], network: str, scope: str, action: str, reward: str) -> Played:
    key = (network, scope, action, reward)
    if key not in cache:
        env = dfe.BatchedRoutingEnv(
            config_of(NETWORKS[network]), scope=scope, action=action, reward=reward, duration_ns=1_500.0
        )
        cache[key] = Played(env)
    return cache[key]


def packet_key(source_host: np.ndarray, number: np.ndarray) -> np.ndarray:
    return source_host.astype(np.int64) << 32 | number.astype(np.int64)


def delivered_ns(episode: Played) -> dict[int, float]:
    keys = packet_key(episode.log["src"], episode.log["number"])
    return dict(zip(keys.tolist(), episode.log["delivered_ns"].tolist(), strict=True))


def key_of_decision(ids: np.ndarray) -> np.ndarray:
    """The packet of a decision id."""
    return packet_key(ids >> 40, ids >> 8 & 0xFFFFFFFF)


CASES = [
    pytest.param(network, scope, action, reward, id=f"{network}-{scope}-{action}-{reward}")
    for network in NETWORKS
    for scope in SCOPES
    for action in ACTIONS
    for reward in ("hop", "delivery")
    if network == "default" or scope == "every"
]


@pytest.mark.parametrize(("network", "scope", "action", "reward"), CASES)
def test_every_decision_is_in_exactly_one_transition_with_its_time(
    played: dict[tuple[str, ...], Played], network: str, scope: str, action: str, reward: str
) -> None:
    episode = play(played, network, scope, action, reward)
    raised = episode.raised("decision_ids")
    assert len(raised) > 100
    assert len(set(raised.tolist())) == len(raised)
    assert Counter(raised.tolist()) == Counter(episode.column("decision_ids").tolist())
    when = dict(zip(raised.tolist(), episode.raised("time_ns").tolist(), strict=True))
    decided = [when[i] for i in episode.column("decision_ids").tolist()]
    assert episode.column("decision_time_ns").tolist() == decided


@pytest.mark.parametrize(("network", "scope", "action", "reward"), CASES)
def test_rewards_add_up_to_the_times_of_the_packet_log(
    played: dict[tuple[str, ...], Played], network: str, scope: str, action: str, reward: str
) -> None:
    episode = play(played, network, scope, action, reward)
    arrival = delivered_ns(episode)
    ids, times = episode.raised("decision_ids"), episode.raised("time_ns")
    if reward == "delivery":
        when = dict(zip(ids.tolist(), times.tolist(), strict=True))
        ended = episode.column("decision_ids")
        expected = [
            when[i] - arrival[k] for i, k in zip(ended.tolist(), key_of_decision(ended).tolist(), strict=True)
        ]
        np.testing.assert_allclose(episode.column("rewards") * 1000.0, expected, rtol=0, atol=1e-6)
        return
    first: dict[int, float] = {}
    for key, time in zip(key_of_decision(ids).tolist(), times.tolist(), strict=True):
        first[key] = min(time, first.get(key, np.inf))
    between = sum(arrival[key] - time for key, time in first.items())
    assert -episode.column("rewards").sum() * 1000.0 == pytest.approx(between, rel=1e-12)
    np.testing.assert_allclose(-episode.column("rewards") * 1000.0, episode.column("latency_ns"), rtol=1e-12)


@pytest.mark.parametrize(("network", "scope", "action", "reward"), CASES)
def test_a_transition_shows_what_both_routers_saw(
    played: dict[tuple[str, ...], Played], network: str, scope: str, action: str, reward: str
) -> None:
    episode = play(played, network, scope, action, reward)
    row = {i: n for n, i in enumerate(episode.raised("decision_ids").tolist())}
    ended = np.array([row[i] for i in episode.column("decision_ids").tolist()])
    np.testing.assert_array_equal(episode.column("obs"), episode.raised("obs")[ended])
    np.testing.assert_array_equal(episode.column("mask"), episode.raised("mask")[ended])
    np.testing.assert_array_equal(episode.column("agents"), episode.raised("agents")[ended])
    taken = [episode.actions[i] for i in episode.column("decision_ids").tolist()]
    np.testing.assert_array_equal(episode.column("actions"), taken)

    if reward == "delivery":
        assert episode.column("done").all()
        assert (episode.column("next_decision_ids") == -1).all()
        assert not episode.column("next_mask").any()
        return
    done = episode.column("done")
    assert (episode.column("next_agents")[done] == -1).all()
    assert (episode.column("next_decision_ids")[done] == -1).all()
    assert not episode.column("next_mask")[done].any()
    followed = np.array([row[i] for i in episode.column("next_decision_ids")[~done].tolist()], dtype=np.int64)
    np.testing.assert_array_equal(episode.column("next_obs")[~done], episode.raised("obs")[followed])
    np.testing.assert_array_equal(episode.column("next_mask")[~done], episode.raised("mask")[followed])
    np.testing.assert_array_equal(episode.column("next_agents")[~done], episode.raised("agents")[followed])
    legs = episode.raised("time_ns")[followed] - episode.raised("time_ns")[ended[~done]]
    np.testing.assert_allclose(episode.column("latency_ns")[~done], legs, rtol=0, atol=1e-6)
    # The last decision of every packet is the one that its delivery ends.
    packets = key_of_decision(episode.column("decision_ids")[done])
    assert (
        len(set(packets.tolist())) == len(packets) == len(set(key_of_decision(np.array(list(row))).tolist()))
    )


def test_feedback_takes_the_time_of_the_link_back(played: dict[tuple[str, ...], Played]) -> None:
    episode = play(played, "default", "all", "port", "hop")
    config, topology = episode.env.config, episode.env.config.topology
    row = {i: n for n, i in enumerate(episode.raised("decision_ids").tolist())}
    ended = np.array([row[i] for i in episode.column("decision_ids").tolist()])
    learned = episode.column("time_ns") - episode.raised("time_ns")[ended] - episode.column("latency_ns")
    kinds = np.array([topology.port_kind(topology.p + a) for a in episode.column("actions").tolist()])
    for kind, latency_ns in (
        ("local", config.network.local_latency_ns),
        ("global", config.network.global_latency_ns),
    ):
        ways = np.unique(np.round(learned[kinds == kind], 6))
        assert len(ways) == 1
        assert latency_ns <= ways[0] <= latency_ns + 30.0


def integral_of_packets(log: Mapping[str, np.ndarray], begin_ns: float, end_ns: float) -> float:
    """The time in packet-microseconds that the packets of a drained run were in the system between two times."""
    created = np.maximum(log["created_ns"], begin_ns)
    return float(np.maximum(np.minimum(log["delivered_ns"], end_ns) - created, 0.0).sum() / 1_000.0)


@settings(max_examples=100, deadline=None)
@given(
    given=settings_of_runs(),
    scope=st.sampled_from([("source", "path"), ("source", "port"), ("every", "port"), ("every", "path")]),
    times_ns=st.sampled_from([(0.0, 700.5), (300.0, 1_000.0), (0.0, 2_500.0)]),
    actor=st.sampled_from(["random", "min", "ugal-n"]),
)
def test_the_score_is_minus_the_integral_of_the_packets_in_the_system(
    given: dict[str, Any], scope: tuple[str, str], times_ns: tuple[float, float], actor: str
) -> None:
    try:
        config = dfe.SimulationConfig(**{**given, "packet_log": True, "policy": "min"})
        policy = dfe.make_policy("ugal-n") if actor == "ugal-n" else None
        options = (
            dict(zip(("scope", "action"), scope, strict=True)) if policy is None else policy.env_options()
        )
        env = dfe.BatchedRoutingEnv(
            config, warmup_ns=times_ns[0], duration_ns=times_ns[1], latency_credit_ns=0, **options
        )
    except dfe.ConfigError:
        reject()
    reference = policy.reference(env) if policy is not None else None
    batch = env.reset()
    read: list[np.ndarray] = []
    while not env.done:
        if reference is not None:
            actions = reference.act(batch)
        else:
            actions = random_actions(batch) if actor == "random" else batch.minimal_actions()
        batch = env.step(actions)
        if len(read) % 3 == 0:
            read.append(env.rewards_by_router())
    read.append(env.rewards_by_router())
    score = env.metrics().score
    generated, delivered = env.packets_by_router()
    assert sum(part.sum() for part in read) == pytest.approx(score, rel=1e-9, abs=1e-9)
    metrics = env.metrics()
    assert generated.sum() == metrics.packets_generated
    assert delivered.sum() >= metrics.packets_delivered
    env.drain()
    integral = integral_of_packets(env.packet_log(), times_ns[0], sum(times_ns))
    assert score == pytest.approx(-integral, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("credit_ns", [0.0, 1_250.0])
@pytest.mark.parametrize("scope", ["source", "every"])
def test_rewards_do_not_depend_on_how_an_episode_is_cut(scope: str, credit_ns: float) -> None:
    options = {"scope": scope, "latency_credit_ns": credit_ns, "action": "path"}

    def rewards(durations_ns: list[float]) -> np.ndarray:
        env = dfe.BatchedRoutingEnv(config_of(NETWORKS["default"]), duration_ns=durations_ns[0], **options)
        batch, total = env.reset(), np.zeros(env.num_agents)
        for more_ns in [*durations_ns[1:], 0.0]:
            while not env.done:
                batch = env.step(random_actions(batch))
            total += env.rewards_by_router()
            if more_ns:
                batch = env.extend(more_ns)
        return total

    np.testing.assert_allclose(rewards([3_000.0]), rewards([500.0, 1_700.0, 800.0]), rtol=1e-12)


def test_a_router_gains_nothing_from_keeping_packets() -> None:
    """A delivery is worth the credit less the latency: as much as the packet would cost if it was open until then."""
    env = dfe.BatchedRoutingEnv(
        config_of(NETWORKS["default"]), scope="source", action="path", duration_ns=3_000.0
    )
    batch = env.reset()
    while not env.done:
        batch = env.step(random_actions(batch))
    rewards = env.rewards_by_router()
    env.drain()
    log = env.packet_log()
    created, age = log["created_ns"], np.minimum(log["delivered_ns"], 3_000.0) - log["created_ns"]
    early = created <= 3_000.0
    most = env.options.latency_credit_ns
    credit = np.where(log["delivered_ns"] <= 3_000.0, most, np.minimum(age, most))
    routers = log["src"] // env.config.topology.p
    expected = np.bincount(routers[early], (credit - age)[early], env.num_agents) / 1_000.0
    np.testing.assert_allclose(rewards, expected, atol=1e-9)


def test_sums_are_shared_by_group_or_by_all() -> None:
    totals = {}
    for share in ("router", "group", "all"):
        env = dfe.BatchedRoutingEnv(config_of(NETWORKS["default"]), share=share, duration_ns=1_500.0)
        batch = env.reset()
        while not env.done:
            batch = env.step(random_actions(batch))
        totals[share] = env.rewards_by_router()
    groups = totals["router"].reshape(9, 4).sum(axis=1)
    np.testing.assert_allclose(totals["group"], np.repeat(groups, 4))
    np.testing.assert_allclose(totals["all"], np.full(36, groups.sum()))


def test_differential_rewards_credit_the_mean_latency_so_far() -> None:
    env = dfe.BatchedRoutingEnv(
        config_of(NETWORKS["default"]),
        reward="differential",
        scope="source",
        action="path",
        duration_ns=20_000.0,
    )
    for seed in (1, 2):
        batch = env.reset(seed=seed)
        while not env.done:
            batch = env.step(random_actions(batch))
            rewards = env.rewards_by_router()
    mean = env.metrics().latency_mean_ns
    assert env._rewards.credits_ns[0] == pytest.approx(mean, rel=0.05)
    assert rewards.shape == (36,)


def test_a_reward_that_falls_due_at_the_delivery_has_no_sum_per_step() -> None:
    env = dfe.BatchedRoutingEnv(config_of(NETWORKS["default"]), reward="delivery")
    env.reset()
    with pytest.raises(dfe.StateError, match="reward='hop'"):
        env.rewards_by_router()


@pytest.mark.parametrize("reward", ["hop", "delivery"])
@pytest.mark.parametrize("scope", ["source", "every"])
def test_decisions_that_the_end_cuts_off_are_truncated(scope: str, reward: str) -> None:
    env = dfe.BatchedRoutingEnv(
        config_of(NETWORKS["default"]), scope=scope, reward=reward, duration_ns=1_500.0
    )
    batch, raised = env.reset(), {}
    while not env.done:
        raised.update(zip(batch.decision_ids.tolist(), batch.time_ns.tolist(), strict=True))
        batch = env.step(random_actions(batch))
    ended = env.transitions()
    assert sorted(ended.decision_ids.tolist()) == sorted(raised)
    cut = ended.truncated
    assert 50 < cut.sum() < len(ended)
    assert not (ended.done & cut).any()
    assert (ended.next_agents[cut] == -1).all()
    assert not ended.next_mask[cut].any()
    passed = [1_500.0 - raised[i] for i in ended.decision_ids[cut].tolist()]
    np.testing.assert_allclose(ended.latency_ns[cut], passed, atol=1e-6)
    np.testing.assert_allclose(ended.rewards, -ended.latency_ns / 1_000.0, rtol=1e-12)
    assert len(ended.completed()) == (~cut).sum()
    assert len(env.transitions()) == 0

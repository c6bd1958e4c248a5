"""Rewards and transitions of the batched environment are exact, whatever is asked and answered."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

import dragonfly_env as dfe
from dragonfly_env.decisions.batch import DecisionBatch, Transitions

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
    """An episode with random answers, drained: every batch, every transition, the packet log."""

    def __init__(self, env: dfe.BatchedRoutingEnv) -> None:
        self.batches: list[DecisionBatch] = []
        self.transitions: list[Transitions] = []
        self.actions: dict[int, int] = {}
        self.env = env
        batch = env.reset()
        while not env.done:
            batch = env.step(self.act(batch))
            self.transitions.append(env.transitions())
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

    def asked(self, name: str) -> np.ndarray:
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
def test_every_decision_is_in_exactly_one_transition(
    played: dict[tuple[str, ...], Played], network: str, scope: str, action: str, reward: str
) -> None:
    episode = play(played, network, scope, action, reward)
    asked = episode.asked("decision_ids")
    assert len(asked) > 100
    assert len(set(asked.tolist())) == len(asked)
    assert Counter(asked.tolist()) == Counter(episode.column("decision_ids").tolist())


@pytest.mark.parametrize(("network", "scope", "action", "reward"), CASES)
def test_rewards_add_up_to_the_times_of_the_packet_log(
    played: dict[tuple[str, ...], Played], network: str, scope: str, action: str, reward: str
) -> None:
    episode = play(played, network, scope, action, reward)
    arrival = delivered_ns(episode)
    ids, times = episode.asked("decision_ids"), episode.asked("time_ns")
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
    row = {i: n for n, i in enumerate(episode.asked("decision_ids").tolist())}
    ended = np.array([row[i] for i in episode.column("decision_ids").tolist()])
    np.testing.assert_array_equal(episode.column("obs"), episode.asked("obs")[ended])
    np.testing.assert_array_equal(episode.column("mask"), episode.asked("mask")[ended])
    np.testing.assert_array_equal(episode.column("agents"), episode.asked("agents")[ended])
    taken = [episode.actions[i] for i in episode.column("decision_ids").tolist()]
    np.testing.assert_array_equal(episode.column("actions"), taken)

    done = episode.column("done")
    assert (episode.column("next_agents")[done] == -1).all()
    assert (episode.column("next_decision_ids")[done] == -1).all()
    assert not episode.column("next_mask")[done].any()
    followed = np.array([row[i] for i in episode.column("next_decision_ids")[~done].tolist()], dtype=np.int64)
    np.testing.assert_array_equal(episode.column("next_obs")[~done], episode.asked("obs")[followed])
    np.testing.assert_array_equal(episode.column("next_mask")[~done], episode.asked("mask")[followed])
    np.testing.assert_array_equal(episode.column("next_agents")[~done], episode.asked("agents")[followed])
    legs = episode.asked("time_ns")[followed] - episode.asked("time_ns")[ended[~done]]
    np.testing.assert_allclose(episode.column("latency_ns")[~done], legs, rtol=0, atol=1e-6)
    # The last decision of every packet that was asked about is the one that its delivery ends.
    packets = key_of_decision(episode.column("decision_ids")[done])
    assert (
        len(set(packets.tolist())) == len(packets) == len(set(key_of_decision(np.array(list(row))).tolist()))
    )


def test_feedback_takes_the_time_of_the_link_back(played: dict[tuple[str, ...], Played]) -> None:
    episode = play(played, "default", "all", "port", "hop")
    config, topology = episode.env.config, episode.env.config.topology
    row = {i: n for n, i in enumerate(episode.asked("decision_ids").tolist())}
    ended = np.array([row[i] for i in episode.column("decision_ids").tolist()])
    learned = episode.column("time_ns") - episode.asked("time_ns")[ended] - episode.column("latency_ns")
    kinds = np.array([topology.port_kind(topology.p + a) for a in episode.column("actions").tolist()])
    for kind, latency_ns in (
        ("local", config.network.local_latency_ns),
        ("global", config.network.global_latency_ns),
    ):
        ways = np.unique(np.round(learned[kinds == kind], 6))
        assert len(ways) == 1
        assert latency_ns <= ways[0] <= latency_ns + 30.0


def test_team_rewards_are_the_mean_latency_of_what_was_delivered_in_the_step() -> None:
    env = dfe.BatchedRoutingEnv(config_of(NETWORKS["default"]), reward="team", duration_ns=1_500.0)
    batch = env.reset()
    delivered = latency = 0.0
    rewards: list[float] = []
    while not env.done:
        batch = env.step(random_actions(batch))
        now = env.metrics()
        fresh = now.packets_delivered - delivered
        total = now.latency_mean_ns * now.packets_delivered if now.packets_delivered else 0.0
        expected = -(total - latency) / fresh / 1000.0 if fresh else 0.0
        agents, paid = env.payments()
        assert agents.tolist() == list(range(env.num_agents))
        np.testing.assert_allclose(paid, expected, atol=1e-9)
        np.testing.assert_allclose(env.transitions().rewards, paid[0])
        delivered, latency = now.packets_delivered, total
        rewards.append(paid[0])
    assert min(rewards) < 0


@pytest.mark.parametrize("reward", ["hop", "delivery"])
def test_payments_are_the_rewards_of_the_transitions(reward: str) -> None:
    env = dfe.BatchedRoutingEnv(config_of(NETWORKS["default"]), reward=reward, duration_ns=1_500.0)
    batch = env.reset()
    while not env.done:
        batch = env.step(random_actions(batch))
        ended = env.transitions()
        agents, paid = env.payments()
        np.testing.assert_array_equal(agents, ended.agents)
        np.testing.assert_array_equal(paid, ended.rewards)

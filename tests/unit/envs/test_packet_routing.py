"""``PacketRouting``: the tagged packet's decisions, rewards and background."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import dragonfly_env as dfe
from dragonfly_env.envs.packet import PacketRouting
from tests.parity.rules import act

BUSY: dict[str, Any] = {"traffic": "adv+1", "load": 0.2, "duration_ns": 20_000.0}


def finish(env: PacketRouting, rng: np.random.Generator) -> tuple[list[float], list[dict[str, Any]], bool]:
    """The rest of an episode by random legal actions: rewards, infos, and whether the packet arrived."""
    rewards, infos = [], []
    while True:
        action = rng.choice(np.flatnonzero(env.action_masks()))
        _, reward, terminated, truncated, info = env.step(action)
        rewards.append(reward)
        infos.append(info)
        if terminated or truncated:
            return rewards, infos, terminated


def journey(
    env: PacketRouting, rng: np.random.Generator, *, seed: int
) -> tuple[list[float], list[dict[str, Any]], bool]:
    """A whole episode of random legal actions."""
    env.reset(seed=seed)
    return finish(env, rng)


@pytest.mark.parametrize(
    "settings", [{}, {"background": "par"}, {"scope": "all"}, {"reward_scale_ns": 250.0}], ids=str
)
def test_rewards_are_the_packets_own_times_in_the_log(settings: dict[str, Any]) -> None:
    env = PacketRouting(**{**BUSY, "duration_ns": 30_000.0}, packet_log=True, **settings)
    rng = np.random.default_rng(1)
    journeys = []
    for _ in range(40):
        env.reset()
        first_ns = float(env.decision.time_ns[0])
        rewards, infos, arrived = finish(env, rng)
        if arrived:
            journeys.append((infos[-1], first_ns, sum(rewards) * settings.get("reward_scale_ns", 1000.0)))
        if env.core.time_ns > 25_000:  # the log is that of one network
            break
    log = env.core.packet_log()
    assert len(journeys) > 5
    for info, first_ns, rewarded_ns in journeys:
        (row,) = np.flatnonzero((log["src"] == info["source_host"]) & (log["number"] == info["number"]))
        assert log["dst"][row] == info["destination_host"]
        assert first_ns - rewarded_ns == pytest.approx(log["delivered_ns"][row], abs=1e-6)
        assert info["latency_ns"] == pytest.approx(
            log["delivered_ns"][row] - log["created_ns"][row], abs=1e-6
        )
        assert log["injected_ns"][row] < first_ns


def test_a_truncated_journey_costs_the_time_until_then() -> None:
    env = PacketRouting(**BUSY, scope="source", action="path")
    rng = np.random.default_rng(1)
    cut = 0
    for _ in range(300):
        env.reset()
        first_ns = float(env.decision.time_ns[0])
        rewards, infos, arrived = finish(env, rng)
        last = infos[-1]
        assert {"latency_ns", "metrics"} <= last.keys()
        assert arrived != math.isnan(last["latency_ns"])
        if not arrived:
            cut += 1
            assert last["time_ns"] == 20_000
            assert sum(rewards) == pytest.approx((first_ns - 20_000) / 1_000)
    assert cut > 0


def test_delivery_rewards_the_same_sum_at_the_end() -> None:
    hop, delivery = PacketRouting(**BUSY), PacketRouting(**BUSY, reward="delivery")
    for episode in range(30):
        for env in (hop, delivery):
            env.reset(seed=3 if episode == 0 else None)
        by_hop, _, arrived = finish(hop, np.random.default_rng(episode))
        at_end, _, arrived_too = finish(delivery, np.random.default_rng(episode))
        assert arrived == arrived_too
        assert at_end[:-1] == [0.0] * (len(by_hop) - 1)
        assert at_end[-1] == pytest.approx(sum(by_hop))
    assert hop.core.trace_hash() == delivery.core.trace_hash()


@pytest.mark.parametrize("background", ["min", "ugal-n", "par"])
@pytest.mark.parametrize("decide_at", ["arrival", "head"])
def test_a_tagged_packet_that_does_as_the_others_leaves_no_trace(background: str, decide_at: str) -> None:
    """Follow one packet after the other: the same history as the core's own run of the background policy."""
    config = dfe.SimulationConfig(
        topology=dfe.Dragonfly.preset("72"),
        network=dfe.NetworkConfig(decide_at=decide_at),
        traffic="adv+1",
        load=0.3,
        policy=background,
    )
    reference: Any = dfe.make_policy(background)
    # "min" is content with any environment; the core's own has no VCs for a second stage at the second router.
    options = {"action": "path", "scope": "source"} if background == "min" else {}
    env = PacketRouting(config, background=background, duration_ns=10_000.0, warmup_ns=1_000.0, **options)
    env.reset(seed=4)
    while True:
        _, _, terminated, truncated, _ = env.step(int(act(reference, env.decision)[0]))
        if env.core.done:
            break
        if terminated:
            env.reset()
        assert not truncated
    native = dfe.Simulation(config.replace(seed=4))
    native.run(11_000)
    assert env.core.trace_hash() == native.trace_hash() != 0


def test_episodes_go_on_in_one_network_until_its_time_is_over() -> None:
    env = PacketRouting(**BUSY)
    rng = np.random.default_rng(0)
    times, seeds, ends = [], [], []
    for _ in range(150):
        env.reset()
        times.append(env.core.time_ns)
        seeds.append(env.core.seed)
        ends.append(finish(env, rng)[2])
    assert seeds[0] == env.core.config.replace(seed=seeds[0]).seed
    fresh = [i for i in range(1, len(seeds)) if seeds[i] != seeds[i - 1]]
    assert 1 <= len(fresh) < 50
    assert all(times[i] >= times[i - 1] for i in range(1, len(times)) if i not in fresh)
    assert all(times[i] < times[i - 1] for i in fresh)
    # A network ends with its time: at most one packet was on its way then.
    assert ends.count(False) <= len(fresh) + 1


def test_an_illegal_action_is_counted_or_refused() -> None:
    remap, minimal = PacketRouting(**BUSY, max_hops=3), PacketRouting(**BUSY, max_hops=3)
    refuse = PacketRouting(**BUSY, max_hops=3, illegal_action="raise")
    for seed in range(200):
        for env in (remap, refuse, minimal):
            env.reset(seed=seed)
        if not remap.action_masks().all():
            break
    illegal = int(np.flatnonzero(~remap.action_masks())[0])
    with pytest.raises(
        dfe.IllegalActionError, match=rf"^router \d+: action {illegal} is illegal \(decision \d+\)"
    ):
        refuse.step(illegal)
    best = int(minimal.decision.minimal_actions()[0])
    _, reward, _, _, info = remap.step(illegal)
    assert info["illegal_actions"] == 1
    assert refuse.step(best)[1] == minimal.step(best)[1] == reward
    assert remap.core.trace_hash() == refuse.core.trace_hash()
    assert remap.reset()[1]["illegal_actions"] == 0


def test_masks_stand_wherever_frameworks_look() -> None:
    env = PacketRouting(**BUSY)
    observation, info = env.reset(seed=1)
    rng = np.random.default_rng(2)
    for _ in range(60):
        assert env.observation_space.contains(observation)
        assert np.array_equal(observation["action_mask"], info["action_mask"])
        assert np.array_equal(observation["action_mask"] == 1, env.action_masks())
        assert env.action_masks().any()
        action = rng.choice(np.flatnonzero(env.action_masks()))
        observation, _, terminated, truncated, info = env.step(action)
        if terminated:
            assert not observation["observation"].any()
        if terminated or truncated:
            observation, info = env.reset()


@pytest.mark.parametrize(
    ("settings", "field"),
    [
        ({"background": "ugal"}, "policy"),
        ({"background": "ugal-n:bias=3"}, "bias"),
        ({"background": 3}, "background"),
        ({"background": "q-adaptive"}, "background"),
        ({"background": "ugal-n", "action": "port"}, "action"),
        ({"background": "ugal-n", "scope": "every"}, "scope"),
        ({"reward": "team"}, "reward"),
        ({"illegal_action": "ignore"}, "illegal_action"),
        ({"transitions": False}, "transitions"),
        ({"max_uncollected_bytes": 0}, "max_uncollected_bytes"),
    ],
    ids=str,
)
def test_impossible_settings_name_the_field(settings: dict[str, Any], field: str) -> None:
    with pytest.raises(dfe.ConfigError, match=f"^{field} = "):
        PacketRouting(**settings)


def test_a_network_without_decisions_is_an_error_and_no_endless_loop() -> None:
    env = PacketRouting(traffic="uniform", load=1e-9, duration_ns=1_000.0, injection="poisson")
    with pytest.raises(dfe.ConfigError, match=r"^duration_ns = .*too short"):
        env.reset()


def test_the_network_underneath_is_drained_when_its_time_is_over() -> None:
    env = PacketRouting(**BUSY, seed=1)
    while not env.core.done:
        env.reset()
        finish(env, np.random.default_rng(0))
    env.core.drain()
    assert env.core.metrics().packets_in_flight == 0

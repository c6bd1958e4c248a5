"""Closed-loop traffic through the batched environment: the same run as in the core, and an episode ends with it."""

from __future__ import annotations

import pytest

import dragonfly_env as dfe
from dragonfly_env import dragonfly_v0
from tests.parity.cases import PRESETS, config_of, play
from tests.parity.rules import in_numpy

POLICIES = ("min", "ugal-n", "par", "q-adaptive")
TRAFFIC = dfe.AllToAll(message_bytes=200, in_flight=2)  # two packets


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("name", POLICIES)
def test_an_exchange_is_the_same_run_whether_the_core_decides_or_a_reference(name: str, preset: str) -> None:
    policy = dfe.make_policy(name)
    config = config_of(network=dfe.NetworkConfig.preset(preset), traffic=TRAFFIC)
    inside = dfe.Simulation(config.replace(policy=policy))
    m = inside.run_to_completion()
    env = dfe.BatchedRoutingEnv.for_policy(config, policy, duration_ns=10_000_000, transitions=False)
    play(env, in_numpy(policy, env))
    assert env.done
    assert env.trace_hash() == inside.trace_hash()
    assert env.time_ns == inside.time_ns == m.makespan_ns
    assert env.metrics().to_dict() == m.to_dict()


@pytest.mark.parametrize("threads", [2, 3, 8])
def test_threads_and_views_change_nothing_of_an_exchange(threads: int) -> None:
    topology = dfe.Dragonfly(p=101, a=3, h=1, g=3)  # a partition per group if there are several threads
    config = config_of(topology=topology, traffic="all-to-all:message_bytes=128")
    limit_ns = 6_000.0
    inside = dfe.Simulation(config)
    assert dfe.Simulation(config.replace(threads=threads)).num_partitions == 3
    inside.run_to_completion(limit_ns=limit_ns)
    env = dfe.BatchedRoutingEnv.for_policy(
        config.replace(threads=threads), dfe.make_policy("min"), duration_ns=limit_ns, transitions=False
    )
    batch = env.reset()
    while not env.done:
        batch = env.step(batch.minimal_actions())
    assert env.trace_hash() == inside.trace_hash()
    assert env.metrics().to_dict() == inside.metrics().to_dict()


def test_after_completion_an_episode_may_be_extended_drained_and_reset_but_nothing_happens_any_more() -> None:
    env = dfe.BatchedRoutingEnv(config_of(traffic="all-to-all"), duration_ns=1_000_000)
    for _ in range(2):
        batch = env.reset()
        decided = 0
        while not env.done:
            decided += len(batch)
            batch = env.step(batch.minimal_actions())
        assert decided > 0
        ended = env.time_ns
        assert env.metrics().makespan_ns == ended < 1_000_000
        assert len(env.extend(1000)) == 0
        assert env.done
        env.drain()
        assert env.done
        assert env.metrics().makespan_ns == ended
        assert env.metrics().packets_in_flight == 0
    assert len(env.transitions())


def test_a_workload_that_is_complete_in_the_warm_up_leaves_an_episode_without_decisions() -> None:
    env = dfe.BatchedRoutingEnv(config_of(traffic="all-to-all"), warmup_ns=1_000_000, duration_ns=1_000)
    assert len(env.reset()) == 0
    assert env.done


def test_the_pettingzoo_views_end_with_the_workload() -> None:
    settings = {"topology": dfe.Dragonfly(p=1, a=3, h=1), "traffic": "all-to-all:message_bytes=1"}
    times = {"warmup_ns": 0, "duration_ns": 1_000_000}
    parallel = dragonfly_v0.parallel_env(**settings, **times)
    observations, infos = parallel.reset(seed=1)
    steps = 0
    while parallel.agents:
        actions = {agent: int(infos[agent]["action_mask"].argmax()) for agent in observations}
        observations, _, _, _, infos = parallel.step(actions)
        steps += 1
    assert steps > 10
    aec = dragonfly_v0.env(**settings, **times)
    aec.reset(seed=1)
    decisions = 0
    for _ in aec.agent_iter(max_iter=10**6):
        observation, _, terminated, truncated, _ = aec.last()
        over = terminated or truncated
        aec.step(None if over else int(observation["action_mask"].argmax()))
        decisions += not over
    assert not aec.agents
    assert decisions > 12 * 11

"""Networks that share a batch have the histories that they have alone, for every number of threads."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dragonfly_env as dfe
from tests.parity.cases import config_of, native, play
from tests.parity.rules import in_numpy
from tests.ready import ready

LOADS = (
    ("adv+1", 0.4),
    ("uniform", 0.8),
    ("adv+4", 0.2),
    ("tornado", 0.3),
    ("all-to-all:message_bytes=256", 0.5),
)
REFERENCES = [name for name in dfe.policies() if not ready(name).learns]


def scenarios(**changes: Any) -> list[dfe.SimulationConfig]:
    """72 hosts under different traffic; the last one is complete before the others."""
    return [
        config_of(traffic=traffic, load=load, seed=seed, **changes)
        for seed, (traffic, load) in enumerate(LOADS, start=3)
    ]


def hashes(env: dfe.BatchedRoutingEnv) -> list[int]:
    return [env.trace_hash(scenario=i) for i in range(env.num_scenarios)]


@pytest.mark.parametrize("name", REFERENCES)
def test_every_policy_routes_several_networks_as_the_core_does_each_alone(name: str) -> None:
    policy = ready(name)
    expected = [native(config, policy, 1_500.0).trace_hash() for config in scenarios()[:4]]
    assert len(set(expected)) == 4
    for threads in (1, 3):
        configs = [config.replace(threads=threads) for config in scenarios()[:4]]
        env = dfe.BatchedRoutingEnv.for_policy(configs, policy, duration_ns=1_500.0)
        play(env, in_numpy(policy, env))
        assert hashes(env) == expected


@pytest.mark.parametrize("threads", [1, 2])
def test_open_and_closed_loop_side_by_side_and_their_drains(threads: int) -> None:
    policy = dfe.make_policy("ugal-n")
    together = dfe.BatchedRoutingEnv.for_policy(scenarios(threads=threads), policy, duration_ns=12_000.0)
    play(together, policy)
    times = []
    for number, config in enumerate(scenarios()):
        alone = dfe.BatchedRoutingEnv.for_policy(config, policy, duration_ns=12_000.0)
        play(alone, policy)
        assert together.trace_hash(scenario=number) == alone.trace_hash()
        assert together.metrics(scenario=number).to_dict() == alone.metrics().to_dict()
        times.append(alone.time_ns)
        alone.drain(policy)
        assert together.trace_hash(scenario=number) != alone.trace_hash() or number == 4
        alone_drained = alone.trace_hash()
        times.append(alone_drained)
    together.drain(policy)
    assert hashes(together) == times[1::2]
    assert times[8] < times[0] == 12_000.0, "the closed loop ends early, and waits"
    assert all(together.metrics(scenario=i).packets_in_flight == 0 for i in range(5))


@pytest.mark.parametrize("action", ["port", "path"])
def test_rows_and_transitions_are_those_of_each_network_alone(action: str) -> None:
    configs = scenarios()[:3]
    options: dict[str, Any] = {"action": action, "scope": "every", "duration_ns": 1_500.0, "feedback": True}
    together = dfe.BatchedRoutingEnv(configs, **options)
    alone = [dfe.BatchedRoutingEnv(config, **options) for config in configs]
    batch, batches = together.reset(), [env.reset() for env in alone]
    found: list[list[Any]] = [[], [], []]
    for _ in range(200):
        if together.done:
            break
        assert np.all(np.diff(batch.scenario) >= 0)
        for number, env in enumerate(alone):
            rows, expected = batch.rows(batch.scenario == number), batches[number]
            assert rows.obs.tobytes() == expected.obs.tobytes()
            assert rows.mask.tobytes() == expected.mask.tobytes()
            assert np.array_equal(rows.packets, expected.packets)
            assert rows.draws.tobytes() == expected.draws.tobytes()
            assert np.array_equal(rows.agents, expected.agents)
            assert np.array_equal(rows.decision_ids, expected.decision_ids)
            assert np.array_equal(rows.time_ns, expected.time_ns)
            if not env.done:
                batches[number] = env.step(env.pending.minimal_actions())
        batch = together.step(batch.minimal_actions())
        found[0].append(together.transitions())
        found[1].append(together.feedback())
    assert together.done
    rewards, packets = together.rewards_by_router(), together.packets_by_router()
    assert np.array_equal(rewards, np.concatenate([env.rewards_by_router() for env in alone]))
    assert np.array_equal(packets, np.concatenate([env.packets_by_router() for env in alone], axis=1))
    for number, env in enumerate(alone):
        expected = env.transitions()
        for field in ("decision_ids", "agents", "obs", "actions", "rewards", "next_obs", "mask", "next_mask"):
            parts = [getattr(part, field)[part.scenario == number] for part in found[0]]
            joined = np.concatenate(parts)
            assert sorted(joined.tobytes()) == sorted(
                np.ascontiguousarray(getattr(expected, field)).tobytes()
            ), field
        assert set(expected.scenario.tolist()) == {0}
        reports = sum(int((part.scenario == number).sum()) for part in found[1])
        assert reports == len(env.feedback())

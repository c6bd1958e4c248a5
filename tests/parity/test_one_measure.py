"""A policy has the same measurements in an episode of every view: all views have the same defaults."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dragonfly_env as dfe
from dragonfly_env import dragonfly_v0
from dragonfly_env.agents import RandomPolicy
from dragonfly_env.envs.views import view_config
from dragonfly_env.metrics.metrics import HALF
from dragonfly_env.sweeps.measure import measure
from dragonfly_env.sweeps.point import Point

PATHS = RandomPolicy("path", "source")
EPISODE: dict[str, Any] = {"scope": "source", "action": "path", "duration_ns": 3_000.0}
SEED = 1
SMALL = dfe.SimulationConfig(topology=dfe.Dragonfly(p=2, a=4, h=2), traffic="adv+1", load=0.4, policy="val-n")


def through_batches() -> dfe.Metrics:
    env = dfe.BatchedRoutingEnv(view_config().replace(seed=SEED), **EPISODE)
    batch = env.reset()
    while not env.done:
        batch = env.step(PATHS.act(batch))
    return env.metrics()


def through_rounds() -> dfe.Metrics:
    env = dragonfly_v0.parallel_env(seed=SEED, **EPISODE)
    env.reset()
    while env.agents:
        infos = env.step(dict(zip(env.acting, PATHS.act(env.round_batch).tolist(), strict=True)))[-1]
    measured: dfe.Metrics = infos["router_0"]["metrics"]
    return measured


def through_turns() -> dfe.Metrics:
    env = dragonfly_v0.raw_env(seed=SEED, **EPISODE)
    env.reset()
    while not env.truncations[env.agent_selection]:
        env.step(int(PATHS.act(env.selected_batch)[0]))
    measured: dfe.Metrics = env.last()[-1]["metrics"]
    return measured


def through_slots() -> dfe.Metrics:
    pytest.importorskip("stable_baselines3", reason="needs the extra [sb3]")
    env = dfe.RouterVecEnv(seed=SEED, **EPISODE)
    env.reset()
    over = False
    while not over:
        rounds = env._rounds
        assert rounds is not None
        actions = np.full(env.num_envs, env.action_space.n - 1)
        actions[rounds.acting] = PATHS.act(rounds.batch)
        _, _, dones, infos = env.step(actions)
        over = bool(dones[0])
    measured: dfe.Metrics = infos[0]["metrics"]
    return measured


VIEWS: dict[str, Callable[[], dfe.Metrics]] = {
    "parallel": through_rounds,
    "aec": through_turns,
    "vec": through_slots,
}


@pytest.mark.parametrize("view", VIEWS)
def test_random_paths_measure_the_same_through_every_view(view: str) -> None:
    alone = through_batches()
    assert alone.packets_delivered > 1_000
    assert VIEWS[view]() == alone


@settings(max_examples=15, deadline=None)
@given(
    warmup_ns=st.integers(1, 4_000),
    duration_ns=st.integers(50, 3_000),
    load=st.sampled_from([0.1, 0.45, 0.9]),
    queue=st.sampled_from([None, 4]),
    seed=st.integers(0, 100),
)
def test_metrics_count_from_the_end_of_the_warm_up_and_its_time_is_not_rewarded(
    warmup_ns: int, duration_ns: int, load: float, queue: int | None, seed: int
) -> None:
    config = SMALL.replace(load=load, source_queue_packets=queue, packet_log=True)
    env = dfe.BatchedRoutingEnv(config, warmup_ns=warmup_ns, duration_ns=duration_ns, latency_credit_ns=0)
    env.reset(seed=seed)
    while not env.done:
        env.step(env.pending.minimal_actions())
    assert env.rewards_by_router().sum() == pytest.approx(env.metrics().score, rel=1e-9)
    env.drain()
    metrics = env.metrics()
    log = env.packet_log()
    window = log["delivered_ns"] > warmup_ns
    assert metrics.packets_delivered == window.sum()
    assert metrics.packets_generated == (log["created_ns"] > warmup_ns).sum()
    assert metrics.packets_injected == (log["injected_ns"] > warmup_ns).sum()
    if window.any():
        latencies = (log["delivered_ns"] - log["created_ns"])[window]
        assert metrics.latency_mean_ns == pytest.approx(latencies.mean())
        assert metrics.latency_max_ns == pytest.approx(latencies.max())
    env._core.simulation.check_invariants()


def figures(metrics: dfe.Metrics) -> dict[str, Any]:
    """Every figure that does not depend on the middle of the window, which environments note at the end of a batch."""
    judged = ("saturated", "stationary", "fitting_window_ns", *HALF)
    return {name: value for name, value in metrics.to_dict().items() if name not in judged}


def in_episode(config: dfe.SimulationConfig, warmup_ns: float, measure_ns: float) -> dfe.Metrics:
    policy = config.policy_object
    env = dfe.BatchedRoutingEnv.for_policy(config, policy, warmup_ns=warmup_ns, duration_ns=measure_ns)
    batch, decides = env.reset(seed=config.seed), policy.reference(env)
    while not env.done:
        batch = env.step(decides.act(batch))
    return env.metrics()


@settings(max_examples=15, deadline=None)
@given(
    policy=st.sampled_from(["min", "val-n", "ugal-n"]),
    times=st.tuples(st.integers(0, 4_000), st.integers(500, 3_000)),
    load=st.sampled_from([0.1, 0.45, 0.9]),
    queue=st.sampled_from([None, 4]),
    injection=st.sampled_from(["periodic", "bernoulli", "poisson"]),
    message_packets=st.sampled_from([1, 3]),
    seed=st.integers(0, 100),
)
def test_every_way_to_a_run_has_one_window_and_one_set_of_packets(
    policy: str,
    times: tuple[int, int],
    load: float,
    queue: int | None,
    injection: str,
    message_packets: int,
    seed: int,
) -> None:
    config = SMALL.replace(
        policy=policy,
        load=load,
        source_queue_packets=queue,
        injection=injection,
        message_packets=message_packets,
        seed=seed,
    )
    warmup_ns, measure_ns = times
    known = dfe.simulate(config, warmup_ns=warmup_ns, measure_ns=measure_ns)
    others = {
        "evaluate_policy": dfe.agents.evaluate_policy(
            policy, config, warmup_ns=warmup_ns, measure_ns=measure_ns, native=False
        ),
        "environment": in_episode(config, warmup_ns, measure_ns),
    }
    for name, other in others.items():
        assert figures(other) == figures(known), name
    run = Point(
        config=config, policy_label="", traffic_label="", warmup_ns=warmup_ns, measure_ns=measure_ns
    ).run(seed)
    row = measure(run)
    assert {name: row[name] for name in known.to_dict()} == known.to_dict()


@pytest.mark.parametrize(("traffic", "load"), [("adv+1", 0.4), ("uniform", 0.3)])
def test_every_way_to_a_run_has_the_same_verdict(traffic: str, load: float) -> None:
    config = SMALL.replace(policy="min", traffic=traffic, load=load)
    times = {"warmup_ns": 5_000, "measure_ns": 10_000}
    runs = [
        dfe.simulate(config, **times),
        dfe.agents.evaluate_policy("min", config, **times, native=False),
        in_episode(config, **times),
    ]
    assert [run.saturated for run in runs] == [traffic == "adv+1"] * 3
    assert [run.stationary for run in runs] == [traffic == "uniform"] * 3

"""``BiasControl``: what is set, seen and paid; and that the choice matters."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import dragonfly_env as dfe
from dragonfly_env.envs.bias import DEFAULT_BIASES, BiasControl, biased_policies


def config(**changes: Any) -> dfe.SimulationConfig:
    return dfe.SimulationConfig(
        topology=dfe.Dragonfly.preset("72"), traffic="adv+1", load=0.3, policy="ugal-n"
    ).replace(**changes)


def episode(env: BiasControl, choose: Any, seed: int = 1) -> tuple[list[float], list[dict[str, Any]]]:
    env.reset(seed=seed)
    rewards, infos, over = [], [], False
    while not over:
        _, reward, terminated, over, info = env.step(choose(len(rewards)))
        assert not terminated
        rewards.append(reward)
        infos.append(info)
    return rewards, infos


@pytest.mark.parametrize("policy", biased_policies())
def test_a_constant_bias_is_the_simulation_with_that_bias(policy: str) -> None:
    biased = dfe.make_policy(policy, bias_packets=5.0)
    env = BiasControl(config(policy=biased), duration_ns=20_000.0, warmup_ns=3_000.0)
    episode(env, lambda _: DEFAULT_BIASES.index(5.0), seed=7)
    simulation = dfe.Simulation(config(policy=biased, seed=7))
    simulation.run(23_000)
    assert env.trace_hash() == simulation.trace_hash()


def test_an_episode_is_its_intervals_and_the_reward_is_their_latency() -> None:
    env = BiasControl(
        config(), duration_ns=10_000.0, interval_ns=2_000.0, reward_scale_ns=500.0, throughput_weight=3.0
    )
    rewards, infos = episode(env, lambda i: i % 7)
    simulation = dfe.Simulation(config(seed=1))
    for i, (reward, info) in enumerate(zip(rewards, infos, strict=True)):
        simulation.reset_statistics()
        simulation.set_policy(dfe.make_policy("ugal-n", bias_packets=DEFAULT_BIASES[i]))
        simulation.run(2_000)
        metrics = simulation.metrics()
        assert reward == 3.0 * metrics.accepted_load - metrics.latency_mean_ns / 500
        assert info["time_ns"] == 2_000 * (i + 1)
        assert info["bias_packets"] == DEFAULT_BIASES[i]
        assert info["packets_delivered"] == metrics.packets_delivered
    assert len(rewards) == 5
    assert ["metrics" in info for info in infos] == [False] * 4 + [True]


def test_packets_of_a_warm_up_are_not_paid_for() -> None:
    env = BiasControl(config(), duration_ns=4_000.0, warmup_ns=3_000.0)
    _, infos = episode(env, lambda _: DEFAULT_BIASES.index(0.0), seed=5)
    simulation = dfe.Simulation(config(seed=5, packet_log=True))
    simulation.run(7_000)
    assert env.trace_hash() == simulation.trace_hash()
    log = simulation.packet_log()
    own = log["created_ns"] > 3_000
    metrics = infos[-1]["metrics"]
    assert metrics.packets_delivered == own.sum() > 0
    assert metrics.latency_mean_ns == pytest.approx((log["delivered_ns"] - log["created_ns"])[own].mean())


def test_the_observation_holds_the_figures_of_the_interval_by_name() -> None:
    env = BiasControl(config(), render_mode="ansi")
    env.reset(seed=2)
    observation, _, _, _, info = env.step(6)
    assert env.observation_space.contains(observation)
    seen = dict(zip(env.layout, observation.tolist(), strict=True))
    assert seen["bias"] == 1.0
    assert seen["accepted_load"] == pytest.approx(info["accepted_load"], rel=1e-6)
    assert seen["latency_mean"] == pytest.approx(info["latency_mean_ns"] / 1000, rel=1e-6)
    assert seen["offered_load"] == pytest.approx(0.3, abs=0.05)
    assert 0 < seen["global_link_utilisation_mean"] <= seen["global_link_utilisation_max"] <= 1
    assert isinstance(env.render(), str)


@pytest.mark.parametrize(("value", "bias"), [(-1.0, -20.0), (0.0, 10.0), (1.0, 40.0), (0.5, 25.0)])
def test_a_continuous_action_is_linear_between_the_ends(value: float, bias: float) -> None:
    env = BiasControl(config(), action="box", biases_packets=(-20, 40))
    env.reset()
    observation, _, _, _, info = env.step(np.array([value], np.float32))
    assert info["bias_packets"] == bias
    assert observation[0] == value


def test_the_right_bias_at_the_right_time_beats_every_constant_one() -> None:
    """The default traffic is uniform and adversarial in turn, 20 us each; one bias cannot be right for both."""
    env = BiasControl()
    last = len(DEFAULT_BIASES) - 1

    def follow(step: int) -> int:
        time_ns = 2_000 * step
        return last if time_ns % 40_000 < 20_000 else 0

    constant = [sum(episode(env, lambda _, choice=choice: choice)[0]) for choice in range(last + 1)]
    assert sum(episode(env, follow)[0]) > 0.9 * max(constant)
    assert max(constant) > 0.9 * constant[0]


def test_an_empty_network_costs_nothing_and_a_blocked_one_does() -> None:
    nobody = dfe.SimulationConfig(
        topology=dfe.Dragonfly.preset("72"),
        traffic="uniform",
        load=1e-9,
        injection="poisson",
        policy="ugal-n",
    )
    rewards, _ = episode(BiasControl(nobody, duration_ns=2_000.0, interval_ns=500.0), lambda _: 0)
    assert rewards == [0.0] * 4
    # Links of 20 us: at first everything is under way and nothing arrives.
    slow = dfe.NetworkConfig(global_latency_ns=20_000.0)
    env = BiasControl(
        config(network=slow, traffic="adv+4"), duration_ns=2_000.0, interval_ns=500.0, warmup_ns=0.0
    )
    rewards, infos = episode(env, lambda _: 0)
    assert [info["packets_delivered"] for info in infos] == [0] * 4
    assert rewards == [-0.5, -1.0, -1.5, -2.0]


@pytest.mark.parametrize(
    ("settings", "field"),
    [
        ({"action": "multi"}, "action"),
        ({"biases_packets": (1.0,)}, "biases_packets"),
        ({"biases_packets": (1.0, 1.0)}, "biases_packets"),
        ({"biases_packets": (2.0, 1.0)}, "biases_packets"),
        ({"biases_packets": (0.0, math.nan)}, "biases_packets"),
        ({"biases_packets": "high"}, "biases_packets"),
        ({"biases_packets": (0.0, 1e12)}, "biases_packets"),
        ({"interval_ns": 0.0}, "interval_ns"),
        ({"interval_ns": 3_000.0}, "duration_ns"),
        ({"duration_ns": 1_000.0}, "duration_ns"),
        ({"throughput_weight": -1.0}, "throughput_weight"),
        ({"policy": "min"}, "config.policy"),
        ({"intervall_ns": 1.0}, "intervall_ns"),
    ],
    ids=str,
)
def test_impossible_settings_name_the_field(settings: dict[str, Any], field: str) -> None:
    with pytest.raises(dfe.ConfigError, match=f"^{field} = "):
        BiasControl(**settings)

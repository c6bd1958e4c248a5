"""Several scenarios in one ``BatchedRoutingEnv``: what stands where, and what is refused."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

import dragonfly_env as dfe
from tests.unit.small_env import config, play


def make(count: int = 3, **options: Any) -> dfe.BatchedRoutingEnv:
    configs = [config(seed=20 + number, load=0.2 + 0.1 * number) for number in range(count)]
    return dfe.BatchedRoutingEnv(configs, **{"duration_ns": 1_000.0, **options})


def drawn(seed: int) -> list[dfe.SimulationConfig]:
    """Two scenarios from a seed."""
    random = np.random.default_rng(seed)
    return [config(load=float(random.uniform(0.1, 0.6))) for _ in range(2)]


def test_an_environment_knows_its_scenarios() -> None:
    env = make()
    assert (env.num_scenarios, env.num_agents) == (3, 3 * 36)
    assert [config.seed for config in env.configs] == [20, 21, 22]
    assert env.config is env.configs[0]
    assert env.first_agents.tolist() == [0, 36, 72]
    batch = env.reset()
    assert batch.scenario.dtype == np.int32
    assert set(batch.scenario.tolist()) == {0, 1, 2}
    assert np.array_equal(env.slots(batch), batch.agents + 36 * batch.scenario)
    assert "3 scenarios" in repr(env)
    assert env.state(scenario=2).shape == env.state_shape == (36, 7 + 3 + 9)


def test_a_later_change_of_the_list_changes_no_environment_and_no_copy() -> None:
    given = [config(load=0.2), config(load=0.4)]
    env = dfe.BatchedRoutingEnv(given, duration_ns=500.0)
    given[1] = given[0]
    given.append(config(load=0.6))
    for environment in (env, copy.copy(env), copy.deepcopy(env), env.fork()):
        environment.reset(seed=1)
        assert [scenario.load for scenario in environment.configs] == [0.2, 0.4]


def test_a_scenario_must_be_named_where_there_are_several() -> None:
    env = make()
    env.reset()
    for call in (env.metrics, env.trace_hash, env.state, env.packet_log):
        with pytest.raises(dfe.ConfigError, match="scenario = None: must be given, from 0 to 2"):
            call()
        for bad in (3, -1, "0", 1.0, True):
            with pytest.raises(dfe.ConfigError, match=r"scenario = .*must be an integer from 0 to 2"):
                call(scenario=bad)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([], r"config = \[\]: must be a SimulationConfig, or a list of 1 to 4096 of them"),
        ([config()] * 4097, "must be a SimulationConfig, or a list of 1 to 4096"),
        ("72", "config = '72': must be a SimulationConfig"),
        ([config(), config(topology=dfe.Dragonfly.preset("342"))], r"config\[1\] = 8 actions: must have 5"),
        (lambda seed: "72", r"config\(seed\) = '72': must be"),
    ],
)
def test_what_is_no_scenario_is_refused(given: Any, message: str) -> None:
    with pytest.raises(dfe.ConfigError, match=message):
        dfe.BatchedRoutingEnv(given)


def test_scenarios_with_other_columns_are_refused_by_the_name_of_the_feature() -> None:
    large = config(topology=dfe.Dragonfly.preset("342"))
    with pytest.raises(dfe.ConfigError, match=r"config\[1\] = observes queue_packets .* choose features="):
        dfe.BatchedRoutingEnv([config(), large], action="path", scope="source")
    lia = config(network="lia")
    with pytest.raises(dfe.ConfigError, match=r"config\[2\] = observes queue_packets"):
        dfe.BatchedRoutingEnv([config(), config(), lia])
    env = dfe.BatchedRoutingEnv(
        [config(), large, lia], action="path", scope="source", features=["candidate_hops"]
    )
    assert (env.num_actions, env.num_features) == (5, 5)


def test_illegal_actions_name_the_scenario_and_change_nothing() -> None:
    env = make()
    batch = env.reset()
    row = int(np.flatnonzero(batch.scenario == 2)[0])
    actions = batch.minimal_actions()
    actions[row] = 99
    with pytest.raises(
        dfe.IllegalActionError, match=rf"actions\[{row}\] = 99: scenario 2, router_\d+ may choose"
    ):
        env.step(actions)
    assert env.pending is batch
    actions[row] = batch.minimal_actions()[row]
    play(env, env.step(actions))
    again = make()
    play(again, again.reset())
    assert [env.trace_hash(i) for i in range(3)] == [again.trace_hash(i) for i in range(3)]


def test_seeds_of_episodes() -> None:
    env = make()
    env.reset()
    env.reset()
    following = [config.seed for config in env.configs]
    assert len({*following, 20, 21, 22}) == 6
    env.reset(seed=5)
    spread = [config.seed for config in env.configs]
    assert (spread[0], len(set(spread))) == (5, 3)
    env.reset(seed=[7, 7, 8])
    assert [config.seed for config in env.configs] == [7, 7, 8]
    assert env.trace_hash(0) == env.trace_hash(0)
    env.reset(seed=5)
    assert [config.seed for config in env.configs] == spread
    for bad, message in (
        ([1, 2], "must be one, or 3"),
        ([1, 2, -1], "seed = -1"),
        (2**64, "seed = "),
    ):
        with pytest.raises(dfe.ConfigError, match=message):
            env.reset(seed=bad)
    assert [config.seed for config in env.configs] == spread


def test_options_change_one_episode() -> None:
    env = dfe.BatchedRoutingEnv(config(), duration_ns=1_000.0)
    batch = env.reset(options={"traffic": "uniform", "load": 0.8, "seed": 3})
    assert (env.config.traffic, env.config.load, env.config.seed) == ("uniform", 0.8, 3)
    play(env, batch)
    changed = dfe.BatchedRoutingEnv(config(traffic="uniform", load=0.8, seed=3), duration_ns=1_000.0)
    play(changed, changed.reset())
    assert env.trace_hash() == changed.trace_hash()
    env.reset()
    assert (env.config.traffic, env.config.load) == ("adv+1", 0.35)
    for options, message in (
        ({"pattern": "uniform"}, "options = 'pattern': must be one of 'traffic', 'load', 'seed'"),
        ({"load": 2.0}, "load = 2.0"),
        ({"traffic": "nothing"}, "nothing"),
        ({"seed": -1}, "seed = -1"),
        ([{}, {}], "must be 1: one for each scenario"),
    ):
        before = env.pending
        with pytest.raises(dfe.ConfigError, match=message):
            env.reset(options=options)  # type: ignore[arg-type]
        assert env.pending is before, "what is refused changes nothing"
    with pytest.raises(dfe.ConfigError, match="given already"):
        env.reset(seed=1, options={"seed": 2})


def test_extend_and_drain_are_for_all() -> None:
    env = make()
    play(env, env.reset())
    play(env, env.extend(700.0))
    assert env.time_ns == 1_700.0
    env.drain()
    assert [env.metrics(i).packets_in_flight for i in range(3)] == [0, 0, 0]
    env.reset_statistics()
    assert [env.metrics(i).packets_delivered for i in range(3)] == [0, 0, 0]
    with pytest.raises(dfe.StateError, match="drained"):
        env.extend(10.0)


def test_scenarios_are_drawn_anew_for_every_episode() -> None:
    env = dfe.BatchedRoutingEnv(drawn, duration_ns=500.0)
    seen = []
    for _ in range(3):
        env.reset()
        seen.append([(config.load, config.seed) for config in env.configs])
    assert len({load for episode in seen for load, _ in episode}) == 6
    assert len({seed for episode in seen for _, seed in episode}) == 6
    again = dfe.BatchedRoutingEnv(drawn, duration_ns=500.0)
    again.reset()
    other = pickle.loads(pickle.dumps(again))
    other.reset()
    assert [(config.load, config.seed) for config in other.configs] == seen[1]
    again.reset(seed=8)
    assert [config.load for config in again.configs] == [config.load for config in drawn(8)]
    assert again.configs[0].seed == 8

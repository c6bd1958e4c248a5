"""The PettingZoo views pass PettingZoo's own checkers, and what those do not look at."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pettingzoo
import pytest
from pettingzoo.test import (
    api_test,
    max_cycles_test,
    parallel_api_test,
    parallel_seed_test,
    render_test,
    seed_test,
    state_test,
)
from pettingzoo.utils.wrappers import OrderEnforcingWrapper

import dragonfly_env as dfe
from dragonfly_env import dragonfly_v0

# Small changes of the default, which is 72 hosts: every kind of decision, reward and network.
VARIANTS: dict[str, dict[str, Any]] = {
    "default": {},
    "paths": {"action": "path", "duration_ns": 5_000.0},
    "source routers": {"scope": "source", "action": "path", "traffic": "uniform"},
    "forced hops too": {"scope": "all", "reward": "differential", "share": "group", "duration_ns": 2_000.0},
    "no routing delay": {"network": "q-adaptive", "duration_ns": 1_000.0},
    "few features": {"features": ["queue_packets", "is_minimal"], "load": 1.0, "duration_ns": 2_000.0},
    "for a policy": {"for_policy": "par", "network": "lia", "duration_ns": 2_000.0},
    "warm-up": {"warmup_ns": 1_000.0, "duration_ns": 1_500.0},
    "leaves and spines": {
        "topology": {"p": 2, "h": 2, "group": "leaf-spine:leaves=2,spines=2"},
        "traffic": "uniform",
        "action": "path",
        "duration_ns": 2_000.0,
    },
}
VIEWS: dict[str, Callable[..., Any]] = {
    "parallel": dragonfly_v0.parallel_env,
    "aec": dragonfly_v0.env,
    "raw": dragonfly_v0.raw_env,
}
SHORT: dict[str, Any] = {"duration_ns": 500.0, "warmup_ns": 500.0}


@pytest.fixture
def _dictionaries_are_expected(monkeypatch: pytest.MonkeyPatch) -> None:
    """PettingZoo lists its own environments whose observations are dictionaries; it warns of all others."""
    checker = importlib.import_module("pettingzoo.test.api_test")
    for name in ("env_obs_dicts", "env_obs_space"):
        monkeypatch.setattr(checker, name, [*getattr(checker, name), "dragonfly_v0"])


@pytest.mark.usefixtures("_dictionaries_are_expected")
@pytest.mark.parametrize("variant", VARIANTS)
def test_api_checker(variant: str) -> None:
    api_test(dragonfly_v0.env(**VARIANTS[variant]), num_cycles=100)


@pytest.mark.usefixtures("_dictionaries_are_expected")
def test_api_checker_without_wrappers() -> None:
    api_test(dragonfly_v0.raw_env(), num_cycles=100)


@pytest.mark.parametrize("variant", VARIANTS)
def test_parallel_api_checker(variant: str) -> None:
    parallel_api_test(dragonfly_v0.parallel_env(**VARIANTS[variant]), num_cycles=100)


@pytest.mark.parametrize("variant", ["default", "paths", "forced hops too", "warm-up"])
def test_seed_checkers(variant: str) -> None:
    seed_test(lambda: dragonfly_v0.env(**VARIANTS[variant]), num_cycles=20)
    parallel_seed_test(lambda: dragonfly_v0.parallel_env(**VARIANTS[variant]))


def test_max_cycles_checker() -> None:
    max_cycles_test(dragonfly_v0)


def test_render_checker(capsys: pytest.CaptureFixture[str]) -> None:
    render_test(dragonfly_v0.env, custom_tests={"ansi": lambda text: "Dragonfly, 72 hosts" in text})
    assert capsys.readouterr().out.count("Dragonfly, 72 hosts") == 5


@pytest.mark.parametrize("variant", VARIANTS)
def test_state_checker(variant: str) -> None:
    settings = VARIANTS[variant]
    state_test(dragonfly_v0.env(**settings), dragonfly_v0.parallel_env(**settings))


@pytest.mark.skipif(not hasattr(pettingzoo, "make"), reason="the oldest PettingZoo has no registry")
def test_registered_with_pettingzoo() -> None:
    aec = pettingzoo.make("aec", dragonfly_v0.ENV_ID, load=0.3, max_cycles=5)
    assert isinstance(aec, OrderEnforcingWrapper)
    assert (aec.unwrapped.core.config.load, aec.unwrapped.max_cycles) == (0.3, 5)
    parallel = pettingzoo.make("parallel", dragonfly_v0.ENV_ID, topology="342")
    assert len(parallel.possible_agents) == 114


# Facts that the checkers do not see.


def a_legal(mask: np.ndarray, observation: np.ndarray) -> int:
    """A legal action that depends on what is observed and on nothing else."""
    legal = np.flatnonzero(mask)
    return int(legal[int(abs(observation).sum() * 1e6) % len(legal)])


def run(view: str, env: Any, seed: int | None = None) -> tuple[int, dict[str, float]]:
    """A whole episode; its history and what each agent was rewarded with."""
    rewarded = dict.fromkeys(env.possible_agents, 0.0)
    if view == "parallel":
        observations, _ = env.reset(seed=seed)
        while env.agents:
            actions = {
                name: a_legal(observations[name]["action_mask"], observations[name]["observation"])
                for name in env.agents
            }
            observations, rewards, _, _, _ = env.step(actions)
            for name, reward in rewards.items():
                rewarded[name] += reward
    else:
        env.reset(seed=seed)
        for name in env.agent_iter():
            observation, reward, _, truncated, _ = env.last()
            rewarded[name] += reward
            env.step(None if truncated else a_legal(observation["action_mask"], observation["observation"]))
    return env.unwrapped.core.trace_hash(), rewarded


@pytest.mark.parametrize("variant", ["default", "paths", "forced hops too"])
def test_both_views_run_one_history_per_seed_and_pay_the_same(variant: str) -> None:
    settings = {**VARIANTS[variant], "duration_ns": 2_000.0}
    results = {}
    for view, make in VIEWS.items():
        first, again = (run(view, make(**settings), seed=11) for _ in range(2))
        assert first == again
        assert run(view, make(**settings), seed=12)[0] != first[0]
        results[view] = first
    for view in ("aec", "raw"):
        assert results[view][0] == results["parallel"][0]
        assert results[view][1] == pytest.approx(results["parallel"][1])
    assert all(results["aec"][1].values())


@pytest.mark.parametrize("view", VIEWS)
def test_without_a_seed_the_generator_goes_on(view: str) -> None:
    settings = {**SHORT, "seed": 5}
    first, second = (VIEWS[view](**settings) for _ in range(2))
    hashes = [run(view, first, seed)[0] for seed in (None, None, None, 5, None)]
    assert hashes == [run(view, second, seed)[0] for seed in (5, None, None, None, None)][:3] + hashes[3:]
    assert len(set(hashes)) == 3
    assert hashes[3:] == hashes[:2]


@pytest.mark.parametrize("settings", [{}, {"scope": "source", "action": "path", "share": "group"}], ids=str)
def test_views_have_the_history_and_the_rewards_of_the_batch(settings: dict[str, Any]) -> None:
    config = dfe.SimulationConfig(topology="72", traffic="adv+1", load=0.35, seed=4)
    batched = dfe.BatchedRoutingEnv(config, duration_ns=2_000.0, **settings)
    batch = batched.reset()
    earned = np.zeros(batched.num_agents)
    while not batched.done:
        batch = batched.step(batch.minimal_actions())
        earned += batched.rewards_by_router()
    for view, make in VIEWS.items():
        env = make(config, duration_ns=2_000.0, illegal_action="raise", **settings)
        rewarded = dict.fromkeys(env.possible_agents, 0.0)
        env.reset()
        while env.agents:
            if view == "parallel":
                for name, reward in env.step(first_actions(view, env))[1].items():
                    rewarded[name] += reward
            else:
                rewarded[env.agent_selection] += env.last()[1]
                env.step(None if env.last()[3] else first_actions(view, env))
        assert env.unwrapped.core.trace_hash() == batched.trace_hash()
        np.testing.assert_allclose(list(rewarded.values()), earned)


def test_idle_routers_have_one_legal_action_and_spaces_hold_every_observation() -> None:
    env = dragonfly_v0.parallel_env(duration_ns=600.0, load=0.2)
    spaces = {name: (env.observation_space(name), env.action_space(name)) for name in env.possible_agents}
    observations, infos = env.reset(seed=0)
    idle = env.action_space("router_0").n - 1
    while True:
        acting = set(env.acting)
        for name, observation in observations.items():
            mask = observation["action_mask"]
            assert spaces[name][0].contains(observation)
            assert mask.dtype == np.int8
            np.testing.assert_array_equal(mask, infos[name]["action_mask"])
            if name in acting:
                assert mask[:idle].any()
                assert not mask[idle]
            else:
                assert mask.tolist() == [0] * idle + [1]
        assert env.state_space.contains(env.state())
        if not env.agents:
            break
        observations, rewards, terminations, truncations, infos = env.step(
            {
                name: a_legal(observations[name]["action_mask"], observations[name]["observation"])
                for name in env.agents
            }
        )
        assert {type(value) for value in rewards.values()} == {float}
        for flags in (terminations, truncations):
            assert {type(flag) for flag in flags.values()} == {bool}
        assert not any(terminations.values())
    assert all(truncations.values())
    assert spaces == {
        name: (env.observation_space(name), env.action_space(name)) for name in env.possible_agents
    }
    assert all(env.observation_space(name) is space for name, (space, _) in spaces.items())


def test_aec_selects_only_routers_with_a_pending_packet() -> None:
    env = dragonfly_v0.env(**SHORT)
    env.reset(seed=0)
    idle = env.action_space("router_0").n - 1
    for name in env.agent_iter():
        observation, _, terminated, truncated, info = env.last()
        assert not terminated
        assert bool(observation["action_mask"][idle]) is truncated
        np.testing.assert_array_equal(observation["action_mask"], info["action_mask"])
        for other in env.agents[:3]:
            seen = env.observe(other)
            np.testing.assert_array_equal(seen["action_mask"], env.infos[other]["action_mask"])
            assert env.observation_space(other).contains(seen)
        env.step(None if truncated else a_legal(observation["action_mask"], observation["observation"]))
        assert name in env.possible_agents


def test_arrays_that_were_handed_out_are_not_changed_later() -> None:
    env = dragonfly_v0.parallel_env(**SHORT)
    observations, infos = env.reset(seed=2)
    kept: list[tuple[np.ndarray, np.ndarray]] = []
    while env.agents:
        actions = {}
        for name in env.agents:
            seen, mask = observations[name]["observation"], observations[name]["action_mask"]
            actions[name] = a_legal(mask, seen)
            kept += [(seen, seen.copy()), (mask, mask.copy())]
            observations[name].clear()  # dictionaries belong to the caller
            infos[name].clear()
        observations, _, _, _, infos = env.step(actions)
        with pytest.raises(ValueError, match="read-only"):
            mask[0] = 0
    assert all(np.array_equal(now, then) for now, then in kept)
    assert env.core.trace_hash() == run("parallel", dragonfly_v0.parallel_env(**SHORT), seed=2)[0]


@pytest.mark.parametrize("view", VIEWS)
def test_an_observation_that_is_kept_keeps_no_other_router_s_alive(view: str) -> None:
    env = VIEWS[view](**SHORT)
    env.reset(seed=2)
    for _ in range(30):
        env.step(first_actions(view, env))
    if view == "parallel":
        seen = {
            name: observation["observation"]
            for name, observation in env.step(first_actions(view, env))[0].items()
        }
    else:
        seen = {name: env.observe(name)["observation"] for name in env.agents}
    owners = {
        id(observation if observation.base is None else observation.base) for observation in seen.values()
    }
    assert len(owners) == len(seen) == 36
    most = int(np.bincount(env.unwrapped.core.pending.agents).max())
    assert all(
        observation.base is None or len(observation.base) <= max(most, 20) for observation in seen.values()
    )


def first_actions(view: str, env: Any) -> Any:
    """Actions that send all packets of this round (or turn) minimally."""
    if view == "parallel":
        return dict(zip(env.acting, env.round_batch.minimal_actions().tolist(), strict=True))
    return int(env.unwrapped.selected_batch.minimal_actions()[0])


@pytest.mark.parametrize("view", VIEWS)
def test_infos_count_what_was_generated_and_delivered(view: str) -> None:
    env = VIEWS[view](duration_ns=2_000.0, load=0.2)
    counts = np.zeros(2, np.int64)
    env.reset(seed=3)
    while env.agents:
        if view == "parallel":
            infos = list(env.step(first_actions(view, env))[4].values())
        else:
            infos = [env.last()[4]]
            env.step(None if env.truncations[env.agent_selection] else first_actions(view, env))
        counts += [sum(info[name] for info in infos) for name in ("generated", "delivered")]
    metrics = infos[-1]["metrics"]
    assert counts.tolist() == [metrics.packets_generated, metrics.packets_delivered]


@pytest.mark.parametrize("view", VIEWS)
def test_without_any_seed_environments_differ_and_say_their_seed(view: str) -> None:
    first, other = VIEWS[view](**SHORT), VIEWS[view](**SHORT)
    hashes = [run(view, env)[0] for env in (first, other)]
    assert hashes[0] != hashes[1]
    seeds = [env.unwrapped.core.seed for env in (first, other)]
    assert f"seed {seeds[0]}" in repr(first.unwrapped)
    assert run(view, VIEWS[view](**SHORT, seed=seeds[1]))[0] == hashes[1]
    assert run(view, VIEWS[view]({"topology": "72", "seed": 3}, **SHORT)) == run(
        view, VIEWS[view](topology="72", traffic="uniform", load=0.5, seed=3, **SHORT)
    )


@pytest.mark.parametrize("view", VIEWS)
def test_rewards_of_packets_are_no_rewards_of_steps(view: str) -> None:
    with pytest.raises(dfe.ConfigError, match=r"^reward = 'delivery': .*choose \"hop\", or transitions"):
        VIEWS[view](reward="delivery")


@pytest.mark.parametrize("cycles", [1, 3, 17])
def test_max_cycles_are_rounds_in_both_views(cycles: int) -> None:
    parallel, aec = dragonfly_v0.parallel_env(max_cycles=cycles), dragonfly_v0.env(max_cycles=cycles)
    observations, _ = parallel.reset(seed=6)
    turns, rounds = [], 0
    while parallel.agents:
        turns += parallel.acting
        observations, _, _, truncations, _ = parallel.step(
            {name: a_legal(seen["action_mask"], seen["observation"]) for name, seen in observations.items()}
        )
        rounds += 1
    assert rounds == cycles
    assert all(truncations.values())
    aec.reset(seed=6)
    selected = []
    for name in aec.agent_iter():
        seen, _, _, truncated, _ = aec.last()
        if not truncated:
            selected.append(name)
        aec.step(None if truncated else a_legal(seen["action_mask"], seen["observation"]))
    assert selected == turns
    assert aec.unwrapped.core.trace_hash() == parallel.core.trace_hash()


@pytest.mark.parametrize(
    "settings",
    [
        {"topology": dfe.Dragonfly(p=2, a=1, h=0), "traffic": "uniform"},
        {"load": 1e-6, "warmup_ns": 0.0},
    ],
)
def test_an_episode_without_any_decision_has_one_last_step_with_its_rewards(settings: dict[str, Any]) -> None:
    settings = {**SHORT, "injection": "poisson", "seed": 1, **settings}
    parallel, aec = dragonfly_v0.parallel_env(**settings), dragonfly_v0.env(**settings)
    batched = parallel.core.fork()
    for _ in range(2):
        assert len(batched.reset(seed=1)) == 0
        earned = batched.rewards_by_router().tolist()
        observations, _ = parallel.reset(seed=1)
        assert set(observations) == set(parallel.agents) == set(parallel.possible_agents)
        idle = {name: int(seen["action_mask"].argmax()) for name, seen in observations.items()}
        _, rewards, _, truncations, _ = parallel.step(idle)
        assert all(truncations.values())
        assert [*rewards.values()] == earned
        assert not parallel.agents
        aec.reset(seed=1)
        assert all(aec.truncations.values())
        assert [aec.rewards[name] for name in aec.possible_agents] == earned
        assert aec.last()[1] == earned[0]
        assert sum(aec.step(None) is None for _ in aec.agent_iter()) == len(aec.possible_agents)

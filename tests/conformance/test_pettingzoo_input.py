"""Illegal actions in the PettingZoo views: a clear error and nothing has changed, or the documented replacement."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dragonfly_env as dfe
from dragonfly_env import dragonfly_v0

VIEWS: dict[str, Callable[..., Any]] = {
    "parallel": dragonfly_v0.parallel_env,
    "aec": dragonfly_v0.env,
    "raw": dragonfly_v0.raw_env,
}
AEC = [dragonfly_v0.env, dragonfly_v0.raw_env]
SHORT: dict[str, Any] = {"duration_ns": 500.0, "warmup_ns": 500.0}
IDLE = 5  # 72 hosts: three local and two global ports


def first_legal(mask: np.ndarray) -> int:
    return int(np.flatnonzero(mask)[0])


def finish(view: str, env: Any) -> int:
    """Play the rest of the episode with each router's first legal action; the history."""
    while env.agents:
        if view == "parallel":
            batch = env.round_batch
            env.step(dict(zip(env.acting, map(first_legal, batch.mask), strict=True)))
        else:
            _, _, _, truncated, info = env.last()
            env.step(None if truncated else first_legal(info["action_mask"]))
    return env.unwrapped.core.trace_hash()


def expected_history(seed: int) -> int:
    env = dragonfly_v0.parallel_env(**SHORT)
    env.reset(seed=seed)
    return finish("parallel", env)


# Actions.


def test_a_parallel_step_needs_an_action_of_each_router_with_a_packet_and_of_no_stranger() -> None:
    env = dragonfly_v0.parallel_env(**SHORT)
    env.reset(seed=1)
    good = dict(zip(env.acting, map(first_legal, env.round_batch.mask), strict=True))
    with pytest.raises(dfe.IllegalActionError, match="no such agent; agents are 'router_0' to 'router_35'"):
        env.step({**good, "router_36": 0})
    left_out = env.acting[-1]
    with pytest.raises(dfe.IllegalActionError, match=f"{left_out} has a pending packet but no action"):
        env.step({name: action for name, action in good.items() if name != left_out})
    assert finish("parallel", env) == expected_history(1)


# Actions that the mask forbids.


def minimal_history(seed: int) -> int:
    """Rewards and observations if every packet is sent minimally."""
    env = dragonfly_v0.parallel_env(**SHORT).core
    batch = env.reset(seed=seed)
    while not env.done:
        batch = env.step(batch.minimal_actions())
    return env.trace_hash()


def test_parallel_illegal_actions_become_minimal_and_are_counted() -> None:
    env = dragonfly_v0.parallel_env(**SHORT)
    _, infos = env.reset(seed=9)
    counts = dict.fromkeys(env.possible_agents, 0)
    assert {name: info["illegal_actions"] for name, info in infos.items()} == counts
    while env.agents:
        for name in env.acting:
            counts[name] += 1
        infos = env.step(dict.fromkeys(env.agents, IDLE))[4]
        assert {name: info["illegal_actions"] for name, info in infos.items()} == counts
    assert sum(counts.values()) > 100
    assert env.core.trace_hash() == minimal_history(9)
    assert not any(info["illegal_actions"] for info in env.reset()[1].values())


@pytest.mark.parametrize("make", AEC)
def test_aec_illegal_actions_become_minimal_and_are_counted(make: Callable[..., Any]) -> None:
    env = make(**SHORT)
    env.reset(seed=9)
    counts = dict.fromkeys(env.possible_agents, 0)
    for name in env.agent_iter():
        _, _, _, truncated, info = env.last()
        assert info["illegal_actions"] == counts[name]
        env.step(None if truncated else IDLE)
        counts[name] += not truncated
    assert env.unwrapped.core.trace_hash() == minimal_history(9)
    env.reset()
    assert not any(info["illegal_actions"] for info in env.infos.values())


def to_a_round_with_idle_routers(env: Any) -> None:
    """Step until some routers have packets and some have none."""
    env.reset(seed=9)
    while len(env.acting) == len(env.agents):
        env.step(dict(zip(env.acting, map(first_legal, env.round_batch.mask), strict=True)))


def test_an_idle_router_that_acts_is_counted_and_nothing_else_happens() -> None:
    env, reference = dragonfly_v0.parallel_env(**SHORT), dragonfly_v0.parallel_env(**SHORT)
    to_a_round_with_idle_routers(env)
    to_a_round_with_idle_routers(reference)
    good = dict(zip(env.acting, map(first_legal, env.round_batch.mask), strict=True))
    idle = set(env.agents) - set(env.acting)
    infos = env.step({**dict.fromkeys(idle, 0), **good})[4]
    assert {name for name, info in infos.items() if info["illegal_actions"]} == idle
    infos = reference.step({**dict.fromkeys(idle, IDLE), **good})[4]
    assert not any(info["illegal_actions"] for info in infos.values())
    assert finish("parallel", env) == finish("parallel", reference)


def test_parallel_illegal_actions_may_raise_and_nothing_has_changed() -> None:
    env = dragonfly_v0.parallel_env(**SHORT, illegal_action="raise")
    to_a_round_with_idle_routers(env)
    batch = env.round_batch
    good = dict(zip(env.acting, map(first_legal, batch.mask), strict=True))
    agent, decision = env.acting[0], batch.decision_ids[0]
    legal = np.flatnonzero(batch.mask[0]).tolist()
    with pytest.raises(dfe.IllegalActionError) as caught:
        env.step({**good, agent: IDLE})
    for part in (f"{agent}: ", f"decision {decision}", f"must be one of {legal}", "nothing has changed"):
        assert part in str(caught.value)
    lazy = next(name for name in env.agents if name not in env.acting)
    with pytest.raises(dfe.IllegalActionError, match=rf"{lazy}: action 0 is illegal \(no pending packet\)"):
        env.step({**good, lazy: 0})
    assert env.round_batch.decision_ids.tolist() == batch.decision_ids.tolist()
    assert finish("parallel", env) == expected_history(9)


@pytest.mark.parametrize("make", AEC)
def test_aec_illegal_actions_may_raise_and_nothing_has_changed(make: Callable[..., Any]) -> None:
    env = make(**SHORT, illegal_action="raise")
    env.reset(seed=9)
    agent = env.agent_selection
    with pytest.raises(
        dfe.IllegalActionError, match=rf"{agent}: action {IDLE} is illegal \(decision \d+\): must be"
    ):
        env.step(IDLE)
    assert env.agent_selection == agent
    assert finish("aec", env) == expected_history(9)


# Calls out of order.


@pytest.mark.parametrize("make", AEC)
def test_truncated_agents_take_only_none(make: Callable[..., Any]) -> None:
    env = make(**SHORT, max_cycles=1)
    env.reset()
    while not env.truncations[env.agent_selection]:
        env.step(first_legal(env.last()[4]["action_mask"]))
    assert all(env.truncations.values())
    with pytest.raises(dfe.IllegalActionError, match="is truncated: its only action is None"):
        env.step(0)
    left = list(env.agents)
    env.step(None)
    assert env.agents == left[1:]


@pytest.mark.parametrize("view", VIEWS)
def test_close_forgets_the_episode(view: str) -> None:
    env = VIEWS[view](**SHORT, render_mode="ansi").unwrapped
    env.close()
    env.reset()
    env.close()
    env.close()
    for call in (lambda: env.step({}), env.state, env.render):
        with pytest.raises(dfe.StateError, match=r"call reset\(\) first"):
            call()
    env.reset(seed=1)
    assert finish("parallel" if view == "parallel" else "aec", env) == expected_history(1)


# Settings and names.


@pytest.mark.parametrize("view", VIEWS)
def test_single_settings_change_the_given_configuration(view: str) -> None:
    config = dfe.SimulationConfig(topology=dfe.Dragonfly.preset("342"), load=0.3, seed=5)
    env = VIEWS[view](config=config, traffic="adv+1", network="q-adaptive", for_policy="ugal-n").unwrapped
    assert env.core.config == config.replace(traffic="adv+1", network="q-adaptive")
    assert (env.core.scope, env.core.action) == ("source", "path")

"""Every view warns of the first action that it replaces, and of no other."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dragonfly_env as dfe
from dragonfly_env import dragonfly_v0
from dragonfly_env.envs.packet import PacketRouting
from dragonfly_env.errors import IllegalActionWarning

SHORT: dict[str, Any] = {"duration_ns": 500.0, "warmup_ns": 500.0}
IDLE = 5  # 72 hosts: three local and two global ports
VIEWS: dict[str, Callable[..., Any]] = {
    "parallel": dragonfly_v0.parallel_env,
    "aec": dragonfly_v0.env,
    "raw": dragonfly_v0.raw_env,
}


def expected(agent: str, action: int, mask: np.ndarray, instead: int) -> str:
    legal = np.flatnonzero(mask).tolist()
    allowed = re.escape(f"the mask allows {legal}; action {instead} is taken instead")
    return rf"{agent}: action {action} is illegal \(decision \d+\): {allowed}"


def check_warned_once(message: str, act: Callable[[], Any], again: Callable[[], Any]) -> None:
    with pytest.warns(IllegalActionWarning, match=message) as caught:
        act()
    assert len(caught) == 1
    assert 'illegal_action="raise"' in str(caught[0].message)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again()


@pytest.mark.parametrize("view", VIEWS)
def test_the_pettingzoo_views_name_agent_action_and_legal_actions(view: str) -> None:
    env = VIEWS[view](**SHORT)
    env.reset(seed=9)
    first = env.acting[0] if view == "parallel" else env.agent_selection
    batch = env.round_batch if view == "parallel" else env.unwrapped.selected_batch

    def act() -> None:
        env.step(dict.fromkeys(env.agents, IDLE) if view == "parallel" else IDLE)

    def again() -> None:
        act()
        env.reset(seed=9)
        act()

    check_warned_once(expected(first, IDLE, batch.mask[0], int(batch.minimal_actions()[0])), act, again)


def test_an_idle_router_that_acts_is_warned_about_too() -> None:
    env = dragonfly_v0.parallel_env(**SHORT)
    env.reset(seed=9)
    while len(env.acting) == len(env.agents):
        env.step(dict(zip(env.acting, env.round_batch.minimal_actions(), strict=True)))
    good = dict(zip(env.acting, env.round_batch.minimal_actions(), strict=True))
    idle = next(name for name in env.agents if name not in good)
    with pytest.warns(
        IllegalActionWarning,
        match=f"{idle}: action 0 is illegal .no pending packet.: the mask allows .{IDLE}.;",
    ):
        env.step({**good, idle: 0})


def test_the_vector_of_routers_names_the_router() -> None:
    env = dfe.RouterVecEnv(**SHORT)
    env.reset()
    mask = env.action_masks()
    wrong = mask.argmin(axis=1)
    with pytest.warns(
        IllegalActionWarning, match=r"router_0: action \d is illegal \(decision \d+\): the mask allows"
    ):
        env.step(wrong)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        env.step(env.action_masks().argmin(axis=1))


def test_packet_routing_names_router_and_decision() -> None:
    env = PacketRouting(traffic="uniform", load=0.9, max_hops=3)
    for seed in range(200):
        env.reset(seed=seed)
        if not env.action_masks().all():
            break
    illegal = int(env.action_masks().argmin())
    message = rf"router \d+: action {illegal} is illegal \(decision \d+\): the mask allows"
    with pytest.warns(IllegalActionWarning, match=message):
        info = env.step(illegal)[-1]
    assert info["illegal_actions"] == 1

"""Every view of an environment behind one interface, so that what is true of all of them is tested once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

import dragonfly_env as dfe
from dragonfly_env import dragonfly_v0
from dragonfly_env.envs.packet import PacketRouting

CONFIG = dfe.SimulationConfig(topology=dfe.Dragonfly.preset("72"), traffic="adv+1", load=0.6)


class View(NamedTuple):
    """A view.

    Args:
        make: Function of settings by name.
        step: Takes a legal action or, for several agents, one for each; returns whether the episode is over.
        short: Settings of an episode that is soon over.
        history: Hash of all that has happened.
        give: A step in which one action is the given value; ``None``: actions are arrays.
    """

    make: Callable[..., Any]
    step: Callable[[Any], bool]
    short: dict[str, Any]
    history: Callable[[Any], int]
    give: Callable[[Any, Any], Any] | None = None


def play(view: View, env: Any) -> int:
    """Step to the end of the episode; its history."""
    while not view.step(env):
        pass
    return view.history(env)


def _batched(env: Any) -> bool:
    env.step(env.pending.minimal_actions())
    return bool(env.done)


def _parallel(env: Any) -> bool:
    env.step(dict(zip(env.acting, env.round_batch.minimal_actions().tolist(), strict=False)))
    return not env.agents


def _turn(env: Any) -> bool:
    observation, _, terminated, truncated, _ = env.last()
    env.step(None if terminated or truncated else int(np.flatnonzero(observation["action_mask"])[0]))
    return not env.agents


def _slots(env: Any) -> bool:
    return bool(env.step(env.action_masks().argmax(axis=1))[2].any())


def _packet(env: Any) -> bool:
    return any(env.step(int(np.flatnonzero(env.action_masks())[0]))[2:4])


def _give_one(env: Any, action: Any) -> Any:
    return env.step({**dict.fromkeys(env.agents, 0), env.acting[0]: action})


def _give(env: Any, action: Any) -> Any:
    return env.step(action)


def _of_core(env: Any) -> int:
    return int(env.unwrapped.core.trace_hash())


def _make_batched(config: dfe.SimulationConfig = CONFIG, **settings: Any) -> dfe.BatchedRoutingEnv:
    return dfe.BatchedRoutingEnv(config, **settings)


def _make_slots(**settings: Any) -> Any:
    pytest.importorskip("stable_baselines3", reason="needs the extra [sb3]")
    return dfe.RouterVecEnv(**settings)


_ROUTERS: dict[str, Any] = {"duration_ns": 500.0, "warmup_ns": 500.0}
VIEWS: dict[str, View] = {
    "batched": View(_make_batched, _batched, _ROUTERS, lambda env: env.trace_hash()),
    "parallel": View(dragonfly_v0.parallel_env, _parallel, _ROUTERS, _of_core, _give_one),
    "aec": View(dragonfly_v0.env, _turn, _ROUTERS, _of_core, _give),
    "raw": View(dragonfly_v0.raw_env, _turn, _ROUTERS, _of_core, _give),
    "slots": View(_make_slots, _slots, _ROUTERS, lambda env: env.core.trace_hash()),
    "packet": View(PacketRouting, _packet, {"duration_ns": 3_000.0, "warmup_ns": 500.0}, _of_core, _give),
}

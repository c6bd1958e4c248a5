"""Any actions: a legal one advances the episode, an illegal one is refused and changes nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

import dragonfly_env as dfe
from dragonfly_env import dragonfly_v0
from tests.property.configurations import SEEDS, settings_of_runs

STEPS = st.lists(
    st.tuples(st.sampled_from(["legal", "minimal", "legal", "forbidden", "outside", "length"]), SEEDS),
    min_size=1,
    max_size=25,
)
DECISIONS = [
    ("every", "port"),
    ("source", "port"),
    ("all", "port"),
    ("every", "path"),
    ("source-all", "path"),
    ("progressive", "path"),
]


@st.composite
def environments(draw: st.DrawFn) -> dict[str, Any]:
    """Keyword arguments of an environment: a configuration and options that may not suit it."""
    scope, action = draw(st.sampled_from(DECISIONS))
    return {
        "config": draw(settings_of_runs()),
        "duration_ns": draw(st.sampled_from([100.0, 700.5])),
        "warmup_ns": draw(st.sampled_from([0.0, 0.0, 300.0])),
        "scope": scope,
        "action": action,
        "reward": draw(st.sampled_from(["hop", "delivery", "differential"])),
    }


def batched(options: dict[str, Any]) -> dfe.BatchedRoutingEnv | None:
    """The environment, or ``None`` if its settings are refused."""
    try:
        config = dfe.SimulationConfig(**options["config"])
        return dfe.BatchedRoutingEnv(**{**options, "config": config})
    except dfe.ConfigError:
        return None


def legal_actions(mask: np.ndarray, seed: int) -> np.ndarray:
    """(N,) actions, each drawn among those that its row of the mask allows."""
    return np.where(mask, np.random.default_rng(seed).random(mask.shape), -1.0).argmax(axis=1)


def illegal_actions(batch: dfe.DecisionBatch, kind: str, seed: int) -> np.ndarray | None:
    """Actions that must be refused; ``None`` if the batch has no such actions."""
    actions = batch.minimal_actions()
    if kind == "length":
        return np.append(actions, 0)
    if len(batch) == 0:
        return None
    row = seed % len(batch)
    forbidden = np.flatnonzero(~batch.mask[row])
    if kind == "outside" or len(forbidden) == 0:
        actions[row] = (-1, batch.mask.shape[1], 2**31, -(2**62))[seed % 4]
    else:
        actions[row] = forbidden[seed % len(forbidden)]
    return actions


def shown(env: dfe.BatchedRoutingEnv) -> list[Any]:
    """State that the environment shows between two steps."""
    pending = env.pending
    arrays = (pending.obs, pending.mask, pending.agents, pending.decision_ids, pending.packets)
    return [env.time_ns, env.trace_hash(), *(array.tobytes() for array in arrays)]


@settings(max_examples=80)
@given(environments(), STEPS, SEEDS)
def test_actions_advance_the_episode_or_are_refused_and_change_nothing(
    options: dict[str, Any], steps: list[tuple[str, int]], seed: int
) -> None:
    env = batched(options)
    if env is None:
        event("refused")
        return
    batch = env.reset(seed)
    taken = []
    for kind, number in steps:
        if env.done:
            break
        if kind in ("legal", "minimal"):
            actions = legal_actions(batch.mask, number) if kind == "legal" else batch.minimal_actions()
            taken.append((shown(env), actions.copy()))
            batch = env.step(actions)
            continue
        wrong = illegal_actions(batch, kind, number)
        if wrong is not None:
            before = shown(env)
            with pytest.raises(dfe.IllegalActionError):
                env.step(wrong)
            assert shown(env) == before
    again = batched({**options, "config": {**options["config"], "threads": 2}})
    assert again is not None
    again.reset(seed)
    for before, actions in taken:
        assert shown(again) == before
        again.step(actions)
    if env.done:
        assert again.done
        assert again.trace_hash() == env.trace_hash()
        env.drain()
        assert env.metrics().packets_in_flight == 0
    else:
        assert shown(again) == shown(env)


@settings(max_examples=40)
@given(environments(), st.lists(SEEDS, min_size=1, max_size=15), st.sampled_from(["remap", "raise"]), SEEDS)
def test_the_parallel_view_takes_any_action_remaps_illegal_ones_or_raises(
    options: dict[str, Any], draws: list[int], illegal_action: str, seed: int
) -> None:
    if batched(options) is None:
        return
    config = dfe.SimulationConfig(**options["config"])
    try:
        env = dragonfly_v0.parallel_env(**{**options, "config": config, "illegal_action": illegal_action})
    except dfe.ConfigError:
        return  # the view's own defaults may need more VCs
    env.reset(seed=seed % 2**32)
    for number in draws:
        if not env.agents:
            break
        generator = np.random.default_rng(number)
        actions = {agent: int(generator.integers(env.action_space(agent).n)) for agent in env.agents}
        before = env.core.time_ns, env.core.trace_hash()
        try:
            env.step(actions)
        except dfe.IllegalActionError:
            assert illegal_action == "raise"
            assert (env.core.time_ns, env.core.trace_hash()) == before
    env.close()

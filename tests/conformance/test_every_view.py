"""Facts of every view alike: bad input is refused and changes nothing, and no episode leaves anything behind."""

from __future__ import annotations

import gc
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dragonfly_env as dfe
from tests.views import VIEWS, play

STATM = Path("/proc/self/statm")
MOST_GROWTH_BYTES = 5_000_000
SINGLE = [name for name, view in VIEWS.items() if view.give is not None]
SETTINGS = [
    name for name in VIEWS if name != "batched"
]  # RLlib's view takes a configuration, and no single settings
NO_ACTIONS = (-1, 99)


def begun(name: str, seed: int = 1) -> Any:
    env = VIEWS[name].make(**VIEWS[name].short)
    if name == "slots":
        env.seed(seed)
        env.reset()
    else:
        env.reset(seed=seed)
    return env


@pytest.mark.parametrize("name", SINGLE)
def test_a_value_that_is_no_action_is_refused_and_nothing_has_changed(name: str) -> None:
    give, env = VIEWS[name].give, begun(name)
    assert give is not None
    for bad in NO_ACTIONS:
        with pytest.raises(dfe.IllegalActionError, match="action"):
            give(env, bad)
    assert play(VIEWS[name], env) == play(VIEWS[name], begun(name))


@pytest.mark.parametrize("name", SETTINGS)
@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"lode": 0.5}, "did you mean 'load'"),
        ({"load": 1.5}, "load = 1.5"),
        ({"topology": "73"}, "topology = '73'"),
        ({"config": 3}, "config = 3"),
        ({"config": {"topology": {"preset": "72"}, "lod": 1}}, "did you mean 'load'"),
        ({"render_mode": "rgb"}, "render_mode = 'rgb'"),
        ({"duration_ns": 0}, "duration_ns = 0"),
        ({"duration_ns": float("nan")}, "duration_ns = nan"),
        ({"warmup_ns": -1}, "warmup_ns = -1"),
    ],
)
def test_an_impossible_setting_is_refused_by_field_and_value(
    name: str, settings: dict[str, Any], message: str
) -> None:
    with pytest.raises(dfe.ConfigError) as caught:
        VIEWS[name].make(**settings)
    assert message in str(caught.value)


@pytest.mark.parametrize("name", VIEWS)
def test_impossible_seeds_and_options_are_refused_and_nothing_has_changed(name: str) -> None:
    env = begun(name)
    for seed in (-1, 2**64):
        with pytest.raises(dfe.ConfigError, match="seed"):
            env.seed(seed) if name == "slots" else env.reset(seed=seed)
    with pytest.raises(dfe.ConfigError, match="options"):
        env.set_options({"policy": "par"}) if name == "slots" else env.reset(options={"policy": "par"})
    again = begun(name)
    assert play(VIEWS[name], env) == play(VIEWS[name], again)


@pytest.mark.parametrize("name", VIEWS)
def test_a_step_before_the_first_reset_or_after_the_end_is_refused(name: str) -> None:
    view = VIEWS[name]
    env = view.make(**view.short)
    if name in ("aec", "raw"):  # PettingZoo's base class and wrapper raise AttributeError
        with pytest.raises(AttributeError, match="agent_selection"):
            view.step(env)
    else:
        with pytest.raises(dfe.StateError, match=r"reset\(\)"):
            view.step(env)
    if name == "slots":
        return  # this view begins the next episode by itself
    env.reset(seed=1)
    history = play(view, env)
    over = {"batched": [], "parallel": {}}.get(name, 0)
    if name != "aec":  # PettingZoo's wrapper prints a warning
        with pytest.raises(dfe.StateError, match=r"reset\(\)"):
            env.step(over)
    env.reset(seed=1)
    assert play(view, env) == history


@pytest.mark.parametrize("name", ["parallel", "aec", "raw", "slots", "packet"])
def test_ctrl_c_inside_the_core_ends_the_episode(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    view, env = VIEWS[name], begun(name)
    calls = 0
    core = env.unwrapped.core if hasattr(env, "unwrapped") else env.core
    go_on = core.go_on

    def interrupted() -> Any:
        nonlocal calls
        calls += 1
        if calls == 2:
            raise KeyboardInterrupt
        return go_on()

    with monkeypatch.context() as patch:
        patch.setattr(core, "go_on", interrupted)
        with pytest.raises(KeyboardInterrupt):
            play(view, env)
    with pytest.raises(dfe.StateError, match=r"reset\(\)"):
        env.step({"parallel": {}, "slots": np.full(36, 5)}.get(name, 0))
    env.reset()
    view.step(env)


def resident_bytes() -> int:
    gc.collect()
    return int(STATM.read_text().split()[1]) * os.sysconf("SC_PAGESIZE")


@pytest.mark.skipif(not STATM.exists(), reason="needs Linux' /proc")
@pytest.mark.parametrize("name", [name for name in VIEWS if name != "raw"])
def test_many_episodes_and_environments_leave_nothing_behind(name: str) -> None:
    view, env = VIEWS[name], begun(name)
    before = 0
    for i in range(250):
        if i % 10 == 0:
            env = begun(name, seed=i)
        env.reset()
        for _ in range(i % 4):
            if view.step(env):
                break
        if i == 50:
            before = resident_bytes()
    assert resident_bytes() - before < MOST_GROWTH_BYTES

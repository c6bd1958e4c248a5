"""Options and defaults of the environments stand once: no view lists options, or has defaults of its own."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import pytest

import dragonfly_env as dfe
from dragonfly_env import dragonfly_v0
from dragonfly_env.envs.options import EnvOptions
from dragonfly_env.envs.packet import PacketRouting
from dragonfly_env.envs.views import view_config


def vector(**settings: Any) -> Any:
    pytest.importorskip("stable_baselines3", reason="needs the extra [sb3]")
    return dfe.RouterVecEnv(**settings)


VIEWS: dict[str, Callable[..., Any]] = {
    "parallel": dragonfly_v0.parallel_env,
    "aec": dragonfly_v0.raw_env,
    "packet": PacketRouting,
    "vec": vector,
}
OPTIONS = [field.name for field in dataclasses.fields(EnvOptions)]


@pytest.mark.parametrize("view", ["batched", *VIEWS])
@pytest.mark.parametrize("option", OPTIONS)
def test_an_option_that_is_declared_once_is_one_of_every_view(option: str, view: str) -> None:
    make = VIEWS.get(view, lambda **given: dfe.BatchedRoutingEnv(view_config(), **given))
    with pytest.raises(dfe.ConfigError, match=rf"^{option} = "):
        make(**{option: object()})


@pytest.mark.parametrize("view", VIEWS)
def test_views_have_no_defaults_of_their_own(view: str) -> None:
    env = VIEWS[view]()
    assert env.core.config == view_config().replace(seed=env.core.seed)
    usual = {"transitions": view == "packet", "outcomes": view != "packet"}  # outcomes that a view collects
    assert env.core.options == EnvOptions(**usual)
    assert (env.core.options.duration_ns, env.core.options.warmup_ns) == (5e4, 0)

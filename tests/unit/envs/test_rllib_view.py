"""The view for RLlib without RLlib, which the default run does not have: a class stands in for its base class."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest

import dragonfly_env as dfe
from dragonfly_env import envs

VIEW = "dragonfly_env.envs.rllib"


class StandIn:
    """What the view uses of ``MultiAgentEnv``."""

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Nothing: the view has its own episode."""


@pytest.fixture
def view(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The class of the view; its module is forgotten afterwards."""
    module = ModuleType("ray.rllib.env.multi_agent_env")
    module.MultiAgentEnv = StandIn  # type: ignore[attr-defined]
    for name in ("ray", "ray.rllib", "ray.rllib.env"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    monkeypatch.setitem(sys.modules, module.__name__, module)
    before = sys.modules.pop(VIEW, None)
    yield importlib.import_module(VIEW).RouterMultiAgentEnv
    del sys.modules[VIEW]
    vars(envs).pop("rllib", None)
    if before is not None:
        sys.modules[VIEW] = before


def test_an_episode_begins_with_the_seed_that_is_given_and_pays_its_routers(view: Any) -> None:
    env = view({"duration_ns": 1_000.0, "seed": 3})
    with pytest.raises(dfe.StateError, match=r"call reset\(\) first"):
        env.step({})
    env.reset()
    assert env.core.seed == 3
    seen, _ = env.reset(seed=7)
    assert env.core.seed == 7
    paid, over = 0.0, False
    while not over:
        actions = {name: int(one["action_mask"].argmax()) for name, one in seen.items()}
        seen, rewards, _, truncated, _ = env.step(actions)
        paid, over = paid + sum(rewards.values()), truncated["__all__"]
    assert paid < 0

"""Where a view shows the mask, and flat observations: the same decisions in every form."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dragonfly_env import dragonfly_v0

SHORT: dict[str, Any] = {"duration_ns": 600.0, "warmup_ns": 300.0, "seed": 4}
FORMS = [
    {"mask_in": place, "flat_observation": flat}
    for place in ("both", "observation", "info")
    for flat in (False, True)
]
forms = pytest.mark.parametrize("form", FORMS, ids=str)


def parts(seen: Any, info: dict[str, Any], form: dict[str, Any], features: int) -> tuple[Any, Any]:
    """Features and mask of what a view showed; where the mask is twice, it is the same."""
    place, flat = form["mask_in"], form["flat_observation"]
    assert ("action_mask" in info) == (place != "observation")
    if place == "info":
        assert seen.shape == (features,)
        return seen, info["action_mask"]
    if flat:
        assert seen.dtype == np.float32
        shown, mask = seen[:features], seen[features:].astype(np.int8)
    else:
        shown, mask = seen["observation"], seen["action_mask"]
    if place == "both":
        assert np.array_equal(info["action_mask"], mask)
    return shown, mask


def parallel_history(form: dict[str, Any]) -> list[Any]:
    env = dragonfly_v0.parallel_env(**SHORT, **form)
    observations, infos = env.reset()
    history = []
    while env.agents:
        actions = {}
        for name, seen in observations.items():
            assert env.observation_space(name).contains(seen)
            shown, mask = parts(seen, infos[name], form, env.core.num_features)
            history.append((shown.tolist(), mask.tolist()))
            actions[name] = int(np.flatnonzero(mask)[-1])
        observations, rewards, _, _, infos = env.step(actions)
        history.append(list(rewards.values()))
    return [*history, env.core.trace_hash()]


def aec_history(form: dict[str, Any]) -> list[Any]:
    env = dragonfly_v0.env(**SHORT, **form)
    env.reset()
    history = []
    for name in env.agent_iter():
        seen, reward, _, over, info = env.last()
        assert env.observation_space(name).contains(seen)
        shown, mask = parts(seen, info, form, env.unwrapped.core.num_features)
        history.append((shown.tolist(), mask.tolist(), reward))
        env.step(None if over else int(np.flatnonzero(mask)[-1]))
    return history


@forms
@pytest.mark.parametrize("history", [parallel_history, aec_history])
def test_every_form_shows_the_same_decisions(history: Any, form: dict[str, Any]) -> None:
    assert history(form) == history(FORMS[0])

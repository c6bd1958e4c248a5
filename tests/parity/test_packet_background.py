"""``PacketRouting`` with its background in the core: the same journeys as when the same policy is asked from Python.

What is registered is tested: a new policy needs no line here.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import dragonfly_env as dfe
from dragonfly_env.envs.options import needed_options
from dragonfly_env.envs.packet import PacketEnv, PacketRouting
from tests.parity.rules import act
from tests.ready import ready

POLICIES = [name for name in dfe.policies() if not ready(name).learns]
BUSY: dict[str, Any] = {"traffic": "adv+1", "load": 0.25, "duration_ns": 6_000.0, "warmup_ns": 500.0}


class FromPython:
    """A policy of the core as if it were the user's own: its reference implementation decides."""

    def __init__(self, policy: Any) -> None:
        self._policy = policy
        self.asked = 0
        if policy.name != "min":  # which is content with every environment
            self.scope, self.action = policy.scope, policy.action

    def env_options_on(self, topology: dfe.Dragonfly) -> dict[str, Any]:
        return needed_options(self._policy, topology)

    def act(self, batch: dfe.DecisionBatch) -> npt.NDArray[np.int64]:
        self.asked += len(batch)
        actions: npt.NDArray[np.int64] = act(self._policy, batch)
        return actions


def in_core(env: PacketRouting) -> bool:
    """Whether the core answers for the other packets."""
    assert isinstance(env.core, PacketEnv)
    return env.core.inside


def history(env: PacketRouting, episodes: int, seed: int = 3) -> list[Any]:
    """All that an agent with random legal actions is told, and the hashes of all networks."""
    rng = np.random.default_rng(seed)
    told: list[Any] = []
    for episode in range(episodes):
        # Now and then an episode is not played to its end.
        observation, info = env.reset(seed=seed if episode == 0 else None)
        over, steps = False, 0
        while not over and not (episode % 5 == 4 and steps == 1):
            told.append((observation["observation"].tobytes(), tuple(info["action_mask"])))
            told.append({name: info[name] for name in ("source_host", "number", "time_ns")})
            told.append(env.decision.draws.tolist())
            action = rng.choice(np.flatnonzero(info["action_mask"]))
            observation, reward, terminated, truncated, info = env.step(action)
            told.append((reward, terminated, truncated, info.get("latency_ns")))
            over, steps = terminated or truncated, steps + 1
        told.append(env.core.trace_hash())
    return told


def both_ways(answers: dfe.Policy, episodes: int = 25, **settings: Any) -> None:
    """The same journeys, whoever asks this policy for the other packets."""
    outside = FromPython(answers)
    told = []
    for background in ("min" if answers.name == "min" else answers, outside):
        env = PacketRouting(background=background, **{**BUSY, **settings})
        told.append(history(env, episodes))
        assert in_core(env) is (background is not outside)
    assert outside.asked > 100
    assert told[0] == told[1]
    assert len(set(map(str, told[0]))) > episodes


@pytest.mark.parametrize("name", POLICIES)
def test_the_core_answers_as_the_reference_does(name: str) -> None:
    both_ways(ready(name))


@pytest.mark.parametrize(
    "settings",
    [
        {"scope": "all"},
        {"scope": "source"},
        {"policy": "ugal-n"},  # what it has sent on non-minimal paths goes on with "min" in its place
        {"policy": "q-adaptive"},
        {"action": "path", "scope": "progressive", "nonminimal_kinds": ("lgl", "g", "l")},
        # Routers whose only global link leads to the destination group have no choice.
        {
            "action": "path",
            "scope": "source",
            "nonminimal_kinds": ("g",),
            "topology": dfe.Dragonfly(p=2, a=2, h=1, g=3),
            "traffic": "uniform",
        },
        {"traffic": "all-to-all", "load": 1.0},
        {"topology": dfe.Dragonfly(p=2, a=4, h=2, g=3)},
        {"topology": dfe.Dragonfly(p=2, h=1, g=5, group=dfe.Grid(rows=2, columns=3))},
        {"topology": dfe.Dragonfly.preset("1056"), "traffic": "uniform", "duration_ns": 1_500.0},
        {
            "topology": dfe.Dragonfly.preset("1056"),
            "traffic": "uniform",
            "duration_ns": 1_500.0,
            "threads": 2,
        },
        {"load": 0.004, "duration_ns": 20_000.0},
    ],
    ids=str,
)
def test_minimal_routing_is_the_same_everywhere(settings: dict[str, Any]) -> None:
    both_ways(ready("min"), 12, **settings)


@pytest.mark.parametrize(
    ("background", "settings"),
    [
        ("q-adaptive", {}),
        ("ugal-n", {"policy": "par"}),  # the warm-up changes which virtual channels packets begin with
        ("ugal-n", {"avoid_destination_group": False}),
        ("ugal-n", {"feedback": True}),
        ("min", {"action": "path", "minimal_candidates": 2}),
    ],
)
def test_what_the_core_cannot_answer_alike_is_asked_from_python(
    background: str, settings: dict[str, Any]
) -> None:
    env = PacketRouting(background=background, **BUSY, **settings)
    history(env, 3)
    assert not in_core(env)


def test_another_background_takes_over_at_once() -> None:
    """In the middle of a network it answers from Python, in the next one in the core."""
    env = PacketRouting(background="ugal-n", **BUSY)
    assert in_core(env)
    env.reset(seed=1)
    env.set_background("ugal-n")
    assert in_core(env)
    mine = FromPython(ready("ugal-n"))
    env.set_background(mine)
    env.step(0)
    assert mine.asked > 0
    assert not in_core(env)
    env.set_background("ugal-n")
    history(env, 1)
    assert in_core(env)


@pytest.mark.parametrize("settings", [{"feedback": True}, {"avoid_destination_group": False}], ids=str)
def test_who_decides_in_the_core_only_is_refused_where_it_would_see_something_else(
    settings: dict[str, Any],
) -> None:
    with pytest.raises(
        dfe.ConfigError, match=r"^background = 'par': would see other .* no implementation in NumPy"
    ):
        PacketRouting(background="par", **BUSY, **settings)


def test_who_decides_in_the_core_only_cannot_take_over_in_the_middle() -> None:
    env = PacketRouting(background="par", **BUSY)
    env.reset(seed=1)
    env.set_background("par")  # it is there already
    with pytest.raises(dfe.ConfigError, match=r"^background = 'par': is not the policy of the network"):
        env.set_background(dfe.make_policy("par", bias_packets=3))
    assert in_core(env)
    history(env, 3)  # the one before stays

"""RLlib takes the multi-agent view as it is: its own check, and a short training with action masks.

Where RLlib is installed only: ``make test-rllib`` gives it an environment of its own, as it pins Gymnasium.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("ray", reason="needs the extra [rllib]; run by make test-rllib")

import dragonfly_env as dfe
from dragonfly_env.envs.rllib import RouterMultiAgentEnv

SHORT: dict[str, Any] = {"duration_ns": 2_000.0, "warmup_ns": 500.0, "seed": 3}


def actions_for(observations: dict[str, Any]) -> dict[str, int]:
    """A legal action for each agent, by what it sees only."""
    actions = {}
    for name, seen in observations.items():
        legal = np.flatnonzero(seen["action_mask"])
        mixed = int(
            (seen["observations"] * 64).astype(np.int64) @ np.arange(1, len(seen["observations"]) + 1)
        )
        actions[name] = int(legal[mixed % len(legal)])
    return actions


def play(env: RouterMultiAgentEnv, seed: int | None) -> tuple[dict[str, float], int]:
    """An episode: what each agent was rewarded with, and the trace hash."""
    observations, _ = env.reset(seed=seed)
    paid = dict.fromkeys(env.possible_agents, 0.0)
    over = False
    while not over:
        observations, rewards, _, truncations, _ = env.step(actions_for(observations))
        for name, reward in rewards.items():
            paid[name] += reward
        over = truncations["__all__"]
    return paid, env.core.trace_hash()


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"action": "path", "traffic": "adv+2"},
        {"scope": "all", "reward": "team"},
        {"network": "q-adaptive"},
    ],
    ids=str,
)
def test_rllibs_check(settings: dict[str, Any]) -> None:
    from ray.rllib.utils.pre_checks.env import check_multiagent_environments

    check_multiagent_environments(RouterMultiAgentEnv(SHORT | settings))


def test_only_acting_routers_stand_in_the_dictionaries() -> None:
    env = RouterMultiAgentEnv(SHORT | {"load": 0.1})
    observations, infos = env.reset()
    sizes = set()
    ever: set[str] = set()
    while True:
        sizes.add(len(observations))
        ever |= set(observations)
        for name, seen in observations.items():
            assert env.get_observation_space(name).contains(seen)
            assert np.array_equal(infos[name]["action_mask"], seen["action_mask"])
            assert seen["action_mask"].any()
        observations, rewards, terminations, truncations, infos = env.step(actions_for(observations))
        assert set(observations) == set(rewards) == set(infos)
        assert set(terminations) == set(truncations) == {*observations, "__all__"}
        assert not any(terminations.values())
        if truncations["__all__"]:
            break
        assert not any(truncations.values())
    assert len(sizes) > 1
    assert set(observations) == ever
    with pytest.raises(dfe.StateError, match="the episode is over"):
        env.step({})


def test_an_episode_is_that_of_the_batched_environment() -> None:
    env = RouterMultiAgentEnv(SHORT | {"illegal_action": "raise"})
    paid, trace = play(env, 7)
    assert play(env, 7) == (paid, trace)
    assert play(env, None)[1] != trace
    batched = dfe.BatchedRoutingEnv(env.core.config, duration_ns=2_000.0, warmup_ns=500.0)
    batch = batched.reset(seed=7)
    expected = np.zeros(batched.num_agents)
    while not batched.done:
        seen = [
            {"observations": row, "action_mask": mask}
            for row, mask in zip(batch.obs, batch.mask, strict=True)
        ]
        batch = batched.step(list(actions_for(dict(enumerate(seen))).values()))  # type: ignore[arg-type]
        np.add.at(expected, *batched.payments())
    assert trace == batched.trace_hash() != 0
    assert list(paid.values()) == pytest.approx(expected.tolist())


def test_each_copy_of_the_environment_has_its_own_first_seed() -> None:
    from ray.rllib.env.env_context import EnvContext

    def first_seed(worker: int, vector: int) -> int:
        env = RouterMultiAgentEnv(EnvContext(SHORT, worker_index=worker, vector_index=vector))
        env.reset()
        return env.core.seed

    assert first_seed(0, 0) == 3
    assert len({first_seed(worker, vector) for worker in range(3) for vector in range(3)}) == 9


def test_bad_input_is_refused_and_changes_nothing() -> None:
    env = RouterMultiAgentEnv(SHORT | {"illegal_action": "raise", "max_hops": 3})
    with pytest.raises(dfe.StateError, match=r"call reset\(\) first"):
        env.step({})
    observations, _ = env.reset(seed=1)
    good = actions_for(observations)
    name = next(name for name, seen in observations.items() if not seen["action_mask"].all())
    illegal = int(np.flatnonzero(observations[name]["action_mask"] == 0)[0])
    for bad in (
        {},
        None,
        good | {"router_99": 0},
        {k: v for k, v in good.items() if k != name},
        good | {name: 99},
        good | {name: -1},
        good | {name: 1.0},
        good | {name: None},
        good | {name: illegal},
    ):
        with pytest.raises(dfe.IllegalActionError):
            env.step(bad)  # type: ignore[arg-type]
    left = RouterMultiAgentEnv(SHORT | {"max_hops": 3})
    left.reset(seed=1)
    assert env.step(good)[1] == left.step(good)[1]
    _, _, _, _, infos = left.step(actions_for(left.reset(seed=1)[0]) | {name: illegal})
    assert sum(info["illegal_actions"] for info in infos.values()) <= 1
    with pytest.raises(dfe.ConfigError):
        env.reset(options={"lod": 0.1})
    for settings in ({"lod": 1}, {"illegal_action": "no"}, {"config": 3}, {"duration_ns": 0}):
        with pytest.raises(dfe.ConfigError):
            RouterMultiAgentEnv(settings)


def test_the_example_trains_with_masks_and_never_breaks_one() -> None:
    """It is on the page of this view; an action that the mask forbids would end it."""
    example = Path(__file__).parents[2] / "examples" / "rllib_ppo.py"
    done = subprocess.run(
        [sys.executable, str(example)], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    assert re.fullmatch(
        r"iteration 1: \d{3,} rounds, loss -?\d.*\niteration 2: \d{3,} rounds, loss -?\d.*\n", done.stdout
    )


def test_the_mask_may_be_left_out_of_observations() -> None:
    """For modules that take a plain vector."""
    env = RouterMultiAgentEnv(SHORT | {"mask_in": "info"})
    observations, infos = env.reset()
    for name, seen in observations.items():
        assert seen.shape == (env.core.num_features,)  # type: ignore[attr-defined]
        assert env.get_observation_space(name).contains(seen)
        assert infos[name]["action_mask"].any()

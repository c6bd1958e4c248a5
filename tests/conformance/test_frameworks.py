"""TorchRL, BenchMARL, Tianshou and SuperSuit take the PettingZoo views, in the form of observations that each wants.

Where they are installed only: ``make test-frameworks`` gives them an environment of their own.
"""

from __future__ import annotations

import importlib
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest

from dragonfly_env import Dragonfly, dragonfly_v0

ROOT = Path(__file__).resolve().parents[2]
SHORT: dict[str, Any] = {"topology": Dragonfly(p=1, a=2, h=1), "duration_ns": 1_000.0, "warmup_ns": 300.0}

# The frameworks have warnings of their own: on versions that they were tested with, and on each other.
pytestmark = pytest.mark.filterwarnings("ignore")


def run_example(name: str, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, str(ROOT / "examples" / name)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        env={**os.environ, **environment},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_torchrls_example_learns_with_masks() -> None:
    pytest.importorskip("torchrl", reason="run by make test-frameworks")
    assert re.search(r"episode 3: \d+ rounds, reward -\d", run_example("torchrl_reinforce.py"))


@pytest.mark.parametrize("given", [{}, {"return_state": True, "use_mask": True}], ids=str)
@pytest.mark.parametrize("make", [dragonfly_v0.parallel_env, dragonfly_v0.raw_env])
def test_torchrls_wrapper_takes_the_bare_environments(make: Any, given: dict[str, Any]) -> None:
    pytest.importorskip("torchrl", reason="run by make test-frameworks")
    from torchrl.envs.libs.pettingzoo import PettingZooWrapper
    from torchrl.envs.utils import check_env_specs

    parallel = make is dragonfly_v0.parallel_env
    env = PettingZooWrapper(make(**SHORT, seed=1), **{"use_mask": not parallel, **given})
    if parallel:
        check_env_specs(env)
    rounds = env.rollout(100_000)
    assert rounds["next", "done"][-1].all(), "to the end of the episode, with its metrics"
    assert sum(float(rounds["next", group, "info", "delivered"].sum()) for group in env.group_map) > 0
    assert not given or rounds["state"].shape[1] == len(env.possible_agents)


@pytest.mark.parametrize("algorithm", ["mappo", "ippo", "qmix"])
def test_benchmarl_trains_on_a_task(algorithm: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("benchmarl", reason="run by make test-frameworks")
    monkeypatch.syspath_prepend(str(ROOT / "examples"))
    benchmarl_task = importlib.import_module("benchmarl_task")
    experiment = benchmarl_task.train(algorithm, frames=120, duration_ns=1_500.0)
    assert experiment.total_frames >= 120
    assert np.isfinite(experiment.mean_return)


def test_tianshous_example_learns_with_masks() -> None:
    pytest.importorskip("tianshou", reason="run by make test-frameworks")
    shown = run_example("tianshou_dqn.py", NUMBA_DISABLE_JIT="1")  # compiling takes longer than learning
    assert re.search(r"400 turns, [1-9]\d* updates of 6 learners", shown)


@pytest.mark.parametrize("processes", [0, 2])
def test_supersuits_vector_of_copies_takes_flat_observations(processes: int) -> None:
    supersuit = pytest.importorskip("supersuit", reason="run by make test-frameworks")
    env = dragonfly_v0.parallel_env(**SHORT)
    flat = supersuit.observation_lambda_v0(
        env,
        lambda seen, space: gymnasium.spaces.flatten(space, seen),
        gymnasium.spaces.flatten_space,
    )
    vector = supersuit.concat_vec_envs_v1(
        supersuit.pettingzoo_env_to_vec_env_v1(flat), 2, num_cpus=processes, base_class="gymnasium"
    )
    try:
        seen, _ = vector.reset(seed=1)
        choices = env.core.num_actions + 1  # the mask comes first
        assert np.asarray(seen).shape == (2 * 6, choices + env.core.num_features)
        for _ in range(3):
            masks = np.asarray(seen)[:, :choices]
            assert (masks.sum(axis=1) >= 1).all()
            seen, rewards, *_ = vector.step(masks.argmax(axis=1))
        assert np.asarray(rewards).shape == (12,)
    finally:
        vector.close()

"""The Gymnasium id passes Gymnasium's checker, and what it does not look at: whole runs, bad input, memory."""

from __future__ import annotations

import copy
import functools
import subprocess
import sys
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.envs.registration import EnvSpec
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AsyncVectorEnv, AutoresetMode, SyncVectorEnv
from gymnasium.wrappers import FlattenObservation

import dragonfly_env as dfe

PACKET = "dragonfly_env/PacketRouting-v0"

VARIANTS: dict[str, dict[str, Any]] = {
    "packet": {},
    "packet, paths": {"background": "par:bias_packets=10"},
    "packet, forced hops too": {"scope": "all", "traffic": "uniform", "load": 0.9},
    "packet, source router": {"scope": "source", "reward": "delivery", "render_mode": "ansi"},
    "packet, no routing delay": {"network": "q-adaptive", "warmup_ns": 0.0, "duration_ns": 5_000.0},
    "packet, image": {"render_mode": "rgb_array", "features": ["queue_packets", "is_minimal"]},
}


def make(**settings: Any) -> gymnasium.Env[Any, Any]:
    return gymnasium.make(PACKET, **settings)


def run(env: gymnasium.Env[Any, Any], episodes: int, seed: int) -> tuple[list[float], list[int]]:
    """Random actions; rewards of all steps, and the trace hash after each episode."""
    rng = np.random.default_rng(seed)
    view: Any = env.unwrapped
    rewards, hashes = [], []
    for episode in range(episodes):
        env.reset(seed=seed if episode == 0 else None)
        over = False
        while not over:
            action = rng.integers(env.action_space.n)  # type: ignore[attr-defined]  # it is Discrete
            _, reward, terminated, truncated, _ = env.step(action)
            rewards.append(float(reward))
            over = terminated or truncated
        hashes.append(view.core.trace_hash())
    return rewards, hashes


@pytest.mark.parametrize("settings", VARIANTS.values(), ids=VARIANTS)
def test_gymnasiums_checker(settings: dict[str, Any]) -> None:
    check_env(make(**settings).unwrapped)


def test_the_id_is_known_without_an_import() -> None:
    code = f"import gymnasium; gymnasium.make('dragonfly_env:{PACKET}').reset(seed=1)"
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True)


def test_importing_twice_registers_once() -> None:
    from dragonfly_env import registration

    spec = gymnasium.spec(PACKET)
    registration.register()
    assert gymnasium.spec(PACKET) is spec


def test_one_seed_is_one_history() -> None:
    settings, episodes = {"duration_ns": 20_000.0}, 60
    first = run(make(**settings), episodes, seed=3)
    again = make(**settings)
    run(again, 2, seed=4)
    assert run(again, episodes, seed=3) == first
    assert run(make(threads=2, **settings), episodes, seed=3) == first
    assert run(make(**settings), episodes, seed=4) != first
    assert len(set(first[1])) > 1


def test_a_configuration_has_a_seed_and_then_the_generator_goes_on() -> None:
    def two(env: gymnasium.Env[Any, Any], seed: int | None) -> list[Any]:
        firsts = [env.reset(seed=seed)[0], env.reset()[0]]
        return [list(first.values()) for first in firsts]

    def warm(**settings: Any) -> gymnasium.Env[Any, Any]:
        return make(warmup_ns=2_000.0, **settings)  # packets are in the network at once

    given, implied, other = two(warm(), 5), two(warm(seed=5), None), two(warm(seed=6), None)
    for rows, same in zip(given, implied, strict=True):
        assert all(np.array_equal(a, b) for a, b in zip(rows, same, strict=True))
    assert not all(np.array_equal(a, b) for a, b in zip(given[0], other[0], strict=True))
    assert not all(np.array_equal(a, b) for a, b in zip(given[0], given[1], strict=True))


def test_without_a_seed_one_is_drawn_and_named() -> None:
    env, other = make(), make()
    assert env.unwrapped.core.seed != other.unwrapped.core.seed  # type: ignore[attr-defined]
    seen, info = env.reset()
    assert info["seed"] == env.np_random_seed == env.unwrapped.core.seed  # type: ignore[attr-defined]
    again, info = other.reset(seed=info["seed"])
    assert info["seed"] == env.np_random_seed
    assert all(np.array_equal(seen[name], again[name]) for name in seen)
    assert make(config={"topology": "72", "seed": 7}).reset()[1]["seed"] == 7
    assert make(config=dfe.SimulationConfig(topology="72")).reset()[1]["seed"] == 1


def test_a_mapping_describes_the_simulation_too() -> None:
    config = dfe.SimulationConfig(topology=dfe.Dragonfly.preset("72"), policy="ugal-n", load=0.2)
    given: Any = make(config=config).unwrapped
    told: Any = make(config=config.to_dict()).unwrapped
    assert given.core.config == told.core.config == config


@pytest.mark.parametrize(
    "settings",
    [
        {"background": "par:bias_packets=10", "load": 0.3, "seed": 4},
        {"topology": dfe.Dragonfly(p=1, a=3, h=1), "network": dfe.NetworkConfig.preset("lia"), "seed": 4},
        {"config": dfe.SimulationConfig(topology="theta-m8", network="aries")},
        {"config": dfe.SimulationConfig(topology="72", jobs=["milc:hosts=4"]).to_dict()},
    ],
    ids=str,
)
def test_a_specification_goes_to_json_and_back(settings: dict[str, Any]) -> None:
    env = make(**settings)
    again: Any = gymnasium.make(EnvSpec.from_json(env.spec.to_json()))  # type: ignore[union-attr]
    assert again.unwrapped.core.config == env.unwrapped.core.config  # type: ignore[attr-defined]
    assert again.unwrapped.core.options == env.unwrapped.core.options  # type: ignore[attr-defined]


def test_gymnasiums_wrapper_makes_flat_observations() -> None:
    env = FlattenObservation(make())
    seen, info = env.reset(seed=1)
    assert seen.shape == (5 + env.unwrapped.core.num_features,)  # type: ignore[attr-defined]
    assert np.array_equal(seen[:5], info["action_mask"])
    assert env.observation_space.contains(seen)


def given(env: gymnasium.Env[Any, Any]) -> gymnasium.Env[Any, Any]:
    return env


SHORT: dict[str, Any] = {"duration_ns": 1_000.0, "warmup_ns": 500.0}
# Worker processes import nothing: the id names the module, or the specification comes along.
MAKERS = [
    functools.partial(gymnasium.make, f"dragonfly_env:{PACKET}", **SHORT),
    functools.partial(gymnasium.make, gymnasium.spec(PACKET), **SHORT),
]


def in_turn(makers: Any, **settings: Any) -> SyncVectorEnv:
    return SyncVectorEnv(makers, **settings)


def in_processes(makers: Any, **settings: Any) -> AsyncVectorEnv:
    return AsyncVectorEnv(makers, context="spawn", **settings)


def vector_history(vector: Any, seed: int | list[int] | None) -> tuple[list[int], list[Any]]:
    """The seeds of the environments, and what each of them shows under the same actions."""
    try:
        seen, infos = vector.reset(seed=seed)
        history = [seen]
        for _ in range(12):
            seen, rewards, terminated, truncated, _ = vector.step(seen["action_mask"].argmax(axis=1))
            history.append({**seen, "rewards": rewards, "over": terminated | truncated})
        return infos["seed"].tolist(), [
            [{name: values[number].tolist() for name, values in step.items()} for step in history]
            for number in range(vector.num_envs)
        ]
    finally:
        vector.close()


def test_make_vec_takes_the_plain_id_to_worker_processes() -> None:
    settings: dict[str, Any] = {"vectorization_mode": "async", "vector_kwargs": {"context": "spawn"}, **SHORT}
    assert vector_history(gymnasium.make_vec(PACKET, num_envs=2, **settings), 7)[0] == [7, 8]


@pytest.mark.parametrize("vector", [in_turn, in_processes])
def test_vectors_differ_without_a_seed_and_agree_with_one(vector: Any) -> None:
    seeds, (first, second) = vector_history(vector(MAKERS), None)
    assert seeds[0] != seeds[1]
    assert first != second
    seeds, histories = vector_history(vector(MAKERS), 3)
    assert seeds == [3, 4]
    assert vector_history(in_turn(MAKERS), [3, 4])[1] == histories
    _, (seeded, other) = vector_history(in_turn(MAKERS), [3, 3])
    assert seeded == other == histories[0]


@pytest.mark.parametrize("mode", AutoresetMode)
def test_vectors_begin_the_next_episode(mode: AutoresetMode) -> None:
    vector = in_turn(MAKERS, autoreset_mode=mode)
    seen, _ = vector.reset(seed=1)
    ends = 0
    for _ in range(40):
        seen, rewards, terminated, truncated, infos = vector.step(seen["action_mask"].argmax(axis=1))
        over = terminated | truncated
        last = infos.get("final_info", {}) if mode is AutoresetMode.SAME_STEP else infos
        for number in np.flatnonzero(over):
            ends += 1
            assert np.isnan(last["latency_ns"][number]) == truncated[number]
            assert last["metrics"][number].duration_ns > 0
            assert rewards[number] < 0
        if mode is AutoresetMode.DISABLED and over.any():
            seen, _ = vector.reset(options={"reset_mask": over})
    assert ends > 8


def test_a_vector_of_processes_takes_environments_in_the_middle() -> None:
    env = make(**SHORT)
    env.reset(seed=1)
    vector = in_processes([functools.partial(given, copy.deepcopy(env)) for _ in range(2)])
    try:
        seen, _ = vector.reset(seed=[1, 2])
        assert seen["action_mask"].shape == (2, 5)
        vector.step(seen["action_mask"].argmax(axis=1))
    finally:
        vector.close()
